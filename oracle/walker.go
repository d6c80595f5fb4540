package oracle

import "slices"

// walker explains ops that come in pieces. Positions whose ops are not listed any more
// are final and forgotten, but for what the pace needs of them. An op that is still to
// come is due after the frontier, and what must be taken back for its sake is due later
// still; that may make others miss which are due sooner, and so on, each by no more
// than the longest op. Only when that reaches back to what is final does the walker not
// know.
type walker struct {
	explainer
	rules []rule
	paces []pace
	// equal is the cost of every op so far, 0 before the first; differ: costs differ.
	equal  int64
	differ bool
	// answer is explained until something could not be.
	answer answer
	// latest is the last op, in order of sent, of all that were served and settled.
	latest int
	// small holds at and served between pieces.
	small struct {
		at     []int64
		served []uint32
	}
}

// bench is room to work in, that serves every walker in turn.
type bench struct {
	at     []int64
	served []uint32
}

// begin takes a bench to work at, rest leaves it.
func (w *walker) begin(b *bench) {
	w.at = append(b.at[:0], w.small.at...)
	w.served = append(b.served[:0], w.small.served...)
}

func (w *walker) rest(b *bench) {
	b.at, b.served = w.at, w.served
	w.small.at, w.small.served = snug(w.small.at, w.at), snug(w.small.served, w.served)
	w.at, w.served = nil, nil
}

// snug copies values into a slice with little room to spare.
func snug[T any](into, values []T) []T {
	if n := len(values); cap(into) < n {
		into = make([]T, 0, n+n/4)
	}
	return append(into[:0], values...)
}

// walkReplays is how many ops barriers may take up again for each op that comes.
const walkReplays = 64

func newWalker(rules []rule) *walker {
	w := &walker{rules: rules, answer: explained, latest: -1}
	w.explainer.reset(0)
	w.replays = 64 * replaysLeast
	return w
}

// go on with a piece: fresh is the first op that was not in the one before.
func (w *walker) advance(ops *columns, fresh int, frontier int64) {
	if w.answer != explained || ops.len() == 0 {
		return
	}
	w.price(ops.cost[fresh:])
	scaled := ops.scaled(w.rules)
	if scaled == nil {
		w.answer = undecided
		return
	}
	frontier = w.scaled(frontier)
	w.replays += walkReplays * (ops.len() - fresh)
	w.answer = w.serve(scaled, w.paces, frontier)
	if w.answer == unexplained && w.differ {
		w.answer = undecided
	}
}

// price chooses the pace that fits the costs.
func (w *walker) price(costs []int64) {
	for _, cost := range costs {
		if w.equal == 0 {
			w.equal = cost
			w.paces = paces(w.rules, cost, 0)
		}
		if cost != w.equal && !w.differ {
			w.differ = true
			for _, p := range w.paces {
				p.differ(len(w.at))
			}
		}
	}
}

// settle makes final what was served before the first position that holds one of the
// ops from n on. It returns the first op that is still needed.
func (w *walker) settle(ops *columns, n int, frontier int64) int {
	if w.answer != explained {
		return n
	}
	scale := gridOf(w.rules)
	for w.final < len(w.at) && int(w.served[w.final]) < n {
		op := w.served[w.final]
		w.latest = max(w.latest, int(op))
		w.finalDue = max(w.finalDue, ops.done[op]*scale)
		w.final++
	}
	needed := min(n, w.released)
	for _, op := range w.served[w.final:] {
		needed = min(needed, int(op))
	}
	for _, op := range w.waiting {
		needed = min(needed, int(op))
	}
	w.forget(frontier)
	return needed
}

// now is a moment before which no position is served any more.
func (w *walker) now(frontier int64) int64 {
	if w.final < len(w.at) {
		return w.at[max(0, w.final-1)]
	}
	return w.scaled(frontier)
}

// scaled is a frontier in time that is scaled up, or sooner where whole numbers do not
// suffice for it.
func (w *walker) scaled(frontier int64) int64 {
	scale := gridOf(w.rules)
	if frontier < 0 {
		return -mulDiv(-frontier, scale, 1)
	}
	return min(mulDiv(frontier, scale, 1), forever)
}

// forget drops the positions that bear on nothing that is still to come. The last that
// is final stays: what comes next is served no sooner.
func (w *walker) forget(frontier int64) {
	if w.final == 0 {
		return
	}
	drop, now := w.final-1, w.now(frontier)
	for _, p := range w.paces {
		drop = min(drop, p.matters(w.at, w.final, now))
	}
	if drop == 0 {
		return
	}
	w.at = w.at[:copy(w.at, w.at[drop:])]
	w.served = w.served[:copy(w.served, w.served[drop:])]
	w.barrier = w.barrier[:copy(w.barrier, w.barrier[min(drop, len(w.barrier)):])]
	for _, p := range w.paces {
		p.forget(drop)
	}
	w.final -= drop
}

// shift renumbers the ops after the first were dropped.
func (w *walker) shift(dropped int) {
	if w.answer != explained {
		return
	}
	for i := range w.served {
		w.served[i] -= min(w.served[i], uint32(dropped))
	}
	for i := range w.waiting {
		w.waiting[i] -= uint32(dropped)
	}
	w.released -= dropped
	w.latest = max(-1, w.latest-dropped)
}

// fresh tells, between pieces, that nothing of what came bears on what is still to come.
func (w *walker) fresh(frontier int64) bool {
	at := w.small.at
	if w.answer != explained || w.final < len(at) || len(w.waiting) > 0 {
		return false
	}
	now := w.scaled(frontier)
	return !slices.ContainsFunc(w.paces, func(p pace) bool { return p.matters(at, w.final, now) < w.final })
}

// lastOp is the last op needed for the crisis.
func (w *walker) lastOp() int {
	return max(w.latest, int(slices.Max(w.served[:w.crisis+1])))
}
