package oracle

// The promise: a charged request that finds no window open opens one, and at
// most L is charged in each window.
//
// Source: the INCR + EXPIRE recipe of the Redis documentation, and every design
// that starts a counter with a time to live at the first hit.
//
// A window that opens at t0 covers [t0, t0+W). W is known within bounds: a clock
// that ticks in steps of res makes a window last up to res shorter or longer
// (Redis PX: in (W, W+1ms]). Both bounds are needed. Neither a shorter nor a
// longer W is the gentler one here: with L=2 W=1 an op at the end of a window
// that really lasted 2 would open the next one too early, and that one would then
// hold three.
//
// Direction of doubt: ops of Unknown outcome are never counted, yet may have
// opened a window, which helps the innocent; so does every request that cannot
// be shown to have come too late for it. In a history that is not complete a
// window may have been opened at any moment by a request that nobody saw.
//
// Smallest history that breaks it: L=1 W=2, two ops allowed at [0,0] and [1,1].
// The same two with an Unknown op sent at 0 before them do not: with W=1 it may
// have opened [0,1) without being counted... and L=2 W=2, Unknown from 0, allowed
// [3,3] [3,4] [4,4] is lawful only because the Unknown op may have opened [2,4).

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
	// dearOpens: a request dearer than the whole limit opens a window though it is
	// refused; what it charges there is not counted against anybody.
	dearOpens bool
	// budget is how many ops the search may touch before it gives up.
	budget int64
}

// searchOps is how many ops the search for an explanation may touch on a history
// of n ops, when the run has so many keys.
func searchOps(n, keys int) int64 { return 16*int64(n) + (1<<25)/int64(max(keys, 1)) }

// judge rules on one key. ids are the op numbers of the Run's rows, by which the
// proof calls its ops.
func (p firstRequest) judge(h *history, ids []int64) ruling {
	allowed := &h.allowed
	for i, c := range allowed.cost {
		if c > p.limit {
			return p.loneCost(h, ids, i)
		}
	}
	peak := possiblePeak(h, p.windowMax)
	doubt := max(0, peak-p.limit)
	if peak <= p.limit {
		return p.kept(peak)
	}
	u := p.units(h)
	if f, found := u.firstWindow(); found {
		return u.ruleOnBound(h, ids, f, doubt)
	}
	if u.atSent() || u.atDone() {
		return p.explained(doubt)
	}
	s, found := u.explain()
	if found {
		return p.explained(doubt)
	}
	if f, found := u.fullWindows(); found {
		return u.ruleOnBound(h, ids, f, doubt)
	}
	return u.ruleOnSearch(h, ids, s, doubt)
}

// kept rules that no choice of moments could have broken the promise. Any window
// is a stretch shorter than or as long as windowMax, so the most that any such
// stretch may hold bounds it.
func (p firstRequest) kept(peak int64) ruling {
	because := fmt.Sprintf("at most %d can have been charged within any %s, of %d",
		peak, rlbench.Instant(p.windowMax), p.limit)
	return ruling{verdict: rlbench.Pass, certain: p.complete, because: because}
}

func (p firstRequest) explained(doubt int64) ruling {
	return ruling{verdict: rlbench.Pass, doubt: doubt, because: fmt.Sprintf(
		"some moments within the measured intervals keep every window within %d; the worst would exceed it by %d", p.limit, doubt)}
}

func (p firstRequest) loneCost(h *history, ids []int64, i int) ruling {
	row, cost := h.allowed.row[i], h.allowed.cost[i]
	return ruling{
		verdict: rlbench.Fail,
		because: fmt.Sprintf("one request of cost %d was allowed, more than the whole limit of %d", cost, p.limit),
		witness: []uint32{row},
		proof:   []string{fmt.Sprintf("op %d alone cost %d; no window can hold more than %d.", ids[row], cost, p.limit)},
		doubt:   cost - p.limit,
	}
}

// possiblePeak is the most that can have been charged within one window (t-w, t]
// anywhere: everything sent by t counts until it certainly left.
func possiblePeak(h *history, w int64) int64 {
	a, u := &h.allowed, &h.unknown
	left := order(a.done)
	var sum, peak int64
	i, j, out := 0, 0, 0
	for i < a.len() || j < u.len() {
		t := int64(math.MaxInt64)
		if i < a.len() {
			t = a.sent[i]
		}
		if j < u.len() {
			t = min(t, u.sent[j])
		}
		for ; i < a.len() && a.sent[i] == t; i++ {
			sum += a.cost[i]
		}
		for ; j < u.len() && u.sent[j] == t; j++ {
			sum += u.cost[j]
		}
		for ; out < len(left) && a.done[left[out]] <= later(t, -w); out++ {
			sum -= a.cost[left[out]]
		}
		peak = max(peak, sum)
	}
	return peak
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
