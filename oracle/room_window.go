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
		moments := c.moments()
		values := make([]int64, len(moments))
		l = c.level()
		for i, t := range moments {
			values[i] = l.between(t-w.length, t)
		}
		highest(full, moments, values, 0, refused.sent, refused.done, func(q int) bool { return c.fits(refused, full, q, w.limit) })
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
	var sents []int64
	l := &level{}
	again := &level{}
	for i, ends := range c.ends {
		kept, due := ends.without(c.due[i], func(k uint32) bool { return ends.done[k]-ends.sent[k] >= w.length })
		sents = merge(sents, kept.sent)
		for _, into := range []*level{l, again} {
			into.rise = append(into.rise, kept.late(due))
			into.fall = append(into.fall, kept.early())
		}
	}
	// highest finds the greatest, so all is counted below 0.
	for q, t := range refused.sent {
		least[q] = -l.between(t-w.length, t-1)
	}
	values := make([]int64, len(sents))
	for i, t := range sents {
		values[i] = -again.between(t, t+w.length-1)
	}
	highest(least, sents, values, w.length, refused.sent, refused.done, func(q int) bool { return refused.cost[q]-least[q] > w.limit })
	for q := range least {
		least[q] = -least[q]
	}
}
