package oracle

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// ordered returns the run with its ops in order of Sent, as a Fold is fed.
func ordered(r *rlbench.Run) *rlbench.Run {
	sents := make([]int64, r.Ops.Len())
	for i, t := range r.Ops.Sent {
		sents[i] = int64(t)
	}
	sorted := *r
	sorted.Ops = rlbench.Ops{}
	for _, i := range order(sents) {
		sorted.Ops = *appendRow(&sorted.Ops, &r.Ops, int(i))
	}
	return &sorted
}

func appendRow(to, from *rlbench.Ops, i int) *rlbench.Ops {
	op := from.At(i)
	addOp(to, op.Key, op.Outcome, op.Cost, int64(op.Sent), int64(op.Done))
	to.ID[to.Len()-1] = op.ID
	if from.DecidedAt != nil {
		to.DecidedAt = append(to.DecidedAt, op.DecidedAt)
	}
	if from.Error != nil {
		to.Errors, to.Error = from.Errors, append(to.Error, from.Error[i])
	}
	return to
}

// feedIn feeds a run in blocks of random length, judging after each so many ops.
func feedIn(t *testing.T, random *rand.Rand, r *rlbench.Run, batch, spare int) ([]rlbench.Finding, rlbench.Accuracy, *Fold) {
	t.Helper()
	head := *r
	head.Ops = rlbench.Ops{}
	f, err := Open(&head, "never-over", "never-starved")
	if err != nil {
		t.Fatalf("%s: %v", text(r), err)
	}
	f.stream.batch, f.stream.spare = batch, spare
	for i := 0; i < r.Ops.Len(); {
		part := &rlbench.Ops{}
		for range 1 + random.IntN(4) {
			if i < r.Ops.Len() {
				appendRow(part, &r.Ops, i)
				i++
			}
		}
		if r.Ops.Error == nil && random.IntN(2) == 0 { // Of errors the first is told.
			part = shuffled(random, part)
		}
		if err := f.Feed(part); err != nil {
			t.Fatalf("%s: %v", text(r), err)
		}
	}
	found, accuracy, err := f.Close()
	if err != nil {
		t.Fatalf("%s: %v", text(r), err)
	}
	return found, accuracy, f
}

// shuffled returns the ops of a part in another order.
func shuffled(random *rand.Rand, part *rlbench.Ops) *rlbench.Ops {
	other := &rlbench.Ops{}
	for _, i := range random.Perm(part.Len()) {
		appendRow(other, part, i)
	}
	return other
}

// drawLong draws a history of several keys which a limiter may have made: mostly it
// decides by its promise, at moments within the intervals.
func drawLong(random *rand.Rand, policy rlbench.Policy, dearest int64) *rlbench.Run {
	r := &rlbench.Run{Target: "history", Complete: random.IntN(5) > 0, Policy: policy, Clock: rlbench.LimiterClock{Stated: random.IntN(12) > 0, Origin: random.Int64N(9)}}
	if random.IntN(4) == 0 {
		r.Clock.Error = time.Duration(random.Int64N(4))
	}
	if policy.Limits[0].Per > 2 && random.IntN(4) == 0 {
		r.Policy.Resolution = 1 + time.Duration(random.Int64N(2))
		for i := range r.Policy.Limits {
			r.Policy.Limits[i].Per = max(r.Policy.Limits[i].Per, r.Policy.Resolution+1)
		}
	}
	if !policy.Algorithm.Bucket() && random.IntN(8) == 0 {
		r.Policy.Drift = time.Duration(random.Int64N(2))
	}
	keys := 1 + random.IntN(3)
	gap, long, sloppy := 1+random.Int64N(6), 1+random.Int64N(7), random.IntN(4)*random.IntN(12)
	logs := make([][]decision, keys)
	at := int64(0)
	for range 1 + random.IntN(40) {
		at += random.Int64N(gap)
		if random.IntN(12) == 0 {
			at += random.Int64N(30)
		}
		k, cost := random.IntN(keys), 1+random.Int64N(dearest)
		outcome := rlbench.Denied
		if lawful(&r.Policy, logs[k], decision{at, cost}) != (random.IntN(100) < sloppy) {
			outcome = rlbench.Allowed
			logs[k] = append(logs[k], decision{at, cost})
		}
		switch random.IntN(60) {
		case 0:
			outcome = rlbench.Unknown
		case 1:
			outcome = rlbench.Unsent
		}
		addOp(&r.Ops, fmt.Sprint("k", k), outcome, cost, at-random.Int64N(long), at+random.Int64N(long))
	}
	adorn(random, r)
	return r
}

// adorn adds what only some runs have: moments that the limiter states, and a stretch in
// which it may have decided without its store.
func adorn(random *rand.Rand, r *rlbench.Run) {
	o := &r.Ops
	if random.IntN(3) == 0 {
		for i := range o.Len() {
			at := int64(o.Sent[i]) + random.Int64N(int64(o.Done[i]-o.Sent[i])+3) - 1
			if random.IntN(4) == 0 {
				at = rlbench.None
			}
			o.DecidedAt = append(o.DecidedAt, at)
		}
	}
	if random.IntN(8) > 0 {
		return
	}
	at := rlbench.Instant(random.Int64N(80))
	r.Events = []rlbench.Event{{Kind: "store-stalled", At: at, Until: at + 20}}
	o.Errors = []string{"", "store gone", "connection refused"}
	for range o.Len() {
		o.Error = append(o.Error, uint32(random.IntN(9)/7*(1+random.IntN(2))))
	}
}

