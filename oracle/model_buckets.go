package oracle

// Three texts of one rule, kept apart so that each can be held against the others.
// All let a cost through at t exactly if what is then held, and it, are at most b,
// where what is held drains at rate r. Clock: the limiter's own; where it begins does
// not matter. What comes exactly on time passes.

// Token bucket: it starts with b tokens, gains r a second up to b, and a request takes
// as many as it costs if there are so many. A bucket of 10 that gains 1 a second lets
// 10 through at once, then one a second.

// tokenBucket holds tokens, each worth per.
type tokenBucket struct {
	rate
	tokens, last int64
}

func newTokenBucket(r rate) *tokenBucket {
	return &tokenBucket{rate: r, tokens: r.room, last: beginning}
}

func (b *tokenBucket) fill(at int64) {
	if at > b.last {
		b.tokens += min(b.room-b.tokens, b.gained(at-b.last))
		b.last = at
	}
}

func (b *tokenBucket) fits(at, cost int64) bool {
	b.fill(at)
	return b.worth(cost) <= b.tokens
}

func (b *tokenBucket) charge(at, cost int64) int64 {
	b.fill(at)
	b.tokens = max(b.tokens-b.worth(cost), -2*roomMax)
	return 0
}

// Generic cell rate algorithm, in its form of virtual scheduling (ITU-T I.371): with
// I = 1/r, a cost n passes at t if max(t, TAT) + n·I - t <= b·I, and then TAT becomes
// max(t, TAT) + n·I.

// arrivalTime is the theoretical arrival time: whole nanoseconds and a part of one, in
// count-ths.
type arrivalTime struct {
	rate
	whole, part int64
}

func newArrivalTime(r rate) *arrivalTime { return &arrivalTime{rate: r, whole: beginning} }

// next returns max(t, TAT) + n·I.
func (a *arrivalTime) next(at, cost int64) (whole, part int64) {
	whole, part = a.whole, a.part
	if at > whole {
		whole, part = at, 0
	}
	n := a.worth(cost)
	whole += n / a.count
	if part += n % a.count; part >= a.count {
		whole, part = whole+1, part-a.count
	}
	return whole, part
}

func (a *arrivalTime) fits(at, cost int64) bool {
	whole, part := a.next(at, cost)
	limit, rest := a.room/a.count, a.room%a.count
	return whole-at < limit || whole-at == limit && part <= rest
}

func (a *arrivalTime) charge(at, cost int64) int64 {
	a.whole, a.part = a.next(at, cost)
	a.whole = min(a.whole, at+2*roomMax)
	return 0
}

// Leaky bucket as a meter: water of one unit a cost pours in, r a second leaks out,
// and a request passes if its water does not make the bucket flow over.

// meter holds water, each unit of cost worth per.
type meter struct {
	rate
	water, last int64
}

func newMeter(r rate) *meter { return &meter{rate: r, last: beginning} }

func (m *meter) leak(at int64) {
	if at > m.last {
		m.water = max(0, m.water-m.gained(at-m.last))
		m.last = at
	}
}

func (m *meter) fits(at, cost int64) bool {
	m.leak(at)
	return m.water+m.worth(cost) <= m.room
}

func (m *meter) charge(at, cost int64) int64 {
	m.leak(at)
	m.water = min(m.water+m.worth(cost), 2*roomMax)
	return 0
}

// Leaky bucket as a queue: what the meter lets through leaves at r a second, in order;
// a request goes when all that came before it has drained. Of three at once in a queue
// of capacity 3 that leaks 1 a second, one leaves at 0 s, one at 1 s, one at 2 s, and
// a fourth is refused.

// queue is a meter whose water waits.
type queue struct{ meter }

func newQueue(r rate) *queue { return &queue{*newMeter(r)} }

func (q *queue) charge(at, cost int64) int64 {
	q.leak(at)
	wait := ceilDiv(q.water, q.count)
	q.meter.charge(at, cost)
	return wait
}
