package targets

import "time"

// Clock reads a limiter's clock: nanoseconds since the Unix epoch. It never
// goes back.
type Clock func() int64

// SteadyClock returns a clock that starts at the host's wall clock and then
// follows its monotonic clock: it never steps, however the wall clock is set.
func SteadyClock() Clock {
	start := time.Now()
	origin := start.UnixNano()
	return func() int64 { return origin + int64(time.Since(start)) }
}
