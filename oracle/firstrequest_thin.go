package oracle

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
			if o := (opener{sent: u.sent[i], done: u.done[i], room: u.limit - u.weight[i], row: u.ops.row[i]}); matters(o) {
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
