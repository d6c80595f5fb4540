package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

func TestPlaceStart(t *testing.T) {
	const w = time.Minute
	exact := offset{0, 0}
	for _, c := range []struct {
		reason string
		place  rlbench.Placement
		span   rlbench.Instant
		now    time.Duration
		clock  offset
		want   time.Duration
	}{
		{"no aligned window: as soon as the workers stand", rlbench.Placement{}, 0, 3 * time.Second, exact, 3*time.Second + startLead},
		{"5 ms before the next edge", rlbench.Placement{Edge: rlbench.BeforeEdge, By: 5 * time.Millisecond, Window: w}, 0, 3 * time.Second, exact, w - 5*time.Millisecond},
		{"that place has just gone: the edge after", rlbench.Placement{Edge: rlbench.BeforeEdge, By: 5 * time.Millisecond, Window: w}, 0, w - 20*time.Millisecond, exact, 2*w - 5*time.Millisecond},
		{"10 ms after the next edge", rlbench.Placement{Edge: rlbench.AfterEdge, By: 10 * time.Millisecond, Window: w}, 0, 3 * time.Second, exact, w + 10*time.Millisecond},
		{"the limiter's clock is 7 s ahead, so its edge comes sooner", rlbench.Placement{Edge: rlbench.AfterEdge, Window: w}, 0, 3 * time.Second, offset{int64(7 * time.Second), int64(7 * time.Second)}, w - 7*time.Second},
		{"the limiter's clock is behind", rlbench.Placement{Edge: rlbench.AfterEdge, Window: w}, 0, 0, offset{-int64(time.Second), -int64(time.Second)}, time.Second},
		{"it fits in this window: at once", rlbench.Placement{Edge: rlbench.InsideWindow, By: time.Second, Window: w}, rlbench.Instant(time.Second), 3 * time.Second, exact, 3*time.Second + startLead},
		{"it does not fit: after the next edge", rlbench.Placement{Edge: rlbench.InsideWindow, By: time.Second, Window: w}, rlbench.Instant(time.Second), 58 * time.Second, exact, w + insideLead},
	} {
		if got := placeStart(c.place, c.span, c.now, c.clock); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}

// skewed is a clock that stands off from the host's by a fixed amount.
type skewed struct {
	base time.Time
	off  int64
	err  error
}

func (s skewed) ReadClock(context.Context) (int64, error) {
	return int64(time.Since(s.base)) + s.off, s.err
}

func TestReadOffsetHoldsTheTruth(t *testing.T) {
	base := time.Now()
	for _, truth := range []int64{0, 1_700_000_000_000_000_000, -5_000_000_000} {
		got, err := readOffset(context.Background(), skewed{base: base, off: truth}, base, 0)
		if err != nil || got.lo > truth || got.hi < truth {
			t.Errorf("offset %d was bounded by %+v, %v", truth, got, err)
		}
		clock := limiterClock(got.at(int64(time.Second)), time.Second, got)
		if off := clock.Origin - (truth + int64(time.Second)); off > int64(clock.Error) || -off > int64(clock.Error) {
			t.Errorf("origin %d is further from the truth than its error %v", clock.Origin, clock.Error)
		}
	}
	gone := errors.New("gone")
	if _, err := readOffset(context.Background(), skewed{base: base, err: gone}, base, 0); !errors.Is(err, gone) {
		t.Errorf("a clock that cannot be read gave %v", err)
	}
}

func TestStepped(t *testing.T) {
	for _, c := range []struct {
		reason        string
		before, after offset
		want          bool
	}{
		{"the same bounds", offset{0, 100}, offset{0, 100}, false},
		{"bounds that touch", offset{0, 100}, offset{100, 200}, false},
		{"slew that a daemon allows itself", offset{0, 100}, offset{400_000, 400_100}, false},
		{"less than the readings' own error is no step", offset{0, 100}, offset{50_000, 50_100}, false},
		{"a second forward", offset{0, 100}, offset{1e9, 1e9 + 100}, true},
		{"a second back", offset{0, 100}, offset{-1e9, -1e9 + 100}, true},
	} {
		if got := stepped(c.before, c.after, time.Second); got != c.want {
			t.Errorf("%s: %v", c.reason, got)
		}
	}
}
