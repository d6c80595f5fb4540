package oracle

// counterRoom is the room that a sliding counter leaves a request. late is by how
// much the clock by which it decides may lag, being read in whole steps: a moment
// read as t may truly be up to late after it.
type counterRoom struct {
	slidingCounter
	late int64
}

func (r counterRoom) capacity() int64 { return r.limit }
func (r counterRoom) horizon() int64  { return 2 * r.length }

// readings returns the history as that clock may have read it.
func (r counterRoom) readings(h *history, c *charges) (*history, *charges) {
	if r.late == 0 {
		return h, c
	}
	read := &history{key: h.key, allowed: h.allowed, unknown: h.unknown, denied: h.denied}
	for _, col := range []*columns{&read.allowed, &read.unknown, &read.denied} {
		sent := make([]int64, len(col.sent))
		for i, t := range col.sent {
			sent[i] = t - r.late
		}
		col.sent = sent
	}
	read.byDone = h.due()
	return read, newCharges(read, c.refusals)
}

// fullest looks at the moment of sending and at every moment when something else
// was sent.
func (r counterRoom) fullest(h *history, c *charges, full []int64) {
	h, c = r.readings(h, c)
	refused := &h.denied
	late := false
	l := r.level(c)
	for q, t := range refused.sent {
		full[q] = l.at(t)
		late = late || c.fits(refused, full, q, r.limit)
	}
	if late {
		moments := c.moments()
		values := make([]int64, len(moments))
		l = r.level(c)
		for i, t := range moments {
			values[i] = l.at(t)
		}
		highest(full, moments, values, 0, refused.sent, refused.done, func(q int) bool { return c.fits(refused, full, q, r.limit) })
	}
	c.ownOff(refused, full)
}

// emptiest counts what lay whole in one window or the other before the refusal was
// sent, that of the window before by what is left of it when the refusal was
// answered. A refusal that touches a second window may have found it empty.
func (r counterRoom) emptiest(h *history, c *charges, least []int64) {
	h, c = r.readings(h, c)
	near, far := &level{}, &level{}
	for i, ends := range c.ends {
		kept, due := ends.without(c.due[i], func(k uint32) bool { return r.number(ends.sent[k]) != r.number(ends.done[k]) })
		for _, l := range []*level{near, far} {
			l.rise = append(l.rise, kept.late(due))
			l.fall = append(l.fall, kept.early())
		}
	}
	for q, t := range h.denied.sent {
		least[q] = 0
		k := r.number(t)
		own := near.between(r.start(k)-1, t-1)
		all := far.between(r.start(k-1)-1, t-1)
		if k == r.number(h.denied.done[q]) {
			least[q] = r.estimate(all-own, own, h.denied.done[q])
		}
	}
}

// held returns the charges that may count when the estimate is greatest.
func (r counterRoom) held(h *history, c *charges, q int) []uint32 {
	h, c = r.readings(h, c)
	sent, done := h.denied.sent[q], h.denied.done[q]
	l := r.level(c)
	at, most := sent, l.at(sent)
	for _, t := range c.moments() {
		if t <= sent || t > done {
			continue
		}
		if e := l.at(t); e > most {
			at, most = t, e
		}
	}
	return c.rows(r.start(r.number(at)-1)-1, at, h.denied.row[q])
}

// starvedByEstimate judges the refusals of sliding counters.
func starvedByEstimate(e *evidence) *starved {
	rules := alignedRules(e.run)
	late := max(0, int64(e.run.Policy.Resolution)-1)
	s := newStarved(e, counterRooms(rules.lenient, late), nil, rules.wide)
	if !rules.wide.none() {
		for _, world := range rules.strict {
			s.strict = append(s.strict, counterRooms(world, late))
		}
	}
	s.firm = s.lenient
	if !e.run.Clock.Stated {
		s.blind = rules.onlyIf
	}
	if stepped(e.run) {
		s.frail = steppedWindows
	}
	return s
}

func counterRooms(rules []rule, late int64) []room {
	var rooms []room
	for _, c := range counters(rules) {
		rooms = append(rooms, counterRoom{slidingCounter: c, late: late})
	}
	return rooms
}
