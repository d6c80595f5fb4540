package oracle

import "sort"

// raise keeps the first of the greatest.
func (c *crown) raise(worth int64, p peak) {
	if worth > c.worth {
		*c = crown{worth, p}
	}
}

// crown raises the fullest stretches by those that are known whole now.
func (w window) crown(p *piece, unlisted int64, _ *ebb, best *crowns) {
	h, due := p.wide, p.due()
	for k, into := range []*crown{&best.allowed, &best.unknown} {
		sents := [][]int64{h.allowed.sent, h.unknown.sent}[k]
		early, doubt, late := h.allowed.early(), h.unknown.early(), h.allowed.late(due)
		for _, t := range sents[from(sents, p.wideFrom):] {
			held := unlisted + early.through(t) + doubt.through(t) - late.through(t-w.length)
			into.raise(held, peak{held, w.limit, t - w.length + 1, t})
		}
	}
}

// from is where the instants from t on begin.
func from(instants []int64, t int64) int {
	return sort.Search(len(instants), func(i int) bool { return instants[i] >= t })
}

func (a aligned) crown(p *piece, unlisted int64, _ *ebb, best *crowns) {
	h, due := p.wide, p.due()
	for k, into := range []*crown{&best.allowed, &best.unknown} {
		sents := [][]int64{h.allowed.sent, h.unknown.sent}[k]
		early, doubt, late := h.allowed.early(), h.unknown.early(), h.allowed.late(due)
		for _, t := range sents[from(sents, p.wideFrom-a.length):] {
			begin := a.start(a.number(t))
			end := begin + a.length - 1
			if end < p.wideFrom {
				continue
			}
			if end >= p.wideTo {
				break
			}
			held := unlisted + early.through(end) + doubt.through(end) - late.through(begin-1)
			into.raise(held, peak{held, a.limit, begin, end})
		}
	}
}

// ebbing goes on with the walk of a key's allowed ops.
func (b bucket) ebbing(h *history, past *ebb) *drain {
	come := []stair{h.allowed.late(h.due())}
	if past.at == beginning {
		return b.walk(h.first(), come...)
	}
	return b.goOn(*past, come)
}

func (b bucket) crown(p *piece, unlisted int64, past *ebb, best *crowns) {
	h := p.history
	total := sum(h.allowed.cost) + sum(h.unknown.cost) + unlisted
	if !b.fits(total, h.length()) || past.beyond() {
		best.allowed.raise(forever, peak{cost: b.most() + total, allowed: b.most()}) // As if nothing drained.
		return
	}
	for k, into := range []*crown{&best.allowed, &best.unknown} {
		sents := [][]int64{h.allowed.sent, h.unknown.sent}[k]
		sents = sents[from(sents, p.from):]
		if len(sents) == 0 {
			continue
		}
		walk := b.ebbing(h, past)
		early, doubt := h.allowed.early(), h.unknown.early()
		for _, t := range sents {
			held := unlisted + early.through(t) + doubt.through(t)
			drained, x, before := walk.drained(t)
			into.raise(b.per*held-b.count*(t-walk.begin)+drained, b.stretch(held-before, x, t))
		}
	}
}

// summit returns the stretch that held most of those that are known whole now. flying
// is when the first op in flight was sent.
func (w window) summit(ops *columns, due []uint32, _ *spell, p *piece, _ int64, _ *ridge) summitPeak {
	lo, hi := 0, ops.len()
	if p.wideFrom > beginning {
		lo = from(ops.sent, p.wideFrom-w.length+1)
	}
	if p.wideTo < forever {
		hi = from(ops.sent, p.wideTo-w.length+1)
	}
	worst := w.between(ops, due, lo, hi)
	return summitPeak{worst.cost, worst}
}

func (b bucket) summit(ops *columns, due []uint32, sp *spell, p *piece, flying int64, r *ridge) summitPeak {
	none := summitPeak{beginning, peak{allowed: b.most()}}
	if ops.len() == 0 && !r.known {
		return none
	}
	begin := r.origin(ops)
	if !b.fits(sum(ops.cost)+r.cost, reach(ops, due, p.wideTo)-begin) {
		*r = ridge{}
		return none
	}
	c := climb{slope: bucketSlope{b, begin}, ops: ops, due: due, first: from(ops.sent, sp.next), ridge: *r}
	top, next := c.walk(p.wideFrom, p.wideTo, orNever(flying, p.wideTo))
	*r = next
	if top.excess == beginning {
		return none
	}
	return summitPeak{top.excess, b.stretch(top.cost, top.x, top.y)}
}

func (a aligned) summit(ops *columns, due []uint32, sp *spell, p *piece, flying int64, r *ridge) summitPeak {
	none := summitPeak{beginning, peak{allowed: a.limit}}
	if ops.len() == 0 && !r.known {
		return none
	}
	begin := r.origin(ops)
	if !a.spans(reach(ops, due, p.wideTo) - begin) {
		*r = ridge{}
		return none
	}
	c := climb{slope: alignedSlope{a, a.number(begin)}, ops: ops, due: due, first: from(ops.sent, sp.next), ridge: *r}
	top, next := c.walk(p.wideFrom, p.wideTo, orNever(flying, p.wideTo))
	*r = next
	if top.excess == beginning {
		return none
	}
	return summitPeak{top.excess, a.run(top)}
}

// origin is where the first stretch begins.
func (r ridge) origin(ops *columns) int64 {
	switch {
	case !r.known:
		return ops.sent[0]
	case ops.len() == 0:
		return r.x
	}
	return min(r.x, ops.sent[0])
}

// reach is the last moment that is looked at.
func reach(ops *columns, due []uint32, to int64) int64 {
	last := int64(beginning)
	if len(due) > 0 {
		last = ops.done[due[len(due)-1]]
	}
	if to != forever {
		last = max(last, to)
	}
	return max(last, 0)
}

// orNever is the beginning of the next walk; there is none after the last.
func orNever(flying, to int64) int64 {
	if to == forever {
		return forever
	}
	return flying
}
