// Package memory holds the limiters that run in this process alone: no server,
// no connection, nothing between the driver and the decision.
package memory

import (
	"context"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// resolution is the step of the clock that decisions here go by.
const resolution = time.Nanosecond

// Designs lists the family. Each limiter opened has a clock of its own that
// starts at the host's wall clock and never steps.
func Designs() []targets.Design { return designs(targets.SteadyClock) }

// DesignsOn lists the family on the given clock, such as a virtual one. Who
// waits for a turn still waits by the host's timers until that clock has reached it.
func DesignsOn(clock targets.Clock) []targets.Design {
	return designs(func() targets.Clock { return clock })
}

func designs(clock func() targets.Clock) []targets.Design {
	all := []targets.Design{
		design(clock, newFixedWindow, targets.Design{Algorithm: rlbench.FixedWindow,
			Anchors: []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest},
			About:   "a counter a window"}),
		design(clock, newSlidingLog, targets.Design{Algorithm: rlbench.SlidingLog,
			About: "a stamp for every charge that still counts"}),
		design(clock, newSlidingCounter, targets.Design{Algorithm: rlbench.SlidingCounter,
			About: "two counters a key, in exact fractions"}),
	}
	for _, a := range []rlbench.Algorithm{rlbench.TokenBucket, rlbench.GCRA, rlbench.LeakyMeter} {
		all = append(all, design(clock, newBucket, targets.Design{Algorithm: a, Accept: acceptBuckets,
			About: "the level of a bucket, at exact rates"}))
	}
	return append(all, design(clock, newLeakyQueue, targets.Design{Algorithm: rlbench.LeakyQueue, Accept: acceptQueue,
		About: "a queue that lets go at an exact rate"}))
}

// design completes a design of this family.
func design[T rlbench.Target](clock func() targets.Clock, open func([]rlbench.Limit, targets.Clock) T, d targets.Design) targets.Design {
	d.Name = "memory-" + string(d.Algorithm)
	d.About += ", in this process; gives up sharing with any other process"
	d.Resolution = func(rlbench.Anchor) time.Duration { return resolution }
	check := d
	d.Open = func(_ context.Context, setup targets.Setup) (rlbench.Target, error) {
		if err := check.Check(setup); err != nil {
			return nil, err
		}
		return open(setup.Policy.Limits, clock()), nil
	}
	return d
}
