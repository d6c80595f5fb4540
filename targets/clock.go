package targets

import (
	"context"
	"time"
)

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

// WaitUntil returns nil when the clock reads the moment or later, and what ended
// ctx if that came first.
func (c Clock) WaitUntil(ctx context.Context, moment int64) error {
	for {
		left := moment - c()
		if left <= 0 {
			return nil
		}
		if err := pause(ctx, time.Duration(left)); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
