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
	n := ops.len()
	if n == 0 || !a.spans(ops.done[due[n-1]]-ops.sent[0]) || sum(ops.cost) <= a.limit {
		return worst // Nothing to claim, or beyond whole numbers.
	}
	c := climb{slope: alignedSlope{a, a.number(ops.sent[0])}, ops: ops, due: due}
	top, _ := c.walk(beginning, forever, forever)
	return a.run(top)
}

// spans tells whether whole numbers suffice for the room of so long a run of windows.
func (a aligned) spans(length int64) bool {
	return mulDiv(a.limit, length/a.length+3, 1) < forever/2
}

// run is the run of windows of a stretch.
func (a aligned) run(s summit) peak {
	first, last := a.number(s.x), a.number(s.y)
	return peak{cost: s.cost, allowed: a.limit * (last - first + 1), from: a.start(first), to: a.start(last+1) - 1}
}

// alignedSlope is how aligned windows open up.
type alignedSlope struct {
	aligned
	since int64
}

func (a alignedSlope) up(x int64) int64   { return a.limit * (a.number(x) - a.since) }
func (a alignedSlope) down(y int64) int64 { return a.limit * (a.number(y) + 1 - a.since) }
func (a alignedSlope) unit() int64        { return 1 }

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
