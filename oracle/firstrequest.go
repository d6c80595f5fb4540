package oracle

// The promise: a charged request that finds no window open opens one, and at
// most L is charged in each window.
//
// Source: the INCR + EXPIRE recipe of the Redis documentation, and every design
// that starts a counter with a time to live at the first hit.
//
// A window that opens at t0 covers [t0, t0+W). W is known within bounds: a clock
// that ticks in steps of res makes a window last up to res shorter or longer
// (Redis PX: in (W, W+1ms]). Both bounds are needed, for neither a shorter nor a
// longer W is the gentler one: of a window that really lasted 11, an op near its
// end would open the next one too early if W were 10, and that one would then hold
// the op beside all of its own.
//
// Direction of doubt: ops of Unknown outcome are never counted, yet may have
// opened a window, which helps the innocent; so does every request that cannot
// be shown to have come too late for it. In a history that is not complete a
// window may have been opened at any moment by a request that nobody saw.
//
// Smallest history that breaks it: "first L=1 W=2: A[0,0] A[1,1]". Smallest one
// that breaks the sliding window and is lawful here, because the two windows meet
// between the ops: "first L=2 W=2: A[0,0] A[1,1] A[2,2] A[2,2]". Smallest one that is
// lawful only by an op of unknown outcome, which may have opened [2,4):
// "first L=2 W=2: U[0,0] A[3,4] A[4,4] A[3,3]".

import (
	"fmt"
	"math"

	"github.com/rlbench/rlbench"
)

// firstRequest is the promise in numbers.
type firstRequest struct {
	limit int64
	// Every window lasts at least windowMin and at most windowMax, in nanoseconds.
	windowMin, windowMax int64
	// complete: the limiter was fresh when the history began, and every op that
	// it decided is here.
	complete bool
	// dearOpens: a refused request dearer than the whole limit may open a window;
	// refusalsOpen: any refused request may. What they charge is counted against
	// nobody.
	dearOpens, refusalsOpen bool
	// budget is how many ops the search may touch before it gives up.
	budget int64
}

// searchOps is how many ops the search for an explanation may touch on a history
// of n ops, when the run has so many keys.
func searchOps(n, keys int) int64 { return 16*int64(n) + (1<<25)/int64(max(keys, 1)) }

// rule rules on one key. ids are the op numbers of the Run's rows, by which the
// proof calls its ops.
func (p firstRequest) rule(h *history, ids []int64) ruling {
	// Any window is a stretch of windowMax at most, so what such a stretch can hold
	// bounds what a window can.
	most := window{limit: p.limit, length: p.windowMax}.possible(h, h.due())
	r := ruling{most: most, doubt: max(0, most.over())}
	if i := dearest(h.allowed.cost); i >= 0 && h.allowed.cost[i] > p.limit {
		p.loneCost(h, ids, i, &r)
		return r
	}
	if r.doubt == 0 {
		r.verdict, r.certain = rlbench.Pass, p.complete
		return r
	}
	u := p.units(h)
	if st, found := u.firstWindow(); found {
		u.testify(st, ids, &r)
		return r
	}
	if u.atSent() || u.atDone() {
		r.verdict = rlbench.Pass
		return r
	}
	s, found := u.explain()
	if found {
		r.verdict = rlbench.Pass
		return r
	}
	if st, found := u.fullWindows(); found {
		u.testify(st, ids, &r)
		return r
	}
	u.convict(s, &r)
	return r
}

func (p firstRequest) loneCost(h *history, ids []int64, i int, r *ruling) {
	row, cost := h.allowed.row[i], h.allowed.cost[i]
	r.verdict, r.over, r.witness = rlbench.Fail, cost-p.limit, []uint32{row}
	r.because = fmt.Sprintf("one op of cost %d was let through where no window can hold more than %d", cost, p.limit)
	r.proof = []string{fmt.Sprintf("op %d alone cost %d, and no window can hold more than %d", ids[row], cost, p.limit)}
}

// later is t+d, held at the ends of time instead of wrapping round.
func later(t, d int64) int64 {
	sum := t + d
	if d >= 0 && sum < t {
		return math.MaxInt64
	}
	if d < 0 && sum > t {
		return math.MinInt64
	}
	return sum
}
