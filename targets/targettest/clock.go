package targettest

import (
	"sync/atomic"
	"time"
)

// VirtualClock is a limiter's clock that only moves when told to.
type VirtualClock struct{ now atomic.Int64 }

// NewVirtualClock returns a clock that reads start, in nanoseconds since the
// Unix epoch.
func NewVirtualClock(start int64) *VirtualClock {
	c := &VirtualClock{}
	c.now.Store(start)
	return c
}

// Read is the clock's reading in nanoseconds since the Unix epoch.
func (c *VirtualClock) Read() int64 { return c.now.Load() }

// Pass lets d go by at once.
func (c *VirtualClock) Pass(d time.Duration) { c.now.Add(int64(d)) }
