package oracle

import (
	"slices"
	"sort"

	"github.com/rlbench/rlbench"
)

// accuracyStream adds up the figures of keys that come in pieces.
type accuracyStream struct {
	*accuracy
	// peaks are the certain peaks of all keys, by window.
	peaks []int64
	// logs are those of the key at hand, in room that serves every key.
	ideal, taken, fitting *log
}

// accuracySpell is what is carried of a key.
type accuracySpell struct {
	// over is, for each window, what disjoint windows held above the limit, and free
	// the moment from which the next may begin.
	over, free []int64
	// ideal is the log of what would have been let through, taken of what was when it
	// was likeliest, fitting of what of that fitted.
	ideal, taken, fitting []entry
}

// entry is what a log took in.
type entry struct{ at, cost int64 }

func newAccuracyStream(e *evidence) *accuracyStream {
	a := &accuracyStream{accuracy: newAccuracy(e)}
	a.begin = beginning
	a.ideal, a.taken, a.fitting = newLog(a.windows), newLog(a.windows), newLog(a.windows)
	a.peaks = make([]int64, len(a.windows))
	return a
}

func (a *accuracyStream) spell() accuracySpell {
	n := len(a.windows)
	s := accuracySpell{over: make([]int64, n), free: make([]int64, n)}
	for i := range s.free {
		s.free[i] = beginning
	}
	return s
}

func (a *accuracyStream) piece(sp *spell, p *piece) {
	k := &sp.accuracy
	ops, due := &p.allowed, p.due()
	for i, w := range a.windows {
		lo, hi := 0, ops.len()
		if p.from > beginning {
			lo = from(ops.sent, p.from-w.length+1)
		}
		if p.to < forever {
			hi = from(ops.sent, p.to-w.length+1)
		}
		a.peaks[i] = max(a.peaks[i], w.between(ops, due, lo, hi).cost)
		for j := p.fresh; j < ops.len(); j++ {
			a.peaks[i] = max(a.peaks[i], ops.cost[j])
			if !w.short(ops, j) {
				k.over[i] += max(0, ops.cost[j]-w.limit)
			}
		}
		k.over[i] += w.overBetween(ops, due, lo, hi, &k.free[i])
	}
	a.ideal.open(k.ideal, p.from)
	a.taken.open(k.taken, p.from)
	a.fitting.open(k.fitting, p.from)
	a.admit(p)
	at := a.estimates(ops)
	a.estimate(p, at)
	if len(p.ready) > 0 {
		a.tell(p.free(sp.unlisted))
	}
	k.ideal = a.ideal.close(k.ideal, p.to)
	k.taken = a.taken.close(k.taken, p.to)
	k.fitting = a.fitting.close(k.fitting, p.to)
}

// admit asks the ideal log for everything that came.
func (a *accuracyStream) admit(p *piece) {
	var next [3]int
	for i, c := range p.kinds() {
		next[i] = from(c.sent, p.from)
	}
	a.sums.IdealAllowed += a.accuracy.ideal(p.history, a.ideal, next)
}

// estimate asks the logs at the likeliest moments, as far as the frontier.
func (a *accuracyStream) estimate(p *piece, at []int64) {
	made := within(at, p.from, p.to)
	refused := a.estimates(&p.denied)
	next := 0
	for _, q := range within(refused, p.from, p.to) {
		for ; next < len(made) && at[made[next]] <= refused[q]; next++ {
			a.taken.take(at[made[next]], p.allowed.cost[made[next]])
		}
		if a.taken.fits(refused[q], p.denied.cost[q]) {
			a.sums.RefusedWronglyEstimate++
		}
	}
	for _, i := range made[next:] {
		a.taken.take(at[i], p.allowed.cost[i])
	}
	for _, i := range made {
		if a.fitting.fits(at[i], p.allowed.cost[i]) {
			a.fitting.take(at[i], p.allowed.cost[i])
		} else {
			a.sums.OverEstimate++
		}
	}
}

// within returns the order of the values in [from, to).
func within(values []int64, low, high int64) []uint32 {
	by := order(values)
	first := sort.Search(len(by), func(i int) bool { return values[by[i]] >= low })
	last := sort.Search(len(by), func(i int) bool { return values[by[i]] >= high })
	return by[first:last]
}

// open fills a log with what it took in until now.
func (l *log) open(entries []entry, now int64) {
	l.at, l.cost = l.at[:0], l.cost[:0]
	clear(l.from)
	clear(l.held)
	for _, e := range entries {
		l.take(e.at, e.cost)
	}
	if now > beginning {
		l.fits(now, 0)
	}
}

// close returns what is still in some window, where there was room for it.
func (l *log) close(into []entry, now int64) []entry {
	if now == forever {
		return nil
	}
	l.fits(now, 0)
	first := slices.Min(l.from)
	if n := len(l.at) - first; cap(into) < n {
		into = make([]entry, 0, n+n/4)
	}
	into = into[:0]
	for i := first; i < len(l.at); i++ {
		into = append(into, entry{l.at[i], l.cost[i]})
	}
	return into
}

// idle tells that the key may be put to rest: its logs are empty, and of several
// windows none counts yet that may count less in the end.
func (a *accuracyStream) idle(sp *spell) bool {
	k := &sp.accuracy
	if len(k.ideal)+len(k.taken)+len(k.fitting) > 0 {
		return false
	}
	for _, over := range k.over {
		if over > 0 && len(k.over) > 1 {
			return false
		}
	}
	return true
}

// rest adds up what is left of a key.
func (a *accuracyStream) rest(sp *spell) {
	most := int64(0)
	for _, over := range sp.accuracy.over {
		most = max(most, over)
	}
	a.sums.OverCertain += most
}

// count counts the outcomes of a part.
func (a *accuracyStream) count(part *rlbench.Ops) {
	a.sums = outcomes(a.sums, part.Outcome)
}

// close adds up the keys that are left.
func (a *accuracyStream) close(spells []*spell) rlbench.Accuracy {
	for _, sp := range spells {
		if sp != nil {
			a.rest(sp)
		}
	}
	for i, w := range a.windows {
		a.worse(peak{cost: a.peaks[i], allowed: w.limit})
	}
	return a.figures(a.sums)
}
