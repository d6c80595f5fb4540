package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// keyed is a limiter with a model for each bucket it keeps; under tells which bucket a
// key's request goes to.
type keyed struct {
	policy rlbench.Policy
	under  func(key string) string
	models map[string]*model
}

func newKeyed(p rlbench.Policy, under func(string) string) *keyed {
	return &keyed{policy: p, under: under, models: map[string]*model{}}
}

func (k *keyed) decide(t testing.TB, key string, at, cost int64) bool {
	t.Helper()
	name := k.under(key)
	if k.models[name] == nil {
		m, err := newModel(k.policy)
		if err != nil {
			t.Fatal(err)
		}
		k.models[name] = m
	}
	allowed, _ := k.models[name].decide(at, cost)
	return allowed
}

// mixed asks keys in turn, as in random, one request in flight; some answers are lost.
// wrong changes an answer.
func mixed(t testing.TB, random *rand.Rand, limiter *keyed, keys []string, ops int, gap int64, stamps bool, wrong func(key string, allowed bool) bool) *rlbench.Run {
	t.Helper()
	r := &rlbench.Run{Target: "mixed", Complete: true, Clock: rlbench.LimiterClock{Stated: true}, Policy: limiter.policy}
	now := int64(0)
	for range ops {
		key := keys[random.IntN(len(keys))]
		sent := now
		at := sent + random.Int64N(gap/20+1)
		now = at + random.Int64N(gap/20+1)
		outcome := rlbench.Denied
		allowed := limiter.decide(t, key, at, 1)
		if wrong != nil {
			allowed = wrong(key, allowed)
		}
		if allowed {
			outcome = rlbench.Allowed
		}
		addOp(&r.Ops, key, outcome, 1, sent, now)
		if stamps {
			r.Ops.DecidedAt = append(r.Ops.DecidedAt, at)
		}
		now += random.Int64N(gap)
	}
	return r
}

func byItself(key string) string { return key }

// policiesOfKeys are asked for some twice of what they let through.
func policiesOfKeys() map[string]rlbench.Policy {
	one := func(a rlbench.Algorithm, l rlbench.Limit) rlbench.Policy {
		return rlbench.Policy{Algorithm: a, Limits: []rlbench.Limit{l}}
	}
	return map[string]rlbench.Policy{
		"aligned":       one(rlbench.FixedWindow, rlbench.Limit{Count: 5, Per: 1000, Anchor: rlbench.Epoch}),
		"first request": one(rlbench.FixedWindow, rlbench.Limit{Count: 5, Per: 1000, Anchor: rlbench.FirstRequest}),
		"log":           one(rlbench.SlidingLog, rlbench.Limit{Count: 5, Per: 1000}),
		"counter":       one(rlbench.SlidingCounter, rlbench.Limit{Count: 5, Per: 1000}),
		"bucket":        one(rlbench.TokenBucket, rlbench.Limit{Count: 5, Per: 1000, Burst: 5}),
		"queue":         one(rlbench.LeakyQueue, rlbench.Limit{Count: 5, Per: 1000, Burst: 5}),
	}
}

// A limiter that keeps its keys apart passes, whatever its algorithm, whether it states
// its moments or not.
func TestKeysApartPass(t *testing.T) {
	keys := []string{"alice", "alicia", "bob", "ALICE"}
	for name, p := range policiesOfKeys() {
		for seed := range uint64(4) {
			r := mixed(t, rand.New(rand.NewPCG(seed, 1)), newKeyed(p, byItself), keys, 400, 50, seed%2 == 0, nil)
			if f := judgeOne(t, r, "key-isolation"); f.Verdict != pass {
				t.Errorf("%s, seed %d: %s: %s", name, seed, f.Verdict, f.Because)
			}
		}
	}
}

// Limiters that mix keys up are caught, and the Finding names the keys.
func TestKeysMixedUpFail(t *testing.T) {
	long := "customer/0000000000000000000000000000001/"
	for _, row := range []struct {
		why   string
		keys  []string
		under func(string) string
		names string
	}{
		{"one budget for all", []string{"a", "b", "c"}, func(string) string { return "" }, "all there are"},
		{"keys cut at 40 bytes", []string{long + "read", long + "write", "other"}, func(k string) string { return k[:min(40, len(k))] }, "begin with the same"},
		{"keys cut at the front", []string{"eu:alice", "us:alice", "bob"}, func(k string) string { return k[max(0, len(k)-5):] }, "end with the same"},
		{"case does not count", []string{"Alice", "alice", "bob"}, strings.ToLower, "case or space"},
		{"two keys in one slot of a table", []string{"x1", "y2", "z3", "w4"}, func(k string) string {
			return map[string]string{"x1": "slot", "w4": "slot"}[k] + map[string]string{"y2": "y", "z3": "z"}[k]
		}, "pair"},
	} {
		for name, p := range policiesOfKeys() {
			for seed := range uint64(2) {
				r := mixed(t, rand.New(rand.NewPCG(seed, 2)), newKeyed(p, row.under), row.keys, 300, 50, seed == 0, nil)
				f := judgeOne(t, r, "key-isolation")
				if f.Verdict != fail || !strings.Contains(f.Because, row.names) {
					t.Errorf("%s, %s, seed %d: %s: %s", row.why, name, seed, f.Verdict, f.Because)
					continue
				}
				checkForm(t, row.why, f)
				checkWitnessOfKeys(t, row.why, f)
			}
		}
	}
}

// checkWitnessOfKeys demands that the witness holds ops of two keys.
func checkWitnessOfKeys(t *testing.T, why string, f rlbench.Finding) {
	t.Helper()
	keys := map[string]bool{}
	for _, op := range f.Witness {
		keys[op.Key] = true
	}
	if len(keys) < 2 {
		t.Errorf("%s: the witness names one key only: %v", why, f.Witness)
	}
}

