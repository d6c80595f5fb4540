package driver

import (
	"time"

	"github.com/rlbench/rlbench"
)

// clock reads the monotonic clock as Instants. base carries a monotonic
// reading, so that a step of the wall clock moves nothing.
type clock struct{ base time.Time }

// newClock puts Instant 0 at start. A start without a monotonic reading (one
// that came from another process) is tied to this process's clock once, here.
func newClock(start time.Time) clock {
	now := time.Now()
	return clock{base: now.Add(start.Sub(now))}
}

func (c clock) now() rlbench.Instant { return rlbench.Instant(time.Since(c.base)) }
