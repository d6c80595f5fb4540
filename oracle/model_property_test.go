package oracle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/rlbench/rlbench"
)

// arrivals draws requests: a gap before each and its cost.
func arrivals() gopter.Gen {
	return gen.SliceOfN(60, gopter.CombineGens(gen.Int64Range(0, 40), gen.Int64Range(1, 4)).Map(func(v []any) [2]int64 {
		return [2]int64{v[0].(int64), v[1].(int64)}
	}))
}

// decisions asks a fresh model.
func decisions(t *testing.T, p rlbench.Policy, asks [][2]int64) []bool {
	t.Helper()
	m, err := newModel(p)
	if err != nil {
		t.Fatal(err)
	}
	var all []bool
	at := int64(0)
	for _, a := range asks {
		at += a[0]
		allowed, _ := m.decide(at, a[1])
		all = append(all, allowed)
	}
	return all
}

// GCRA, token bucket and leaky meter are one rule in three texts, whatever is asked; a
// queue lets the same through, and Envoy's bucket and NGINX's zone do where their clocks
// and costs are those of the texts.
func TestModelsOfOneRuleAgree(t *testing.T) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = histories(t, 2000)
	parameters.Rng.Seed(1)
	properties := gopter.NewProperties(parameters)
	properties.Property("alike", prop.ForAll(func(count, per, burst int64, asks [][2]int64, charges bool) bool {
		p := rlbench.Policy{Limits: []rlbench.Limit{{Count: count, Per: time.Duration(per), Burst: burst}}, ChargesRefusals: charges}
		var first []bool
		for i, a := range []rlbench.Algorithm{rlbench.TokenBucket, rlbench.GCRA, rlbench.LeakyMeter, rlbench.LeakyQueue} {
			p.Algorithm = a
			got := decisions(t, p, asks)
			if i == 0 {
				first = got
			}
			for k := range got {
				if got[k] != first[k] {
					t.Logf("%s differs from a token bucket at request %d of %v", a, k, asks)
					return false
				}
			}
		}
		return true
	}, gen.Int64Range(1, 9), gen.Int64Range(1, 60), gen.Int64Range(1, 7), arrivals(), gen.Bool()))
	properties.Property("NGINX at whole requests a second", prop.ForAll(func(rate, burst int64, asks [][2]int64) bool {
		limit := rlbench.Limit{Count: rate, Per: time.Second, Burst: burst}
		for i := range asks {
			asks[i] = [2]int64{asks[i][0] * millisecondNs, 1}
		}
		meter := decisions(t, rlbench.Policy{Algorithm: rlbench.LeakyMeter, Limits: []rlbench.Limit{limit}}, asks)
		nginx := decisions(t, rlbench.Policy{Algorithm: rlbench.LeakyMeter, Limits: []rlbench.Limit{limit}, Params: map[string]string{paramModel: modelNginx}}, asks)
		for k := range meter {
			if meter[k] != nginx[k] {
				return false
			}
		}
		return true
	}, gen.Int64Range(1, 200), gen.Int64Range(1, 9), arrivals()))
	properties.TestingRun(t)
}

// What a model lets through, its own promise allows: the oracle of never-over is asked
// at the moments themselves, and that of never-starved finds no fault with a refusal.
func TestModelsKeepTheirPromise(t *testing.T) {
	for name, p := range teethPolicies() {
		if p.Params[paramModel] == modelNginx {
			continue // Its clock and its rounding are its own.
		}
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(4, 4))
			for range 20 {
				m, err := newModel(p)
				if err != nil {
					t.Fatal(err)
				}
				r := &rlbench.Run{Target: "model", Complete: true, Clock: rlbench.LimiterClock{Stated: true}, Policy: p}
				at := int64(0)
				for range 300 {
					at += random.Int64N(int64(12 * time.Millisecond))
					cost := 1 + random.Int64N(3)
					outcome := rlbench.Denied
					if allowed, _ := m.decide(at, cost); allowed {
						outcome = rlbench.Allowed
					}
					addOp(&r.Ops, "k", outcome, cost, at, at)
				}
				for _, check := range []string{"never-over", "never-starved", "own-model"} {
					f := judgeOne(t, r, check)
					if f.Verdict == fail || check == "own-model" && f.Verdict != pass {
						t.Fatalf("%s: %s: %s", check, f.Verdict, f.Because)
					}
				}
			}
		})
	}
}
