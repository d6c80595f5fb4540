package oracle

import (
	"fmt"

	"github.com/rlbench/rlbench"
)

// docketOps bounds the ops that are kept as proofs which are no worse than others.
const docketOps = 1 << 20

// docket decides of which keys the proof is kept: only the worst of all is shown.
type docket struct {
	worst int64
	ops   int
}

// admits tells whether a proof of so many ops is worth keeping.
func (d *docket) admits(over int64, ops int) bool {
	if over < d.worst || over == d.worst && d.ops+ops > docketOps {
		return false
	}
	if over > d.worst {
		d.worst, d.ops = over, 0
	}
	d.ops += ops
	return true
}

// release makes room for another proof in place of one.
func (d *docket) release(e *exhibit) {
	if e != nil && e.peak.over() == d.worst {
		d.ops -= len(e.shown)
	}
}

// exhibit holds the ops that prove a key broken, when the Run does not any more.
type exhibit struct {
	// ops are in order of sent, numbered as shown.
	ops   columns
	shown []rlbench.Op
	// whole: no op that belongs to it is missing.
	whole bool
	peak  peak
}

// show copies ops.
func (o *overStream) show(ops *columns, chosen []int, complete bool) *exhibit {
	e := &exhibit{ops: *ops.pick(chosen), whole: complete}
	for i, row := range e.ops.row {
		e.shown = append(e.shown, o.run.Ops.At(int(row)))
		e.ops.row[i] = uint32(i)
	}
	return e
}

// shownMax is how many ops stand for a stretch of which the beginning is not listed.
const shownMax = 32

// ruling rules on a key that ends here, in one of the strict worlds.
func (o *overStream) ruling(sp *spell, world int) ruling {
	s := &sp.over
	r := ruling{most: o.most(sp)}
	switch r.doubt = max(0, r.most.over()); {
	case r.doubt == 0:
		r.verdict, r.certain = rlbench.Pass, true
	case s.broken:
		o.found(s, &r)
	case world < len(o.rules.strict) && o.holds(sp, world):
		r.verdict = rlbench.Pass
	case o.apart && o.holds(sp, len(o.rules.strict)):
		r.because = o.rules.onlyIf
	default:
		r.because = unsettled
	}
	return r
}

// holds tells whether a walker explained all of a key.
func (o *overStream) holds(sp *spell, walker int) bool {
	if past := sp.past; past != nil && !past.settled[walker] {
		return false
	}
	return len(sp.over.walkers) == 0 || sp.over.walkers[walker].answer == explained
}

// found rules on a key that is broken.
func (o *overStream) found(s *overSpell, r *ruling) {
	if s.alone != nil && o.alone(s.alone.ID, s.alone.Cost, r) {
		r.shown = []rlbench.Op{*s.alone}
		return
	}
	r.verdict, r.over = rlbench.Fail, s.worstOver().over()
	e := s.proven
	if e == nil {
		r.over = -1 // Others that are no better are shown instead.
		r.because = "it was broken no worse than others were"
		return
	}
	switch {
	case r.over > 0 && e.whole:
		o.testify(&e.ops, e.peak, r)
	case e.whole || o.breaks(&e.ops)(span(0, e.ops.len())):
		last := e.ops.len() - 1
		if r.over > 0 || equalCost(e.ops.cost) == 0 {
			last = o.explain.lastNeeded(&e.ops, o.rules.lenient, o.breaks(&e.ops))
		}
		over := r.over
		o.convict(&e.ops, last, r)
		if r.over = over; over > 0 {
			r.because = o.held(e.peak)
		}
	default:
		o.tail(e, r)
	}
	for _, i := range r.witness {
		r.shown = append(r.shown, e.shown[i])
	}
	r.witness = nil
}

// tail shows the end of a stretch whose beginning is not listed any more.
func (o *overStream) tail(e *exhibit, r *ruling) {
	n := e.ops.len()
	picked := e.ops.pick(span(max(0, n-shownMax), n))
	r.witness = picked.row
	if r.over > 0 {
		r.because = o.held(e.peak)
		r.proof = []string{
			fmt.Sprintf("ops that cost %d were sent at %s or later and answered by %s", e.peak.cost, sayInstant(e.peak.from), sayInstant(e.peak.to)),
			fmt.Sprintf("that stretch has room for %d: exceeded by %d", e.peak.allowed, e.peak.over()),
		}
	} else {
		r.because = "no choice of decision moments keeps the promise, though no one window certainly held too many"
	}
	r.proof = append(r.proof, fmt.Sprintf("the ops shown are the last %d; those before were not kept while the evidence was read", picked.len()))
}

// held says what a stretch held.
func (o *over) held(p peak) string {
	return fmt.Sprintf("%d were let through for certain within %s, where %d is the most",
		p.cost, sayInstant(p.to-p.from+1), p.allowed)
}
