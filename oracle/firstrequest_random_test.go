package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlbench/rlbench"
)

// firstKinds are the sorts of history that the twin is asked about. The letters
// are drawn as the outcomes.
var firstKinds = []struct {
	name      string
	kinds     string
	costs     int64
	slack     int64 // how much longer than the shortest a window may be
	partial   bool  // the history is not complete
	dearOpens bool
	refusals  bool // any refused request may open a window
}{
	{name: "allowed alone", kinds: "A", costs: 1},
	{name: "some unknown", kinds: "AAAAU", costs: 1},
	{name: "windows of uncertain length", kinds: "AAAAAU", costs: 1, slack: 2},
	{name: "not complete", kinds: "AAAAAAU", costs: 1, partial: true},
	{name: "not complete, uncertain length", kinds: "A", costs: 1, partial: true, slack: 1},
	{name: "dear refusals open windows", kinds: "AAAAADU", costs: 1, dearOpens: true},
	{name: "refusals open windows", kinds: "AAAADU", costs: 1, refusals: true, slack: 1},
	{name: "costs 1..3", kinds: "A", costs: 3},
	{name: "costs 1..3, some unknown, uncertain length", kinds: "AAAAAU", costs: 3, slack: 1},
	{name: "costs 1..3, dear refusals, not complete", kinds: "AAAAADU", costs: 3, partial: true, dearOpens: true},
}

// Every verdict holds against all choices of moments; for equal costs it is
// never in doubt.
func TestFirstRequestAgainstEveryChoiceOfMoments(t *testing.T) {
	n := histories(t, 4000)
	for at, kind := range firstKinds {
		t.Run(kind.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(at), 7))
			var count [3]int
			certain := 0
			for range n {
				ops := randomTwinOps(random, 7, kind.kinds, kind.costs)
				if kind.dearOpens {
					makeDear(random, ops)
				}
				w := 1 + random.Int64N(6)
				p := firstRequest{limit: 1 + random.Int64N(3), windowMin: w, windowMax: w + random.Int64N(kind.slack+1),
					complete: !kind.partial, dearOpens: kind.dearOpens, refusalsOpen: kind.refusals, budget: searchOps(len(ops), 1)}
				h, ids := historyOf(ops)
				r := p.rule(h, ids)
				count[r.verdict]++
				if r.certain {
					certain++
				}
				twin := &firstTwin{p: p, ops: ops}
				innocent := twin.innocent()
				if r.verdict == rlbench.Pass && !innocent || r.verdict == rlbench.Fail && innocent {
					t.Fatalf("%v of a history that is innocent=%v: %+v, %+v", r.verdict, innocent, p, ops)
				}
				if kind.costs == 1 && r.verdict == rlbench.Inconclusive {
					t.Fatalf("undecided at equal costs: %+v, %+v", p, ops)
				}
				checkFirstWitness(t, p, ops, r)
				if r.certain && twin.rightlyRefused(twinOp{'D', 0, 12, 0}, false) {
					t.Fatalf("certainly kept, yet a window may hold more than the limit: %+v, %+v", p, ops)
				}
			}
			t.Logf("%d histories: %d broken, %d kept (%d certainly), %d undecided",
				n, count[rlbench.Fail], count[rlbench.Pass], certain, count[rlbench.Inconclusive])
			if count[rlbench.Fail] == 0 || count[rlbench.Pass] == 0 {
				t.Error("the histories drawn are all of one kind: this tests nothing")
			}
			if count[rlbench.Inconclusive]*50 > n {
				t.Errorf("%d of %d are undecided, more than 2 in 100", count[rlbench.Inconclusive], n)
			}
		})
	}
}

// makeDear raises some requests that were not allowed above any limit drawn.
func makeDear(random *rand.Rand, ops []twinOp) {
	for i := range ops {
		if ops[i].kind != 'A' && random.IntN(3) > 0 {
			ops[i].cost = 5
		}
	}
}

// checkFirstWitness holds the witness of a Fail to what it claims: its ops alone,
// with every other op free to have opened a window or not, cannot be excused.
func checkFirstWitness(t *testing.T, p firstRequest, ops []twinOp, r ruling) {
	t.Helper()
	if (r.verdict == rlbench.Fail) != (len(r.witness) > 0) || (r.verdict == rlbench.Fail) != (len(r.proof) > 0) || (r.verdict == rlbench.Pass) != (r.because == "") {
		t.Fatalf("a ruling that does not show what it rests on: %+v", r)
	}
	if r.verdict != rlbench.Fail {
		return
	}
	others := slices.Clone(ops)
	for i, o := range ops {
		if !slices.Contains(r.witness, uint32(i)) {
			if o.kind == 'A' {
				others[i].kind = 'O'
			}
		} else if o.kind != 'A' {
			t.Fatalf("op %d stands as a witness and was not allowed: %+v", i, ops)
		}
	}
	twin := &firstTwin{p: p, ops: others}
	if twin.innocent() {
		t.Fatalf("the witness %v can be excused: %+v, %+v", r.witness, p, ops)
	}
}
