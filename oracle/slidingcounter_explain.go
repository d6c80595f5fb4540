package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// keepsCounters reports whether ops at the given moments, which rise in the order of
// by, keep every limit; by is nil where they rise as they are.
func keepsCounters(limits []slidingCounter, at, costs []int64, by []uint32) bool {
	for _, c := range limits {
		if !c.keeps(at, costs, by) {
			return false
		}
	}
	return true
}

func (c slidingCounter) keeps(at, costs []int64, by []uint32) bool {
	place := func(n int) int {
		if by == nil {
			return n
		}
		return int(by[n])
	}
	window, before, own := int64(0), int64(0), int64(0)
	for n := range at {
		i := place(n)
		if k := c.number(at[i]); n == 0 || k != window {
			before = 0
			if n > 0 && k == window+1 {
				before = own
			}
			window, own = k, 0
		}
		own += costs[i]
		tied := n+1 < len(at) && at[place(n+1)] == at[i]
		if !tied && c.estimate(before, own, at[i]) > c.limit {
			return false
		}
	}
	return true
}

// explainCounters looks for moments that keep all limits: all at Sent, all at Done,
// and for each limit those that a search by windows finds.
func explainCounters(limits []slidingCounter, ops *columns, due []uint32, budget int64) bool {
	if keepsCounters(limits, ops.sent, ops.cost, nil) || keepsCounters(limits, ops.done, ops.cost, due) {
		return true
	}
	ways := preferences[:]
	if equalCost(ops.cost) > 0 {
		ways = ways[:1]
	}
	for _, c := range limits {
		for _, prefer := range ways {
			at, _ := c.search(ops, prefer, budget/int64(len(ways)))
			if at != nil && keepsCounters(limits, at, ops.cost, order(at)) {
				return true
			}
		}
	}
	return false
}

// inexplicable reports whether no moments keep the limit, for certain: not even when
// costs that differ are cut into equal pieces, each with a moment of its own. False
// also where the budget does not suffice to tell.
func (c slidingCounter) inexplicable(ops *columns, budget int64) bool {
	if c.limit > c.length || ops.len() == 0 {
		return false
	}
	if equalCost(ops.cost) == 0 {
		if ops, _ = ops.pieces(); ops == nil {
			return false
		}
	}
	at, whole := c.search(ops, dueFirst, budget)
	return at == nil && whole
}

// convict writes the ruling on ops that no moments excuse, though no one window or
// run of windows shows it.
func (c slidingCounter) convict(ops *columns, budget int64, r *ruling) {
	broken := func(chosen []int) bool { return c.inexplicable(ops.pick(chosen), budget) }
	picked := ops.pick(thin(span(0, ops.len()), broken))
	first, last := picked.sent[0], slices.Max(picked.done)
	r.verdict, r.witness = rlbench.Fail, picked.row
	r.because = fmt.Sprintf("%s were let through within %s that cannot have kept the estimate within %d, whatever the decision moments",
		count(picked.len(), "op"), time.Duration(last-first+1), c.limit)
	r.proof = []string{
		fmt.Sprintf("these %s cost %d, and were decided between %s and %s", count(picked.len(), "op"), sum(picked.cost), sayInstant(first), sayInstant(last)),
		fmt.Sprintf("in its window, an op is best decided as late as it can be: then it counts against the fewest others, and most of the window before has slid out; so only which of the %d windows each falls into matters",
			c.number(last)-c.number(first)+1),
		fmt.Sprintf("every way to deal them to those windows was tried: each brings the estimate above %d", c.limit),
	}
}
