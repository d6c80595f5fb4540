package oracle

// alignedRoom is a window [k·length, (k+1)·length) of a clock that reads origin at
// instant 0: a charge counts in its own window alone. What may have been charged in
// a window only grows until its end.
type alignedRoom struct{ aligned }

func (a alignedRoom) capacity() int64 { return a.limit }
func (a alignedRoom) horizon() int64  { return a.length }

func (a alignedRoom) reach(t int64) (out, to int64) {
	from := a.start(a.number(t))
	return from - 1, from + a.length - 1
}

// fullest looks at the first window that a refusal touches, at the last, and at
// those between. Of these only windows in which something was sent can be fuller
// than the one before.
func (a alignedRoom) fullest(h *history, c *charges, full []int64) {
	refused := &h.denied
	n := refused.len()
	first, ends, last := make([]int64, n), make([]int64, n), make([]int64, n)
	for q, t := range refused.sent {
		_, ends[q] = a.reach(t)
		first[q] = min(refused.done[q], ends[q])
		out, _ := a.reach(refused.done[q])
		last[q] = out
		full[q] = 0
	}
	a.raise(c, full, first)
	a.raise(c, full, refused.done)
	between := func(q int) bool { return ends[q] < last[q] && c.fits(refused, full, q, a.limit) }
	wide := false
	for q := 0; q < n && !wide; q++ {
		wide = between(q)
	}
	if wide {
		walk := func() func(int64) int64 {
			l := c.level()
			return func(t int64) int64 { return l.between(a.reach(t)) }
		}
		c.highestAt(full, 0, ends, last, walk, between)
	}
	c.ownOff(refused, full)
}

// raise raises full[q] to what may have been charged by at[q] in its window.
func (a alignedRoom) raise(c *charges, full, at []int64) {
	l := c.level()
	for _, q := range order(at) {
		out, _ := a.reach(at[q])
		full[q] = max(full[q], l.between(out, at[q]))
	}
}

func (a alignedRoom) held(h *history, c *charges, q int) []uint32 {
	done := h.denied.done[q]
	return c.heldAt(h, q, func(t int64) (int64, int64) {
		out, to := a.reach(t)
		return out, min(to, done)
	})
}

// emptiest counts what lay whole in the refusal's window before it was sent; a
// refusal that touches a second window may have been the first thing there.
func (a alignedRoom) emptiest(h *history, c *charges, least []int64) {
	l := &level{}
	for i, ends := range c.ends {
		late, early := ends.firm(c.due[i], func(k int) bool { return a.number(ends.sent[k]) != a.number(ends.done[k]) })
		l.rise, l.fall = append(l.rise, late), append(l.fall, early)
	}
	for q, t := range h.denied.sent {
		least[q] = 0
		if a.number(t) != a.number(h.denied.done[q]) {
			continue
		}
		out, _ := a.reach(t)
		least[q] = l.between(out, t-1)
	}
}
