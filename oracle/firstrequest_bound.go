package oracle

import (
	"math"
	"math/bits"
	"slices"
)

// firstStretch is a piece of time [from, to], ends included, with what certainly was
// charged in it and the most that windows can hold there, in units.
type firstStretch struct {
	from, to   int64
	held, most int64
	// fresh is how many windows can open in it if none is open at from.
	fresh int64
	// open is the request that leaves most if a window is open at from, of openers
	// such requests in all. Its window is over no sooner than over, after windows
	// can open from then on, and they hold seam together.
	open              opener
	openers           int
	over, after, seam int64
}

// sweptWindows is how many windows the sweeps look at together; longer runs are
// held against a bucket.
const sweptWindows = 3

// smallHistory is up to how many ops every stretch is measured by itself.
const smallHistory = 64

// firstWindow is the simple special case: the first window of a complete history
// opens at or after the first request that could open one, and lasts at least
// windowMin; what was charged and answered before that was charged in it.
func (u *unitOps) firstWindow() (firstStretch, bool) {
	if !u.promise.complete || len(u.sent) == 0 {
		return firstStretch{}, false
	}
	first := u.sent[0]
	if len(u.openers) > 0 {
		first = min(first, u.openers[0].sent)
	}
	end := later(first, u.promise.windowMin)
	held := int64(0)
	for i := 0; i < len(u.sent) && u.sent[i] < end; i++ {
		if u.done[i] < end {
			held += u.weight[i]
		}
	}
	if held <= u.limit {
		return firstStretch{}, false
	}
	return u.measure(first, end-1), true
}

// measure gives the exact bound of one stretch, in time linear in the ops. Every
// accusation by bound rests on it.
//
// Windows that open at from or later open at least windowMin apart, each holding
// at most the limit. If one was open at from already, a request sent before
// opened it, took its own cost of it, and is not among those charged here.
func (u *unitOps) measure(from, to int64) firstStretch {
	p := u.promise
	st := firstStretch{from: from, to: to, fresh: (to-from)/p.windowMin + 1}
	st.most = timesLimit(st.fresh, u.limit)
	for i := 0; i < len(u.sent) && u.sent[i] <= to; i++ {
		if u.sent[i] >= from {
			if u.done[i] <= to {
				st.held += u.weight[i]
			}
			continue
		}
		st.consider(p, opener{sent: u.sent[i], done: u.done[i], room: u.limit - u.weight[i], row: u.ops.row[i]}, u.limit)
	}
	for _, o := range u.openers {
		if o.sent < from {
			st.consider(p, o, u.limit)
		}
	}
	if !p.complete {
		st.consider(p, opener{sent: unseen, done: endless, room: u.limit}, u.limit)
	}
	return st
}

// unseen is when a request was sent that is not in the history.
const unseen = math.MinInt64

// consider raises the bound to what it is if this request's window was open when
// the stretch began.
func (st *firstStretch) consider(p firstRequest, o opener, limit int64) {
	if o.done != endless && later(o.done, p.windowMax) <= st.from {
		return
	}
	over := max(st.from+1, later(o.sent, p.windowMin))
	after := int64(0)
	if st.to >= over {
		after = (st.to-over)/p.windowMin + 1
	}
	st.openers++
	if most := later(o.room, timesLimit(after, limit)); st.openers == 1 || most > st.seam {
		st.open, st.after, st.over, st.seam = o, after, over, most
		st.most = max(st.most, most)
	}
}

// timesLimit is n times the limit, held at the greatest number.
func timesLimit(n, limit int64) int64 {
	high, low := bits.Mul64(uint64(n), uint64(limit))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(low)
}

// fullWindows looks for a stretch that holds more than windows can: near-linear,
// by sweeps over up to sweptWindows windows and against a bucket for long runs;
// small histories are measured in full.
func (u *unitOps) fullWindows() (firstStretch, bool) {
	if len(u.sent) == 0 {
		return firstStretch{}, false
	}
	if len(u.sent) <= smallHistory {
		return u.everyStretch()
	}
	return u.sweep()
}

// sweep looks for such a stretch in time linear in the ops.
func (u *unitOps) sweep() (firstStretch, bool) {
	sw := u.newSweep()
	for windows := int64(0); windows <= sweptWindows; windows++ {
		for _, seam := range [...]bool{true, false} {
			if from, to, found := sw.run(windows, seam); found {
				if st := u.measure(from, to); st.held > st.most {
					return st, true
				}
			}
		}
	}
	if from, to, found := sw.bucket(); found {
		if st := u.measure(from, to); st.held > st.most {
			return st, true
		}
	}
	return firstStretch{}, false
}

// everyStretch measures each stretch from a Sent to a Done, the shortest first
// for each Sent.
func (u *unitOps) everyStretch() (firstStretch, bool) {
	ends := slices.Clone(u.done)
	slices.Sort(ends)
	for i, from := range u.sent {
		if i > 0 && from == u.sent[i-1] {
			continue
		}
		for _, to := range ends {
			if to < from {
				continue
			}
			if st := u.measure(from, to); st.held > st.most {
				return st, true
			}
		}
	}
	return firstStretch{}, false
}

