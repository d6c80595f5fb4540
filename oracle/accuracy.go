package oracle

import "github.com/rlbench/rlbench"

// Accuracy measures every design by one yardstick, the exact sliding log: limit L in
// any W, stamps exact, refusals free, whatever the design itself promised. A bucket is
// measured by L = burst in any W = burst over rate, the time in which it fills.

// Accuracy returns the figures of the Run. They are all zero for a Run that [Judge]
// would return an error for. Costs above a limit add up over keys; under several
// limits the one with the most of it counts, and the worst ratio.
func Accuracy(run *rlbench.Run) rlbench.Accuracy {
	e, err := newEvidence(run)
	if err != nil {
		return rlbench.Accuracy{}
	}
	a := newAccuracy(e)
	e.show([]judge{a})
	return a.result()
}

// accuracy adds up the figures of the keys it is shown.
type accuracy struct {
	*evidence
	windows []window
	begin   int64
	sums    rlbench.Accuracy
	// worst is the certain peak of the greatest ratio.
	worst peak
	// told counts the refusals that are certainly right or certainly wrong.
	told int64
}

func newAccuracy(e *evidence) *accuracy {
	a := &accuracy{evidence: e, begin: beginOf(e.run)}
	for _, l := range e.run.Policy.Limits {
		w := window{limit: l.Count, length: int64(l.Per)}
		if e.run.Policy.Algorithm.Bucket() {
			w = window{limit: l.Burst, length: mulDivUp(l.Burst, int64(l.Per), l.Count)}
		}
		a.windows = append(a.windows, w)
	}
	return a
}

func (a *accuracy) again() bool              { return false }
func (a *accuracy) finding() rlbench.Finding { return rlbench.Finding{} }

func (a *accuracy) key(h *history) {
	over := int64(0)
	for _, w := range a.windows {
		over = max(over, w.overCertain(&h.allowed, h.due()))
		a.peak(w, h)
	}
	a.sums.OverCertain += over
	a.sums.IdealAllowed += a.ideal(h, newLog(a.windows), [3]int{})
	at := a.estimates(&h.allowed)
	a.sums.OverEstimate += a.unfit(h.allowed.cost, at)
	if h.denied.len() > 0 {
		a.tell(h, newCharges(h, false))
		a.sums.RefusedWronglyEstimate += a.roomy(h, at)
	}
}

// result rounds off the figures.
func (a *accuracy) result() rlbench.Accuracy {
	return a.figures(outcomes(a.sums, a.run.Ops.Outcome))
}

// outcomes counts them.
func outcomes(s rlbench.Accuracy, all []rlbench.Outcome) rlbench.Accuracy {
	for _, outcome := range all {
		s.Offered++
		switch outcome {
		case rlbench.Allowed:
			s.Allowed++
		case rlbench.Denied:
			s.Denied++
		case rlbench.Unknown:
			s.Unknown++
		case rlbench.Unsent:
			s.Unsent++
		}
	}
	return s
}

// figures adds what all keys come to.
func (a *accuracy) figures(s rlbench.Accuracy) rlbench.Accuracy {
	if s.Denied > 0 {
		s.CannotTell = float64(s.Denied-a.told) / float64(s.Denied)
	}
	s.WorstWindow = a.worst.cost
	if a.worst.cost > 0 {
		s.WorstWindowRatio = float64(a.worst.cost) / float64(a.worst.allowed)
	}
	return s
}

// peak keeps the certain peak of the greatest ratio. A single op is in one window
// however long it took.
func (a *accuracy) peak(w window, h *history) {
	p := w.certain(&h.allowed, h.due())
	if i := dearest(h.allowed.cost); i >= 0 {
		p.cost = max(p.cost, h.allowed.cost[i])
	}
	a.worse(p)
}

// worse keeps the peak of the greater ratio; of equal ones the greater.
func (a *accuracy) worse(p peak) {
	if a.worst.cost == 0 || ratioAbove(p, a.worst) || p.cost > a.worst.cost && !ratioAbove(a.worst, p) {
		a.worst = p
	}
}

// ratioAbove compares cost over allowed without rounding.
func ratioAbove(p, q peak) bool {
	ph, pl := mul(p.cost, q.allowed)
	qh, ql := mul(q.cost, p.allowed)
	return ph > qh || ph == qh && pl > ql
}

// overCertain goes through disjoint windows from left to right, each beginning where
// it first holds too much for certain, and adds up what they hold above the limit.
func (w window) overCertain(ops *columns, due []uint32) int64 {
	free := int64(beginning)
	return w.overBetween(ops, due, 0, ops.len(), &free) + w.alone(ops)
}

// overBetween looks only at the windows that begin with the ops from lo to hi, and
// not before free.
func (w window) overBetween(ops *columns, due []uint32, lo, hi int, free *int64) int64 {
	if lo == hi {
		return 0
	}
	first, last := ops.sent[lo], ops.sent[hi-1]
	short, due := ops.without(due, func(i uint32) bool { return !w.short(ops, int(i)) })
	early, late := short.early(), short.late(due)
	over := int64(0)
	for _, x := range short.sent[from(short.sent, first):from(short.sent, last+1)] {
		before := early.through(x - 1)
		if x < *free {
			continue
		}
		if held := late.through(x+w.length-1) - before; held > w.limit {
			over += held - w.limit
			*free = x + w.length
		}
	}
	return over
}