// lawful tells whether a decision keeps the policy beside those before.
func lawful(p *rlbench.Policy, log []decision, d decision) bool {
	w := &twin{run: &rlbench.Run{Policy: *p}, scale: 1}
	for _, l := range p.Limits {
		if !w.keepsAt(l, append(slices.Clone(log), d), d.at) {
			return false
		}
	}
	return true
}

// Fed in any parts, whenever it judges, a Fold comes to what the whole Run comes to.
func TestFoldAgreesWithTheRun(t *testing.T) {
	for n, d := range promiseDraws {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(n), 21))
			counts := map[string]int{}
			for range histories(t, 400) {
				r := ordered(drawLong(random, d.policy(random), d.dearest))
				foldOnce(t, random, r, d.dearest == 1, counts)
			}
			t.Log(counts)
			for _, want := range []string{"never-over pass", "never-over fail", "never-starved pass", "never-starved fail"} {
				if counts[want] == 0 {
					t.Errorf("%s never came up", want)
				}
			}
		})
	}
}

func foldOnce(t *testing.T, random *rand.Rand, r *rlbench.Run, equal bool, counts map[string]int) {
	t.Helper()
	want, err := Judge(r, "never-over", "never-starved")
	if err != nil {
		t.Fatal(err)
	}
	spare := 1000 * random.IntN(2)
	batch := 1 + random.IntN(10)
	got, accuracy, f := feedIn(t, random, r, batch, spare)
	if f.stream.swept {
		counts["in parts"]++
	}
	if len(f.stream.rested) > 0 {
		counts["with keys at rest"]++
	}
	for i := range want {
		counts[want[i].Check+" "+want[i].Verdict.String()]++
		if wrong := differs(got[i], want[i], equal || want[i].Check == "never-starved", spare > 0); wrong != "" {
			t.Fatalf("%s: judging each %d ops, keeping %d: %s\nfold: %+v\nrun:  %+v", text(r), batch, spare, wrong, got[i], want[i])
		}
		if got[i].Verdict == fail && got[i].Check == "never-over" && !shortened(got[i]) {
			guilty := *r
			guilty.Ops = rlbench.Ops{}
			for _, op := range got[i].Witness {
				addOp(&guilty.Ops, op.Key, op.Outcome, op.Cost, int64(op.Sent), int64(op.Done))
			}
			if alone := judgeOne(t, &guilty, "never-over"); alone.Verdict != fail {
				t.Fatalf("%s: the witness alone %s: %s\n%+v", text(r), text(&guilty), alone.Because, got[i])
			}
		}
	}
	if whole := Accuracy(r); accuracy != whole {
		t.Fatalf("%s: judging each %d ops: the figures differ\nfold: %+v\nrun:  %+v", text(r), batch, accuracy, whole)
	}
}

func shortened(f rlbench.Finding) bool {
	return len(f.Proof) > 0 && strings.HasSuffix(f.Proof[len(f.Proof)-1], "were not kept while the evidence was read")
}

// differs says in what a finding may not differ from that of the whole run.
func differs(got, want rlbench.Finding, equal, all bool) string {
	switch {
	case got.Doubt != want.Doubt:
		return "another doubt"
	case !equal && (got.Verdict == rlbench.Inconclusive || want.Verdict == rlbench.Inconclusive):
		return ""
	case got.Verdict != want.Verdict:
		return "another verdict"
	case !all && len(want.Witness) > 0 && got.Check == "never-over":
		return ""
	case !all && len(want.Witness) > 0 && got.Because == want.Because:
		return "" // Of a bucket's charges not all are listed.
	case got.Check == "never-starved" && got.Because == want.Because && strings.Contains(strings.Join(got.Proof, " "), "were not kept"):
		return ""
	case equal && !reflect.DeepEqual(got, want):
		return "another finding"
	}
	return ""
}

// Fed op by op and judged after each few, a Fold says what trying every moment says.
func TestFoldAgreesWithTheTwin(t *testing.T) {
	for i, p := range promiseDraws {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 22))
			swept := 0
			for range histories(t, 300) {
				r := draw(random, p.policy(random), p.dearest, p.ops)
				if r.Policy.Limits[0].Anchor == rlbench.Epoch {
					r.Clock.Origin = random.Int64N(9) - 4
				}
				w := newTwin(r)
				found, _, f := feedIn(t, random, ordered(r), 1, 0)
				if f.stream.swept {
					swept++
				}
				for _, word := range found[0].Witness {
					if word.Outcome != rlbench.Allowed {
						t.Errorf("%s: %v shows that too much was let through", text(r), word)
					}
				}
				if !shortened(found[0]) {
					compareOver(t, w, found[0], p.dearest == 1)
				}
				if compareStarved(t, w, found[1]); t.Failed() {
					return
				}
			}
			if swept == 0 {
				t.Error("nothing was judged before the end")
			}
		})
	}
}