// firstSweep holds what the near-linear searches share: the ops in order of done,
// without those that last a window or longer, which no stretch of one window
// holds and which would hide as much from the difference of the two curves.
type firstSweep struct {
	u *unitOps
	// done and weight are in order of done; before is the weight of the short ops
	// that stand before each position of the ops in order of sent.
	done, weight []int64
	before       []int64
	lightest     int64
	roomiest     int64
}

func (u *unitOps) newSweep() *firstSweep {
	sw := &firstSweep{u: u, before: make([]int64, len(u.sent)+1), lightest: math.MaxInt64, roomiest: 0}
	short := func(i int) bool { return u.done[i]-u.sent[i] < u.promise.windowMin }
	for _, at := range u.due {
		if short(int(at)) {
			sw.done = append(sw.done, u.done[at])
			sw.weight = append(sw.weight, u.weight[at])
		}
	}
	for i, w := range u.weight {
		sw.before[i+1] = sw.before[i]
		if short(i) {
			sw.before[i+1] += w
		}
		sw.lightest = min(sw.lightest, w)
	}
	for _, o := range u.openers {
		sw.roomiest = max(sw.roomiest, o.room)
	}
	return sw
}

// run looks for a stretch from a Sent that holds more than so many windows can.
// The stretch is the longest with that many: with seam, of windows that open
// after one that was open when it began; else of windows that open in it.
func (sw *firstSweep) run(windows int64, seam bool) (from, to int64, found bool) {
	u := sw.u
	span := timesLimit(windows, u.promise.windowMin)
	if !seam && windows == 0 {
		return 0, 0, false
	}
	live := liveOpeners{sw: sw, latest: math.MinInt64}
	out, held, last := 0, int64(0), int64(math.MinInt64)
	for i, x := range u.sent {
		if i > 0 && x == u.sent[i-1] {
			continue
		}
		over, room, open := live.at(x)
		y := later(x, span)
		if seam {
			if !open {
				continue
			}
			y = later(over, span)
		}
		y = max(y-1, last)
		last = y
		for ; out < len(sw.done) && sw.done[out] <= y; out++ {
			held += sw.weight[out]
		}
		most := timesLimit((y-x)/u.promise.windowMin+1, u.limit)
		if open {
			after := int64(0)
			if y >= over {
				after = (y-over)/u.promise.windowMin + 1
			}
			most = max(most, later(room, timesLimit(after, u.limit)))
		}
		if y >= x && held-sw.before[i] > most {
			return x, y, true
		}
	}
	return 0, 0, false
}

// liveOpeners follows, for rising x, the requests whose window may be open at x.
type liveOpeners struct {
	sw *firstSweep
	// openers counts those that were sent before x, and latest is when the last of
	// their windows can be over. gone counts the foremost allowed ops whose windows
	// are over for certain.
	gone, openers int
	latest        int64
}

// at bounds what a window open at x can excuse: it is over no sooner than over
// and leaves at most room. open: there may be one.
func (l *liveOpeners) at(x int64) (over, room int64, open bool) {
	u := l.sw.u
	p := u.promise
	if !p.complete {
		return x + 1, u.limit, true
	}
	for ; l.openers < len(u.openers) && u.openers[l.openers].sent < x; l.openers++ {
		l.latest = max(l.latest, later(u.openers[l.openers].done, p.windowMax))
	}
	if l.openers > 0 && l.latest > x {
		return x + 1, max(l.sw.roomiest, u.limit-l.sw.lightest), true
	}
	for l.gone < len(u.sent) && u.sent[l.gone] < x && later(u.done[l.gone], p.windowMax) <= x {
		l.gone++
	}
	if u.sent[l.gone] >= x {
		return 0, 0, false
	}
	return max(x+1, later(u.sent[l.gone], p.windowMin)), u.limit - l.sw.lightest, true
}

// bucket holds the ops against a bucket that drains one limit a window and whose
// burst is two: no row of windows lets more pass. It finds the slow excess of
// long runs that no few windows show.
func (sw *firstSweep) bucket() (from, to int64, found bool) {
	u := sw.u
	g := greatestCommonDivisor(u.limit, u.promise.windowMin)
	drain, scale := u.limit/g, u.promise.windowMin/g
	total := sw.before[len(u.sent)]
	if scale > math.MaxInt64/4/max(total, 1) || u.limit > math.MaxInt64/4/scale {
		return 0, 0, false
	}
	burst := 2 * u.limit * scale
	// best is the greatest over x so far of -(weight sent before x) - drained since
	// x, at time now.
	best, now, start := int64(math.MinInt64/2), u.sent[0], u.sent[0]
	i, held := 0, int64(0)
	for at, y := range sw.done {
		for ; i < len(u.sent) && u.sent[i] <= y; i++ {
			best = drained(best, drain, u.sent[i]-now, scale, total)
			now = u.sent[i]
			if v := -sw.before[i] * scale; v > best {
				best, start = v, now
			}
		}
		best = drained(best, drain, y-now, scale, total)
		now = y
		held += sw.weight[at]
		if held*scale+best > burst {
			return start, y, true
		}
	}
	return 0, 0, false
}

// drained lowers the level by what leaves in dt, no further than where it can
// matter no more.
func drained(level, drain, dt, scale, total int64) int64 {
	floor := -2 * total * scale
	if dt > 0 && drain > (level-floor)/dt {
		return floor
	}
	return max(floor, level-drain*dt)
}