// A limiter that is wrong in its own right is not said to mix keys up: it admits one too
// many, or too few, or forgets, on every key.
func TestWrongButApartIsNotAccused(t *testing.T) {
	keys := []string{"a", "b", "c"}
	for name, p := range policiesOfKeys() {
		off := func(count, burst int64) rlbench.Policy {
			q := p
			l := p.Limits[0]
			l.Count += count
			if l.Burst > 0 {
				l.Burst += burst
			}
			q.Limits = []rlbench.Limit{l}
			return q
		}
		random := rand.New(rand.NewPCG(9, 9))
		flips := func(_ string, allowed bool) bool { return allowed != (random.IntN(20) == 0) }
		for _, row := range []struct {
			why   string
			limit rlbench.Policy
			wrong func(string, bool) bool
		}{
			{"one too many", off(1, 1), nil}, {"one too few", off(-1, -1), nil}, {"now and then wrong", p, flips},
		} {
			limiter := newKeyed(row.limit, byItself)
			r := mixed(t, rand.New(rand.NewPCG(3, 3)), limiter, keys, 400, 50, true, row.wrong)
			r.Policy = p
			if f := judgeOne(t, r, "key-isolation"); f.Verdict != open {
				t.Errorf("%s, %s: %s: %s", name, row.why, f.Verdict, f.Because)
			}
			if f := judgeOne(t, r, "own-model"); f.Verdict != fail {
				t.Errorf("%s, %s: own-model says %s: %s", name, row.why, f.Verdict, f.Because)
			}
		}
	}
}

// What cannot be told.
func TestKeyIsolationCannotTell(t *testing.T) {
	p := policiesOfKeys()["log"]
	quiet := mixed(t, rand.New(rand.NewPCG(1, 1)), newKeyed(p, byItself), []string{"a", "b"}, 4, 50, true, nil)
	alone := mixed(t, rand.New(rand.NewPCG(1, 1)), newKeyed(p, byItself), []string{"a"}, 100, 50, true, nil)
	part := mixed(t, rand.New(rand.NewPCG(1, 1)), newKeyed(p, byItself), []string{"a", "b"}, 100, 50, true, nil)
	part.Complete = false
	for why, r := range map[string]*rlbench.Run{"too light": quiet, "one key": alone, "not complete": part} {
		if f := judgeOne(t, r, "key-isolation"); f.Verdict != open || f.Because == "" {
			t.Errorf("%s: %s: %s", why, f.Verdict, f.Because)
		}
	}
}

// The plainest twin: with few ops, every decision moment on each key is tried, apart and
// together. Fail needs that a key is not explained, and some set of keys with it is.
func TestKeyIsolationAgreesWithTheTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 40))
	var count [3]int
	for range histories(t, 1500) {
		p := modelPolicy(rlbench.SlidingLog, "", 1)(random)
		p.ChargesRefusals = false
		under := []func(string) string{byItself, func(string) string { return "" }, func(k string) string { return k[:1] }}[random.IntN(3)]
		keys := []string{"a1", "a2", "b1"}
		flip := func(_ string, allowed bool) bool { return allowed != (random.IntN(15) == 0) }
		r := mixed(t, random, newKeyed(p, under), keys, 2+random.IntN(5), 1+random.Int64N(4), false, flip)
		f := judgeOne(t, r, "key-isolation")
		apart, wrong := true, ""
		for _, key := range keys {
			if !explainedTogether(r, key) {
				apart, wrong = false, key
			}
		}
		switch f.Verdict {
		case pass:
			if !apart || explainedTogether(r, keys...) {
				t.Fatalf("%s %v: passed: %s", text(r), r.Ops.Key, f.Because)
			}
		case fail:
			excused := explainedTogether(r, keys...)
			for i, key := range keys {
				for _, other := range keys[i+1:] {
					excused = excused || explainedTogether(r, key, other)
				}
			}
			if apart || !excused {
				t.Fatalf("%s %v: accused of %q: %s", text(r), r.Ops.Key, wrong, f.Because)
			}
		}
		count[f.Verdict]++
	}
	t.Logf("%d pass, %d fail, %d inconclusive", count[pass], count[fail], count[open])
	if count[pass] == 0 || count[fail] == 0 {
		t.Error("one of the answers was never given")
	}
}

// explainedTogether tells whether some moments explain the ops of the keys as if they
// were one.
func explainedTogether(r *rlbench.Run, keys ...string) bool {
	part := *r
	part.Ops = rlbench.Ops{}
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		for _, key := range keys {
			if op.Key == key {
				addOp(&part.Ops, "one", op.Outcome, op.Cost, int64(op.Sent), int64(op.Done))
			}
		}
	}
	return newReplayTwin(&part).explainable()
}

// A thousand keys, two of which share a slot, are found in good time.
func TestTwoKeysOfAThousand(t *testing.T) {
	var keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprintf("user-%04d", i*7919%10007))
	}
	under := func(key string) string {
		if key == keys[3] {
			return keys[700]
		}
		return key
	}
	p := rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 3, Per: time.Second}}}
	random := rand.New(rand.NewPCG(8, 8))
	// The two are busier than the rest, as they must be to be told apart.
	busy := append(append([]string{}, keys...), strings.Split(strings.Repeat(keys[3]+" "+keys[700]+" ", 60), " ")[:120]...)
	r := mixed(t, random, newKeyed(p, under), busy, 20000, int64(time.Millisecond), true, nil)
	f := judgeOne(t, r, "key-isolation")
	if f.Verdict != fail || !strings.Contains(f.Because, keys[3]) || !strings.Contains(f.Because, keys[700]) {
		t.Errorf("%s: %s", f.Verdict, f.Because)
	}
}
