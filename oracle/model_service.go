package oracle

import (
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
)

// The two models of Envoy.
//
// Its local rate limit since 1.31 is a token bucket that fills without steps: only the
// ratio of tokens a fill to the time between fills matters, and equality passes. Clock:
// the steady one, in fractions of a second as floating point; the model is exact, and a
// replay allows for a nanosecond of rounding. Several buckets are asked slowest first;
// the first that refuses ends it, and what was taken from those before is lost:
// chargesEarlier.
//
// The rate limit service counts in windows of whole seconds on the epoch, by the wall
// clock of its host. It adds first and refuses when the count is above the limit, so
// what it refuses stays counted, and each of several limits is charged whatever the
// others say: chargesEverything.

// newServiceWindow is the aligned window of the rate limit service.
func newServiceWindow(l rlbench.Limit) (limiter, error) {
	if l.Per%time.Second != 0 {
		return nil, fmt.Errorf("the rate limit service has no window of %s: its clock counts seconds", l.Per)
	}
	return newAlignedWindow(l), nil
}
