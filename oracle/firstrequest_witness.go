package oracle

import (
	"fmt"
	"math"
	"slices"

	"github.com/rlbench/rlbench"
)

// instant writes a moment as the reports do.
func instant(t int64) string { return rlbench.Instant(t).String() }

// ruleOnBound turns a stretch that holds more than windows can into a Fail with
// the fewest of its ops that still do.
func (u *unitOps) ruleOnBound(h *history, ids []int64, st firstStretch, doubt int64) ruling {
	st, ops := u.shrink(st)
	r := ruling{verdict: rlbench.Fail, doubt: doubt, witness: u.rows(h, ops)}
	cost := u.cost(ops)
	r.because = fmt.Sprintf("%s in %s, where windows of at most %d can hold %d",
		charged(len(ops), cost), instant(st.to-st.from+1), u.promise.limit, st.most*u.unit)
	r.proof = u.proofOfBound(h, ids, st, len(ops), cost)
	return r
}

// shrink looks for a shorter stretch that fewer ops exceed.
func (u *unitOps) shrink(st firstStretch) (firstStretch, []int) {
	for {
		ops := u.tightest(st)
		from, to := u.around(ops)
		if shorter := u.measure(from, to); shorter.held > shorter.most && shorter.most < st.most {
			st = shorter
			continue
		}
		return u.measure(st.from, to), ops
	}
}

// charged says how much certainly was.
func charged(ops int, cost int64) string {
	if int64(ops) == cost {
		return fmt.Sprintf("%d requests were allowed", ops)
	}
	return fmt.Sprintf("%d requests of cost %d in all were allowed", ops, cost)
}

// tightest chooses of the ops within a stretch the fewest that exceed what it can
// hold: the dearest, and among equals those answered first.
func (u *unitOps) tightest(st firstStretch) []int {
	var within []int
	for i := 0; i < len(u.sent) && u.sent[i] <= st.to; i++ {
		if u.sent[i] >= st.from && u.done[i] <= st.to {
			within = append(within, i)
		}
	}
	slices.SortStableFunc(within, func(x, y int) int {
		if by := compare(u.weight[y], u.weight[x]); by != 0 {
			return by
		}
		return compare(u.done[x], u.done[y])
	})
	sum := int64(0)
	for n, i := range within {
		if sum += u.weight[i]; sum > st.most {
			within = within[:n+1]
			break
		}
	}
	slices.Sort(within)
	return within
}

// around is the shortest stretch that holds the ops.
func (u *unitOps) around(ops []int) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, i := range ops {
		from, to = min(from, u.sent[i]), max(to, u.done[i])
	}
	return from, to
}

func (u *unitOps) rows(h *history, ops []int) []uint32 {
	rows := make([]uint32, len(ops))
	for n, i := range ops {
		rows[n] = h.allowed.row[i]
	}
	return rows
}

func (u *unitOps) cost(ops []int) int64 {
	sum := int64(0)
	for _, i := range ops {
		sum += u.weight[i] * u.unit
	}
	return sum
}

// proofOfBound says why no moments let windows hold the ops of the stretch.
func (u *unitOps) proofOfBound(h *history, ids []int64, st firstStretch, ops int, cost int64) []string {
	within := fmt.Sprintf("All %d were sent at %s or later and answered by %s, so each was charged in between.",
		ops, instant(st.from), instant(st.to))
	before := u.whyNoneWasOpen(h, ids, st)
	windowMin := instant(u.promise.windowMin)
	if before != "" && st.fresh == 1 {
		return []string{before,
			fmt.Sprintf("So the first window that can have charged any of them opens at %s or later, and a window lasts at least %s: no second one can open before %s.",
				instant(st.from), windowMin, instant(st.from+u.promise.windowMin)),
			within,
			fmt.Sprintf("That is before a second window could open: all were charged in one window, together %d, and it may hold %d.", cost, u.promise.limit)}
	}
	lines := []string{within, fmt.Sprintf("Windows last at least %s, so at most %d can open in that stretch, and they hold at most %d.",
		windowMin, st.fresh, timesLimit(st.fresh, u.limit)*u.unit)}
	if before != "" {
		return append(lines, before, fmt.Sprintf("Together they were charged %d, which is more.", cost))
	}
	return append(lines, u.ifOneWasOpen(h, ids, st), fmt.Sprintf("Together they were charged %d, more than either.", cost))
}

// whyNoneWasOpen says why no window can have been open when the stretch began;
// empty when one can.
func (u *unitOps) whyNoneWasOpen(h *history, ids []int64, st firstStretch) string {
	if st.openers > 0 {
		return ""
	}
	row, first := u.firstOpener(h)
	if first >= st.from {
		return fmt.Sprintf("The history began with no window open, and the first request that can have opened one is op %d, sent at %s.", ids[row], instant(first))
	}
	return fmt.Sprintf("A window lasts at most %s, and every request sent before %s that can have opened one was answered by %s: no window was open any more.",
		instant(u.promise.windowMax), instant(st.from), instant(st.from-u.promise.windowMax))
}

// firstOpener is the first request that can have opened a window, of a history
// with allowed ops.
func (u *unitOps) firstOpener(h *history) (row uint32, sent int64) {
	row, sent = h.allowed.row[0], u.sent[0]
	if len(u.openers) > 0 && u.openers[0].sent < sent {
		row, sent = u.openers[0].row, u.openers[0].sent
	}
	return row, sent
}

// ifOneWasOpen says how much more a window can excuse that was open when the
// stretch began.
func (u *unitOps) ifOneWasOpen(h *history, ids []int64, st firstStretch) string {
	who := "a request that is not in the history"
	switch {
	case st.openAt == unseen:
	case st.openAt >= 0:
		who = fmt.Sprintf("op %d, sent at %s, the likeliest of %d", ids[h.allowed.row[st.openAt]], instant(st.open.sent), st.openers)
	default:
		who = fmt.Sprintf("op %d, sent at %s, the likeliest of %d", ids[st.open.row], instant(st.open.sent), st.openers)
	}
	return fmt.Sprintf("If a window was open already, opened by %s, it had room for at most %d of them and lasted until %s at least; at most %d more can open after it: together they hold at most %d.",
		who, st.open.room*u.unit, instant(st.over), st.after, later(st.open.room, timesLimit(st.after, u.limit))*u.unit)
}
