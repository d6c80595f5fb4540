package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// testify writes the ruling on a stretch that held more than windows can, with the
// fewest of its ops that still do.
func (u *unitOps) testify(st firstStretch, ids []int64, r *ruling) {
	held, most := st.held*u.unit, st.most*u.unit
	r.because = fmt.Sprintf("%d were let through for certain within %s, where windows of at most %d can hold %d",
		held, time.Duration(u.lastWhole(st)-st.from+1), u.promise.limit, most)
	st, chosen := u.shrink(st)
	picked := u.ops.pick(chosen)
	cost := sum(picked.cost)
	r.verdict, r.over, r.witness = rlbench.Fail, held-most, picked.row
	r.proof = u.proofOfStretch(st, ids, len(chosen), cost)
}

// lastWhole is when the last op that lies whole in the stretch was answered.
func (u *unitOps) lastWhole(st firstStretch) int64 {
	last := st.from
	for i, sent := range u.sent {
		if sent >= st.from && u.done[i] <= st.to {
			last = max(last, u.done[i])
		}
	}
	return last
}

// shrink looks for a shorter stretch that fewer ops exceed.
func (u *unitOps) shrink(st firstStretch) (firstStretch, []int) {
	for {
		chosen := tightest(u.ops, peak{allowed: st.most * u.unit, from: st.from, to: st.to})
		from, to := u.around(chosen)
		if shorter := u.measure(from, to); shorter.held > shorter.most && shorter.most < st.most {
			st = shorter
			continue
		}
		return u.measure(st.from, to), chosen
	}
}

// around is the shortest stretch that holds the ops, which are in order of sent.
func (u *unitOps) around(chosen []int) (from, to int64) {
	from, to = u.sent[chosen[0]], u.done[chosen[0]]
	for _, i := range chosen {
		to = max(to, u.done[i])
	}
	return from, to
}

// proofOfStretch says why no moments let windows hold the ops of the stretch.
func (u *unitOps) proofOfStretch(st firstStretch, ids []int64, ops int, cost int64) []string {
	shortest := time.Duration(u.promise.windowMin)
	lines := []string{fmt.Sprintf("these %s cost %d; all were sent at %s or later and answered by %s, so each was charged in between",
		count(ops, "op"), cost, sayInstant(st.from), sayInstant(st.to))}
	if st.openers > 0 {
		return append(lines,
			fmt.Sprintf("a window lasts at least %s, so at most %d can open in between, and they hold at most %d",
				shortest, st.fresh, timesLimit(st.fresh, u.limit)*u.unit),
			u.ifOneWasOpen(st, ids), fmt.Sprintf("%d is more than either", cost))
	}
	lines = append([]string{u.whyNoneWasOpen(st, ids)}, lines...)
	if st.fresh > 1 {
		return append(lines, fmt.Sprintf("a window lasts at least %s, so at most %d can open in between, and they hold at most %d: exceeded by %d",
			shortest, st.fresh, st.most*u.unit, cost-st.most*u.unit))
	}
	return append(lines,
		fmt.Sprintf("the first window that can have charged any of them opens at %s or later, whoever opens it, and lasts at least %s: no second one can open before %s",
			sayInstant(st.from), shortest, sayInstant(later(st.from, u.promise.windowMin))),
		fmt.Sprintf("so all were charged in one window, which may hold %d: exceeded by %d", u.promise.limit, cost-u.promise.limit))
}

// whyNoneWasOpen says why no window can have been open when the stretch began.
func (u *unitOps) whyNoneWasOpen(st firstStretch, ids []int64) string {
	row, first := u.ops.row[0], u.sent[0]
	if len(u.openers) > 0 && u.openers[0].sent < first {
		row, first = u.openers[0].row, u.openers[0].sent
	}
	if first >= st.from {
		return fmt.Sprintf("the history began with no window open, and the first request that can have opened one is op %d, sent at %s",
			ids[row], sayInstant(first))
	}
	return fmt.Sprintf("a window lasts at most %s, and every request sent before %s that can have opened one was answered by %s: no window was open any more",
		time.Duration(u.promise.windowMax), sayInstant(st.from), sayInstant(st.from-u.promise.windowMax))
}

// ifOneWasOpen says how much a window can excuse that was open when the stretch
// began.
func (u *unitOps) ifOneWasOpen(st firstStretch, ids []int64) string {
	who := "a request that is not in the evidence"
	if st.open.sent != unseen {
		who = fmt.Sprintf("op %d, sent at %s (the best excuse of %d)", ids[st.open.row], sayInstant(st.open.sent), st.openers)
	}
	return fmt.Sprintf("if a window was open already, opened by %s, it had room for at most %d of them and was not over before %s; at most %d can open after it: together they hold at most %d",
		who, st.open.room*u.unit, sayInstant(st.over), st.after, st.seam*u.unit)
}

// convict rules when neither a cheap explanation nor a bound settled it and the
// search found nothing.
func (u *unitOps) convict(s *firstSearch, r *ruling) {
	budget := u.promise.budget
	kept := u.broken(s, &budget)
	if kept == nil {
		r.because = fmt.Sprintf("neither lawful moments nor a proof that there are none was found within a budget of %d ops touched", u.promise.budget)
		if !u.equal {
			r.because = "the costs differ: " + r.because
		}
		return
	}
	kept = thin(kept, func(chosen []int) bool { return u.isBroken(chosen, &budget) })
	from, to := u.around(kept)
	r.verdict, r.witness = rlbench.Fail, slices.Clone(u.ops.pick(kept).row)
	st := u.measure(from, to)
	r.because = fmt.Sprintf("%s were let through within %s that no windows of at most %d can hold, whatever the decision moments",
		count(len(kept), "op"), time.Duration(to-from+1), u.promise.limit)
	r.proof = []string{
		fmt.Sprintf("these %s cost %d; each was charged between its sending and its answer, so all of them from %s to %s",
			count(len(kept), "op"), sum(u.ops.pick(kept).cost), sayInstant(from), sayInstant(to)),
		fmt.Sprintf("a window holds at most %d and lasts at least %s: at most %d can open in between, and one may have been open before",
			u.promise.limit, time.Duration(u.promise.windowMin), st.fresh),
		fmt.Sprintf("every way to open them was tried, by each of these ops and by the %d others that were in flight near them, charged or not: none lets the windows hold them all",
			len(u.part(kept).openers)),
	}
}
