package oracle

import (
	"slices"
	"sort"
)

// Was there room for a refused op? Each refusal is judged alone: it is wrong for
// certain if and only if at every moment in its [sent, done], with all doubt charged,
// it would have fitted. So a room finds the fullest moment: what may have been
// charged there besides the refused op.

// sents are the sents of each kind of charge.
func (c *charges) sents() [][]int64 {
	lists := [][]int64{c.stays.sent}
	for _, ends := range c.ends {
		lists = append(lists, ends.sent)
	}
	return lists
}

// highestAt raises full to the greatest value at a sent of any charge, each later by
// delay, in (after[q], to[q]]. walk begins a walk over the values, upwards in time.
func (c *charges) highestAt(full []int64, delay int64, after, to []int64, walk func() func(sent int64) int64, asked func(q int) bool) {
	for _, sents := range c.sents() {
		at := walk()
		c.scratch = slices.Grow(c.scratch[:0], len(sents))
		for _, t := range sents {
			c.scratch = append(c.scratch, at(t))
		}
		highest(full, sents, c.scratch, delay, after, to, asked)
	}
}

// room finds how full one limit may have been for each refusal of a key.
type room interface {
	// fullest sets full[q], for each refusal q of the key, to the most that may have
	// been charged at the fullest moment of its interval, beside the refused op
	// itself; it may stop at the first moment found that leaves no room for it.
	// Where refusals are charged, the refusal itself is not counted.
	fullest(h *history, c *charges, full []int64)
	// emptiest sets least[q] to what was charged for certain, before the refused op,
	// at the emptiest moment of its interval.
	emptiest(h *history, c *charges, least []int64)
	// capacity is what may be charged at one moment.
	capacity() int64
	// horizon is how long a charge may matter after it was made.
	horizon() int64
	// held returns the charges that may count at the fullest moment of refusal q.
	held(h *history, c *charges, q int) []uint32
}

// charges is everything that may have used budget on one key: what was allowed, what
// may have been, and where the design charges refusals, those too.
type charges struct {
	// ends are the charges that leave: allowed, and refused where that is charged;
	// each with the order in which they were done.
	ends []*columns
	due  [][]uint32
	// stays are those of unknown outcome: they may be charged at any moment from
	// sent on, so they never leave.
	stays *columns
	// refusals: refusals are charged, so that a refusal's own cost is among them.
	refusals bool
	// unlisted is the cost of ops of unknown outcome that stay beside these.
	unlisted int64
	// past is what was carried over from charges that are not here any more.
	past []bucketPast
	// left is when the last of those was done; partial: some of them counted.
	left    int64
	partial bool
	// scratch is working space, one value for each charge of a kind.
	scratch []int64
	// shared: several ask for the same, so that figures are kept.
	shared bool
	kept   []figures
}

// figures are what a window was asked for: fullest or emptiest.
type figures struct {
	room  windowRoom
	least bool
	of    []int64
}

// fullest asks a room, once where several ask for the same.
func (c *charges) fullest(r room, h *history, full []int64) {
	if !c.recall(r, false, full) {
		r.fullest(h, c, full)
		c.remember(r, false, full)
	}
}

func (c *charges) emptiest(r room, h *history, least []int64) {
	if !c.recall(r, true, least) {
		r.emptiest(h, c, least)
		c.remember(r, true, least)
	}
}

func (c *charges) recall(r room, least bool, into []int64) bool {
	for _, f := range c.kept {
		if f.room == r && f.least == least {
			copy(into, f.of)
			return true
		}
	}
	return false
}

func (c *charges) remember(r room, least bool, of []int64) {
	if w, ok := r.(windowRoom); ok && c.shared {
		c.kept = append(c.kept, figures{w, least, slices.Clone(of)})
	}
}

// newCharges gathers the charges of a key.
func newCharges(h *history, refusals bool) *charges {
	c := &charges{ends: []*columns{&h.allowed}, due: [][]uint32{h.due()}, stays: &h.unknown, refusals: refusals, left: beginning}
	if refusals {
		c.ends = append(c.ends, &h.denied)
		c.due = append(c.due, order(h.denied.done))
	}
	return c
}

// level walks the most that may have been charged and not left.
type level struct{ rise, fall []stair }

