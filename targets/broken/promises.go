package broken

import (
	"time"

	"github.com/rlbench/rlbench"
)

// What the mutants promise and are asked. Most promise 10 a second, by a clock that
// ticks in milliseconds.

const tick = time.Millisecond

func aligned() rlbench.Policy { return fixed(rlbench.Epoch, limit(10, time.Second)) }
func opened() rlbench.Policy  { return fixed(rlbench.FirstRequest, limit(10, time.Second)) }
func logged() rlbench.Policy  { return policy(rlbench.SlidingLog, limit(10, time.Second)) }
func counted() rlbench.Policy { return policy(rlbench.SlidingCounter, limit(10, time.Second)) }
func bucket() rlbench.Policy  { return policy(rlbench.TokenBucket, rate(10, time.Second, 10)) }

func policy(a rlbench.Algorithm, limits ...rlbench.Limit) rlbench.Policy {
	return rlbench.Policy{Algorithm: a, Resolution: tick, Limits: limits}
}

// fixed is a policy of fixed windows that begin where the anchor says.
func fixed(anchor rlbench.Anchor, limits ...rlbench.Limit) rlbench.Policy {
	for i := range limits {
		limits[i].Anchor = anchor
	}
	return policy(rlbench.FixedWindow, limits...)
}

// charging is the policy of one whose refusals use budget too.
func charging(p rlbench.Policy) rlbench.Policy {
	p.ChargesRefusals = true
	return p
}

func limit(count int64, per time.Duration) rlbench.Limit {
	return rlbench.Limit{Count: count, Per: per}
}

func rate(count int64, per time.Duration, burst int64) rlbench.Limit {
	return rlbench.Limit{Count: count, Per: per, Burst: burst}
}

// together is a release of many at once; apart is one after the other.
func together(at time.Duration, n int) part { return part{at: at, n: n} }

func apart(at time.Duration, n int, every time.Duration) part {
	return part{at: at, n: n, every: every}
}
