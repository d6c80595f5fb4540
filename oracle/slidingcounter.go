package oracle

// The estimate is never above L. With windows [k·W, (k+1)·W) of the limiter's own
// clock, the estimate at a moment t of window k is what was charged in k so far,
// and of what was charged in k-1 the share (1 - frac) that has not yet slid out,
// where frac is the part of window k that is over at t.
//
// Source: the sliding window counter of two counters a key, which many gateways
// and rate limit services use in place of a log.
//
// All is exact in integers: cost + (1-frac)·before > L if and only if
// cost + before - floor(before·d/W) > L, where d is the time since the window began.
//
// Direction of doubt: an op counts for a Fail only where its whole interval puts it;
// one that straddles an edge counts by the lesser of its two weights, and ops of
// unknown outcome count for nothing. For a refusal each counts by its greater one.
// Pass is shown by moments, found in one of a few ways; so a history can be
// broken, or innocent, and be left open.
//
// Smallest history that breaks it: "counter L=1 W=4: A[0,0] A[1,1]"; across an edge:
// "counter L=1 W=4: A[3,3] A[4,4]". Smallest innocent one that the sliding window
// would accuse: "counter L=2 W=4: A[2,2] A[3,3] A[6,6]" (half has slid out).

// slidingCounter is the promise of one limit.
type slidingCounter struct{ aligned }

// since is how much of its window is over at t.
func (c slidingCounter) since(t int64) int64 { return t - c.start(c.number(t)) }

// estimate rounds up what is left at t of the cost in the window before, beside the
// cost in its own. Rounding changes no comparison with a whole number.
func (c slidingCounter) estimate(before, own, t int64) int64 {
	return own + before - mulDiv(before, c.since(t), c.length)
}

// counterBreach is a stretch that certainly brought the estimate above the limit.
type counterBreach struct {
	// from and to hold the ops that count: those whole within. edge is when the
	// window of to began.
	from, edge, to int64
	// cost is what lies whole in the window of to, before what else lies whole in
	// the stretch; estimate is the most favourable estimate at to. For a run of
	// windows cost is all of it, and room is what they have room for.
	cost, before, estimate, room int64
	run                          bool
}

func (b counterBreach) over() int64 {
	if b.run {
		return b.cost - b.room
	}
	return b.estimate - b.room
}

// breach returns the worst breach that is certain. No breach proves nothing.
func (c slidingCounter) breach(ops *columns, due []uint32) counterBreach {
	last, run := c.last(ops, due), c.windowRun(ops, due)
	if run.over() > last.over() {
		return run
	}
	return last
}

// last looks at the last op of a window that was admitted by a moment y: what lies
// whole between the window's start and y has been charged there by then, and what
// lies whole between the start of the window before and y counts by 1-frac(y) at
// least, wherever it was charged.
func (c slidingCounter) last(ops *columns, due []uint32) counterBreach {
	var worst counterBreach
	window := int64(0)
	own, before := int64(0), int64(0)
	for at, i := range due {
		y := ops.done[i]
		if k := c.number(y); at == 0 || k != window {
			before = 0
			if at > 0 && k == window+1 {
				before = own
			}
			window, own = k, 0
		}
		switch k := c.number(ops.sent[i]); {
		case k == window:
			own += ops.cost[i]
		case k == window-1:
			before += ops.cost[i]
		}
		if own == 0 || at+1 < len(due) && ops.done[due[at+1]] == y {
			continue
		}
		if estimate := c.estimate(before, own, y); estimate-c.limit > worst.over() {
			worst = counterBreach{from: c.start(window - 1), edge: c.start(window), to: y,
				cost: own, before: before, estimate: estimate, room: c.limit}
		}
	}
	return worst
}

// windowRun looks at runs of windows a…b, a before b: each may hold the limit, but
// of the last two the estimate takes all except what has slid out by y, so together
// they have room for limit·(b-a) + frac(y)·limit. It walks the windows downwards
// and keeps, for every y, what lies whole between the window's start and y.
func (c slidingCounter) windowRun(ops *columns, due []uint32) counterBreach {
	var worst counterBreach
	n := ops.len()
	values := c.roomValues(ops, due)
	if values == nil {
		return worst
	}
	cr := newCrest(values)
	rank := rankTies(ops.done, due)
	from := int32(n)
	for i := n - 1; i >= 0; i-- {
		a := c.number(ops.sent[i])
		cr.add(rank[i], ops.cost[i])
		if i > 0 && c.number(ops.sent[i-1]) == a {
			continue
		}
		for from > 0 && c.number(ops.done[due[from-1]]) > a {
			from--
		}
		if from == int32(n) {
			continue
		}
		cost := cr.from(from) - values[cr.head]
		y := ops.done[due[cr.head]]
		room := mulDiv(c.limit, c.number(y)-a, 1) + mulDiv(c.limit, c.since(y), c.length)
		if cost-room > worst.over() {
			worst = counterBreach{from: c.start(a), edge: c.start(c.number(y)), to: y, cost: cost, room: room, run: true}
		}
	}
	return worst
}

// roomValues returns, for each op in order of done, less and less by the room that
// opens up until then; nil when there is nothing to accuse.
func (c slidingCounter) roomValues(ops *columns, due []uint32) []int64 {
	total := sum(ops.cost)
	if total <= c.limit {
		return nil
	}
	// far is a number of windows that no cost of this run can fill.
	far := total/c.limit + 2
	values := make([]int64, ops.len())
	for k, i := range due {
		y := ops.done[i]
		slid := mulDiv(c.limit, c.since(y), c.length)
		if k == 0 {
			values[k] = -slid
			continue
		}
		x := ops.done[due[k-1]]
		windows := min(far, c.number(y)-c.number(x))
		values[k] = values[k-1] - c.limit*windows - slid + mulDiv(c.limit, c.since(x), c.length)
		if values[k] < beginning/2 {
			return nil // Beyond whole numbers: claim nothing.
		}
	}
	return values
}

// counterLevel walks the greatest estimate that some moments make at each moment:
// all that was sent counts whole, unless it certainly came before the window, and
// then by its share.
type counterLevel struct {
	slidingCounter
	near, far *level
}

func (c slidingCounter) level(charged *charges) *counterLevel {
	return &counterLevel{c, charged.level(), charged.level()}
}

// at returns it rounded up; t never falls from one call to the next.
func (l *counterLevel) at(t int64) int64 {
	k := l.number(t)
	own := l.near.between(l.start(k)-1, t)
	all := l.far.between(l.start(k-1)-1, t)
	return l.estimate(all-own, own, t)
}

// possible returns the greatest estimate that some moments make, ops of unknown
// outcome included. Where nothing is sent the estimate only falls, edges included:
// what came whole before an edge counts whole just after it. So it is greatest when
// something is sent.
func (c slidingCounter) possible(h *history) peak {
	charged := newCharges(h, false)
	worst := peak{allowed: c.limit}
	l := c.level(charged)
	for _, t := range charged.moments() {
		if e := l.at(t); e > worst.cost {
			worst.cost, worst.from, worst.to = e, c.start(c.number(t)-1), t
		}
	}
	return worst
}
