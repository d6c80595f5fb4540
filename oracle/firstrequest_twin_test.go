package oracle

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// The twin of the first-request promise: every choice of moments, tick by tick,
// on histories of a few ops. It shares no code with what it checks.

// twinOp is an op of a small history: 'A' allowed, 'U' unknown, 'D' denied, and
// 'O' charged in its interval or never.
type twinOp struct {
	kind       byte
	sent, done int64
	cost       int64
}

// firstTwin asks whether some choice of moments, of windows within their bounds
// of length and of who was charged keeps the promise.
type firstTwin struct {
	p    firstRequest
	ops  []twinOp
	last int64
	seen map[firstTwinState]bool
}

type firstTwinState struct{ t, end, charged, left int64 }

func (w *firstTwin) innocent() bool {
	start := int64(0)
	for _, o := range w.ops {
		start = min(start, o.sent)
		w.last = max(w.last, o.sent, o.done)
	}
	w.seen = map[firstTwinState]bool{}
	return w.from(firstTwinState{t: start - w.p.windowMax, end: start - w.p.windowMax, left: 1<<len(w.ops) - 1})
}

func (w *firstTwin) from(s firstTwinState) bool {
	if known, ok := w.seen[s]; ok {
		return known
	}
	w.seen[s] = w.explore(s)
	return w.seen[s]
}

func (w *firstTwin) explore(s firstTwinState) bool {
	if s.t > w.last {
		return true
	}
	if !w.p.complete && s.t >= s.end && w.opens(s, 0, s.left) {
		return true
	}
	due := false
	for i, o := range w.ops {
		bit := int64(1) << i
		if s.left&bit == 0 || o.sent > s.t || o.kind != 'U' && o.done < s.t {
			continue
		}
		due = due || o.kind == 'A' && o.done == s.t
		dear := o.cost > w.p.limit
		switch {
		case dear && o.kind != 'A':
			if w.p.dearOpens && s.t >= s.end && w.opens(s, 0, s.left&^bit) {
				return true
			}
		case o.kind == 'D':
			if w.p.refusalsOpen && s.t >= s.end && w.opens(s, o.cost, s.left&^bit) {
				return true
			}
		case s.t >= s.end:
			if !dear && w.opens(s, o.cost, s.left&^bit) {
				return true
			}
		case s.charged+o.cost <= w.p.limit:
			if w.from(firstTwinState{s.t, s.end, s.charged + o.cost, s.left &^ bit}) {
				return true
			}
		}
	}
	return !due && w.from(firstTwinState{s.t + 1, s.end, s.charged, s.left})
}

// opens tries every length of a window that opens now.
func (w *firstTwin) opens(s firstTwinState, cost, left int64) bool {
	for length := w.p.windowMin; length <= w.p.windowMax; length++ {
		if w.from(firstTwinState{s.t, s.t + length, cost, left}) {
			return true
		}
	}
	return false
}

// rightlyRefused asks whether a refusal of that cost can have been right: whether some
// choice of moments, with whatever was charged, leaves no room at some moment of it.
func (w *firstTwin) rightlyRefused(q twinOp, charges bool) bool {
	ops := slices.Clone(w.ops)
	for i := range ops {
		if ops[i].kind == 'D' && charges {
			ops[i].kind = 'A'
		}
	}
	r := refusalTwin{p: w.p, ops: ops, q: q, seen: map[firstTwinState]bool{}}
	start := min(0, q.sent)
	for _, o := range ops {
		start = min(start, o.sent)
	}
	return r.from(firstTwinState{t: start, end: start, left: 1<<len(ops) - 1})
}

// refusalTwin looks for a moment at which the refusal found its window full.
type refusalTwin struct {
	p    firstRequest
	ops  []twinOp
	q    twinOp
	seen map[firstTwinState]bool
}

func (r *refusalTwin) from(s firstTwinState) bool {
	if known, ok := r.seen[s]; ok {
		return known
	}
	r.seen[s] = r.explore(s)
	return r.seen[s]
}

func (r *refusalTwin) explore(s firstTwinState) bool {
	if s.t > r.q.done {
		return false
	}
	if s.t >= r.q.sent && s.t < s.end && s.charged+r.q.cost > r.p.limit {
		return true
	}
	due := false
	for i, o := range r.ops {
		bit := int64(1) << i
		if s.left&bit == 0 || o.kind == 'D' || o.sent > s.t || o.kind != 'U' && o.done < s.t {
			continue
		}
		due = due || o.kind == 'A' && o.done == s.t
		if s.t < s.end {
			if r.from(firstTwinState{s.t, s.end, s.charged + o.cost, s.left &^ bit}) {
				return true
			}
			continue
		}
		for length := r.p.windowMin; length <= r.p.windowMax; length++ {
			if r.from(firstTwinState{s.t, s.t + length, o.cost, s.left &^ bit}) {
				return true
			}
		}
	}
	return !due && r.from(firstTwinState{s.t + 1, s.end, s.charged, s.left})
}

// historyOf builds the history of one key.
func historyOf(ops []twinOp) (*history, []int64) {
	h := &history{key: "k"}
	sorted := make([]int, len(ops))
	ids := make([]int64, len(ops))
	for i := range ops {
		sorted[i], ids[i] = i, int64(i)
	}
	slices.SortStableFunc(sorted, func(x, y int) int { return cmp.Compare(ops[x].sent, ops[y].sent) })
	for _, i := range sorted {
		o := ops[i]
		c := map[byte]*columns{'A': &h.allowed, 'U': &h.unknown, 'D': &h.denied}[o.kind]
		c.sent, c.cost, c.row = append(c.sent, o.sent), append(c.cost, o.cost), append(c.row, uint32(i))
		if o.kind != 'U' {
			c.done = append(c.done, o.done)
		}
	}
	return h, ids
}

// histories is how many random histories a test judges: few by default,
// RLBENCH_HISTORIES of them when that is set.
func histories(t *testing.T, few int) int {
	text := os.Getenv("RLBENCH_HISTORIES")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("RLBENCH_HISTORIES=%q is not a number of histories", text)
	}
	return n
}

// randomTwinOps draws a small history on times 0..12.
func randomTwinOps(random *rand.Rand, most int, kinds string, costs int64) []twinOp {
	ops := make([]twinOp, 2+random.IntN(most-1))
	long := 1 + random.Int64N(6)
	for i := range ops {
		sent := random.Int64N(13)
		done := min(12, sent+random.Int64N(long))
		ops[i] = twinOp{kinds[random.IntN(len(kinds))], sent, done, 1 + random.Int64N(costs)}
	}
	return ops
}
