package oracle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// twin is the same question asked in the plainest way: every decision moment of
// every op is tried. Moments lie on a grid of 1/scale ticks.
type twin struct {
	run   *rlbench.Run
	scale int64
	// charged are the allowed ops.
	allowed []rlbench.Op
	unknown []rlbench.Op
	denied  []rlbench.Op
}

func newTwin(r *rlbench.Run) *twin {
	w := &twin{run: r, scale: 1}
	if r.Policy.Algorithm.Bucket() {
		for _, l := range r.Policy.Limits {
			w.scale *= l.Count
		}
	}
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		switch op.Outcome {
		case rlbench.Allowed:
			w.allowed = append(w.allowed, op)
		case rlbench.Unknown:
			w.unknown = append(w.unknown, op)
		case rlbench.Denied:
			w.denied = append(w.denied, op)
		}
	}
	return w
}

// decision is a cost charged at a moment.
type decision struct{ at, cost int64 }

// keeps tells whether decisions keep every limit.
func (w *twin) keeps(made []decision) bool {
	for _, l := range w.run.Policy.Limits {
		for _, y := range made {
			if !w.keepsAt(l, made, y.at) {
				return false
			}
		}
	}
	return true
}

func (w *twin) keepsAt(l rlbench.Limit, made []decision, y int64) bool {
	per := int64(l.Per) * w.scale
	switch {
	case w.run.Policy.Algorithm.Bucket():
		for _, x := range made {
			held := int64(0)
			for _, d := range made {
				if x.at <= d.at && d.at <= y {
					held += d.cost
				}
			}
			if x.at <= y && (held-l.Burst)*per > l.Count*(y-x.at) {
				return false
			}
		}
		return true
	case l.Anchor == rlbench.Epoch:
		held := int64(0)
		for _, d := range made {
			if w.aligned(d.at, per) == w.aligned(y, per) {
				held += d.cost
			}
		}
		return held <= l.Count
	}
	held := int64(0)
	for _, d := range made {
		if y-per < d.at && d.at <= y {
			held += d.cost
		}
	}
	return held <= l.Count
}

func (w *twin) aligned(t, per int64) int64 {
	t += w.run.Clock.Origin
	k := t / per
	for k*per > t {
		k--
	}
	return k
}

// explainable tries every moment of every allowed op.
func (w *twin) explainable(made []decision) bool {
	if !w.keeps(made) {
		return false // More decisions never mend it.
	}
	if len(made) == len(w.allowed) {
		return true
	}
	op := w.allowed[len(made)]
	for at := int64(op.Sent) * w.scale; at <= int64(op.Done)*w.scale; at++ {
		if w.explainable(append(made, decision{at, op.Cost})) {
			return true
		}
	}
	return false
}

// far is a moment after everything in a random history.
const far = 40

// mostOver returns the most by which some moments exceed a limit, every op
// of unknown outcome charged or not. In a fixed stretch the ops may be put apart
// from each other, so that it holds every op that can reach it.
func (w *twin) mostOver() int64 {
	most := int64(-1 << 40)
	for _, l := range w.run.Policy.Limits {
		per := int64(l.Per) * w.scale
		for y := int64(0); y <= far*w.scale; y++ {
			switch {
			case w.run.Policy.Algorithm.Bucket():
				for x := int64(0); x <= y; x++ {
					if held := w.reach(x, y); held > 0 {
						most = max(most, held-l.Burst-l.Count*(y-x)/per)
					}
				}
			case l.Anchor == rlbench.Epoch:
				k := w.aligned(y, per)
				most = max(most, w.reach(k*per-w.run.Clock.Origin, (k+1)*per-1-w.run.Clock.Origin)-l.Count)
			default:
				most = max(most, w.reach(y-per+1, y)-l.Count)
			}
		}
	}
	return most
}

func (w *twin) reach(from, to int64) int64 {
	held := int64(0)
	for _, op := range w.allowed {
		if int64(op.Sent)*w.scale <= to && int64(op.Done)*w.scale >= from {
			held += op.Cost
		}
	}
	for _, op := range w.unknown {
		if int64(op.Sent)*w.scale <= to {
			held += op.Cost
		}
	}
	return held
}

// starves tells whether refusal q had room at every moment under every limit,
// whatever the others' moments.
func (w *twin) starves(q int) bool {
	op := w.denied[q]
	others := append([]rlbench.Op{}, w.allowed...)
	if w.run.Policy.ChargesRefusals {
		for i, d := range w.denied {
			if i != q {
				others = append(others, d)
			}
		}
	}
	full := &twin{run: w.run, scale: w.scale, allowed: others, unknown: w.unknown}
	for at := int64(op.Sent) * w.scale; at <= int64(op.Done)*w.scale; at++ {
		for _, l := range w.run.Policy.Limits {
			if !full.room(l, at, op.Cost) {
				return false
			}
		}
	}
	return true
}

