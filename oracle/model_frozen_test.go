package oracle

import (
	"math/rand/v2"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/rlbench/rlbench"
)

// frozen is a counter in one window, as a linearizability checker sees it.
var frozen = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, input, output any) (bool, any) {
		used, ask := state.(int64), input.(frozenAsk)
		fits := used+ask.cost <= ask.limit
		switch output.(rlbench.Outcome) {
		case rlbench.Allowed:
			return fits, used + ask.cost
		case rlbench.Denied:
			return !fits, used
		}
		if fits { // Of unknown outcome: it took place at some time, here or after the rest.
			return true, used + ask.cost
		}
		return true, used
	},
	Equal: func(a, b any) bool { return a == b },
}

type frozenAsk struct{ cost, limit int64 }

// With time frozen, all in one window, a replay is a check of linearizability: a checker
// of that kind gives a second opinion on histories with many ops in flight.
func TestFrozenTimeAgreesWithALinearizabilityChecker(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 60))
	var yes, no int
	for range histories(t, 1000) {
		p := rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: 1 + random.Int64N(6), Per: 1000, Anchor: rlbench.Epoch}}}
		r := drawFrozen(random, p)
		var history []porcupine.Operation
		for i := range r.Ops.Len() {
			op := r.Ops.At(i)
			// An op and another that begins when it ends overlap, as they do here.
			call, done := 2*int64(op.Sent), 2*int64(op.Done)+1
			if op.Outcome == rlbench.Unknown {
				done = 1 << 40
			}
			history = append(history, porcupine.Operation{ClientId: i, Input: frozenAsk{op.Cost, p.Limits[0].Count}, Call: call, Output: op.Outcome, Return: done})
		}
		want := porcupine.CheckOperations(frozen, history)
		f := judgeOne(t, r, "own-model")
		if answered := f.Verdict != open; answered && want != (f.Verdict == pass) || !answered && r.Ops.Outcome[0] != rlbench.Unknown {
			t.Fatalf("%s: %s: %s; the checker says %v", text(r), f.Verdict, f.Because, want)
		}
		if want {
			yes++
		} else {
			no++
		}
	}
	t.Logf("%d linearizable, %d not", yes, no)
	if yes == 0 || no == 0 {
		t.Error("one of the answers was never given")
	}
}

// drawFrozen draws ops in flight together, all in one window, of which some answers are
// changed or lost.
func drawFrozen(random *rand.Rand, p rlbench.Policy) *rlbench.Run {
	r := &rlbench.Run{Target: "frozen", Complete: true, Clock: rlbench.LimiterClock{Stated: true}, Policy: p}
	m, err := newModel(p)
	if err != nil {
		panic(err)
	}
	for i := range 2 + random.Int64N(10) {
		cost := 1 + random.Int64N(3)
		outcome := rlbench.Denied
		if allowed, _ := m.decide(i, cost); allowed != (random.IntN(12) == 0) {
			outcome = rlbench.Allowed
		}
		if i > 0 && random.IntN(8) == 0 {
			outcome = rlbench.Unknown
		}
		addOp(&r.Ops, "k", outcome, cost, max(0, 10*i-random.Int64N(30)), 10*i+random.Int64N(30))
	}
	return r
}
