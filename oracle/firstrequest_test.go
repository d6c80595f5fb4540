package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// Small histories that tell the promise from its neighbours. A tick is 1 ns.
var firstNamed = []struct {
	why     string
	history string
	verdict rlbench.Verdict
	witness int
}{
	{"two in one window", "first L=1 W=2: A[0,0] A[1,1]", rlbench.Fail, 2},
	{"the window is over when it is W old, not later", "first L=1 W=1: A[0,0] A[1,1]", rlbench.Pass, 0},
	{"[1,3) holds three, but one window ends and the next begins in it", "first L=2 W=2: A[0,0] A[1,1] A[2,2] A[2,2]", rlbench.Pass, 0},
	{"three in the first window", "first L=2 W=3: A[0,0] A[1,1] A[2,2]", rlbench.Fail, 3},
	{"nobody but one of the three can have opened a window", "first L=2 W=2: A[3,4] A[4,4] A[3,3]", rlbench.Fail, 3},
	{"an op of unknown outcome may have opened [2,4)", "first L=2 W=2: U[0,0] A[3,4] A[4,4] A[3,3]", rlbench.Pass, 0},
	{"one of unknown outcome that was sent too late opens nothing", "first L=2 W=2: A[3,4] A[4,4] A[3,3] U[5,5]", rlbench.Fail, 3},
	{"its own cost counts in the window that it opens", "first L=1 W=2: U[0,0] A[0,1] A[1,1]", rlbench.Fail, 2},
	{"waiting for the first window's end excuses the second op", "first L=1 W=3: A[0,0] A[2,3]", rlbench.Pass, 0},
	{"waiting until after the second opened excuses the first, which opened late", "first L=1 W=3: A[0,2] A[5,5]", rlbench.Pass, 0},
	{"a lone op dearer than the limit", "first L=2 W=2: A3[0,0]", rlbench.Fail, 1},
	{"a refused op dearer than the limit may have opened [2,4)", "first L=2 W=2: D3[2,2] A[3,3] A[4,4] A[4,4]", rlbench.Pass, 0},
	{"one that came too early did not", "first L=2 W=2: D3[1,1] A[3,3] A[4,4] A[4,4]", rlbench.Fail, 3},
	{"an ordinary refusal opens nothing, for it found a window", "first charges L=2 W=2: D[2,2] A[3,3] A[4,4] A[4,4]", rlbench.Fail, 3},
	{"unless another limit refused it", "first charges L=2 W=2 L=9 W=2: D[2,2] A[3,3] A[4,4] A[4,4]", rlbench.Pass, 0},
	{"equal costs of 2 leave no room for half an op", "first L=5 W=2: A2[0,0] A2[1,1] A2[1,1]", rlbench.Fail, 3},
	{"a window may last a step longer", "first L=3 W=10 res=1: A[0,0] A[10,10] A[11,11] A[12,12] A[13,13]", rlbench.Pass, 0},
	{"which W itself would accuse", "first L=3 W=10: A[0,0] A[10,10] A[11,11] A[12,12] A[13,13]", rlbench.Fail, 4},
	{"and a step shorter", "first L=1 W=10 res=1: A[0,0] A[9,9]", rlbench.Pass, 0},
	{"but no more than that", "first L=1 W=10 res=1: A[0,0] A[8,8]", rlbench.Fail, 2},
	{"lawful only if the clock strayed", "first L=1 W=10 drift=1: A[0,0] A[9,9]", rlbench.Inconclusive, 0},
	{"not even then", "first L=1 W=10 drift=1: A[0,0] A[8,8]", rlbench.Fail, 2},
	{"one of two limits is broken", "first L=2 W=2 L=3 W=9: A[0,0] A[2,2] A[4,4] A[6,6]", rlbench.Fail, 4},
	{"both are kept by the moments at which all were sent", "first L=2 W=3 L=3 W=9: A[0,1] A[1,2] A[3,4]", rlbench.Pass, 0},
}

func TestFirstRequestNamed(t *testing.T) {
	for _, c := range firstNamed {
		t.Run(c.why, func(t *testing.T) {
			f := judgeOne(t, run(t, c.history), "never-over")
			if f.Verdict != c.verdict || len(f.Witness) != c.witness {
				t.Errorf("%s: %v with %d witnesses, want %v with %d: %s %q", c.history, f.Verdict, len(f.Witness), c.verdict, c.witness, f.Because, f.Proof)
			}
		})
	}
}

// In a history that is not complete a window may have opened unseen at any moment:
// only what no two windows can hold convicts, and nothing passes.
func TestFirstRequestOfAPartOfTheTraffic(t *testing.T) {
	for history, want := range map[string]rlbench.Verdict{
		"first L=1 W=2: A[0,0] A[1,1]":        rlbench.Inconclusive,
		"first L=1 W=9: A[0,0] A[1,1] A[2,2]": rlbench.Fail,
		"first L=1 W=2: A[0,0]":               rlbench.Inconclusive,
		"first L=1 W=2: A[0,0] A[0,0]":        rlbench.Fail,
		"first L=1 W=2: A2[0,0]":              rlbench.Fail,
	} {
		r := run(t, history)
		r.Complete = false
		if f := judgeOne(t, r, "never-over"); f.Verdict != want {
			t.Errorf("%s: %v, want %v: %s", history, f.Verdict, want, f.Because)
		}
	}
}