// room tells whether a cost fits at a moment, whatever was decided up to and at it.
func (w *twin) room(l rlbench.Limit, at, cost int64) bool {
	per := int64(l.Per) * w.scale
	switch {
	case w.run.Policy.Algorithm.Bucket():
		for x := int64(0); x <= at; x++ {
			if (w.reach(x, at)+cost-l.Burst)*per > l.Count*(at-x) {
				return false
			}
		}
		return true
	case l.Anchor == rlbench.Epoch:
		return w.reach(w.aligned(at, per)*per-w.run.Clock.Origin, at)+cost <= l.Count
	}
	return w.reach(at-per+1, at)+cost <= l.Count
}

// draw makes a random history.
func draw(random *rand.Rand, policy rlbench.Policy, dearest int64, ops int) *rlbench.Run {
	r := &rlbench.Run{Target: "history", Complete: true, Clock: rlbench.LimiterClock{Stated: true}, Policy: policy}
	for i := range 1 + random.IntN(ops) {
		sent := random.Int64N(13)
		done := min(12, sent+random.Int64N(1+random.Int64N(8)))
		outcome := rlbench.Allowed
		switch random.IntN(8) {
		case 0:
			if i > 0 { // Of no answer at all nothing is judged.
				outcome = rlbench.Unknown
			}
		case 1, 2:
			outcome = rlbench.Denied
		}
		addOp(&r.Ops, "k", outcome, 1+random.Int64N(dearest), sent, done)
	}
	return r
}

// promiseDraws draw a policy each.
var promiseDraws = []struct {
	name   string
	policy func(*rand.Rand) rlbench.Policy
	// dearest is the greatest cost, ops the most ops.
	dearest int64
	ops     int
}{
	{"window", windowPolicy(1), 1, 7},
	{"window, costs differ", windowPolicy(1), 3, 6},
	{"two windows", windowPolicy(2), 1, 7},
	{"two windows, costs differ", windowPolicy(2), 3, 6},
	{"aligned", alignedPolicy(1), 1, 7},
	{"aligned, costs differ", alignedPolicy(1), 3, 6},
	{"two aligned", alignedPolicy(2), 1, 7},
	{"bucket", bucketPolicy(1), 1, 6},
	{"bucket, costs differ", bucketPolicy(1), 3, 6},
	{"two buckets", bucketPolicy(2), 1, 6},
	{"two buckets, costs differ", bucketPolicy(2), 3, 5},
}

func bucketPolicy(limits int) func(*rand.Rand) rlbench.Policy {
	return func(random *rand.Rand) rlbench.Policy {
		p := rlbench.Policy{Algorithm: rlbench.GCRA, ChargesRefusals: random.IntN(4) == 0}
		for range limits {
			p.Limits = append(p.Limits, rlbench.Limit{Count: 1 + random.Int64N(3), Per: time.Duration(1 + random.Int64N(6)), Burst: 1 + random.Int64N(3)})
		}
		return p
	}
}

func windowPolicy(limits int) func(*rand.Rand) rlbench.Policy {
	return func(random *rand.Rand) rlbench.Policy {
		p := rlbench.Policy{Algorithm: rlbench.SlidingLog, ChargesRefusals: random.IntN(4) == 0}
		for range limits {
			p.Limits = append(p.Limits, rlbench.Limit{Count: 1 + random.Int64N(3), Per: time.Duration(1 + random.Int64N(7))})
		}
		return p
	}
}

func alignedPolicy(limits int) func(*rand.Rand) rlbench.Policy {
	return func(random *rand.Rand) rlbench.Policy {
		p := windowPolicy(limits)(random)
		p.Algorithm = rlbench.FixedWindow
		for i := range p.Limits {
			p.Limits[i].Anchor = rlbench.Epoch
		}
		return p
	}
}

// The oracle and its twin agree on every random history: exactly where costs are
// equal, and never in contradiction where they differ.
func TestOracleAgreesWithTheTwin(t *testing.T) {
	for i, p := range promiseDraws {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 20))
			var counts struct{ fail, kept, explained, open, wrong, right int }
			for range histories(t, 1500) {
				r := draw(random, p.policy(random), p.dearest, p.ops)
				if r.Policy.Limits[0].Anchor == rlbench.Epoch {
					r.Clock.Origin = random.Int64N(9) - 4
				}
				w := newTwin(r)
				f := judgeOne(t, r, "never-over")
				switch f.Verdict {
				case rlbench.Fail:
					counts.fail++
				case rlbench.Inconclusive:
					counts.open++
				default:
					counts.explained++
				}
				if f.Doubt == 0 {
					counts.kept++
				}
				if compareOver(t, w, f, p.dearest == 1); compareStarved(t, w, judgeOne(t, r, "never-starved")) {
					counts.wrong++
				} else {
					counts.right++
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d broken, %d explained, %d of them certainly kept, %d undetermined; refusals wrong in %d, not in %d",
				counts.fail, counts.explained, counts.kept, counts.open, counts.wrong, counts.right)
		})
	}
}

