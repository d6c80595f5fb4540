package logs

import (
	"cmp"
	"math"
	"slices"

	"github.com/rlbench/rlbench"
)

// run is a block of one log, its rows in order.
type run struct {
	ops  rlbench.Ops
	from *stream
	// at is the order of each row, rows are the rows by it, next the first of
	// them that was not given yet.
	at   []int64
	rows []int32
	next int
	// seq puts runs read earlier first where the order is the same.
	seq int64
	// keys and faults number texts anew for the block that is being filled.
	keys, faults []renumbered
}

type renumbered struct {
	block  uint64
	number uint32
}

// head is the order of the next row.
func (r *run) head() int64 { return r.at[r.rows[r.next]] }

// shift takes the instants to the common origin and widens the intervals.
func (r *run) shift(by, widen int64) {
	if by == 0 && widen == 0 {
		return
	}
	move := func(column []rlbench.Instant, by int64) {
		for i, v := range column {
			if v.Known() {
				column[i] = v + rlbench.Instant(by)
			}
		}
	}
	for _, column := range []*[]int64{&r.ops.DecidedAt, &r.ops.ReleasedAt} {
		for i, v := range *column {
			if v != rlbench.None {
				(*column)[i] = v + by
			}
		}
	}
	move(r.ops.Planned, by)
	move(r.ops.Sent, by-widen)
	move(r.ops.Done, by+widen)
}

// sort orders the rows by when they were sent, else planned, else by the row
// before; front stands before the first.
func (r *run) sort(front int64) {
	n := r.ops.Len()
	r.at, r.rows, r.next = r.at[:0], r.rows[:0], 0
	sorted := true
	for i := range n {
		at := front
		switch {
		case r.ops.Sent[i].Known():
			at = int64(r.ops.Sent[i])
		case r.ops.Planned[i].Known():
			at = int64(r.ops.Planned[i])
		}
		sorted = sorted && (i == 0 || at >= r.at[i-1])
		r.at = append(r.at, at)
		r.rows = append(r.rows, int32(i))
		front = at
	}
	if !sorted {
		slices.SortFunc(r.rows, func(a, b int32) int {
			if r.at[a] != r.at[b] {
				return cmp.Compare(r.at[a], r.at[b])
			}
			return cmp.Compare(a, b)
		})
	}
	r.keys = slices.Grow(r.keys[:0], len(r.ops.Keys))[:len(r.ops.Keys)]
	r.faults = slices.Grow(r.faults[:0], len(r.ops.Errors))[:len(r.ops.Errors)]
	clear(r.keys)
	clear(r.faults)
}

// runs is a heap, the run with the earliest head first.
type runs []*run

func (h runs) less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.head(), b.head()), cmp.Compare(a.seq, b.seq)) < 0
}

func (h *runs) push(r *run) {
	*h = append(*h, r)
	for i := len(*h) - 1; i > 0 && h.less(i, (i-1)/2); i = (i - 1) / 2 {
		(*h)[i], (*h)[(i-1)/2] = (*h)[(i-1)/2], (*h)[i]
	}
}

func (h *runs) pop() {
	last := len(*h) - 1
	(*h)[0] = (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	if last > 0 {
		h.down(0)
	}
}

func (h runs) down(i int) {
	for {
		least := i
		for _, child := range [...]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// second is the order up to which the first run may be emptied: the head of the
// next one, less one when that one goes first where the order is the same.
func (h runs) second(head int64) int64 {
	least := int64(math.MaxInt64)
	for _, child := range [...]int{1, 2} {
		if child >= len(h) {
			continue
		}
		at := h[child].head()
		if h[child].seq < h[0].seq && at > head {
			at--
		}
		least = min(least, at)
	}
	return least
}

// renumbering gives the texts of several runs the numbers of one block.
type renumbering struct {
	block uint64
	seen  map[string]uint32
}

func (n *renumbering) begin() {
	n.block++
	clear(n.seen)
}

func (n *renumbering) key(block *rlbench.Ops, r *run, old uint32) uint32 {
	known := &r.keys[old]
	if known.block != n.block {
		text := r.ops.Keys[old]
		number, ok := n.seen[text]
		if !ok {
			number = uint32(len(block.Keys))
			block.Keys = append(block.Keys, text)
			n.seen[text] = number
		}
		*known = renumbered{n.block, number}
	}
	return known.number
}

// fault numbers errors; the same text may stand twice when two runs have it.
func (n *renumbering) fault(block *rlbench.Ops, r *run, old uint32) uint32 {
	if old == 0 {
		return 0
	}
	known := &r.faults[old]
	if known.block != n.block {
		*known = renumbered{n.block, uint32(len(block.Errors))}
		block.Errors = append(block.Errors, r.ops.Errors[old])
	}
	return known.number
}

// append copies row i of a run to the block.
func (n *renumbering) append(to *rlbench.Ops, r *run, i int) {
	at, from := to.Len(), &r.ops
	to.ID = append(to.ID, from.ID[i])
	to.Key = append(to.Key, n.key(to, r, from.Key[i]))
	to.Cost = append(to.Cost, from.Cost[i])
	to.Instance = append(to.Instance, from.Instance[i])
	to.Worker = append(to.Worker, from.Worker[i])
	to.Planned = append(to.Planned, from.Planned[i])
	to.Sent = append(to.Sent, from.Sent[i])
	to.Done = append(to.Done, from.Done[i])
	to.Outcome = append(to.Outcome, from.Outcome[i])
	to.Status = append(to.Status, from.Status[i])
	if from.Error != nil && from.Error[i] != 0 {
		to.Error = put(to.Error, at, n.fault(to, r, from.Error[i]), 0)
	}
	stated := statedColumns(from)
	for s, column := range statedColumns(to) {
		if v := *stated[s]; v != nil && v[i] != rlbench.None {
			*column = put(*column, at, v[i], rlbench.None)
		}
	}
}
