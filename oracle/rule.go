package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// rule is one limit of a promise never to go over: how to prove it broken, how to
// prove it kept, and the pace that an explanation of all limits together goes by.
type rule interface {
	// certain returns the stretch that held most, whatever the moments, beyond what
	// it may hold. More proves the rule broken; no more proves nothing.
	certain(ops *columns, due []uint32) peak
	// possible returns the stretch that some moments fill most beyond what it may
	// hold, ops of unknown outcome included. No more than that proves the rule kept.
	possible(h *history, due []uint32) peak
	// pace is for n ops which all cost equal, or whose costs differ (0), in time that
	// is scaled up.
	pace(equal int64, n int, scale int64) pace
	// grid divides a nanosecond so finely that every moment that matters is whole.
	grid() int64
	// fits tells whether whole numbers suffice for so much cost over such a length.
	fits(cost, length int64) bool
	// mirrored is the same rule when time runs backwards.
	mirrored() rule
	// most is the greatest cost that a single op may have.
	most() int64
	// crown and summit are possible and certain for a key that comes in pieces: they
	// look at what this piece makes known, beside what was carried on.
	crown(p *piece, unlisted int64, past *ebb, best *crowns)
	summit(ops *columns, due []uint32, sp *spell, p *piece, flying int64, r *ridge) summitPeak
}

func (w window) mirrored() rule { return w }
func (w window) most() int64    { return w.limit }
func (a aligned) most() int64   { return a.limit }
func (w window) grid() int64    { return 1 }
func (a aligned) grid() int64   { return 1 }

func (w window) fits(_, _ int64) bool  { return true }
func (a aligned) fits(_, _ int64) bool { return true }

// gridOf is the grid on which all rules together are whole.
func gridOf(rules []rule) int64 {
	scale := int64(1)
	for _, r := range rules {
		scale = leastCommonMultiple(scale, r.grid())
	}
	return scale
}

// paces makes the pace of every rule.
func paces(rules []rule, equal int64, n int) []pace {
	scale := gridOf(rules)
	all := make([]pace, len(rules))
	for i, r := range rules {
		all[i] = r.pace(equal, n, scale)
	}
	return all
}

// roundUp rounds a window up to whole steps of the limiter's clock: by that clock
// no other length can be told.
func roundUp(window, step time.Duration) int64 {
	if step <= 1 {
		return int64(window)
	}
	return int64((window + step - 1) / step * step)
}

// doubt is how much the evidence must yield to the limiter's clock.
type doubt struct {
	// offset bounds the error of the clock's origin, drift how far it strays over
	// one window of the given length. All zero: no doubt.
	offset, drift, window int64
}

func (d doubt) none() bool { return d.offset == 0 && d.drift == 0 }

// at is by how much the limiter's reading of instant t may be off: the offset, and
// the drift for each window begun since the origin was read.
func (d doubt) at(t int64) int64 {
	if d.drift == 0 {
		return d.offset
	}
	return d.offset + d.drift + mulDiv(max(t, -t), d.drift, d.window)
}

// widen returns the history as the limiter's clock may have seen it: every interval
// longer at both ends. Its rows stay in order, since no clock runs backwards.
func (d doubt) widen(h *history) *history {
	if d.none() {
		return h
	}
	if h.wide != nil && h.wideBy == d {
		return h.wide
	}
	wide := &history{key: h.key, allowed: h.allowed, unknown: h.unknown, denied: h.denied, byDone: h.due()}
	for _, c := range []*columns{&wide.allowed, &wide.unknown, &wide.denied} {
		c.sent, c.done = slices.Clone(c.sent), slices.Clone(c.done)
		for i, t := range c.sent {
			c.sent[i] = t - d.at(t)
		}
		for i, t := range c.done {
			c.done[i] = t + d.at(t)
		}
	}
	h.wide, h.wideBy = wide, d
	return wide
}

// overRules are the promise of a policy as rules: the lenient ones accuse, after
// all doubt of the limiter's clock came off; the strict ones excuse.
type overRules struct {
	lenient []rule
	// wide is the doubt by which intervals are widened before the lenient accuse.
	wide doubt
	// kept are those that the widened intervals must keep for the promise to be
	// kept whatever the moments were.
	kept []rule
	// strict are the rules in each world that the clock's error allows: in one of
	// them everything must be explained. The first is the likeliest; there is none
	// when nothing is known of the clock.
	strict [][]rule
	// onlyIf says what an explanation rests on that only the lenient rules allow.
	onlyIf string
}

// offsetSteps is into how many parts each side of a clock's error is cut in the
// search for an offset that explains a run.
const offsetSteps = 8

