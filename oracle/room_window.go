package oracle

// windowRoom is a window of the given length: a charge leaves it that long after it
// was made.
type windowRoom struct {
	limit, length int64
}

func (w windowRoom) capacity() int64 { return w.limit }
func (w windowRoom) horizon() int64  { return w.length }

func (w windowRoom) fullest(h *history, c *charges, full []int64) {
	refused := &h.denied
	late := false
	l := c.level()
	for q, t := range refused.sent {
		full[q] = l.between(t-w.length, t)
		late = late || c.fits(refused, full, q, w.limit)
	}
	if late {
		walk := func() func(int64) int64 {
			l := c.level()
			return func(t int64) int64 { return l.between(t-w.length, t) }
		}
		c.highestAt(full, 0, refused.sent, refused.done, walk, func(q int) bool { return c.fits(refused, full, q, w.limit) })
	}
	c.ownOff(refused, full)
}

// fits reports whether refusal q would have fitted into what full says of it, which
// counts its own cost where refusals are charged.
func (c *charges) fits(refused *columns, full []int64, q int, limit int64) bool {
	if c.refusals {
		return full[q] <= limit
	}
	return full[q]+refused.cost[q] <= limit
}

// ownOff takes off each refusal's own cost, where it charged that from its sent on.
func (c *charges) ownOff(refused *columns, full []int64) {
	if !c.refusals {
		return
	}
	for q := range full {
		full[q] -= refused.cost[q]
	}
}

func (w windowRoom) held(h *history, c *charges, q int) []uint32 {
	return c.heldAt(h, q, func(t int64) (int64, int64) { return t - w.length, t })
}

// emptiest counts what was sent after t-W and done before t, at the refusal's sent
// and at each moment of its interval when a charge leaves: between those it only
// grows. Ops as long as the window are never in it for certain.
func (w windowRoom) emptiest(h *history, c *charges, least []int64) {
	refused := &h.denied
	// highest finds the greatest, so all is counted below 0.
	walk := func() func(int64) int64 {
		l := &level{}
		for i, ends := range c.ends {
			late, early := ends.firm(c.due[i], func(k int) bool { return ends.done[k]-ends.sent[k] >= w.length })
			l.rise, l.fall = append(l.rise, late), append(l.fall, early)
		}
		return func(left int64) int64 { return -l.between(left, left+w.length-1) }
	}
	at := walk()
	for q, t := range refused.sent {
		least[q] = at(t - w.length)
	}
	c.highestAt(least, w.length, refused.sent, refused.done, walk, func(q int) bool { return refused.cost[q]-least[q] > w.limit })
	for q := range least {
		least[q] = -least[q]
	}
}
