package rlbench

import (
	"math"
	"time"
)

// Instant is a moment of one target's run: nanoseconds on the driver's
// monotonic clock since that target's run began. It may be negative for events
// that came before.
type Instant int64

// NoInstant stands where there is no moment: the Sent of an op that was never
// sent, the Done of one that was never answered.
const NoInstant Instant = math.MinInt64

// After returns the instant d later than i.
func (i Instant) After(d time.Duration) Instant { return i + Instant(d) }

// Since returns how long before i the instant earlier was.
func (i Instant) Since(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// Known reports whether i is a moment at all.
func (i Instant) Known() bool { return i != NoInstant }

// String gives the instant as a duration since the run began, "none" for
// [NoInstant].
func (i Instant) String() string {
	if !i.Known() {
		return "none"
	}
	return time.Duration(i).String()
}

// LimiterClock ties the limiter's own clock to the driver's instants. Aligned
// windows lie on the limiter's clock, and so does what it says of its decisions.
type LimiterClock struct {
	// Origin is the reading of the limiter's clock at Instant 0, in nanoseconds
	// since the Unix epoch.
	Origin int64
	// Error bounds how far Origin may be from the truth, either way.
	Error time.Duration
	// Stated is false when the limiter's clock could not be read: then Origin
	// and Error claim nothing.
	Stated bool
}