// Ten instances let 500 requests go at once; a limiter that is not atomic lets more
// than 100 pass. The proof is the fewest: 101, in one window.
func TestFirstRequestRaceShowsTheFewest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	r := &rlbench.Run{Target: "race", Complete: true, Policy: rlbench.Policy{
		Algorithm: rlbench.FixedWindow, Resolution: time.Millisecond,
		Limits: []rlbench.Limit{{Count: 100, Per: time.Minute, Anchor: rlbench.FirstRequest}},
	}}
	for i := range 500 {
		outcome := rlbench.Denied
		if i%3 == 0 {
			outcome = rlbench.Allowed
		}
		sent := int64(12*time.Millisecond) + random.Int64N(int64(time.Millisecond))
		addOp(&r.Ops, "user-1", outcome, 1, sent, sent+1+random.Int64N(int64(5*time.Millisecond)))
	}
	f := judgeOne(t, r, "never-over")
	if f.Verdict != rlbench.Fail || len(f.Witness) != 101 {
		t.Fatalf("%v with %d witnesses, want fail with 101", f.Verdict, len(f.Witness))
	}
	for i, op := range f.Witness {
		if op.Outcome != rlbench.Allowed || i > 0 && op.Sent < f.Witness[i-1].Sent {
			t.Fatalf("witness %d is not an allowed op in order of sent: %+v", i, op)
		}
	}
	proof := strings.Join(f.Proof, "\n")
	for _, words := range []string{"began with no window open", "these 101 ops cost 101", "no second one can open before", "may hold 100: exceeded by 1"} {
		if !strings.Contains(proof, words) {
			t.Errorf("the proof does not say %q:\n%s", words, proof)
		}
	}
}

// A refusal that is called wrong had room whatever the moments were: the rule of
// any window is sound for windows opened by their first request.
func TestFirstRequestRefusalsAgainstEveryChoiceOfMoments(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	n, wrong := histories(t, 4000), 0
	for range n {
		ops := randomTwinOps(random, 6, "AAADDU", 2)
		w, res, charges := 2+random.Int64N(4), random.Int64N(2), random.IntN(2) == 0
		limit := 1 + random.Int64N(3)
		r := run(t, fmt.Sprintf("first L=%d W=%d res=%d:", limit, w, res))
		r.Policy.ChargesRefusals = charges
		for _, o := range ops {
			outcome := map[byte]rlbench.Outcome{'A': rlbench.Allowed, 'D': rlbench.Denied, 'U': rlbench.Unknown}[o.kind]
			addOp(&r.Ops, "k", outcome, o.cost, o.sent, o.done)
		}
		f := judgeOne(t, r, "never-starved")
		if f.Verdict != rlbench.Fail {
			continue
		}
		wrong++
		q := int(refusalOf(f))
		others := append(append([]twinOp{}, ops[:q]...), ops[q+1:]...)
		twin := &firstTwin{p: firstRequest{limit: limit, windowMin: w - res, windowMax: w + res, complete: true}, ops: others}
		if twin.rightlyRefused(ops[q], charges) {
			t.Fatalf("op %d is called wrongly refused and may have been right: %s", q, text(r))
		}
	}
	t.Logf("%d histories, %d with a refusal that was wrong for certain", n, wrong)
	if wrong == 0 {
		t.Error("no refusal was called wrong: this tests nothing")
	}
}

// refusalOf is the number of the op that the finding says was refused wrongly.
func refusalOf(f rlbench.Finding) (id int64) {
	_, tail, _ := strings.Cut(f.Because, "op ")
	fmt.Sscanf(tail, "%d", &id)
	return id
}

// The sweeps that judge long histories find nothing that a full measure does not,
// and nearly all that it does.
func TestFirstRequestSweepsAgainstEveryStretch(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	n, full, swept := histories(t, 4000), 0, 0
	for at := range n {
		kind := firstKinds[at%len(firstKinds)]
		ops := randomTwinOps(random, 9, kind.kinds, kind.costs)
		w := 1 + random.Int64N(5)
		p := firstRequest{limit: kind.costs + random.Int64N(3), windowMin: w, windowMax: w + random.Int64N(kind.slack+1),
			complete: !kind.partial, dearOpens: kind.dearOpens, refusalsOpen: kind.refusals}
		h, _ := historyOf(ops)
		u := p.units(h)
		if len(u.sent) == 0 {
			continue
		}
		st, found := u.sweep()
		_, all := u.everyStretch()
		if found && (!all || st.held <= st.most) {
			t.Fatalf("the sweep accuses %+v of %+v: %+v", st, p, ops)
		}
		if all {
			full++
		}
		if found {
			swept++
		}
	}
	t.Logf("%d histories: %d hold too much in some stretch, the sweeps find %d", n, full, swept)
	if swept*10 < full*8 {
		t.Errorf("the sweeps find only %d of %d", swept, full)
	}
}
