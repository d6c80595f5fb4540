package oracle

// At most b + r·(y-x) in every stretch [x, y], both ends included: the token bucket
// of capacity b that fills at rate r, which is the generic cell rate algorithm, which
// is the leaky bucket as a meter (ITU-T I.371).
//
// Doubt goes to the limiter: Fail needs that no moments in [sent, done] keep the
// promise. Smallest history that breaks it in one stretch: "r=1/2 b=1: A[4,4] A[5,5]";
// in no one stretch, but for certain, since tokens are whole: "r=1/2 b=1: A[4,4] A[3,5]".
// Smallest innocent one that serving earliest done first would accuse:
// "r=1/2 b=1: A[5,8] A[6,6]".
//
// All arithmetic is in whole numbers: a cost of 1 is worth per, a nanosecond gives
// back count, the bucket holds room.

// bucket is the promise of cost·per <= room + count·(y-x).
type bucket struct {
	count, per, room int64
}

// newBucket reduces the rate of count per per, so that numbers stay small; late is
// what the limiter's clock may misread of any stretch.
func newBucket(burst, count, per, late int64) bucket {
	g := greatestCommonDivisor(count, per)
	b := bucket{count: count / g, per: per / g}
	b.room = mulDiv(burst, b.per, 1) + mulDiv(b.count, late, 1)
	b.room = min(b.room, -beginning)
	return b
}

func (b bucket) most() int64    { return b.room / b.per }
func (b bucket) mirrored() rule { return b }
func (b bucket) grid() int64    { return b.count }

// fits tells whether whole numbers suffice for a key's costs over its length.
func (b bucket) fits(cost, length int64) bool {
	const half = -beginning / 2
	return b.room < half && mulDiv(cost, b.per, 1) < half && mulDiv(length, b.count, 1) < half
}

// stretch is the peak of a stretch that held a cost.
func (b bucket) stretch(cost, from, to int64) peak {
	return peak{cost: cost, allowed: (b.room + b.count*(to-from)) / b.per, from: from, to: to}
}

// certain returns the stretch that held most beyond what it may: over every sent x
// and done y, the cost of the ops that lie whole in [x, y]. Where whole numbers do
// not suffice it claims nothing.
func (b bucket) certain(ops *columns, due []uint32) peak {
	worst := peak{allowed: b.most()}
	n := ops.len()
	if n == 0 || !b.fits(sum(ops.cost), ops.done[due[n-1]]-ops.sent[0]) {
		return worst
	}
	c := climb{slope: bucketSlope{b, ops.sent[0]}, ops: ops, due: due}
	top, _ := c.walk(beginning, forever, forever)
	return b.stretch(top.cost, top.x, top.y)
}

// bucketSlope is how a bucket drains with time.
type bucketSlope struct {
	bucket
	since int64
}

func (b bucketSlope) up(x int64) int64   { return b.count * (x - b.since) }
func (b bucketSlope) down(y int64) int64 { return b.count * (y - b.since) }
func (b bucketSlope) unit() int64        { return b.per }

// possible returns the stretch that some moments fill most beyond what it may hold:
// S(t) less D before x, over every sent t and every done x <= t, and t itself.
func (b bucket) possible(h *history, due []uint32) peak {
	worst := peak{allowed: b.most()}
	if total, length := sum(h.allowed.cost)+sum(h.unknown.cost), h.length(); !b.fits(total, length) {
		worst.cost = total // As if nothing drained.
		return worst
	}
	over := int64(beginning)
	for _, sents := range [][]int64{h.allowed.sent, h.unknown.sent} {
		w := b.walk(h.first(), h.allowed.late(due))
		early, doubt := h.allowed.early(), h.unknown.early()
		for _, t := range sents {
			held := early.through(t) + doubt.through(t)
			drained, x, before := w.drained(t)
			if excess := b.per*held - b.count*(t-w.begin) + drained; excess > over {
				over = excess
				worst = b.stretch(held-before, x, t)
			}
		}
	}
	return worst
}

