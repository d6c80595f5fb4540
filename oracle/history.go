package oracle

import (
	"cmp"
	"slices"

	"github.com/rlbench/rlbench"
)

// columns are ops of one key and one kind in order of Sent, ties by op number:
// structure of arrays, all of one length. Times are instants in nanoseconds.
type columns struct {
	// sent and done bound the moment of the decision, both ends included. done is
	// empty where nothing bounds it from above (unknown ops).
	sent, done []int64
	cost       []int64
	// row is the op's row in the Run, to name it as a witness.
	row []uint32
}

func (c *columns) len() int { return len(c.sent) }

// history is what the Run says of one key. Unsent ops are left out: they cannot
// have been charged.
type history struct {
	key string
	// allowed were charged at some moment in [sent, done]; denied were refused at
	// such a moment; unknown were charged at some moment from sent on, or never.
	allowed, unknown, denied columns
	// byDone is the order of allowed.done, once it was asked for.
	byDone []uint32
	// wide is the history widened by wideBy, once that was asked for.
	wide   *history
	wideBy doubt
}

// due returns the order in which the allowed ops were done.
func (h *history) due() []uint32 {
	if h.byDone == nil {
		h.byDone = order(h.allowed.done)
	}
	return h.byDone
}

// split fills the history with the given rows, which are in order of their
// number. It reuses the history's columns, so that one history can serve every
// key in turn.
func (h *history) split(ops *rlbench.Ops, key string, rows []uint32) {
	h.key, h.byDone, h.wide = key, nil, nil
	kinds := [...]*columns{rlbench.Allowed: &h.allowed, rlbench.Unknown: &h.unknown, rlbench.Denied: &h.denied}
	var count [len(kinds)]int
	for _, r := range rows {
		count[ops.Outcome[r]]++
	}
	for outcome, c := range kinds {
		c.row = slices.Grow(c.row[:0], count[outcome])
	}
	for _, r := range rows {
		c := kinds[ops.Outcome[r]]
		c.row = append(c.row, r)
	}
	for outcome, c := range kinds {
		c.fill(ops, rlbench.Outcome(outcome) != rlbench.Unknown)
	}
}

// fill puts the rows in order of Sent and reads the other columns.
func (c *columns) fill(ops *rlbench.Ops, ends bool) {
	n := len(c.row)
	c.sent = slices.Grow(c.sent[:0], n)[:n]
	c.done = c.done[:0]
	c.cost = slices.Grow(c.cost[:0], n)[:n]
	read(c.sent, ops.Sent, c.row)
	if !slices.IsSorted(c.sent) {
		permuteRows(c.row, order(c.sent), c.cost)
		read(c.sent, ops.Sent, c.row)
	}
	sortTies(c.sent, c.row, ops.ID)
	if ends {
		c.done = slices.Grow(c.done, n)[:n]
		read(c.done, ops.Done, c.row)
	}
	for i, r := range c.row {
		c.cost[i] = ops.Cost[r]
	}
}

func read(into []int64, from []rlbench.Instant, rows []uint32) {
	for i, r := range rows {
		into[i] = int64(from[r])
	}
}

// permuteRows puts rows in the given order by way of the scratch space.
func permuteRows(rows, by []uint32, scratch []int64) {
	for i, at := range by {
		scratch[i] = int64(rows[at])
	}
	for i := range rows {
		rows[i] = uint32(scratch[i])
	}
}

// sortTies puts rows that were sent at one moment in order of their op number,
// so that the order in which a file holds its rows decides nothing.
func sortTies(sent []int64, rows []uint32, id []int64) {
	for a := 0; a < len(sent); {
		b := a + 1
		for b < len(sent) && sent[b] == sent[a] {
			b++
		}
		if b-a > 1 {
			slices.SortStableFunc(rows[a:b], func(x, y uint32) int { return cmp.Compare(id[x], id[y]) })
		}
		a = b
	}
}
