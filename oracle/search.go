package oracle

import "slices"

// pieceMax bounds the unit pieces into which ops of differing cost are cut.
const pieceMax = 1 << 22

// search decides whether some moments keep all rules at once. No cost is above what
// a rule allows a single op.
//
// With equal costs the answer is exact. With differing costs the question is as
// hard as packing bins, so it is settled from both sides: an explanation found by a
// weighted search, forward or backward in time, excuses; and when not even the same
// cost cut into equal pieces, each with a moment of its own, can be explained, then
// the whole cannot either.
func (e *explainer) search(ops *columns, rules []rule) answer {
	if ops.len() == 0 {
		return explained
	}
	if equal := equalCost(ops.cost); equal > 0 {
		return e.decide(ops, rules, equal)
	}
	if e.explain(ops, paces(rules, 0, ops.len())) == explained {
		return explained
	}
	back := make([]rule, len(rules))
	for i, r := range rules {
		back[i] = r.mirrored()
	}
	if e.explain(ops.mirrored(), paces(back, 0, ops.len())) == explained {
		return explained
	}
	pieces, size := ops.pieces()
	if pieces == nil || e.decide(pieces, rules, size) != unexplained {
		return undecided
	}
	return unexplained
}

// decide is exact for equal costs, but for the limits of its two ways.
func (e *explainer) decide(ops *columns, rules []rule, equal int64) answer {
	verdict := e.explain(ops, paces(rules, equal, ops.len()))
	if verdict == undecided {
		verdict = rounds(ops, paces(rules, equal, ops.len()), nil)
	}
	return verdict
}

// equalCost returns the cost that all share, 0 when they differ.
func equalCost(costs []int64) int64 {
	for _, c := range costs {
		if c != costs[0] {
			return 0
		}
	}
	if len(costs) == 0 {
		return 1
	}
	return costs[0]
}

// mirrored returns the ops as they are when time runs backwards.
func (c *columns) mirrored() *columns {
	by := order(c.done)
	slices.Reverse(by)
	m := &columns{}
	for _, i := range by {
		m.sent = append(m.sent, -c.done[i])
		m.done = append(m.done, -c.sent[i])
		m.cost = append(m.cost, c.cost[i])
	}
	return m
}

// pieces cuts every op into pieces of the greatest size that divides all costs;
// nil when there would be too many.
func (c *columns) pieces() (cut *columns, size int64) {
	for _, cost := range c.cost {
		size = greatestCommonDivisor(size, cost)
	}
	if sum(c.cost)/size > pieceMax {
		return nil, size
	}
	cut = &columns{}
	for i, cost := range c.cost {
		for range cost / size {
			cut.sent = append(cut.sent, c.sent[i])
			cut.done = append(cut.done, c.done[i])
			cut.cost = append(cut.cost, size)
		}
	}
	return cut, size
}
