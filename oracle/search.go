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
	if ops = ops.scaled(rules); ops == nil {
		return undecided
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

// quick is the cheap half of search: what it explains is explained.
func (e *explainer) quick(ops *columns, rules []rule) answer {
	if ops.len() == 0 {
		return explained
	}
	if ops = ops.scaled(rules); ops == nil {
		return undecided
	}
	for _, r := range rules {
		if ops.cost[dearest(ops.cost)] > r.most() {
			return undecided
		}
	}
	return e.explain(ops, paces(rules, equalCost(ops.cost), ops.len()))
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

// scaled returns the ops in time that is scaled up to the rules' grid; nil where
// whole numbers do not suffice for it.
func (c *columns) scaled(rules []rule) *columns {
	scale := gridOf(rules)
	cost, length := sum(c.cost), max(slices.Max(c.done), -c.sent[0], 0)
	for _, r := range rules {
		m := scale / r.grid()
		if !r.fits(mulDiv(cost, m, 1), mulDiv(length, m, 1)) || mulDiv(length, scale, 1) == -beginning {
			return nil
		}
	}
	if scale == 1 {
		return c
	}
	s := &columns{sent: make([]int64, c.len()), done: make([]int64, c.len()), cost: c.cost, row: c.row}
	for i := range c.sent {
		s.sent[i] = c.sent[i] * scale
		s.done[i] = c.done[i] * scale
	}
	return s
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