// first is the least sent of a key's charges.
func (h *history) first() int64 {
	first := int64(-beginning)
	for _, c := range []*columns{&h.allowed, &h.unknown, &h.denied} {
		if c.len() > 0 {
			first = min(first, c.sent[0])
		}
	}
	return first
}

// length is how long a key's charges lasted.
func (h *history) length() int64 {
	last := int64(beginning)
	for _, c := range []*columns{&h.allowed, &h.unknown, &h.denied} {
		if n := c.len(); n > 0 {
			last = max(last, c.sent[n-1])
		}
		for _, t := range c.done {
			last = max(last, t)
		}
	}
	return max(0, last-h.first())
}

// drain walks the most that a bucket can have lacked of being drained: the greatest,
// over x <= t, of count·x less per times what had come before x (Lindley's recursion,
// turned round). Only moments at which something comes need be an x, and t itself.
type drain struct {
	bucket
	begin int64
	come  []stair
	// best is the greatest value so far, at x, with what came before x.
	best, x, before int64
}

// ebb is where such a walk stood at a moment.
type ebb struct{ at, best, x, before int64 }

// beyond tells that it is so far from any room that sums may overflow.
func (d ebb) beyond() bool { return max(d.best, -d.best) >= forever/2 }

// goOn goes on with a walk: what comes up to that moment has come.
func (b bucket) goOn(s ebb, come []stair) *drain {
	for i := range come {
		come[i].through(s.at)
	}
	return &drain{bucket: b, begin: s.at, come: come, best: s.best, x: s.x, before: s.before}
}

// stop takes the walk on to t, for another that does not know what gone came to.
func (d *drain) stop(t, gone int64) ebb {
	best, x, before := d.drained(t)
	return ebb{at: t, best: best - d.count*(t-d.begin) + d.per*gone, x: x, before: before - gone}
}

func (b bucket) walk(begin int64, come ...stair) *drain {
	return &drain{bucket: b, begin: begin, come: come, best: beginning, x: begin}
}

// drained returns the greatest value, its x, and the cost that had come before it. t
// never falls from one call to the next.
func (d *drain) drained(t int64) (value, x, before int64) {
	for {
		next, sum := int64(-beginning), int64(0)
		for i := range d.come {
			sum += d.come[i].sum
			if at, more := d.come[i].peek(); more {
				next = min(next, at)
			}
		}
		// What came at t itself does not lie before t; but then t is such a next.
		if next > t {
			d.raise(t, sum)
			return d.best, d.x, d.before
		}
		d.raise(next, sum)
		for i := range d.come {
			d.come[i].through(next)
		}
	}
}

func (d *drain) raise(at, before int64) {
	if v := d.count*(at-d.begin) - d.per*before; v >= d.best {
		d.best, d.x, d.before = v, at, before
	}
}

func (b bucket) pace(equal int64, n int, scale int64) pace {
	m := scale / b.count
	return &bucketPace{per: b.per * m, room: b.room * m, empty: make([]int64, 0, n)}
}

// bucketPace is the generic cell rate algorithm in time scaled so that every gap is
// whole.
type bucketPace struct {
	per, room int64
	// empty is when the bucket will have drained what each position put in.
	empty []int64
}

func (p *bucketPace) after(_ []int64, i int, cost int64) int64 {
	if i == 0 {
		return beginning
	}
	return p.empty[i-1] + cost*p.per - p.room
}

func (p *bucketPace) admit(at []int64, i int, cost int64) {
	empty := at[i]
	if i > 0 {
		empty = max(empty, p.empty[i-1])
	}
	p.empty = append(p.empty[:i], empty+cost*p.per)
}

func (p *bucketPace) matters(_ []int64, end int, now int64) int {
	if end > 0 && p.empty[end-1] > now {
		return end - 1
	}
	return end
}

func (p *bucketPace) forget(positions int) {
	p.empty = p.empty[:copy(p.empty, p.empty[positions:])]
}

func (p *bucketPace) differ(int) {}
