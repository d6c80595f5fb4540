package oracle

import (
	"sort"

	"github.com/rlbench/rlbench"
)

// accuracyStream adds up the figures of keys that come in pieces.
type accuracyStream struct {
	*accuracy
	// peaks are the certain peaks of all keys, by window.
	peaks []int64
}

// accuracySpell is what is carried of a key.
type accuracySpell struct {
	// over is, for each window, what disjoint windows held above the limit, and free
	// the moment from which the next may begin.
	over, free []int64
	// ideal is the log of what would have been let through, taken of what was when it
	// was likeliest, fitting of what of that fitted.
	ideal, taken, fitting log
}

func newAccuracyStream(e *evidence) *accuracyStream {
	a := &accuracyStream{accuracy: newAccuracy(e)}
	a.begin = beginning
	a.peaks = make([]int64, len(a.windows))
	return a
}

func (a *accuracyStream) spell() accuracySpell {
	n := len(a.windows)
	s := accuracySpell{over: make([]int64, n), free: make([]int64, n), ideal: *newLog(a.windows), taken: *newLog(a.windows), fitting: *newLog(a.windows)}
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
	a.admit(k, p)
	at := a.estimates(ops)
	a.estimate(k, p, at)
	if len(p.ready) > 0 {
		a.tell(p.free(sp.unlisted))
	}
	k.ideal.trim()
	k.taken.trim()
	k.fitting.trim()
}

// admit asks the ideal log for everything that came.
func (a *accuracyStream) admit(k *accuracySpell, p *piece) {
	var next [3]int
	for i, c := range p.kinds() {
		next[i] = from(c.sent, p.from)
	}
	a.sums.IdealAllowed += a.ideal(p.history, &k.ideal, next)
}

// estimate asks the logs at the likeliest moments, as far as the frontier.
func (a *accuracyStream) estimate(k *accuracySpell, p *piece, at []int64) {
	made := within(at, p.from, p.to)
	refused := a.estimates(&p.denied)
	next := 0
	for _, q := range within(refused, p.from, p.to) {
		for ; next < len(made) && at[made[next]] <= refused[q]; next++ {
			k.taken.take(at[made[next]], p.allowed.cost[made[next]])
		}
		if k.taken.fits(refused[q], p.denied.cost[q]) {
			a.sums.RefusedWronglyEstimate++
		}
	}
	for _, i := range made[next:] {
		k.taken.take(at[i], p.allowed.cost[i])
	}
	for _, i := range made {
		if k.fitting.fits(at[i], p.allowed.cost[i]) {
			k.fitting.take(at[i], p.allowed.cost[i])
		} else {
			a.sums.OverEstimate++
		}
	}
	if p.to != forever {
		k.taken.fits(p.to, forever)
		k.fitting.fits(p.to, forever)
		k.ideal.fits(p.to, forever)
	}
}

// within returns the order of the values in [from, to).
func within(values []int64, low, high int64) []uint32 {
	by := order(values)
	first := sort.Search(len(by), func(i int) bool { return values[by[i]] >= low })
	last := sort.Search(len(by), func(i int) bool { return values[by[i]] >= high })
	return by[first:last]
}

// trim drops what left every window.
func (l *log) trim() {
	if len(l.from) == 0 {
		return
	}
	drop := l.from[0]
	for _, from := range l.from {
		drop = min(drop, from)
	}
	l.at = l.at[:copy(l.at, l.at[drop:])]
	l.cost = l.cost[:copy(l.cost, l.cost[drop:])]
	for i := range l.from {
		l.from[i] -= drop
	}
}

// idle tells that the key may be put to rest: its logs are empty, and of several
// windows none counts yet that may count less in the end.
func (a *accuracyStream) idle(sp *spell) bool {
	k := &sp.accuracy
	if len(k.ideal.at)+len(k.taken.at)+len(k.fitting.at) > 0 {
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
