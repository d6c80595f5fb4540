package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/rlbench/rlbench"
)

// Small histories that tell the sliding counter from its neighbours.
var counterNamed = []struct {
	why     string
	history string
	verdict rlbench.Verdict
	witness int
}{
	{"two in one window", "counter L=1 W=4: A[0,0] A[1,1]", fail, 2},
	{"nothing of the window before has slid out yet", "counter L=1 W=4: A[3,3] A[4,4]", fail, 2},
	{"all but a quarter has, which is too much still", "counter L=1 W=4: A[3,3] A[7,7]", fail, 2},
	{"the window before the one before counts no more", "counter L=1 W=4: A[3,3] A[8,8]", pass, 0},
	{"half has slid out: any 5 ticks hold three", "counter L=2 W=4: A[2,2] A[3,3] A[6,6]", pass, 0},
	{"a quarter has", "counter L=2 W=4: A[2,2] A[3,3] A[5,5]", fail, 3},
	{"a straddling op counts by its lesser weight", "counter L=1 W=4: A[3,4] A[7,7]", fail, 2},
	{"one that may have come two windows before counts for nothing", "counter L=1 W=4: A[3,4] A[8,8]", pass, 0},
	{"the limiter's clock says where the edge is", "counter offset=2 L=1 W=4: A[1,1] A[6,6]", pass, 0},
	{"and where it is not", "counter L=1 W=4: A[1,1] A[6,6]", fail, 2},
	{"within its error nobody knows", "counter error=1 L=1 W=4: A[3,3] A[7,7]", open, 0},
	{"a lone cost above the limit", "counter L=2 W=4: A3[0,9]", fail, 1},
	{"an op of unknown outcome never accuses", "counter L=1 W=4: U[0,0] A[1,1]", pass, 0},
	{"one of two limits is broken", "counter L=9 W=4 L=1 W=2: A[0,0] A[1,1]", fail, 2},
	{"all at Sent keeps both limits", "counter L=1 W=2 L=2 W=4: A[0,1] A[5,6] A[9,9]", pass, 0},
	{"no window shows it, but a run of them does", "counter L=1 W=4: A[0,4] A[4,8] A[0,8]", fail, 3},
}

func TestSlidingCounterNamed(t *testing.T) {
	for _, c := range counterNamed {
		t.Run(c.why, func(t *testing.T) {
			f := judgeOne(t, run(t, c.history), "never-over")
			if f.Verdict != c.verdict || len(f.Witness) != c.witness {
				t.Errorf("%s: %v with %d witnesses, want %v with %d: %s %q", c.history, f.Verdict, len(f.Witness), c.verdict, c.witness, f.Because, f.Proof)
			}
		})
	}
}

func TestSlidingCounterRefusalsNamed(t *testing.T) {
	for _, c := range []struct {
		why, history string
		want         rlbench.Verdict
	}{
		{"refused when nothing was charged", "counter L=1 W=4: D[0,0]", fail},
		{"its own window is full", "counter L=1 W=4: A[0,0] D[3,3]", pass},
		{"the window before still counts", "counter L=1 W=4: A[0,0] D[7,7]", pass},
		{"but not the one before that", "counter L=1 W=4: A[0,0] D[8,8]", fail},
		{"half has slid out, which makes room for one of two", "counter L=2 W=4: A[0,0] A[0,0] D[6,6]", fail},
		{"not yet", "counter L=2 W=4: A[0,0] A[0,0] D[5,5]", pass},
		{"unless the clock is read in steps of 2", "counter res=2 L=2 W=4: A[0,0] A[0,0] D[6,6]", pass},
		{"an unknown op may be charged later", "counter L=1 W=4: U[0,0] D[20,20]", pass},
		{"at the edge all of the window before counts, though it was sent after one half", "counter L=2 W=4: A[2,2] A[3,3] D[2,9]", pass},
		{"at one instant the order is unknown", "counter L=1 W=4: A[0,1] D[1,1]", pass},
		{"refusals are charged", "counter charges L=1 W=4: A[0,0] D[3,3] D[7,7]", pass},
		{"and were they not, the last would be wrong", "counter L=1 W=4: A[0,0] D[3,3] D[8,8]", fail},
	} {
		t.Run(c.why, func(t *testing.T) {
			if f := judgeOne(t, run(t, c.history), "never-starved"); f.Verdict != c.want {
				t.Errorf("%s: %v, want %v: %s %q", c.history, f.Verdict, c.want, f.Because, f.Proof)
			}
		})
	}
}

// counterKinds are the sorts of history that the twin is asked about.
var counterKinds = []struct {
	name, kinds string
	costs       int64
}{
	{"allowed alone", "A", 1},
	{"some unknown", "AAAAU", 1},
	{"costs 1..3", "A", 3},
	{"costs 1..3, some unknown", "AAAAU", 3},
}

