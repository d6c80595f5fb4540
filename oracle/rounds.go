package oracle

import (
	"slices"
)

// Rounds decide the same question as explain for equal costs, all barriers at
// once, where one at a time would take too long.
//
// Ops differ only in their intervals, so only the slots matter: the i-th moment is
// no earlier than slot u_i. Slots serve the ops if and only if for all a <= b there
// are as many in [a, b] as ops that lie whole in it (Hall's condition for
// intervals). So with m(a) the least, over b, of the slots up to b less the ops
// whole in [a, b]: at most m(a) moments lie before a. Below 0 nothing excuses the
// limiter; else position m(a), counted from 0, may not come before a. A round finds
// m for every a in one sweep; when no slot has to move the slots serve everything.

// roundsMax ends the rounds. On runs of real limiters about one to ten are needed.
const roundsMax = 50

// step is one inference of the rounds, for a proof that a person can follow:
// whole ops lie in [from, to], and at most upTo moments lie up to to; so at most
// upTo-whole lie before from.
type step struct {
	from, to    int64
	whole, upTo int
}

// rounds decides whether moments exist that keep to the paces. The ops are in
// order of sent and of equal cost. trace, where given, hears each inference that
// moved a slot, and last the one that left nothing.
func rounds(ops *columns, paces []pace, trace func(step, []int64)) answer {
	n := ops.len()
	if n == 0 {
		return explained
	}
	due := order(ops.done)
	rank := rankTies(ops.done, due)
	barrier := slices.Repeat([]int64{beginning}, n)
	slots := make([]int64, n)
	values := make([]int64, n)
	for range roundsMax {
		fillSlots(slots, barrier, ops, paces)
		upTo := 0
		for k, op := range due {
			for upTo < n && slots[upTo] <= ops.done[op] {
				upTo++
			}
			values[k] = -int64(upTo)
		}
		moved, broken := raise(barrier, slots, ops, due, rank, newCrest(values), trace)
		if broken {
			return unexplained
		}
		if !moved {
			return explained
		}
	}
	return undecided
}

// fillSlots sets each position to the least moment that all before it allow.
func fillSlots(slots, barrier []int64, ops *columns, paces []pace) {
	before := int64(beginning)
	for i := range slots {
		at := max(before, ops.sent[i], barrier[i])
		for _, p := range paces {
			at = max(at, p.after(slots, i, ops.cost[i]))
		}
		slots[i] = at
		for _, p := range paces {
			p.admit(slots, i, ops.cost[i])
		}
		before = at
	}
}

// raise sweeps a over the sents downwards and raises the barriers to match m(a).
func raise(barrier, slots []int64, ops *columns, due []uint32, rank []int32, c *crest, trace func(step, []int64)) (moved, broken bool) {
	n := ops.len()
	from := int32(n)
	for i := n - 1; i >= 0; i-- {
		a := ops.sent[i]
		c.add(rank[i], 1)
		if i > 0 && ops.sent[i-1] == a {
			continue
		}
		for from > 0 && ops.done[due[from-1]] >= a {
			from--
		}
		m := -c.from(from)
		if m >= int64(n) || m >= 0 && slots[m] >= a {
			continue
		}
		if trace != nil {
			to := ops.done[due[c.head]]
			upTo, _ := slices.BinarySearch(slots, to+1)
			trace(step{from: a, to: to, whole: upTo - int(m), upTo: upTo}, slots)
		}
		if m < 0 {
			return moved, true
		}
		barrier[m] = max(barrier[m], a)
		moved = true
	}
	return moved, false
}

// rankTies returns each value's first position among those in order, equal values
// sharing one.
func rankTies(values []int64, by []uint32) []int32 {
	rank := make([]int32, len(by))
	for k, at := range by {
		rank[at] = int32(k)
		if k > 0 && values[by[k-1]] == values[at] {
			rank[at] = rank[by[k-1]]
		}
	}
	return rank
}
