package oracle

import (
	"slices"

	"github.com/rlbench/rlbench"
)

// overStream judges never-over of keys that come in pieces.
type overStream struct {
	*over
	// apart: the lenient rules are explained apart from the first strict world.
	apart   bool
	exhibit docket
	// benches are for the walkers of the key at hand.
	benches []bench
}

// overSpell is what is carried of a key.
type overSpell struct {
	// most are the fullest stretches, and ebbs the carried walks, of the kept rules.
	most []crowns
	ebbs []ebb
	// worst are the stretches that certainly held most, and ridges the carried
	// beginnings, of the lenient rules.
	worst  []summitPeak
	ridges []ridge
	// walkers explain each strict world, and last the lenient rules, if apart. pieces
	// explains costs that differ, cut into equal ones.
	walkers []*walker
	pieces  *pieces
	// dearest is the greatest cost of an op, alone the first op of that cost if no limit
	// has room for it.
	dearest int64
	alone   *rlbench.Op
	// proven is what proves the key broken; crisis: it was found by explaining.
	proven *exhibit
	broken bool
	crisis bool
}

// crowns are the fullest stretches that end where an allowed op was sent, and where
// one of unknown outcome was. Of equal ones the first counts, the former before the
// latter.
type crowns struct{ allowed, unknown crown }

// crown is a stretch and what it is valued by.
type crown struct {
	worth int64
	peak  peak
}

func (c crowns) peak() peak {
	if c.unknown.worth > c.allowed.worth {
		return c.unknown.peak
	}
	return c.allowed.peak
}

// summitPeak is a stretch that held something for certain, valued by its excess.
type summitPeak struct {
	excess int64
	peak   peak
}

func newOverStream(o *over) *overStream {
	s := &overStream{over: o}
	s.benches = make([]bench, len(o.rules.strict)+1)
	s.apart = len(o.rules.strict) == 0 || !o.rules.wide.none() || o.run.Policy.Drift > 0
	return s
}

func (o *overStream) spell() overSpell {
	s := overSpell{
		most: make([]crowns, len(o.rules.kept)), ebbs: make([]ebb, len(o.rules.kept)),
		worst: make([]summitPeak, len(o.rules.lenient)), ridges: make([]ridge, len(o.rules.lenient)),
	}
	for i, r := range o.rules.kept {
		none := crown{peak: peak{allowed: r.most()}}
		if _, drains := r.(bucket); drains {
			none.worth = beginning
		}
		s.most[i] = crowns{none, none}
		s.ebbs[i].at = beginning
	}
	for i := range s.worst {
		s.worst[i].excess = beginning
	}
	for _, rules := range o.rules.strict {
		s.walkers = append(s.walkers, newWalker(rules))
	}
	if o.apart {
		s.walkers = append(s.walkers, newWalker(o.rules.lenient))
	}
	return s
}

// lenient is the walker that accuses.
func (s *overSpell) lenient(apart bool) *walker {
	if apart {
		return s.walkers[len(s.walkers)-1]
	}
	return s.walkers[0]
}

func (o *overStream) piece(sp *spell, p *piece) {
	s := &sp.over
	for i, r := range o.rules.kept {
		r.crown(p, sp.unlisted, &s.ebbs[i], &s.most[i])
	}
	o.certain(sp, p)
	o.lone(s, p)
	if s.broken {
		return
	}
	for i, w := range s.walkers {
		w.begin(&o.benches[i])
	}
	ops := &p.allowed
	for w := range o.rules.strict {
		s.walkers[w].advance(ops, p.fresh, p.to)
	}
	if o.apart {
		s.lenient(true).advance(&p.wide.allowed, p.fresh, p.wideTo)
	}
	switch w := s.lenient(o.apart); {
	case w.answer == unexplained:
		o.convicted(sp, p, w.lastOp())
	case w.differ:
		if s.pieces == nil {
			s.pieces = &pieces{}
		}
		if s.pieces.advance(&p.wide.allowed, p.fresh, p.wideTo, o.rules.lenient) == unexplained {
			o.convicted(sp, p, p.allowed.len()-1)
		}
	}
}

// certain looks for the stretches that certainly held most, and keeps what proves the
// worst.
func (o *overStream) certain(sp *spell, p *piece) {
	s := &sp.over
	ops, due := &p.wide.allowed, p.due()
	flying := p.wideTo
	for i, done := range ops.done {
		if done >= p.wideTo {
			flying = min(flying, ops.sent[i])
			break // In order of sent.
		}
	}
	before := s.worstOver()
	for i, r := range o.rules.lenient {
		if found := r.summit(ops, due, sp, p, flying, &s.ridges[i]); found.excess > s.worst[i].excess {
			s.worst[i] = found
		}
	}
	sp.next = flying
	worst := s.worstOver()
	if worst.over() <= 0 || worst == before {
		return
	}
	s.broken = true
	ops = o.withOld(sp, ops, worst.from)
	inside := whole(ops, worst.from, worst.to)
	o.exhibit.release(s.proven)
	if o.exhibit.admits(worst.over(), len(inside)) {
		s.proven = o.show(ops, inside, sp.dropped < worst.from)
		s.proven.peak = worst
	} else {
		s.proven = nil
	}
}

