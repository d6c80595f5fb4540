package oracle

import "slices"

// bucketRoom is a bucket that drains: what was charged gives back count for every
// nanosecond. The doubt of the limiter's clock comes off each gap, so that even a
// refusal of the whole burst can be found wrong: a stretch gives back only what it
// does when it is late shorter.
//
// A generic cell rate algorithm keeps no time but that at which its bucket will have
// drained, so that to a clock which reads less than before the bucket is fuller than it
// ever was: what came of late counts, and the rate times late on top. Smallest history
// that is lawful only so, and not for a token bucket: "gcra res=1 r=1/3 b=2: A[1,1]
// D[1,1]" (read at 1 and at 0).
type bucketRoom struct {
	bucket
	late int64
	// uncredits: what a clock that goes back has given it takes again.
	uncredits bool
}

func (b bucketRoom) capacity() int64 { return b.most() }
func (b bucketRoom) horizon() int64  { return b.room/b.count + 1 + b.late }

// fullest is the level S(t) less D before x less what the time from x to t gave back,
// over every x, at the refusal's sent and every sent of a charge in its interval.
func (b bucketRoom) fullest(h *history, c *charges, full []int64) {
	refused := &h.denied
	if !b.suffices(h, c) {
		for q := range full {
			full[q] = b.capacity() + 1 // Beyond whole numbers: accuse nobody.
		}
		return
	}
	more := false
	at := b.levels(h, c)
	for q, t := range refused.sent {
		full[q] = at(t)
		more = more || c.fits(refused, full, q, b.capacity())
	}
	if more {
		walk := func() func(int64) int64 { return b.levels(h, c) }
		c.highestAt(full, 0, refused.sent, refused.done, walk, func(q int) bool { return c.fits(refused, full, q, b.capacity()) })
	}
	c.ownOff(refused, full)
}

func (b bucketRoom) suffices(h *history, c *charges) bool {
	total := sum(h.allowed.cost) + sum(h.unknown.cost) + sum(h.denied.cost) + c.unlisted
	return b.fits(total, h.length()+b.late) && !c.beyond()
}

// levels returns the most that may be in the bucket at moments that never fall, in
// whole costs rounded up.
func (b bucketRoom) levels(h *history, c *charges) func(int64) int64 {
	l := c.level()
	var recent *level
	if b.uncredits {
		recent = c.level()
	}
	drain := c.levelWalk(b.bucket, h.first()-b.late, l.fall)
	begin := drain.begin
	return func(t int64) int64 {
		sent := int64(0)
		for i := range l.rise {
			sent += l.rise[i].through(t)
		}
		until := t - b.late
		drained, _, _ := drain.drained(until)
		most := b.per*sent - b.count*(until-begin) + drained
		if recent != nil {
			if came := recent.between(until-1, t); came > 0 {
				most = max(most, b.per*came+b.count*b.late)
			}
		}
		return ceilDiv(most, b.per)
	}
}

// emptiest is the least that must be in the bucket: what was done before t, less what
// was sent before x, less what the time from x to t gave back, for the best x. It
// only falls but where a charge is done, and is least just before: so the end of the
// refusal's interval and the dones in it, from its beginning on, are looked at. Charges that span [x, t] are missed: what it
// finds is there, but there may be more.
func (b bucketRoom) emptiest(h *history, c *charges, least []int64) {
	refused := &h.denied
	if !b.suffices(h, c) {
		clear(least)
		return
	}
	begin := h.first()
	asked := func(q int) bool { return refused.cost[q]-least[q] > b.capacity() }
	over := order(refused.done)
	for i, ends := range c.ends {
		// One walk serves the ends of the refusals too: both rise.
		at, next := b.floors(c, begin), 0
		c.scratch = slices.Grow(c.scratch[:0], len(c.due[i]))
		for _, op := range c.due[i] {
			t := ends.done[op]
			for ; i == 0 && next < len(over) && refused.done[over[next]] <= t; next++ {
				least[over[next]] = -at(refused.done[over[next]])
			}
			c.scratch = append(c.scratch, -at(t))
		}
		for ; i == 0 && next < len(over); next++ {
			least[over[next]] = -at(refused.done[over[next]])
		}
		// A tick later, so that a done at the refusal's very beginning is looked at; one
		// at its end was.
		moment := func(k int) int64 { return ends.done[c.due[i][k]] + 1 }
		highestOf(least, moment, c.scratch, refused.sent, refused.done, asked)
	}
	for q := range least {
		least[q] = -least[q]
	}
}

// floors returns the least that must be in the bucket, before anything decided at the
// moment itself, at moments that never fall, in whole costs.
func (b bucketRoom) floors(c *charges, begin int64) func(int64) int64 {
	gone, sents := make([]stair, 0, len(c.ends)), make([]stair, 0, len(c.ends))
	for i, ends := range c.ends {
		gone = append(gone, ends.late(c.due[i]))
		sents = append(sents, ends.early())
	}
	drain := c.floorWalk(b.bucket, begin, sents)
	begin = drain.begin
	return func(t int64) int64 {
		done := int64(0)
		for i := range gone {
			done += gone[i].through(t - 1)
		}
		drained, _, _ := drain.drained(t)
		return max(0, ceilDiv(b.per*done-b.count*(t-begin+b.late)+drained, b.per))
	}
}

// held returns what may have been in the bucket at the fullest moment of refusal q:
// everything sent by then and not certainly done before the stretch that fills it.
func (b bucketRoom) held(h *history, c *charges, q int) []uint32 {
	sent, done := h.denied.sent[q], h.denied.done[q]
	at := b.levels(h, c)
	best, when := at(sent), sent
	for _, t := range c.moments() {
		if t > sent && t <= done {
			if v := at(t); v > best {
				best, when = v, t
			}
		}
	}
	_, x, _ := c.levelWalk(b.bucket, h.first()-b.late, c.level().fall).drained(when - b.late)
	c.partial = c.left >= x
	return c.rows(x-1, when, h.denied.row[q])
}

// bucketPast is what is carried of a bucket from charges that are not listed any more:
// how far it had been drained, for the most and for the least that may be in it.
type bucketPast struct {
	bucket       bucket
	level, floor ebb
}

// levelWalk walks how far the bucket was drained, from begin or from where the past
// ended.
func (c *charges) levelWalk(b bucket, begin int64, come []stair) *drain {
	for _, p := range c.past {
		if p.bucket == b {
			return b.goOn(p.level, come)
		}
	}
	return b.walk(begin, come...)
}

func (c *charges) floorWalk(b bucket, begin int64, come []stair) *drain {
	for _, p := range c.past {
		if p.bucket == b {
			return b.goOn(p.floor, come)
		}
	}
	return b.walk(begin, come...)
}

// beyond tells that whole numbers do not suffice for what was carried over.
func (c *charges) beyond() bool {
	for _, p := range c.past {
		if p.level.beyond() || p.floor.beyond() {
			return true
		}
	}
	return false
}