func (c *charges) level() *level {
	l := &level{rise: make([]stair, 1, 1+len(c.ends)), fall: make([]stair, 0, len(c.ends))}
	l.rise[0] = c.stays.early()
	l.rise[0].sum = c.unlisted
	for i, ends := range c.ends {
		l.rise = append(l.rise, ends.early())
		l.fall = append(l.fall, ends.late(c.due[i]))
	}
	return l
}

// between returns the cost of what was sent by to, less that of what was done by
// out; neither may fall from one call to the next.
func (l *level) between(out, to int64) int64 {
	held := int64(0)
	for i := range l.rise {
		held += l.rise[i].through(to)
	}
	for i := range l.fall {
		held -= l.fall[i].through(out)
	}
	return held
}

// moments returns every sent of a charge, in order: between them nothing rises.
func (c *charges) moments() []int64 {
	var all []int64
	for _, list := range c.sents() {
		all = merge(all, list)
	}
	return all
}

// merge joins two rising lists into one.
func merge(a, b []int64) []int64 {
	if len(a) == 0 {
		return b
	}
	all := make([]int64, 0, len(a)+len(b))
	i := 0
	for _, v := range b {
		for ; i < len(a) && a[i] <= v; i++ {
			all = append(all, a[i])
		}
		all = append(all, v)
	}
	return append(all, a[i:]...)
}

// highest raises full[q], for every q that still is asked for, to the greatest of
// the values at moments, each later by delay, in (after[q], to[q]]. after rises; so the moments are walked
// downwards, and of those seen only the ones that rise above all sooner ones are
// kept: the answer is the last of them in reach.
func highest(full, moments, values []int64, delay int64, after, to []int64, asked func(q int) bool) {
	highestOf(full, func(i int) int64 { return moments[i] + delay }, values, after, to, asked)
}

// highestOf is highest where moment gives the moment of each value.
func highestOf(full []int64, moment func(i int) int64, values, after, to []int64, asked func(q int) bool) {
	// stack holds positions with the greatest value, and latest moment, first.
	var stack []int
	i := len(values)
	for q := len(after) - 1; q >= 0; q-- {
		for i > 0 && moment(i-1) > after[q] {
			i--
			for len(stack) > 0 && values[stack[len(stack)-1]] <= values[i] {
				stack = stack[:len(stack)-1]
			}
			stack = append(stack, i)
		}
		if !asked(q) {
			continue
		}
		at := sort.Search(len(stack), func(k int) bool { return moment(stack[k]) <= to[q] })
		if at < len(stack) {
			full[q] = max(full[q], values[stack[at]])
		}
	}
}

// heldAt returns the charges that count at the fullest moment of refusal q, where
// reach gives the stretch that counts at each moment.
func (c *charges) heldAt(h *history, q int, reach func(int64) (out, to int64)) []uint32 {
	sent, done := h.denied.sent[q], h.denied.done[q]
	l := c.level()
	out, to := reach(sent)
	most := l.between(out, to)
	moments := c.moments()
	for i := sort.Search(len(moments), func(i int) bool { return moments[i] > sent }); i < len(moments) && moments[i] <= done; i++ {
		o, t := reach(moments[i])
		if held := l.between(o, t); held > most {
			most, out, to = held, o, t
		}
	}
	return c.rows(out, to, h.denied.row[q])
}

// rows returns the charges sent by to and not certainly done by out, but for one.
func (c *charges) rows(out, to int64, but uint32) []uint32 {
	var found []uint32
	for i, sent := range c.stays.sent {
		if sent <= to {
			found = append(found, c.stays.row[i])
		}
	}
	for _, ends := range c.ends {
		for i, sent := range ends.sent {
			if sent > to {
				break
			}
			if ends.done[i] > out && ends.row[i] != but {
				found = append(found, ends.row[i])
			}
		}
	}
	return found
}

// without returns the ops but for those that drop, and the order in which they were
// done.
func (c *columns) without(due []uint32, drop func(uint32) bool) (*columns, []uint32) {
	if !slices.ContainsFunc(due, drop) {
		return c, due
	}
	var kept []int
	for i := range c.sent {
		if !drop(uint32(i)) {
			kept = append(kept, i)
		}
	}
	picked := c.pick(kept)
	return picked, order(picked.done)
}
