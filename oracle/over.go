package oracle

import (
	"fmt"
	"slices"

	"github.com/rlbench/rlbench"
)

// never-over: no more was let through than the promise allows.
//
// Fail: no moments in [sent, done] keep the promise, even with every doubt of the
// limiter's clock against the accusation. Pass: some moments keep it. The promises
// themselves stand in window.go, aligned.go and bucket.go, each with the smallest
// history that breaks it; several limits hold at once, and can be broken together
// though each alone is explained: "L=1 W=2 L=2 W=6: A[8,8] A[2,6] A[3,3]".

// over judges the promises that are made of rules.
type over struct {
	rules   overRules
	explain explainer
	// world is the one in which keys are explained now, dead: this one fails.
	world int
	dead  bool
	tally
}

func newOver(e *evidence, rules overRules) *over {
	return &over{rules: rules, tally: tally{evidence: e}}
}

func (o *over) key(h *history) {
	o.add(h.key, o.rule(h))
}

// again asks for another pass over all keys when the limiter's clock, set as it was
// in this one, explains not every key and another setting is left.
func (o *over) again() bool {
	if !o.dead || o.world+1 >= len(o.rules.strict) || o.broken > 0 {
		return false
	}
	o.world++
	o.dead = false
	o.reset()
	return true
}

// rule rules on one key.
func (o *over) rule(h *history) ruling {
	wide, due := o.rules.wide.widen(h), h.due()
	var r ruling
	for i, limit := range o.rules.kept {
		if p := limit.possible(wide, due); i == 0 || p.over() > r.most.over() {
			r.most = p
		}
	}
	if r.doubt = max(0, r.most.over()); r.doubt == 0 {
		r.verdict, r.certain = rlbench.Pass, true
		return r
	}
	known := o.world < len(o.rules.strict)
	if known && o.explain.quick(&h.allowed, o.rules.strict[o.world]) == explained {
		r.verdict = rlbench.Pass
		return r
	}
	if o.accuse(wide, due, &r) {
		return r
	}
	if known && o.explain.search(&h.allowed, o.rules.strict[o.world]) == explained {
		r.verdict = rlbench.Pass
		return r
	}
	switch o.explain.search(&wide.allowed, o.rules.lenient) {
	case unexplained:
		o.convict(&wide.allowed, o.explain.lastNeeded(&wide.allowed, o.rules.lenient, o.breaks(&wide.allowed)), &r)
		return r
	case explained:
		o.dead = true
		r.because = o.rules.onlyIf
	default:
		o.dead = true
		r.because = unsettled
	}
	return r
}

// unsettled is why neither was found: an explanation, or that there is none.
const unsettled = "whether some choice of moments explains it was not settled: costs differ, or the search reached its limit"

// accuse looks for one stretch that held too much.
func (o *over) accuse(h *history, due []uint32, r *ruling) bool {
	ops := &h.allowed
	if i := dearest(ops.cost); i >= 0 && o.alone(o.run.Ops.ID[ops.row[i]], ops.cost[i], r) {
		r.witness = slices.Clone(ops.row[i : i+1]) // The columns serve the next key too.
		return true
	}
	var worst peak
	for _, limit := range o.rules.lenient {
		if p := limit.certain(ops, due); p.over() > worst.over() {
			worst = p
		}
	}
	if worst.over() <= 0 {
		return false
	}
	r.verdict, r.over = rlbench.Fail, worst.over()
	o.testify(ops, worst, r)
	return true
}

// alone rules on one op, if no limit has room for it.
func (o *over) alone(id, cost int64, r *ruling) bool {
	for _, limit := range o.rules.lenient {
		if most := limit.most(); cost > most {
			r.verdict, r.over = rlbench.Fail, cost-most
			r.because = fmt.Sprintf("one op of cost %d was let through where no more than %d fits", cost, most)
			r.proof = []string{fmt.Sprintf("op %d alone cost %d, more than the %d that the promise has room for", id, cost, most)}
			return true
		}
	}
	return false
}

// testify writes the ruling on a stretch that held too much for certain.
func (o *over) testify(ops *columns, worst peak, r *ruling) {
	r.because = o.held(worst)
	witness := ops.pick(tightest(ops, worst))
	if _, simple := o.rules.lenient[0].(window); !simple || len(o.rules.lenient) > 1 {
		witness = o.fewer(ops.pick(whole(ops, worst.from, worst.to)), witness)
	}
	o.prove(witness, r)
}

// fewer thins a witness of a stretch: part of the stretch, or another limit, may
// need fewer ops.
func (o *over) fewer(stretched, witness *columns) *columns {
	if equalCost(stretched.cost) > 0 {
		broken := o.breaks(stretched)
		last := o.explain.lastNeeded(stretched, o.rules.lenient, broken)
		if chosen := stretch(last, broken); len(chosen) < witness.len() {
			witness = stretched.pick(chosen)
		}
	}
	return witness.pick(thin(span(0, witness.len()), o.breaks(witness)))
}

// convict writes the ruling on ops that no moments excuse, though no one stretch
// held too much; last is the last of them that is needed for it.
func (o *over) convict(ops *columns, last int, r *ruling) {
	r.verdict = rlbench.Fail
	broken := o.breaks(ops)
	picked := ops.pick(thin(stretch(last, broken), broken))
	r.because = fmt.Sprintf("%d ops were let through of which no one window certainly held too many, yet no choice of decision moments keeps the promise", len(picked.row))
	o.prove(picked, r)
}

// breaks returns the question whether chosen ops alone break the promise.
func (o *over) breaks(ops *columns) func([]int) bool {
	return func(chosen []int) bool {
		return o.explain.search(ops.pick(chosen), o.rules.lenient) == unexplained
	}
}

// prove writes down the witness, and why no moments excuse it.
func (o *over) prove(witness *columns, r *ruling) {
	r.witness = witness.row
	due := order(witness.done)
	for _, limit := range o.rules.lenient {
		if p := limit.certain(witness, due); p.over() > 0 {
			r.proof = stretchProof(witness, p)
			return
		}
	}
	size := equalCost(witness.cost)
	if size == 0 {
		witness, size = witness.pieces()
		r.proof = append(r.proof, fmt.Sprintf("even with each op cut into pieces of cost %d that may be decided apart:", size))
	}
	r.proof = append(r.proof, inferences(witness, o.rules.lenient, size)...)
}

// dearest returns the op of greatest cost, -1 for none.
func dearest(costs []int64) int {
	at := -1
	for i, c := range costs {
		if at < 0 || c > costs[at] {
			at = i
		}
	}
	return at
}