// runOf makes a run of a small history.
func runOf(t *testing.T, head string, ops []twinOp) *rlbench.Run {
	r := run(t, head+":")
	for _, o := range ops {
		outcome := map[byte]rlbench.Outcome{'A': rlbench.Allowed, 'D': rlbench.Denied, 'U': rlbench.Unknown}[o.kind]
		addOp(&r.Ops, "k", outcome, o.cost, o.sent, o.done)
	}
	return r
}

// Every verdict holds against all choices of moments: a Fail on every grid, a Pass
// on that of whole ticks.
func TestSlidingCounterAgainstEveryChoiceOfMoments(t *testing.T) {
	for at, kind := range counterKinds {
		t.Run(kind.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(at), 8))
			var count [3]int
			var certain, missedBroken, missedInnocent int
			n := histories(t, 3000)
			for range n {
				ops := randomTwinOps(random, 7, kind.kinds, kind.costs)
				ops[0].kind = 'A' // A run of which nothing was answered is not judged.
				w := &counterTwin{limit: 1 + random.Int64N(3), window: 2 + random.Int64N(5), origin: random.Int64N(4), grid: 1, ops: ops}
				r := runOf(t, fmt.Sprintf("counter offset=%d L=%d W=%d", w.origin, w.limit, w.window), ops)
				f := judgeOne(t, r, "never-over")
				count[f.Verdict]++
				if f.Verdict == fail {
					w.grid = 1 + random.Int64N(3)
				}
				innocent := w.innocent(w.begin())
				switch {
				case f.Verdict == pass && !innocent || f.Verdict == fail && innocent:
					t.Fatalf("%v of a history that is innocent=%v: %s", f.Verdict, innocent, text(r))
				case f.Verdict == open && innocent:

					missedInnocent++
				case f.Verdict == open:
					missedBroken++
				case f.Verdict == pass && f.Doubt == 0:
					if certain++; w.breakable(w.begin()) {
						t.Fatalf("certainly kept, yet some moments break it: %s", text(r))
					}
				case f.Verdict == fail:
					checkCounterWitness(t, w, r, f)
				}
			}
			t.Logf("%d histories: %d broken, %d kept (%d certainly), %d undecided, of which %d are broken and %d innocent",
				n, count[fail], count[pass], certain, count[open], missedBroken, missedInnocent)
			if count[fail] == 0 || count[pass] == 0 || certain == 0 {
				t.Error("the histories drawn are all of one kind: this tests nothing")
			}
			if kind.costs == 1 && count[open]*50 > n {
				t.Errorf("%d of %d are undecided, more than 2 in 100", count[open], n)
			}
		})
	}
}

// checkCounterWitness demands that the witness alone breaks the promise.
func checkCounterWitness(t *testing.T, w *counterTwin, r *rlbench.Run, f rlbench.Finding) {
	t.Helper()
	alone := &counterTwin{limit: w.limit, window: w.window, origin: w.origin, grid: w.grid}
	for _, op := range f.Witness {
		alone.ops = append(alone.ops, twinOp{'A', int64(op.Sent), int64(op.Done), op.Cost})
	}
	if len(f.Witness) == 0 || len(f.Proof) == 0 || alone.innocent(alone.begin()) {
		t.Fatalf("the witness %v proves nothing: %s", f.Witness, text(r))
	}
}

// A refusal is called wrong if and only if it had room at every moment, whatever
// the moments of all else; one that is called right for certain never had.
func TestSlidingCounterRefusalsAgainstEveryChoiceOfMoments(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	n, wrong := histories(t, 6000), 0
	for range n {
		ops := randomTwinOps(random, 6, "AAADU", 2)
		at := random.IntN(len(ops))
		ops[at].kind = 'D'
		w := &counterTwin{limit: 1 + random.Int64N(3), window: 2 + random.Int64N(5), origin: random.Int64N(4), grid: 1}
		charged, head := "AU", "counter"
		if random.IntN(2) == 0 {
			charged, head = "AUD", "counter charges"
		}
		r := runOf(t, fmt.Sprintf("%s offset=%d L=%d W=%d", head, w.origin, w.limit, w.window), ops)
		starves := false
		for q := range ops {
			if ops[q].kind != 'D' {
				continue
			}
			w.ops = append(append([]twinOp{}, ops[:q]...), ops[q+1:]...)
			starves = starves || !w.full(w.begin(), ops[q], charged)
		}
		f := judgeOne(t, r, "never-starved")
		if (f.Verdict == fail) != starves || f.Verdict == open {
			t.Fatalf("%v, but wrong for certain=%v: %s", f.Verdict, starves, text(r))
		}
		if starves {
			wrong++
		}
	}
	t.Logf("%d histories, %d with a refusal that was wrong for certain", n, wrong)
	if wrong == 0 || wrong == n {
		t.Error("the refusals drawn are all of one kind: this tests nothing")
	}
}
