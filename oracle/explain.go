package oracle

import (
	"slices"
	"sort"
)

// Explain looks for moments that excuse the limiter: one in every [sent, done]
// such that the whole keeps the promise.
//
// The i-th moment in time is no earlier than the i-th sent, the moment before it,
// what the pace allows after those before it, and its barrier. Ops are served at
// these slots, earliest done first. When the op due at d misses position i, some
// op due later was served too soon: go back to the last such position k; it may
// not come before the least sent of those served after it, because all of those
// are due by d and need every slot from there on. That barrier holds in every
// explanation (B. Simons, "Multiprocessor scheduling of unit-time jobs with
// arbitrary release times and deadlines", SIAM J. Comput. 12, 1983). Without such
// a k nothing excuses the limiter.
//
// Exact when all costs are equal. When they differ the same walk is a search: what
// it finds is an explanation, and when it finds none nothing is proved.
// Smallest history that serving earliest-done-first alone gets wrong:
// "L=1 W=2: A[4,7] A[5,5]" (it must wait).

// answer is what a search for an explanation came to.
type answer int

const (
	undecided answer = iota
	explained
	unexplained
)

// explainer holds the working space of explain, to be used again.
type explainer struct {
	// at and served are the moment of each position and the op served there.
	at      []int64
	served  []uint32
	barrier []int64
	// waiting is a heap of the ops that are sent and not yet served.
	waiting  []uint32
	released int
	// crisis is the position that could not be served, after unexplained.
	crisis int
	// final is the first position that may still be taken back; those before it are
	// kept for the pace of later ones. None of theirs is due after finalDue.
	final    int
	finalDue int64
	// replays is how many ops barriers may still take up again.
	replays int
}

// replayFactor bounds the ops that barriers may take up again, as a multiple of all.
// replaysLeast is what the shortest history has.
const (
	replayFactor = 1
	replaysLeast = 1000
)

// forever is a moment after every other. It leaves room for arithmetic.
const forever = -beginning

func (e *explainer) reset(n int) {
	e.at = slices.Grow(e.at[:0], n)
	e.served = slices.Grow(e.served[:0], n)
	e.barrier = e.barrier[:0]
	e.waiting = e.waiting[:0]
	e.released, e.crisis, e.final, e.finalDue = 0, -1, 0, beginning
	e.replays = replayFactor*n + replaysLeast
}

// explain serves all ops, which are in order of sent, at the given paces.
func (e *explainer) explain(ops *columns, paces []pace) answer {
	e.reset(ops.len())
	return e.serve(ops, paces, forever)
}

// serve goes on serving, as far as nothing sent at the frontier or later can change.
// It explains what it has served.
func (e *explainer) serve(ops *columns, paces []pace, frontier int64) answer {
	for len(e.waiting) > 0 || e.released < ops.len() {
		i := len(e.at)
		op, at, certain := e.next(ops, paces, i, frontier)
		if !certain {
			return explained
		}
		e.served, e.at = append(e.served, op), append(e.at, at)
		if at <= ops.done[op] {
			for _, p := range paces {
				p.admit(e.at, i, ops.cost[op])
			}
			continue
		}
		k, least := e.culprit(ops, i)
		if k < 0 && ops.done[op] < e.finalDue {
			return undecided // A final position is in question.
		}
		if k < 0 {
			e.crisis = i
			return unexplained
		}
		if e.replays -= i - k + len(e.waiting); e.replays < 0 {
			return undecided
		}
		e.delay(k, least)
		e.rewind(ops, k, i)
	}
	return explained
}

// next takes the waiting op that is due first, at the least moment at which it
// may be served at position i. While it waits for room, an op due sooner may come; it
// is not certain which is next when that could be one sent at the frontier or later.
func (e *explainer) next(ops *columns, paces []pace, i int, frontier int64) (op uint32, at int64, certain bool) {
	at = beginning
	if i > 0 {
		at = e.at[i-1]
	}
	if i < len(e.barrier) {
		at = max(at, e.barrier[i])
	}
	if len(e.waiting) == 0 && e.released < ops.len() {
		at = max(at, ops.sent[e.released])
	}
	for {
		for e.released < ops.len() && ops.sent[e.released] <= at {
			e.push(ops, uint32(e.released))
			e.released++
		}
		op = e.waiting[0]
		room := max(at, ops.sent[op])
		for _, p := range paces {
			room = max(room, p.after(e.at, i, ops.cost[op]))
		}
		if room > at && e.released < ops.len() && ops.sent[e.released] <= room {
			at = ops.sent[e.released]
			continue
		}
		if room >= frontier && ops.done[op] >= frontier {
			return op, room, false
		}
		e.pop(ops)
		return op, room, true
	}
}

// culprit finds the last position before i whose op is due later than the one
// that misses i, and the least sent of those served after it; -1 for none.
func (e *explainer) culprit(ops *columns, i int) (k int, least int64) {
	due := ops.done[e.served[i]]
	least = ops.sent[e.served[i]]
	for k = i - 1; k >= e.final && ops.done[e.served[k]] <= due; k-- {
		least = min(least, ops.sent[e.served[k]])
	}
	if k < e.final {
		return -1, least
	}
	return k, least
}

// delay sets the barrier of position k.
func (e *explainer) delay(k int, until int64) {
	for len(e.barrier) <= k {
		e.barrier = append(e.barrier, beginning)
	}
	e.barrier[k] = max(e.barrier[k], until)
}

// rewind takes back the positions from k to i, both included.
func (e *explainer) rewind(ops *columns, k, i int) {
	e.released = 0
	if k > 0 {
		until := e.at[k-1]
		e.released = sort.Search(ops.len(), func(j int) bool { return ops.sent[j] > until })
	}
	again := append(slices.Clone(e.waiting), e.served[k:i+1]...)
	e.at, e.served = e.at[:k], e.served[:k]
	e.waiting = e.waiting[:0]
	for _, op := range again {
		if int(op) < e.released {
			e.push(ops, op)
		}
	}
}

// sooner orders the waiting: due first, then the greater cost, then sent first.
func (ops *columns) sooner(a, b uint32) bool {
	if ops.done[a] != ops.done[b] {
		return ops.done[a] < ops.done[b]
	}
	if ops.cost[a] != ops.cost[b] {
		return ops.cost[a] > ops.cost[b]
	}
	return a < b
}

func (e *explainer) push(ops *columns, op uint32) {
	heap := append(e.waiting, op)
	e.waiting = heap
	i := len(heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !ops.sooner(op, heap[up]) {
			break
		}
		heap[i] = heap[up]
		i = up
	}
	heap[i] = op
}

// pop removes the first of the heap.
func (e *explainer) pop(ops *columns) {
	last := len(e.waiting) - 1
	op := e.waiting[last]
	heap := e.waiting[:last]
	e.waiting = heap
	if last == 0 {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && ops.sooner(heap[down+1], heap[down]) {
			down++
		}
		if !ops.sooner(heap[down], op) {
			break
		}
		heap[i] = heap[down]
		i = down
	}
	heap[i] = op
}