func judgeOne(t *testing.T, r *rlbench.Run, name string) rlbench.Finding {
	t.Helper()
	found, err := Judge(r, name)
	if err != nil {
		t.Fatalf("%s: %v", text(r), err)
	}
	return found[0]
}

func compareOver(t *testing.T, w *twin, f rlbench.Finding, equal bool) {
	t.Helper()
	if want := max(0, w.mostOver()); f.Doubt != want {
		t.Errorf("%s: doubt is %d, the twin finds %d", text(w.run), f.Doubt, want)
	}
	explainable := w.explainable(nil)
	switch {
	case f.Verdict == rlbench.Fail && explainable:
		t.Errorf("%s: a false alarm: %s", text(w.run), f.Because)
	case f.Verdict == rlbench.Pass && !explainable:
		t.Errorf("%s: a false pass: %s", text(w.run), f.Because)
	case f.Verdict == rlbench.Inconclusive && equal:
		t.Errorf("%s: not settled: %s", text(w.run), f.Because)
	}
	if f.Verdict == rlbench.Fail {
		compareWitness(t, w, f, equal)
	}
}

// compareWitness demands that the witness alone is broken and, where costs are
// equal, that no op of it can be spared.
func compareWitness(t *testing.T, w *twin, f rlbench.Finding, equal bool) {
	t.Helper()
	alone := &twin{run: w.run, scale: w.scale, allowed: f.Witness}
	if len(f.Witness) == 0 || alone.explainable(nil) {
		t.Errorf("%s: the witness %v proves nothing", text(w.run), f.Witness)
	}
	if len(f.Proof) == 0 {
		t.Errorf("%s: no proof", text(w.run))
	}
	for i := range f.Witness {
		rest := append(append([]rlbench.Op{}, f.Witness[:i]...), f.Witness[i+1:]...)
		if less := (&twin{run: w.run, scale: w.scale, allowed: rest}); equal && !less.explainable(nil) {
			t.Errorf("%s: the witness %v can spare op %d", text(w.run), f.Witness, f.Witness[i].ID)
		}
	}
}

func compareStarved(t *testing.T, w *twin, f rlbench.Finding) (wrong bool) {
	t.Helper()
	for q := range w.denied {
		wrong = wrong || w.starves(q)
	}
	if wrong != (f.Verdict == rlbench.Fail) || f.Verdict == rlbench.Inconclusive {
		t.Errorf("%s: never-starved says %s: %s; the twin says wrong: %v", text(w.run), f.Verdict, f.Because, wrong)
	}
	if len(w.run.Policy.Limits) > 1 {
		return wrong
	}
	doubt := int64(0)
	for q, op := range w.denied {
		if !w.full(q) {
			doubt += op.Cost
		}
	}
	// What must be in a bucket is found but for ops that span the stretch.
	if doubt > f.Doubt || doubt < f.Doubt && !w.run.Policy.Algorithm.Bucket() {
		t.Errorf("%s: refusals that cost %d are in doubt, the twin finds %d", text(w.run), f.Doubt, doubt)
	}
	return wrong
}

// full tells whether refusal q was right whatever the moments: at every moment of
// its interval the ops that must have been charged before it left no room.
func (w *twin) full(q int) bool {
	op, l := w.denied[q], w.run.Policy.Limits[0]
	others := append([]rlbench.Op{}, w.allowed...)
	if w.run.Policy.ChargesRefusals {
		for i, d := range w.denied {
			if i != q {
				others = append(others, d)
			}
		}
	}
	for at := int64(op.Sent) * w.scale; at <= int64(op.Done)*w.scale; at++ {
		if w.spare(l, others, at, op.Cost) {
			return false
		}
	}
	return true
}

// spare tells whether a cost fits at a moment when every other op that can be
// elsewhere, or later at the same instant, is.
func (w *twin) spare(l rlbench.Limit, others []rlbench.Op, at, cost int64) bool {
	per := int64(l.Per) * w.scale
	if w.run.Policy.Algorithm.Bucket() {
		for x := int64(0); x <= at; x++ {
			if held := w.must(others, x, at); (held+cost-l.Burst)*per > l.Count*(at-x) {
				return false
			}
		}
		return true
	}
	from := at - per + 1
	if l.Anchor == rlbench.Epoch {
		from = w.aligned(at, per)*per - w.run.Clock.Origin
	}
	return w.must(others, from, at)+cost <= l.Count
}

// must is the cost of what was certainly charged from one moment to before another.
func (w *twin) must(others []rlbench.Op, from, before int64) int64 {
	held := int64(0)
	for _, o := range others {
		if int64(o.Sent)*w.scale >= from && int64(o.Done)*w.scale < before {
			held += o.Cost
		}
	}
	return held
}