// bucketRules are those of token bucket, GCRA and leaky meter. What the limiter's
// clock may misread of a stretch is part of the promise; what it may stray over the
// length of the run is not.
func bucketRules(run *rlbench.Run) overRules {
	p := run.Policy
	var rules overRules
	var strict []rule
	for _, l := range p.Limits {
		strict = append(strict, newBucket(l.Burst, l.Count, int64(l.Per), int64(p.Resolution)))
		rules.lenient = append(rules.lenient, newBucket(l.Burst, l.Count, int64(l.Per), int64(p.Resolution)+driftOver(run, l.Per)))
	}
	rules.kept, rules.strict = strict, [][]rule{strict}
	rules.onlyIf = fmt.Sprintf("it can be explained only if the limiter's clock strayed by up to %s every period", p.Drift)
	return rules
}

// driftOver is how far the limiter's clock may stray over the length of the run, when
// it strays by no more than the policy's drift over each window.
func driftOver(run *rlbench.Run, window time.Duration) int64 {
	if run.Policy.Drift == 0 {
		return 0
	}
	first, last := int64(-beginning), int64(beginning)
	for i, outcome := range run.Ops.Outcome {
		if outcome == rlbench.Unsent {
			continue
		}
		first = min(first, int64(run.Ops.Sent[i]))
		last = max(last, int64(run.Ops.Sent[i]))
		if outcome != rlbench.Unknown {
			last = max(last, int64(run.Ops.Done[i]))
		}
	}
	return mulDiv(max(0, last-first)/int64(window)+1, int64(run.Policy.Drift), 1)
}

// windowRules are those of the sliding log. The resolution is part of the promise:
// a limiter that stamps whole steps admits ops truly just over W-resolution apart.
func windowRules(p rlbench.Policy) overRules {
	var rules overRules
	var strict []rule
	for _, l := range p.Limits {
		length := roundUp(l.Per, p.Resolution) - int64(p.Resolution)
		strict = append(strict, window{limit: l.Count, length: length})
		rules.lenient = append(rules.lenient, window{limit: l.Count, length: max(0, length-int64(p.Drift))})
	}
	rules.kept, rules.strict = strict, [][]rule{strict}
	rules.onlyIf = fmt.Sprintf("it can be explained only if the limiter's clock strayed by up to %s over a window", p.Drift)
	return rules
}

// alignedRules are those of the fixed window anchored at the epoch.
func alignedRules(run *rlbench.Run) overRules {
	p := run.Policy
	rules := overRules{wide: clockDoubt(run)}
	build := func(offset int64) (all []rule) {
		for _, l := range p.Limits {
			all = append(all, aligned{limit: l.Count, length: int64(l.Per), origin: originOf(run, l.Per) + offset})
		}
		return all
	}
	rules.lenient = build(0)
	rules.kept = rules.lenient
	if !run.Clock.Stated {
		rules.onlyIf = "the limiter's clock was not read, so where its windows lie is not known"
		return rules
	}
	rules.onlyIf = fmt.Sprintf("no one setting of the limiter's clock within its error of %s explains it", run.Clock.Error)
	rules.strict = [][]rule{rules.lenient}
	for step := int64(1); step <= offsetSteps && rules.wide.offset > 0; step++ {
		offset := mulDiv(rules.wide.offset, step, offsetSteps)
		rules.strict = append(rules.strict, build(offset), build(-offset))
	}
	return rules
}

// originOf is where instant 0 lies within the window, which is all that matters of
// the clock's reading and keeps the numbers small.
func originOf(run *rlbench.Run, window time.Duration) int64 {
	if !run.Clock.Stated {
		return 0
	}
	o := run.Clock.Origin % int64(window)
	if o < 0 {
		o += int64(window)
	}
	return o
}

// clockDoubt is how far aligned windows may lie from where the evidence puts them.
// A clock that was not read may be off by half a cycle of all windows together: no
// offset is further from a whole number of cycles. A resolution counts only where
// it does not divide the window.
func clockDoubt(run *rlbench.Run) doubt {
	p := run.Policy
	d := doubt{offset: int64(run.Clock.Error), drift: int64(p.Drift), window: int64(p.Limits[0].Per)}
	cycle := int64(1)
	for _, l := range p.Limits {
		d.window = min(d.window, int64(l.Per))
		cycle = leastCommonMultiple(cycle, int64(l.Per))
		if p.Resolution > 0 && l.Per%p.Resolution != 0 {
			d.offset = max(d.offset, int64(run.Clock.Error)+int64(p.Resolution))
		}
	}
	d.drift = min(d.drift, d.window)
	if !run.Clock.Stated {
		d.offset = min(cycle/2+1, -beginning/2)
	}
	return d
}
