package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/rlbench/rlbench"
)

const (
	// clockReadings is how often the limiter's clock is read to tie it to ours:
	// the tightest of several round trips bounds the error.
	clockReadings = 25
	// slewMax bounds how far two disciplined clocks part in a second without
	// either having stepped: what time daemons allow themselves (500 ppm).
	slewMax = 500e-6
	// clockReadTimeout bounds one series of readings.
	clockReadTimeout = 10 * time.Second
	// stepMin is how far a clock must move at least to have stepped: what is less
	// stays within the error that the two readings leave.
	stepMin = 100 * time.Microsecond
)

// offset bounds limiter clock − driver clock, in nanoseconds, both read at the
// same moment; the driver's clock counts from a base that it is used with.
type offset struct{ lo, hi int64 }

func (o offset) middle() int64        { return o.lo + (o.hi-o.lo)/2 }
func (o offset) at(since int64) int64 { return o.middle() + since }

// hull is the least offset that holds both.
func (o offset) hull(p offset) offset { return offset{min(o.lo, p.lo), max(o.hi, p.hi)} }

// readOffset ties the limiter's clock, which ticks every resolution, to the
// monotonic time since base. Each reading proves an interval: the clock was read
// between our two instants, so its offset lies between the two differences. The
// readings are intersected; when they contradict each other the clock moved
// meanwhile, and all of them together bound it.
func readOffset(ctx context.Context, clock rlbench.Clocked, base time.Time, resolution time.Duration) (offset, error) {
	ctx, cancel := context.WithTimeout(ctx, clockReadTimeout)
	defer cancel()
	both := offset{math.MinInt64, math.MaxInt64}
	either := offset{math.MaxInt64, math.MinInt64}
	for range clockReadings {
		before := int64(time.Since(base))
		reading, err := clock.ReadClock(ctx)
		after := int64(time.Since(base))
		if err != nil {
			return offset{}, fmt.Errorf("reading the limiter's clock: %w", err)
		}
		one := offset{reading - after, reading + int64(resolution) - before}
		both = offset{max(both.lo, one.lo), min(both.hi, one.hi)}
		either = either.hull(one)
	}
	if both.lo > both.hi {
		return either, nil
	}
	return both, nil
}

// stepped reports whether the clock moved between two readings by more than
// their errors and a disciplined clock's slew explain.
func stepped(before, after offset, elapsed time.Duration) bool {
	lawful := int64(stepMin) + int64(slewMax*float64(max(elapsed, 0)))
	return after.lo > before.hi+lawful || after.hi < before.lo-lawful
}

// limiterClock is the clock as evidence: its reading at Instant 0, and how far
// that may be off over the whole run.
func limiterClock(origin int64, start time.Duration, bounds offset) rlbench.LimiterClock {
	early, late := bounds.lo+int64(start), bounds.hi+int64(start)
	return rlbench.LimiterClock{
		Origin: origin,
		Error:  time.Duration(max(origin-early, late-origin, 0)),
		Stated: true,
	}
}

const (
	// startLead is the time from the decision to start to Instant 0: enough to
	// park the workers.
	startLead = 50 * time.Millisecond
	// insideLead is how far after an edge a run is placed when it would not have
	// fitted before it.
	insideLead = 10 * time.Millisecond
)

// placeStart returns how long after base Instant 0 lies, for a run that is ready
// now (also since base), so that it stands against the window's edges on the
// limiter's clock as the Plan wants.
func placeStart(p rlbench.Placement, span rlbench.Instant, now time.Duration, clock offset) time.Duration {
	earliest := now + startLead
	if p.Edge == "" || p.Window <= 0 {
		return earliest
	}
	window := int64(p.Window)
	reading := clock.at(int64(earliest))
	into := floorMod(reading, window)
	switch p.Edge {
	case rlbench.AfterEdge:
		return earliest + time.Duration(floorMod(int64(p.By)-into, window))
	case rlbench.BeforeEdge:
		return earliest + time.Duration(floorMod(-int64(p.By)-into, window))
	}
	if into+int64(span)+int64(p.By) <= window {
		return earliest
	}
	return earliest + time.Duration(window-into) + insideLead
}

// floorMod is a modulo b in [0, b), also for negative a.
func floorMod(a, b int64) int64 { return ((a % b) + b) % b }