// withOld returns the ops with those before them that were set aside, if any of these
// was sent at from or later.
func (o *overStream) withOld(sp *spell, ops *columns, from int64) *columns {
	n := len(sp.old)
	if n == 0 || int64(o.run.Ops.Sent[sp.old[n-1]]) < from {
		return ops
	}
	all := &columns{}
	for _, row := range sp.old {
		sent, done := int64(o.run.Ops.Sent[row]), int64(o.run.Ops.Done[row])
		all.sent = append(all.sent, sent-o.rules.wide.at(sent))
		all.done = append(all.done, done+o.rules.wide.at(done))
		all.cost = append(all.cost, o.run.Ops.Cost[row])
	}
	all.sent, all.done = append(all.sent, ops.sent...), append(all.done, ops.done...)
	all.cost, all.row = append(all.cost, ops.cost...), append(slices.Clone(sp.old), ops.row...)
	return all
}

// worstOver is the worst stretch under any rule.
func (s *overSpell) worstOver() peak {
	var worst peak
	for _, w := range s.worst {
		if w.peak.over() > worst.over() {
			worst = w.peak
		}
	}
	return worst
}

// lone keeps the first op of greatest cost.
func (o *overStream) lone(s *overSpell, p *piece) {
	for i := p.fresh; i < p.allowed.len(); i++ {
		if p.allowed.cost[i] <= s.dearest {
			continue
		}
		s.dearest = p.allowed.cost[i]
		for _, r := range o.rules.lenient {
			if s.dearest > r.most() {
				op := o.run.Ops.At(int(p.allowed.row[i]))
				s.broken, s.alone = true, &op
			}
		}
	}
}

// convicted keeps what proves that nothing explains a key: the ops up to the last that
// is needed.
func (o *overStream) convicted(sp *spell, p *piece, last int) {
	s := &sp.over
	s.broken, s.crisis = true, true
	if s.proven != nil {
		return
	}
	if last += 1 + len(sp.old); o.exhibit.admits(0, last) {
		s.proven = o.show(o.withOld(sp, &p.wide.allowed, beginning), span(0, last), sp.dropped == beginning)
	}
}

// needed is the first allowed op that an explanation still needs, when those before n
// need not be listed any more.
func (o *overStream) needed(sp *spell, p *piece, n int) int {
	s := &sp.over
	if s.broken {
		return n
	}
	needed := n
	for i, w := range s.walkers {
		ops, frontier := &p.allowed, p.to
		if o.apart && i == len(s.walkers)-1 {
			ops, frontier = &p.wide.allowed, p.wideTo
		}
		needed = min(needed, w.settle(ops, n, frontier))
	}
	if s.pieces != nil {
		needed = min(needed, s.pieces.settle(n, p.wideTo))
	}
	return needed
}

// carry takes what is to be carried on when the first n allowed ops are dropped, which
// cost gone.
func (o *overStream) carry(sp *spell, p *piece, cut, gone int64, n int) {
	s := &sp.over
	for i, r := range o.rules.kept {
		if b, drains := r.(bucket); drains {
			s.ebbs[i] = b.ebbing(p.history, &s.ebbs[i]).stop(cut, gone)
		}
	}
	if s.broken {
		s.walkers, s.pieces = nil, nil
		return
	}
	for i, w := range s.walkers {
		w.shift(n)
		w.rest(&o.benches[i])
	}
	if s.pieces != nil {
		s.pieces.shift(p.allowed.cost[:n])
	}
}

// idle tells that the key may be put to rest.
func (o *overStream) idle(sp *spell, frontier int64) bool {
	s := &sp.over
	if s.broken || s.pieces != nil {
		return false
	}
	early := o.rules.wide.early(frontier)
	for i, w := range s.walkers {
		to := frontier
		if o.apart && i == len(s.walkers)-1 {
			to = early
		}
		if !w.fresh(to) {
			return false
		}
	}
	for i, r := range o.rules.kept {
		if b, drains := r.(bucket); drains && s.ebbs[i].best > b.count*(frontier-s.ebbs[i].at) {
			return false
		}
	}
	return !slices.ContainsFunc(s.ridges, func(r ridge) bool { return r.known })
}

// rest notes how a key stands that is put to rest.
func (o *overStream) rest(sp *spell, r *rested) {
	for i := range o.rules.kept {
		r.most = append(r.most, sp.fullest(i).allowed)
	}
	for i := range sp.over.walkers {
		r.settled = append(r.settled, o.holds(sp, i))
	}
}

// fullest are the fullest stretches of a key by one rule, at any time.
func (sp *spell) fullest(rule int) crowns {
	if len(sp.over.most) == 0 {
		return crowns{sp.past.most[rule], sp.past.most[rule]}
	}
	now := sp.over.most[rule]
	if past := sp.past; past != nil && past.most[rule].worth >= now.allowed.worth {
		now.allowed = past.most[rule]
	}
	return now
}

// most is the fullest stretch of a key by any rule.
func (o *overStream) most(sp *spell) peak {
	var most peak
	for i := range o.rules.kept {
		if p := sp.fullest(i).peak(); i == 0 || p.over() > most.over() {
			most = p
		}
	}
	return most
}
