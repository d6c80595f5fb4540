package oracle

import (
	"fmt"

	"github.com/rlbench/rlbench"
)

// A part of the allowed ops that no windows can serve convicts the whole, if the
// others stay what they may have been: requests that opened a window. So an op
// is left out of an accusation by making it an opener. Leaving out only loosens,
// hence what is broken without some ops is broken with them.

// crisisWindows are the numbers of windows before the point where the search got
// stuck that are judged by themselves when the whole was too much for it.
var crisisWindows = [...]int64{1, 2, 4, 8}

// trialShare is the share of what is left of the budget that one trial may use,
// so that a hard one does not end the others.
const trialShare = 4

// ruleOnSearch rules when neither a cheap explanation nor a bound settled it and
// the search found nothing.
func (u *unitOps) ruleOnSearch(h *history, ids []int64, s *firstSearch, doubt int64) ruling {
	budget := u.promise.budget
	kept := u.broken(s, &budget)
	if kept == nil {
		because := "neither lawful moments nor a proof that there are none was found within a budget of %d ops touched"
		if !u.equal {
			because = "the costs differ: no lawful moments were found and none ruled out within a budget of %d ops touched"
		}
		return ruling{doubt: doubt, because: fmt.Sprintf(because, u.promise.budget)}
	}
	kept = u.thin(kept, &budget)
	cost := u.cost(kept)
	from, to := u.around(kept)
	st := u.measure(from, to)
	others := len(u.part(kept).openers)
	return ruling{
		verdict: rlbench.Fail, doubt: doubt, witness: u.rows(h, kept),
		because: fmt.Sprintf("%s in %s, and no moments within the measured intervals keep every window within %d",
			charged(len(kept), cost), instant(to-from+1), u.promise.limit),
		proof: []string{
			fmt.Sprintf("These %d requests cost %d in all; each was charged between its Sent and its Done, so all of them from %s to %s.",
				len(kept), cost, instant(from), instant(to)),
			fmt.Sprintf("A window holds at most %d and lasts at least %s: at most %d can open in that stretch, and one may have been open before.",
				u.promise.limit, instant(u.promise.windowMin), st.fresh),
			fmt.Sprintf("Every way to open them was tried, by each of these requests and by %d others that were in flight near them, whether charged or not: none lets the windows hold them all.", others),
		},
	}
}

// broken returns ops that no windows can serve, nil when it found none.
func (u *unitOps) broken(s *firstSearch, budget *int64) []int {
	all := make([]int, len(u.sent))
	for i := range all {
		all[i] = i
	}
	if !s.overdrawn && (u.equal || u.isBroken(all, budget)) {
		return all
	}
	stuck := u.sent[min(s.reached, len(u.sent)-1)]
	for _, windows := range crisisWindows {
		from := later(stuck, -timesLimit(windows, u.promise.windowMax))
		to := later(stuck, 2*u.promise.windowMax)
		var kept []int
		for i := range u.sent {
			if u.sent[i] >= from && u.done[i] < to {
				kept = append(kept, i)
			}
		}
		if len(kept) < len(all) && u.isBroken(kept, budget) {
			return kept
		}
	}
	return nil
}

// isBroken reports whether no windows can serve the given ops, even in unit
// pieces. False also when the budget does not suffice to tell.
func (u *unitOps) isBroken(kept []int, budget *int64) bool {
	pieces := int64(0)
	for _, i := range kept {
		pieces = later(pieces, u.weight[i])
	}
	share := *budget / trialShare
	if len(kept) == 0 || pieces > share {
		return false
	}
	*budget -= int64(len(u.sent))
	s := u.part(kept).search(share)
	found := s.descend()
	*budget -= share - s.budget
	return !found && !s.overdrawn
}

// part is the history in which only the given ops must be served, in pieces of
// one unit, and the others may open windows.
func (u *unitOps) part(kept []int) *unitOps {
	from, to := u.around(kept)
	part := &unitOps{promise: u.promise, unit: u.unit, limit: u.limit, equal: true}
	matters := func(o opener) bool {
		return o.sent <= to && (o.done == endless || later(o.done, u.promise.windowMax) > from)
	}
	next := 0
	for i := 0; i < len(u.sent) && u.sent[i] <= to; i++ {
		if next == len(kept) || kept[next] != i {
			if o := (opener{sent: u.sent[i], done: u.done[i], room: u.limit - u.weight[i]}); matters(o) {
				part.openers = append(part.openers, o)
			}
			continue
		}
		next++
		for range u.weight[i] {
			part.sent, part.done = append(part.sent, u.sent[i]), append(part.done, u.done[i])
			part.weight = append(part.weight, 1)
		}
	}
	for _, o := range u.openers {
		if matters(o) {
			part.openers = append(part.openers, o)
		}
	}
	part.sortOpeners()
	return part
}

// thin leaves out ops while the rest stays broken, in halves, quarters and so on
// down to single ones, as far as the budget goes.
func (u *unitOps) thin(kept []int, budget *int64) []int {
	for size := (len(kept) + 1) / 2; size > 0; size /= 2 {
		for at := 0; at < len(kept) && *budget > 0; {
			*budget -= int64(len(kept))
			without := append(append(make([]int, 0, len(kept)), kept[:at]...), kept[min(at+size, len(kept)):]...)
			if u.isBroken(without, budget) {
				kept = without
				continue
			}
			at += size
		}
	}
	return kept
}
