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

// DesignsOn lists the family on the given clock, such as a virtual one.
func DesignsOn(clock targets.Clock) []targets.Design {
	return designs(func() targets.Clock { return clock })
}

func designs(clock func() targets.Clock) []targets.Design {
	return []targets.Design{fixedWindowDesign(clock)}
}

func fixedWindowDesign(clock func() targets.Clock) targets.Design {
	design := targets.Design{
		Name:       "memory-fixed-window",
		About:      "a counter a window in this process; gives up sharing with any other process",
		Algorithm:  rlbench.FixedWindow,
		Anchors:    []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest},
		Resolution: func(rlbench.Anchor) time.Duration { return resolution },
	}
	check := design
	design.Open = func(_ context.Context, setup targets.Setup) (rlbench.Target, error) {
		if err := check.Check(setup); err != nil {
			return nil, err
		}
		return newFixedWindow(setup.Policy.Limits, clock()), nil
	}
	return design
}
