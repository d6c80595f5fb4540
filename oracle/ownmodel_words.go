package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rlbench/rlbench"
)

// convict writes the ruling on an op that no state of the model explains.
func (o *ownModel) convict(failed *replay, all []asked) ruling {
	op := failed.stuck
	r := ruling{verdict: rlbench.Fail, over: 1}
	does, would := "was let through", "refuses it"
	if op.outcome == rlbench.Denied {
		does, would = "was refused", "lets it through"
	}
	state := failed.before[0].say(op.from)
	if op.from == op.to {
		r.because = fmt.Sprintf("op %d of cost %d %s at %s, where the model %s: %s", op.id, op.cost, does, sayInstant(op.from), would, state)
	} else {
		r.because = fmt.Sprintf("op %d of cost %d %s at some moment from %s to %s, where the model %s throughout: %s at the first, %s at the last",
			op.id, op.cost, does, sayInstant(op.from), sayInstant(op.to), would, state, failed.before[0].say(op.to))
	}
	r.proof = []string{
		fmt.Sprintf("every decision before is explained, %s", leftover(len(failed.before))),
		fmt.Sprintf("in each of them the model %s at every moment that is left, whatever the order of the ops in flight; it %s", would, does),
	}
	r.witness = o.witness(op, all)
	return r
}

func leftover(states int) string {
	if states == 1 {
		return "which leaves one range of states"
	}
	return fmt.Sprintf("which leaves %d ranges of states", states)
}

// witness holds the op and the charges that speak to it. One that was let through is
// held against as few charges as still leave no room for it; one that was refused
// against all that may still count.
func (o *ownModel) witness(op asked, all []asked) []uint32 {
	var charges []asked
	for _, c := range all {
		charged := c.outcome == rlbench.Allowed || o.charges() && c.outcome == rlbench.Denied
		if charged && c.row != op.row && c.from <= op.to {
			charges = append(charges, c)
		}
	}
	reach := op.from - o.horizon()
	near := slices.DeleteFunc(slices.Clone(charges), func(c asked) bool { return c.to < reach })
	if op.outcome == rlbench.Allowed {
		for _, some := range [][]asked{near, charges} {
			broken := o.breaks(op, some)
			if chosen := span(0, len(some)); broken(chosen) {
				near = nil
				for _, i := range thin(chosen, broken) {
					near = append(near, some[i])
				}
				break
			}
		}
	}
	rows := []uint32{op.row}
	for _, c := range near {
		rows = append(rows, c.row)
	}
	sortBySent(&o.run.Ops, rows)
	return rows
}

// sortBySent puts rows in order of Sent, ties by op number.
func sortBySent(ops *rlbench.Ops, rows []uint32) {
	slices.SortFunc(rows, func(a, b uint32) int {
		if ops.Sent[a] != ops.Sent[b] {
			return cmp.Compare(int64(ops.Sent[a]), int64(ops.Sent[b]))
		}
		return cmp.Compare(ops.ID[a], ops.ID[b])
	})
}

// breaks returns the question whether an op cannot be let through after chosen charges
// alone.
func (o *ownModel) breaks(op asked, charges []asked) func([]int) bool {
	return func(chosen []int) bool {
		some := []asked{op}
		for _, i := range chosen {
			some = append(some, charges[i])
		}
		found, _ := newReplay(some, o.charges()).run(o.start(some))
		return found == unexplained
	}
}

// horizon is how long a charge may matter after it was made, where no more come.
func (o *ownModel) horizon() int64 {
	longest := int64(0)
	for _, l := range o.run.Policy.Limits {
		switch {
		case o.run.Policy.Algorithm.Bucket():
			longest = max(longest, mulDivUp(l.Burst, int64(l.Per), l.Count))
		case o.run.Policy.Algorithm == rlbench.SlidingCounter:
			longest = max(longest, 2*int64(l.Per))
		default:
			longest = max(longest, int64(l.Per)+o.late)
		}
	}
	return min(longest, -beginning/2)
}
