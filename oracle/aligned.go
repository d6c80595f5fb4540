package oracle

// At most limit in each window [k·W, (k+1)·W) of the limiter's own clock (the
// fixed window anchored at the epoch; for example the INCR of a key that holds the
// window's number).
//
// An op is in window k for certain if and only if sent and done both are. Doubt
// goes to the limiter: an op that straddles an edge counts in neither, and the
// intervals come widened by whatever the limiter's clock may be off.
// Smallest history that breaks it: "L=1 W=4: A[0,1] A[2,3]"; in no single window,
// but for certain: "L=1 W=1: A[1,1] A[1,2] A[2,2]".
// Smallest innocent one that a sliding window would accuse: "L=1 W=2: A[1,1] A[2,2]".

// aligned is the promise of at most limit in each window of the given length on a
// clock that reads origin at instant 0.
type aligned struct {
	limit, length, origin int64
}

func (a aligned) number(t int64) int64 { return floorDiv(t+a.origin, a.length) }

// start is the instant at which window k begins.
func (a aligned) start(k int64) int64 { return k*a.length - a.origin }

// certain returns the run of windows that held most for certain beyond what it may
// hold. For equal costs this is exact: when no run holds too much, every op can be
// given a window (Hall's condition), whatever the order.
func (a aligned) certain(ops *columns, due []uint32) peak {
	worst := peak{allowed: a.limit}
	n, total := ops.len(), sum(ops.cost)
	if total <= a.limit {
		return worst
	}
	// far is a number of empty windows that no cost of this run can fill.
	far := total/a.limit + 1
	values := make([]int64, n)
	for k := 1; k < n; k++ {
		windows := min(far, a.number(ops.done[due[k]])-a.number(ops.done[due[k-1]]))
		values[k] = values[k-1] - a.limit*windows
		if values[k] < beginning/2 {
			return worst // Beyond whole numbers: claim nothing.
		}
	}
	c := newCrest(values)
	rank := rankTies(ops.done, due)
	from := int32(n)
	for i := n - 1; i >= 0; i-- {
		k := a.number(ops.sent[i])
		c.add(rank[i], ops.cost[i])
		if i > 0 && a.number(ops.sent[i-1]) == k {
			continue
		}
		for from > 0 && a.number(ops.done[due[from-1]]) >= k {
			from--
		}
		if from == int32(n) {
			continue
		}
		best := c.from(from)
		run := a.number(ops.done[due[c.head]]) - k + 1
		if run > far {
			continue
		}
		cost := best - values[c.head]
		if cost-a.limit*run > worst.over() {
			worst = peak{cost: cost, allowed: a.limit * run, from: a.start(k), to: a.start(k+run) - 1}
		}
	}
	return worst
}

// possible returns the greatest cost that some moments put into one window.
func (a aligned) possible(h *history, due []uint32) peak {
	worst := peak{allowed: a.limit}
	for _, sents := range [][]int64{h.allowed.sent, h.unknown.sent} {
		early, doubt, late := h.allowed.early(), h.unknown.early(), h.allowed.late(due)
		for _, t := range sents {
			from := a.start(a.number(t))
			to := from + a.length - 1
			held := early.through(to) + doubt.through(to) - late.through(from-1)
			if held > worst.cost {
				worst.cost, worst.from, worst.to = held, from, to
			}
		}
	}
	return worst
}

func (a aligned) pace(equal int64, n int, scale int64) pace {
	return &alignedPace{budget: newBudget(a.limit, equal, n), length: a.length * scale, origin: a.origin * scale}
}

// mirrored is the same promise when time runs backwards.
func (a aligned) mirrored() rule {
	a.origin = a.length - 1 - a.origin
	return a
}

func sum(costs []int64) int64 {
	total := int64(0)
	for _, c := range costs {
		total += c
	}
	return total
}
