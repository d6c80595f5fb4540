package oracle

import (
	"fmt"

	"github.com/rlbench/rlbench"
)

// firstOver judges never-over where a request that finds no window open opens one.
type firstOver struct {
	// strict are the limits as the policy states them, its resolution included;
	// lenient allow for the drift of the limiter's clock as well.
	strict, lenient []firstRequest
	tally
}

func newFirstOver(e *evidence) *firstOver {
	p := e.run.Policy
	o := &firstOver{tally: tally{evidence: e}}
	for _, l := range p.Limits {
		w, res, drift := roundUp(l.Per, p.Resolution), int64(p.Resolution), int64(p.Drift)
		f := firstRequest{
			limit: l.Count, windowMin: max(1, w-res), windowMax: w + res, complete: e.run.Complete,
			dearOpens: p.ChargesRefusals || p.Params["refused_opens"] == "true",
			// What another limit refuses may still be charged here.
			refusalsOpen: p.ChargesRefusals && len(p.Limits) > 1,
		}
		o.strict = append(o.strict, f)
		f.windowMin, f.windowMax = max(1, f.windowMin-drift), f.windowMax+drift
		o.lenient = append(o.lenient, f)
	}
	return o
}

func (o *firstOver) key(h *history) { o.add(h.key, o.rule(h)) }

func (o *firstOver) again() bool { return false }

// rule rules on one key. One limit that is certainly broken breaks the promise; all
// are kept together if all but one are kept whatever the moments were, or if the
// same moments serve them all.
func (o *firstOver) rule(h *history) ruling {
	var joint ruling
	explained := 0
	for i := range o.strict {
		r := o.limit(h, i)
		if r.verdict == rlbench.Fail {
			return r
		}
		if !r.certain {
			explained++
		}
		joint = worseRuling(joint, r, i == 0)
	}
	if joint.verdict == rlbench.Pass && explained > 1 && !o.together(h) {
		joint.verdict = rlbench.Inconclusive
		joint.because = "some moments explain each limit by itself; whether the same ones explain all was not settled"
	}
	return joint
}

// worseRuling joins the rulings on two limits, neither of which is broken.
func worseRuling(a, b ruling, first bool) ruling {
	if first {
		return b
	}
	if b.verdict == rlbench.Inconclusive && a.verdict != rlbench.Inconclusive {
		a.verdict, a.because = b.verdict, b.because
	}
	a.certain = a.certain && b.certain
	a.doubt = max(a.doubt, b.doubt)
	if b.most.over() > a.most.over() {
		a.most = b.most
	}
	return a
}

// limit rules on one limit: kept by the strict form, broken by the lenient one.
func (o *firstOver) limit(h *history, i int) ruling {
	budget := searchOps(h.allowed.len(), len(o.groups.keys))
	strict, lenient := o.strict[i], o.lenient[i]
	strict.budget, lenient.budget = budget, budget
	r := strict.rule(h, o.run.Ops.ID)
	if r.verdict == rlbench.Pass || o.run.Policy.Drift == 0 {
		return r
	}
	if accused := lenient.rule(h, o.run.Ops.ID); accused.verdict == rlbench.Fail {
		return accused
	}
	return ruling{doubt: r.doubt, most: r.most, because: fmt.Sprintf(
		"it can be explained only if the limiter's clock strayed by up to %s over a window, if at all", o.run.Policy.Drift)}
}

// together reports whether all at Sent, or all at Done, keeps every limit.
func (o *firstOver) together(h *history) bool {
	sent, done := true, true
	for _, p := range o.strict {
		u := p.units(h)
		sent = sent && u.atSent()
		done = done && u.atDone()
	}
	return sent || done
}
