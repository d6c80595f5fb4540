package oracle

import (
	"cmp"
	"slices"
)

// At most limit in any window of length W, whichever way it lies (the sliding log).
//
// Windows are half open, (t-W, t]: ops whose moments lie less than W apart are in
// one window, those exactly W apart in none. Doubt goes to the limiter: Fail needs
// that no moments in [sent, done] keep the promise.
// Smallest history that breaks it in one window: "L=1 W=2: A[1,1] A[2,2]"; in no
// one window, but for certain: "L=1 W=2: A[2,2] A[1,3]".
// Smallest innocent one that a closed window would accuse: "L=1 W=1: A[5,5] A[6,6]".

// peak is the most that one stretch of time held, against what it may hold.
type peak struct {
	cost, allowed int64
	// from and to are the stretch: both ends included.
	from, to int64
}

func (p peak) over() int64 { return p.cost - p.allowed }

// window is the promise of at most limit in any window of the given length.
type window struct {
	limit, length int64
}

// certain returns the greatest cost that was in one window whatever the moments:
// that of the ops with sent >= x and done < x+W, over every sent x. Ops as long as
// the window are left out, for none can lie whole in one; with them gone the two
// staircases give the sum at once.
func (w window) certain(ops *columns, due []uint32) peak {
	return w.between(ops, due, 0, ops.len())
}

// between looks only at the windows that begin with the ops from lo to hi; lo is the
// first of its moment.
func (w window) between(ops *columns, due []uint32, lo, hi int) peak {
	worst := peak{allowed: w.limit}
	var late, early int64
	for i := range lo {
		if w.short(ops, i) {
			early += ops.cost[i]
		}
	}
	k := 0
	for i := lo; i < hi; i++ {
		x := ops.sent[i]
		if i > lo && ops.sent[i-1] < x {
			early = w.shortBefore(ops, i, early)
		}
		for ; k < len(due) && ops.done[due[k]] < x+w.length; k++ {
			if w.short(ops, int(due[k])) {
				late += ops.cost[due[k]]
			}
		}
		if late-early > worst.cost {
			worst.cost, worst.from, worst.to = late-early, x, x+w.length-1
		}
	}
	return worst
}

// shortBefore adds to the sum of what was sent before the tie of ops that ended at
// i the cost of that tie.
func (w window) shortBefore(ops *columns, i int, sum int64) int64 {
	for j := i - 1; j >= 0 && ops.sent[j] == ops.sent[i-1]; j-- {
		if w.short(ops, j) {
			sum += ops.cost[j]
		}
	}
	return sum
}

func (w window) short(ops *columns, i int) bool { return ops.done[i]-ops.sent[i] < w.length }

// possible returns the greatest cost that some moments put into one window: S(t)
// less D(t-W) at some sent t, where ops of unknown outcome are charged for ever.
func (w window) possible(h *history, due []uint32) peak {
	worst := peak{allowed: w.limit}
	for _, sents := range [][]int64{h.allowed.sent, h.unknown.sent} {
		early, doubt, late := h.allowed.early(), h.unknown.early(), h.allowed.late(due)
		for _, t := range sents {
			held := early.through(t) + doubt.through(t) - late.through(t-w.length)
			if held > worst.cost {
				worst.cost, worst.from, worst.to = held, t-w.length+1, t
			}
		}
	}
	return worst
}

func (w window) pace(equal int64, n int, scale int64) pace {
	return &windowPace{budget: newBudget(w.limit, equal, n), length: w.length * scale}
}

// tightest returns the fewest of the ops that lie whole in [p.from, p.to] whose
// cost exceeds the limit, and among those of equal cost a set that spans least.
func tightest(ops *columns, p peak) []int {
	inside := whole(ops, p.from, p.to)
	slices.SortStableFunc(inside, func(a, b int) int { return cmp.Compare(ops.cost[b], ops.cost[a]) })
	need, sum := 0, int64(0)
	for need < len(inside) && sum <= p.allowed {
		sum += ops.cost[inside[need]]
		need++
	}
	if need == 0 {
		return nil
	}
	// Those of the least cost taken may be exchanged for others of that cost.
	least := ops.cost[inside[need-1]]
	firm := 0
	for ops.cost[inside[firm]] > least {
		firm++
	}
	same := firm
	for same < len(inside) && ops.cost[inside[same]] == least {
		same++
	}
	chosen := append(inside[:firm:firm], narrowest(ops, inside[firm:same], need-firm)...)
	slices.Sort(chosen)
	return chosen
}

// whole returns the ops that lie whole in [from, to], in order of sent.
func whole(ops *columns, from, to int64) []int {
	start, _ := slices.BinarySearch(ops.sent, from)
	var inside []int
	for i := start; i < ops.len() && ops.sent[i] <= to; i++ {
		if ops.done[i] <= to {
			inside = append(inside, i)
		}
	}
	return inside
}

// narrowest returns count of the given ops, which are in order of sent, such that
// the last done is as soon after the first sent as can be. It walks the sents
// downwards and keeps the count least dones in a heap, greatest on top.
func narrowest(ops *columns, from []int, count int) []int {
	var least maxHeap
	best, bestAt, bestDone := int64(-1), int64(0), int64(0)
	for i := len(from) - 1; i >= 0; i-- {
		least.push(ops.done[from[i]])
		if len(least) > count {
			least.pop()
		}
		if span := least[0] - ops.sent[from[i]]; len(least) == count && (best < 0 || span <= best) {
			best, bestAt, bestDone = span, ops.sent[from[i]], least[0]
		}
	}
	var chosen []int
	for _, i := range from {
		if len(chosen) < count && ops.sent[i] >= bestAt && ops.done[i] <= bestDone {
			chosen = append(chosen, i)
		}
	}
	return chosen
}
