package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rlbench/rlbench"
)

// estimated judges never-over of sliding counters.
type estimated struct {
	rules overRules
	// lenient are the limits under which intervals widened by the clock's doubt are
	// accused, worlds the settings of the clock under which they are excused.
	lenient []slidingCounter
	worlds  [][]slidingCounter
	// world is the one in which keys are explained now, dead: this one fails.
	world int
	dead  bool
	tally
}

func newEstimated(e *evidence) *estimated {
	o := &estimated{rules: alignedRules(e.run), tally: tally{evidence: e}}
	o.lenient = counters(o.rules.lenient)
	for _, world := range o.rules.strict {
		o.worlds = append(o.worlds, counters(world))
	}
	if stepped(e.run) {
		o.frail = steppedWindows
	}
	return o
}

func counters(rules []rule) []slidingCounter {
	var all []slidingCounter
	for _, r := range rules {
		all = append(all, slidingCounter{r.(aligned)})
	}
	return all
}

func (o *estimated) key(h *history) { o.add(h.key, o.rule(h)) }

// again asks for another pass when this setting of the clock explains not every key
// and another is left.
func (o *estimated) again() bool {
	if !o.dead || o.world+1 >= len(o.worlds) || o.broken > 0 {
		return false
	}
	o.world++
	o.dead = false
	o.reset()
	return true
}

// straightOps is how many ops a search touches that goes nearly straight.
func straightOps(n int) int64 { return 12*int64(n) + 64 }

// rule rules on one key.
func (o *estimated) rule(h *history) ruling {
	wide := o.rules.wide.widen(h)
	var r ruling
	for i, c := range o.lenient {
		if p := c.possible(wide); i == 0 || p.over() > r.most.over() {
			r.most = p
		}
	}
	if r.doubt = max(0, r.most.over()); r.doubt == 0 {
		r.verdict, r.certain = rlbench.Pass, true
		return r
	}
	n := h.allowed.len()
	budget := searchOps(n, len(o.groups.keys))
	excused := func(effort int64) bool {
		return o.world < len(o.worlds) && explainCounters(o.worlds[o.world], &h.allowed, h.due(), effort)
	}
	// A search that goes nearly straight is cheaper than to look for a breach first.
	if excused(straightOps(n)) {
		r.verdict = rlbench.Pass
		return r
	}
	if o.accuse(wide, &r) {
		return r
	}
	if excused(budget) {
		r.verdict = rlbench.Pass
		return r
	}
	for _, c := range o.lenient {
		if c.inexplicable(&wide.allowed, budget) {
			c.convict(&wide.allowed, budget, &r)
			return r
		}
	}
	o.dead = true
	r.because = "neither moments that keep every estimate within the limit nor a proof that there are none was found"
	if len(o.worlds) != 1 {
		r.because += "; " + o.rules.onlyIf
	}
	return r
}

// accuse looks for a breach that is certain.
func (o *estimated) accuse(h *history, r *ruling) bool {
	ops := &h.allowed
	for _, c := range o.lenient {
		if i := dearest(ops.cost); i >= 0 && ops.cost[i] > c.limit {
			r.verdict, r.over, r.witness = rlbench.Fail, ops.cost[i]-c.limit, slices.Clone(ops.row[i:i+1])
			r.because = fmt.Sprintf("one op of cost %d was let through where no more than %d fits", ops.cost[i], c.limit)
			r.proof = []string{fmt.Sprintf("op %d alone cost %d, more than the limit of %d", o.run.Ops.ID[ops.row[i]], ops.cost[i], c.limit)}
			return true
		}
	}
	for _, c := range o.lenient {
		b := c.breach(ops, h.due())
		if b.over() <= max(0, r.over) {
			continue
		}
		r.verdict, r.over = rlbench.Fail, b.over()
		if b.run {
			c.testifyRun(ops, b, r)
		} else {
			c.testifyLast(ops, b, r)
		}
	}
	return r.verdict == rlbench.Fail
}

// testifyRun writes the ruling on a run of windows.
func (c slidingCounter) testifyRun(ops *columns, b counterBreach, r *ruling) {
	picked := ops.pick(tightest(ops, peak{allowed: b.room, from: b.from, to: b.to}))
	windows := c.number(b.to) - c.number(b.from)
	r.witness = picked.row
	r.because = fmt.Sprintf("%d were let through for certain in the windows from %s to %s, where %d is the most",
		b.cost, sayInstant(b.from), sayInstant(b.to), b.room)
	r.proof = []string{
		fmt.Sprintf("these %s cost %d; all were sent at %s or later and answered by %s, so each was charged in between",
			count(picked.len(), "op"), sum(picked.cost), sayInstant(b.from), sayInstant(b.to)),
		fmt.Sprintf("that is the end of %s: each may hold %d, and of the last two the estimate takes all but what has slid out by %s, so these have room for no more than %d",
			count(int(windows)+1, "window"), c.limit, sayInstant(b.to), b.room),
		fmt.Sprintf("the estimate was above the limit for certain, by %d over all", sum(picked.cost)-b.room),
	}
}

// testifyLast writes the ruling on a window and the one before, with the fewest ops:
// those that count most first, one at least in the window itself.
func (c slidingCounter) testifyLast(ops *columns, b counterBreach, r *ruling) {
	inside := whole(ops, b.from, b.to)
	counts := func(i int) int64 {
		if ops.sent[i] >= b.edge {
			return ops.cost[i]
		}
		return ops.cost[i] - mulDiv(ops.cost[i], c.since(b.to), c.length)
	}
	slices.SortStableFunc(inside, func(x, y int) int { return cmp.Compare(counts(y), counts(x)) })
	// One at least lies in the window itself: the estimate is made when it is let through.
	first := slices.IndexFunc(inside, func(i int) bool { return ops.sent[i] >= b.edge })
	needed := inside[first]
	inside = slices.Insert(slices.Delete(inside, first, first+1), 0, needed)
	own, before := int64(0), int64(0)
	n := 0
	for ; n < len(inside) && c.estimate(before, own, b.to) <= c.limit; n++ {
		if i := inside[n]; ops.sent[i] >= b.edge {
			own += ops.cost[i]
		} else {
			before += ops.cost[i]
		}
	}
	chosen := inside[:n]
	slices.Sort(chosen)
	r.witness = slices.Clone(ops.pick(chosen).row)
	r.because = fmt.Sprintf("the estimate was %d for certain (rounded up) when the last of the window of %s was let through, where %d is the limit",
		b.estimate, sayInstant(b.edge), c.limit)
	r.proof = []string{
		fmt.Sprintf("%d was sent at %s or later and answered by %s: all of it was charged in the window that began then", own, sayInstant(b.edge), sayInstant(b.to)),
		fmt.Sprintf("%d was sent at %s or later and answered by %s: wherever it was charged, at the last moment before %s it counts for %d/%d of itself at least",
			before, sayInstant(b.from), sayInstant(b.to), sayInstant(b.to), c.length-c.since(b.to), c.length),
		fmt.Sprintf("when the last of these %s was let through, the estimate was %d at least (rounded up): above the limit of %d",
			count(n, "op"), c.estimate(before, own, b.to), c.limit),
	}
	if before == 0 {
		r.proof = slices.Delete(r.proof, 1, 2)
	}
}
