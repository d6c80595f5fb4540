package memory

import (
	"math/bits"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// slidingCounter is two counters a key and limit.
type slidingCounter = limiter[counts, counterRule]

func newSlidingCounter(limits []rlbench.Limit, clock targets.Clock) *slidingCounter {
	var rules []counterRule
	for _, l := range limits {
		rules = append(rules, counterRule{count: l.Count, length: int64(l.Per)})
	}
	return newLimiter(rules, clock)
}

// counterRule keeps the estimate at most count: what was charged in the window
// [k·length, (k+1)·length) so far, and of what was charged in the one before the
// share that has not slid out yet.
type counterRule struct{ count, length int64 }

// counts are what was charged in the window that begins at start and in the one
// before it.
type counts struct{ start, before, own int64 }

// at returns the counts as they stand at now, and how much of their window is left.
func (r counterRule) at(c *counts, now int64) (counts, int64) {
	since := floorMod(now, r.length)
	switch start := now - since; start - c.start {
	case 0:
		return *c, r.length - since
	case r.length:
		return counts{start: start, before: c.own}, r.length - since
	default:
		return counts{start: start}, r.length - since
	}
}

func (r counterRule) most() int64 { return r.count }

// left counts a part of a unit that has not slid out yet as a whole one. That
// changes no comparison with a whole cost.
func (r counterRule) left(c *counts, now int64) int64 {
	held, left := r.at(c, now)
	slid, over := mulDiv(held.before, left, r.length)
	if over > 0 {
		slid++
	}
	return r.count - held.own - slid
}

// wait is until the window before has slid out far enough. Where what is in this
// window is too much by itself it must end, and slide out in turn.
func (r counterRule) wait(c *counts, now, cost int64) int64 {
	held, left := r.at(c, now)
	if cost <= r.count-held.own {
		return left - r.staying(held.before, r.count-held.own-cost)
	}
	return left + r.length - r.staying(held.own, r.count-cost)
}

// staying is how long before its end a window's cost is down to what room there
// is, which is less than the cost.
func (r counterRule) staying(cost, room int64) int64 {
	stays, _ := mulDiv(room, r.length, cost)
	return stays
}

func (r counterRule) charge(c *counts, now, cost int64) {
	*c, _ = r.at(c, now)
	c.own += cost
}

func (r counterRule) idle(c *counts, now int64) bool {
	held, _ := r.at(c, now)
	return held.before == 0 && held.own == 0
}

// mulDiv returns a·b/c and what is over, where the quotient is a number of 64
// bits and none is negative.
func mulDiv(a, b, c int64) (quotient, over int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(hi, lo, uint64(c))
	return int64(q), int64(r)
}
