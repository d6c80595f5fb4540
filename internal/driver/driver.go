// Package driver carries a Plan out against a Target and keeps every op as
// evidence. It is the only place that starts load goroutines or reads the clock
// to send.
//
// The schedule stands apart from sending: one scheduler waits for the planned
// instants and hands each arrival to a parked worker, so a slow target delays
// no later arrival. When all workers wait for answers the arrival becomes an
// Unsent op; the schedule never blocks. A closed loop is carried by one worker
// from its first request to its last, without any hand-over between them.
//
// Every op of the Plan gets exactly one row: what a bound, an interrupt or a
// full in-flight limit kept from being sent is Unsent, with an error that says
// which. The requests of a closed loop are ops once they are made; those that a
// bound or an interrupt cut off were never fixed in number, and have no rows.
package driver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/rlbench/rlbench"
)

const (
	// StartLead is how far ahead Instant 0 is put, once every worker is parked,
	// when [Options].Start names no moment.
	StartLead = 2 * time.Millisecond
	// DefaultDrain is the Drain of zero Options.
	DefaultDrain = 5 * time.Second
	// DefaultAbandon is the Abandon of zero Options.
	DefaultAbandon = 2 * time.Second
	// ProgressPeriod is the time between two calls of [Options].Progress.
	ProgressPeriod = 250 * time.Millisecond
)

// ErrTarget is wrapped by the error of [Drive] when the target panicked or
// ended its goroutine: a defect of the target's code, not an answer.
var ErrTarget = errors.New("the target broke off")

// Options say how a Plan is carried out. The zero value starts as soon as the
// workers are ready.
type Options struct {
	// Start is Instant 0. With a monotonic reading it is a moment on that clock.
	// A past moment makes everything planned before now late. Zero: StartLead
	// after the workers are parked.
	Start time.Time
	// ClockOrigin is taken off the limiter's raw readings (DecidedAt,
	// ReleasedAt) before they are stored; nanoseconds since the Unix epoch.
	ClockOrigin int64
	// Drain bounds the wait for answers after the last send or an interrupt;
	// then what is in flight is cancelled. Zero is DefaultDrain, negative none.
	Drain time.Duration
	// Abandon bounds the wait for a cancelled Ask to return; then its op is
	// Unknown without a Done. Zero is DefaultAbandon, negative none.
	Abandon time.Duration
	// Progress, if set, is told how many ops have ended and how many are
	// planned, from one goroutine every ProgressPeriod and once at the end.
	// planned is 0 where closed loops leave the number open.
	Progress func(done, planned int64)
}

// Recording is what was recorded while a Plan was carried out.
type Recording struct {
	// Ops are in order of Sent (Unsent ones of Planned), ties by op. Worker
	// tells who made an op: the ops of one worker never overlap. Worker 0 is the
	// scheduler, which made those that no worker took.
	Ops rlbench.Ops
	// StartedAt is the wall clock at Instant 0; it carries the monotonic reading
	// too, so that other moments of this process can be made Instants.
	StartedAt time.Time
	// Interrupted: the context ended before all that was planned was sent.
	Interrupted bool
	// Latency is Done less Planned, Service Done less Sent, Lateness Sent less
	// Planned: of answered ops (Allowed, Denied) alone, in nanoseconds, at most
	// HighestTrackable.
	Latency, Service, Lateness *hdrhistogram.Histogram
	// LatenessP99 is the 99th percentile of the lateness of answered ops outside
	// releases: many requests let go together on few cores are always late.
	LatenessP99 time.Duration
	// Clamped counts values above HighestTrackable that were recorded as it.
	Clamped int64
	// UnsentInFlight counts ops unsent because the in-flight limit was reached,
	// UnsentBound those kept back by the bounds on ops or duration.
	UnsentInFlight, UnsentBound int64
	// ClientsHeld counts closed loops whose start found no worker free: they
	// began when one became so, or never.
	ClientsHeld int64
	// Abandoned counts Asks that did not return even when cancelled.
	Abandoned int64
	// ReleaseSpread is the greatest time between the first and the last Sent of
	// one release.
	ReleaseSpread time.Duration
}

// Drive carries out the plan against the target and returns the evidence. When
// ctx ends nothing more is sent, and what was recorded is returned. An error
// without a Recording means that the plan cannot be carried out; an error that
// wraps [ErrTarget] comes with what was recorded until then.
func Drive(ctx context.Context, plan *rlbench.Plan, target rlbench.Target, o Options) (*Recording, error) {
	if err := check(plan); err != nil {
		return nil, fmt.Errorf("carrying out the plan: %w", err)
	}
	r, err := newRun(ctx, plan, target, o)
	if err != nil {
		return nil, fmt.Errorf("preparing the run: %w", err)
	}
	defer r.close()
	stopWatching := r.watch(ctx)
	stopTelling := r.tell(o.Progress)
	r.schedule()
	r.finish()
	stopWatching()
	stopTelling()
	return r.recording(), r.broken()
}

// check finds what no driver could carry out. Scenario files are judged
// elsewhere, with line and caret; these are the last line of defence.
func check(p *rlbench.Plan) error {
	if p.Bounds.Duration < 1 || p.Bounds.Ops < 1 || p.Bounds.InFlight < 1 {
		return fmt.Errorf("bounds of duration %s, %d ops and %d in flight: each is at least 1",
			p.Bounds.Duration, p.Bounds.Ops, p.Bounds.InFlight)
	}
	for c := range p.Clients {
		if len(p.Clients[c].Requests) == 0 || p.Clients[c].Think < 0 {
			return fmt.Errorf("client %d: it needs a request, and a think time of at least 0", c)
		}
	}
	seen := make(map[int32]bool)
	for i := range p.Arrivals {
		a := &p.Arrivals[i]
		if i > 0 && a.At < p.Arrivals[i-1].At {
			return fmt.Errorf("arrival %d is planned at %s, before the one ahead of it at %s", i, a.At, p.Arrivals[i-1].At)
		}
		if a.Release == 0 {
			continue
		}
		if i > 0 && p.Arrivals[i-1].Release == a.Release {
			if p.Arrivals[i-1].At != a.At {
				return fmt.Errorf("arrival %d: release %d is planned at two instants", i, a.Release)
			}
			continue
		}
		if seen[a.Release] {
			return fmt.Errorf("arrival %d: the arrivals of release %d do not stand together", i, a.Release)
		}
		seen[a.Release] = true
	}
	return nil
}