// alone adds up what ops too long for any window cost above the limit by themselves.
func (w window) alone(ops *columns) int64 {
	over := int64(0)
	for i, cost := range ops.cost {
		if !w.short(ops, i) {
			over += max(0, cost-w.limit)
		}
	}
	return over
}

// log is an exact sliding log of several limits. It is asked at moments that never
// fall.
type log struct {
	windows []window
	// at and cost are what it took in; from and held are, for each window, the first
	// that is still in it and what is in it.
	at, cost []int64
	from     []int
	held     []int64
}

func newLog(windows []window) *log {
	return &log{windows: windows, from: make([]int, len(windows)), held: make([]int64, len(windows))}
}

// fits tells whether cost fits at moment t beside what was taken in.
func (l *log) fits(t, cost int64) bool {
	fits := true
	for i, w := range l.windows {
		for l.from[i] < len(l.at) && l.at[l.from[i]] <= t-w.length {
			l.held[i] -= l.cost[l.from[i]]
			l.from[i]++
		}
		fits = fits && l.held[i]+cost <= w.limit
	}
	return fits
}

func (l *log) take(t, cost int64) {
	l.at, l.cost = append(l.at, t), append(l.cost, cost)
	for i := range l.held {
		l.held[i] += cost
	}
}

// kinds are the columns by outcome.
func (h *history) kinds() [3]*columns {
	return [...]*columns{&h.allowed, &h.unknown, &h.denied}
}

// ideal counts the ops that an exact log would have let through at their sents, from
// the next of each kind on.
func (a *accuracy) ideal(h *history, l *log, next [3]int) int64 {
	admitted := int64(0)
	kinds := h.kinds()
	for {
		first := -1
		for k, c := range kinds {
			if next[k] < c.len() && (first < 0 || a.before(c, next[k], kinds[first], next[first])) {
				first = k
			}
		}
		if first < 0 {
			return admitted
		}
		c, i := kinds[first], next[first]
		if l.fits(c.sent[i], c.cost[i]) {
			l.take(c.sent[i], c.cost[i])
			admitted++
		}
		next[first]++
	}
}

func (a *accuracy) before(c *columns, i int, d *columns, j int) bool {
	if c.sent[i] != d.sent[j] {
		return c.sent[i] < d.sent[j]
	}
	return a.run.Ops.ID[c.row[i]] < a.run.Ops.ID[d.row[j]]
}

// estimates returns the likeliest moment of each decision: when the limiter says
// that it decided, within what the driver saw; else the middle of the interval.
func (a *accuracy) estimates(ops *columns) []int64 {
	at := make([]int64, ops.len())
	stated := a.run.Ops.DecidedAt
	for i := range at {
		at[i] = ops.sent[i] + (ops.done[i]-ops.sent[i])/2
		if stated == nil || !a.run.Clock.Stated {
			continue
		}
		if t := stated[ops.row[i]]; t != rlbench.None {
			at[i] = min(max(t, ops.sent[i]), ops.done[i])
		}
	}
	return at
}

// unfit counts the ops that an exact log, asked at their moments, would not have
// taken in.
func (a *accuracy) unfit(costs, at []int64) int64 {
	l := newLog(a.windows)
	over := int64(0)
	for _, i := range order(at) {
		if l.fits(at[i], costs[i]) {
			l.take(at[i], costs[i])
		} else {
			over++
		}
	}
	return over
}

// tell counts the refusals that were certainly wrong, and those of which it is known
// either way. What was let through
// fills the log even where it should not have been.
func (a *accuracy) tell(h *history, c *charges) {
	n := h.denied.len()
	room, full, held := make([]bool, n), make([]bool, n), make([]int64, n)
	for i, w := range a.windows {
		r := windowRoom(w)
		c.fullest(r, h, held)
		for q, cost := range h.denied.cost {
			early := a.begin > beginning && h.denied.sent[q] < a.begin+w.length
			room[q] = (room[q] || i == 0) && !early && held[q]+cost <= w.limit
		}
		c.emptiest(r, h, held)
		for q, cost := range h.denied.cost {
			full[q] = full[q] || held[q]+cost > w.limit
		}
	}
	for q := range room {
		if room[q] {
			a.sums.RefusedWronglyCertain++
		}
		if room[q] || full[q] {
			a.told++
		}
	}
}

// roomy counts the refusals that found room at their likeliest moment.
func (a *accuracy) roomy(h *history, at []int64) int64 {
	refused := a.estimates(&h.denied)
	taken := order(at)
	l := newLog(a.windows)
	k, found := 0, int64(0)
	for _, q := range order(refused) {
		for ; k < len(taken) && at[taken[k]] <= refused[q]; k++ {
			l.take(at[taken[k]], h.allowed.cost[taken[k]])
		}
		if l.fits(refused[q], h.denied.cost[q]) {
			found++
		}
	}
	return found
}
