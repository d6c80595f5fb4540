package oracle

import (
	"slices"

	"github.com/rlbench/rlbench"
)

// starvedStream judges never-starved of keys that come in pieces: each refusal when it
// was answered, for by then everything that may have filled the limit was sent.
type starvedStream struct {
	*starved
	proofs docket
}

// starvedSpell is what is carried of a key.
type starvedSpell struct {
	// wrong counts the refusals that had room for certain, of which convicted is the
	// worst; doubted those that had room in each strict world.
	wrong     int
	convicted *ruling
	doubted   []int
	// sent and id are those of the refusal convicted.
	sent, id int64
	// doubt is the cost of those that may have had room.
	doubt int64
	past  []bucketPast
	// left is when the last of the charges was done that are not listed any more.
	left int64
}

func (s *starvedStream) spell() starvedSpell {
	return starvedSpell{doubted: make([]int, len(s.strict)), left: beginning}
}

func (s *starvedStream) piece(sp *spell, p *piece) {
	if len(p.ready) == 0 {
		return
	}
	k := &sp.starved
	s.refusals += len(p.ready)
	wide, charged := s.judged(sp, p, p.wide)
	least := s.spare(wide, charged, s.lenient)
	worst, wrong := wrongest(least)
	k.wrong += wrong
	k.doubt += s.doubtful(wide, charged)
	if wrong > 0 && k.worse(least[worst], &s.run.Ops, wide.denied.row[worst]) {
		s.keep(k, s.convict(wide, charged, worst, least[worst]))
	}
	if len(s.strict) == 0 {
		return
	}
	exact, charged := s.judged(sp, p, p.history)
	for s.world = range s.strict {
		k.doubted[s.world] += s.doubted(exact, charged)
	}
}

// worse tells whether a refusal is worse than the one convicted, or as bad and sooner,
// and notes which it is.
func (k *starvedSpell) worse(spare int64, ops *rlbench.Ops, row uint32) bool {
	sent, id := int64(ops.Sent[row]), ops.ID[row]
	sooner := sent < k.sent || sent == k.sent && id < k.id
	if k.convicted != nil && (spare < k.convicted.over || spare == k.convicted.over && !sooner) {
		return false
	}
	k.sent, k.id = sent, id
	return true
}

// judged returns the history with the refusals alone that are ready, and the charges.
func (s *starvedStream) judged(sp *spell, p *piece, h *history) (*history, *charges) {
	if h == p.history && !s.run.Policy.ChargesRefusals {
		h, c := p.free(sp.unlisted)
		c.past, c.left = sp.starved.past, sp.starved.left
		return h, c
	}
	c := s.charges(h)
	c.unlisted, c.past, c.left = sp.unlisted, sp.starved.past, sp.starved.left
	return p.only(h), c
}

// keep copies the ops of a proof, when it is worth it.
func (s *starvedStream) keep(k *starvedSpell, convicted ruling) {
	k.convicted = &convicted
	if s.proofs.admits(convicted.over, len(convicted.witness)) {
		for _, row := range convicted.witness {
			convicted.shown = append(convicted.shown, s.run.Ops.At(int(row)))
		}
	}
	convicted.witness = nil
}

// carry takes what is to be carried on of the charges that are dropped, which cost
// gone.
func (s *starvedStream) carry(sp *spell, p *piece, cut, gone int64) {
	var past []bucketPast
	c := s.charges(p.history)
	c.past = sp.starved.past
	for _, r := range s.lenient {
		b, drains := r.(bucketRoom)
		if !drains {
			return
		}
		var sents []stair
		for _, ends := range c.ends {
			sents = append(sents, ends.early())
		}
		past = append(past, bucketPast{
			bucket: b.bucket,
			level:  c.levelWalk(b.bucket, p.first()-b.late, c.level().fall).stop(cut, gone),
			floor:  c.floorWalk(b.bucket, p.first(), sents).stop(cut, gone),
		})
	}
	sp.starved.past = past
}

// idle tells that the key may be put to rest.
func (s *starvedStream) idle(sp *spell, frontier int64) bool {
	k := &sp.starved
	if k.wrong > 0 || slices.ContainsFunc(k.doubted, func(n int) bool { return n > 0 }) {
		return false
	}
	for _, p := range k.past {
		most := p.bucket.count * (frontier - s.horizonOf(p) - p.level.at)
		if p.level.best > most || p.floor.best > most {
			return false
		}
	}
	return true
}

// horizonOf is how long after a moment the bucket is asked for it, at most.
func (s *starvedStream) horizonOf(p bucketPast) int64 {
	for _, r := range s.lenient {
		if b, drains := r.(bucketRoom); drains && b.bucket == p.bucket {
			return b.late
		}
	}
	return 0
}

// ruling rules on a key that ends here.
func (s *starvedStream) ruling(sp *spell, world int) ruling {
	k := &sp.starved
	doubted := 0
	if world < len(k.doubted) {
		doubted = k.doubted[world]
	}
	var convicted ruling
	if k.convicted != nil {
		convicted = *k.convicted
		if convicted.shown == nil {
			convicted.over = -1 // Others that are no better are shown instead.
		}
	}
	return s.conclude(convicted, k.wrong, doubted, k.doubt+sp.past.starved())
}
