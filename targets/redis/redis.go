// Package redis holds the limiters that keep their state in a Redis, a Valkey
// or a work-alike: one that decides on the server, and two that decide in the
// client from what it read.
package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// Clocks that decisions go by, as steps of their reading.
const (
	// serverClock is the step of TIME.
	serverClock = time.Microsecond
	// expiryClock is the step of a key's expiry. A key given PX w at a moment t
	// of the server is alive while the server's whole milliseconds are at most
	// those of t plus w, so it lasts longer than w and at most 1 ms longer.
	expiryClock = time.Millisecond
	// clientClock is the step of this process's clock.
	clientClock = time.Nanosecond
)

// keptAfter is how long a key outlives the window that it counts, where its
// expiry only frees memory: no clock doubt may make it end sooner.
const keptAfter = time.Second

// Designs lists the family.
func Designs() []targets.Design {
	return []targets.Design{luaDesign(), getsetDesign(), incrDesign()}
}

// fixedWindows completes a fixed-window design of this family: what they all
// need, and the checks that they share.
func fixedWindows(d targets.Design, accept func([]rlbench.Limit) error,
	open func(context.Context, *store, targets.Setup) (rlbench.Target, error)) targets.Design {
	d.Needs = targets.Redis
	d.Algorithm = rlbench.FixedWindow
	d.Anchors = []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest}
	d.Accept = accept
	check := d
	d.Open = func(ctx context.Context, setup targets.Setup) (rlbench.Target, error) {
		if err := check.Check(setup); err != nil {
			return nil, err
		}
		s, err := openStore(ctx, setup)
		if err != nil {
			return nil, fmt.Errorf("opening %s: %w", d.Name, err)
		}
		target, err := open(ctx, s, setup)
		if err != nil {
			s.disconnect()
			return nil, fmt.Errorf("opening %s: %w", d.Name, err)
		}
		return target, nil
	}
	return d
}

// single accepts one limit, whose window the anchor's clock can measure.
func single(limits []rlbench.Limit) error {
	if len(limits) != 1 {
		return fmt.Errorf("it keeps one limit, not %d: use redis-lua-fixed-window, or memory-fixed-window", len(limits))
	}
	if l := limits[0]; l.Anchor == rlbench.FirstRequest && l.Per%expiryClock != 0 {
		return fmt.Errorf("a window of %s is not a whole number of milliseconds, in which keys expire", l.Per)
	}
	return nil
}

// wholeMillis is d rounded up to whole milliseconds, in which keys expire.
func wholeMillis(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}
