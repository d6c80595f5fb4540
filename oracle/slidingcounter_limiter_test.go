package oracle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// counterLimiter decides by two counters, on a clock that reads in whole steps and
// is off by a constant.
type counterLimiter struct {
	limit, window, step, offset int64
	charges                     bool
}

// decide runs the limiter over the commands that reach its server.
func (l counterLimiter) decide(s *simulation) {
	var window, before, own int64
	for _, e := range s.events {
		if e.expires {
			continue
		}
		now := (e.at + l.offset) / l.step * l.step
		switch k := now / l.window; {
		case k == window+1:
			window, before, own = k, own, 0
		case k > window:
			window, before, own = k, 0, 0
		}
		cost := s.ops[e.op].cost
		if before*(l.window-now%l.window)+(own+cost)*l.window <= l.limit*l.window {
			own += cost
			s.allow(e.op)
		} else if l.charges {
			own += cost
		}
	}
}

// A correct sliding counter is never accused, of letting too much through or of
// refusing wrongly, however its clock steps and however badly it was read.
func TestSlidingCounterNeverAccusesACorrectLimiter(t *testing.T) {
	runs, ops := max(1, histories(t, 4000)/100), 3000
	for _, costs := range []int64{1, 3} {
		var over, starved [3]int
		certain := 0
		for seed := range runs {
			s := newSimulation(uint64(seed), ops, costs)
			random := rand.New(rand.NewPCG(uint64(seed), 12))
			l := counterLimiter{limit: s.limit, window: s.window, step: []int64{1, microsecond, millisecond}[seed%3], charges: seed%5 == 0}
			wrong := []int64{0, 0, microsecond, millisecond}[random.IntN(4)]
			origin := random.Int64N(s.window)
			l.offset = origin + random.Int64N(2*wrong+1) - wrong + wrong
			l.decide(s)
			r := runOf(t, "counter L=1 W=1", s.ops)
			r.Policy = rlbench.Policy{Algorithm: rlbench.SlidingCounter, ChargesRefusals: l.charges, Resolution: time.Duration(l.step),
				Limits: []rlbench.Limit{{Count: s.limit, Per: time.Duration(s.window)}}}
			r.Clock = rlbench.LimiterClock{Origin: origin + wrong, Error: time.Duration(wrong), Stated: true}
			f := judgeOne(t, r, "never-over")
			if over[f.Verdict]++; f.Verdict == fail {
				t.Fatalf("seed %d: accused: %s %q", seed, f.Because, f.Proof)
			}
			if f.Verdict == pass && f.Doubt == 0 {
				certain++
			}
			g := judgeOne(t, r, "never-starved")
			if starved[g.Verdict]++; g.Verdict == fail {
				t.Fatalf("seed %d: accused: %s %q", seed, g.Because, g.Proof)
			}
		}
		t.Logf("costs 1..%d: %d runs of %d ops: %d kept for certain, %d explained, %d undecided; refusals: %d passed, %d undecided", costs,
			runs, ops, certain, over[pass]-certain, over[open], starved[pass], starved[open])
		if over[open]*20 > runs {
			t.Errorf("%d of %d correct runs stay undecided", over[open], runs)
		}
	}
}
