package oracle

import "github.com/rlbench/rlbench"

// opened judges windows that are opened by a request which found none open; the
// promise and its mathematics stand in firstrequest.go.
type opened struct {
	// lenient and strict are the limits with and without the drift of the clock.
	lenient, strict []firstRequest
	tally
}

func newOpened(e *evidence) *opened {
	p := e.run.Policy
	o := &opened{tally: tally{evidence: e}}
	for _, l := range p.Limits {
		length := roundUp(l.Per, p.Resolution)
		step, drift := int64(p.Resolution), int64(p.Drift)
		limit := firstRequest{
			limit: l.Count, windowMin: max(1, length-step), windowMax: length + step, complete: e.run.Complete,
			// Designs that count first and give back what they refuse open a window
			// by a request that never fits. Not to know which design it is speaks for it.
			dearOpens: true,
			// What one limit refuses may still be charged to another.
			refusalsOpen: p.ChargesRefusals && len(p.Limits) > 1,
		}
		o.strict = append(o.strict, limit)
		limit.windowMin, limit.windowMax = max(1, limit.windowMin-drift), limit.windowMax+drift
		o.lenient = append(o.lenient, limit)
	}
	if stepped(e.run) {
		o.frail = steppedWindows
	}
	return o
}

func (o *opened) again() bool { return false }

func (o *opened) key(h *history) {
	strict := o.each(h, o.strict)
	if strict.verdict != rlbench.Fail || o.run.Policy.Drift == 0 {
		o.add(h.key, strict)
		return
	}
	if lenient := o.each(h, o.lenient); lenient.verdict == rlbench.Fail {
		o.add(h.key, lenient)
		return
	}
	strict.verdict = rlbench.Inconclusive
	strict.because = "it can be explained only if the limiter's clock strayed: otherwise " + strict.because
	o.add(h.key, strict)
}

// each judges the limits one by one. Broken under one is broken; but explained under
// two apart need not be explained under both at once, unless the same moments do.
func (o *opened) each(h *history, limits []firstRequest) ruling {
	joint := ruling{verdict: rlbench.Pass, certain: true}
	uncertain := 0
	for i, limit := range limits {
		n := h.allowed.len() + h.unknown.len() + h.denied.len()
		limit.budget = searchOps(n, len(o.groups.keys))
		r := limit.rule(h, o.run.Ops.ID)
		if r.verdict == rlbench.Fail {
			return r
		}
		if r.verdict == rlbench.Inconclusive && joint.verdict == rlbench.Pass {
			joint.verdict, joint.because = r.verdict, r.because
		}
		if !r.certain {
			uncertain++
			joint.certain = false
		}
		if i == 0 || r.most.over() > joint.most.over() {
			joint.most = r.most
		}
		joint.doubt = max(joint.doubt, r.doubt)
	}
	if uncertain > 1 && joint.verdict == rlbench.Pass && !together(h, limits) {
		joint.verdict = rlbench.Inconclusive
		joint.because = "each limit alone can be explained, but whether all can at once was not settled"
	}
	return joint
}

// together reports whether the moments at which all were sent, or those at which
// all were answered, keep every limit.
func together(h *history, limits []firstRequest) bool {
	sent, done := true, true
	for _, p := range limits {
		u := p.units(h)
		sent = sent && u.atSent()
		done = done && u.atDone()
	}
	return sent || done
}
