package broken

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// everyone is every limiter in the museum.
func everyone() []Limiter {
	all := Correct()
	for _, m := range Mutants() {
		all = append(all, m.Limiter, m.Twin())
	}
	return all
}

func TestExhibitsAreLabelled(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range everyone() {
		if l.Name == "" || l.About == "" || seen[l.Name] || strings.ToLower(l.Name) != l.Name || strings.ContainsAny(l.Name, " _") {
			t.Errorf("%q is no name for a limiter, or the second of that name, or nothing is said of it", l.Name)
		}
		seen[l.Name] = true
	}
	for _, m := range Mutants() {
		if m.Class == "" || m.Check == "" {
			t.Errorf("%s names class %q and check %q", m.Name, m.Class, m.Check)
		}
	}
}

// TestEveryKindOfMistakeIsThere holds the museum against the kinds of mistake that
// decisions can show.
func TestEveryKindOfMistakeIsThere(t *testing.T) {
	kinds := map[string]int{
		"atomicity race": 0, "key that never expires": 0, "refused requests consume quota": 0, "state dropped early": 0,
		"configuration edges": 0, "off by one": 0, "under-admission": 0, "fail-open or fail-closed wrong": 0, "stall": 0,
		"counter approximation": 0, "clock skew, clock going back": 0, "cost": 0, "state corruption": 0, "NOSCRIPT": 0, "wrong unit": 0,
		"credit for idleness": 0, "float and rounding": 0, "overflow": 0, "boundary double burst": 0, "colliding members": 0,
		"failover, eviction": 0, "refund": 0, "per-instance multiplication, stale replicas": 0, "window too long": 0, "never engages": 0,
		"expired entries counted before removal": 0, "== where <= was meant": 0, "limits charged in turn": 0, "local cache of refusals": 0,
	}
	for _, m := range Mutants() {
		if _, known := kinds[m.Class]; !known {
			t.Errorf("%s is of a kind that is not in the list: %q", m.Name, m.Class)
		}
		kinds[m.Class]++
	}
	for kind, n := range kinds {
		if n == 0 {
			t.Errorf("nothing shows %q", kind)
		}
	}
}

func TestSameSeedSameRun(t *testing.T) {
	for _, l := range everyone() {
		first, again, other := l.Run(7), l.Run(7), l.Run(8)
		if !reflect.DeepEqual(first, again) {
			t.Errorf("%s: the same seed gives another run", l.Name)
		}
		if reflect.DeepEqual(first.Ops.Done, other.Ops.Done) {
			t.Errorf("%s: another seed gives the same run", l.Name)
		}
	}
}

// TestRunsAreEvidence: each is a promise that can be judged, with an outcome for every
// request, in bounds, and with no answer before its question.
func TestRunsAreEvidence(t *testing.T) {
	outcomes := map[rlbench.Outcome]int{}
	for _, l := range everyone() {
		r := l.Run(3)
		if problems := r.Policy.Problems(); len(problems) > 0 || !r.Complete || !r.Clock.Stated || r.Target != l.Name {
			t.Errorf("%s: %v, complete %t, target %q", l.Name, problems, r.Complete, r.Target)
		}
		if r.Ops.Len() == 0 {
			t.Errorf("%s: nothing was asked", l.Name)
		}
		for i := range r.Ops.Len() {
			op := r.Ops.At(i)
			outcomes[op.Outcome]++
			if op.Done < op.Sent || op.Sent != op.Planned || op.Cost < 1 || op.Outcome == rlbench.Unsent {
				t.Errorf("%s: %+v", l.Name, op)
			}
		}
	}
	for _, o := range []rlbench.Outcome{rlbench.Allowed, rlbench.Denied, rlbench.Unknown} {
		if outcomes[o] == 0 {
			t.Errorf("no request was %s", o)
		}
	}
}

// TestStatedMomentsLieBetween: what a correct limiter on one clock states of its
// decision lies between the question and the answer, but for the steps of that clock.
func TestStatedMomentsLieBetween(t *testing.T) {
	stated := 0
	for _, l := range Correct() {
		for seed := range int64(20) {
			r := l.Run(seed)
			for i := range r.Ops.Len() {
				op := r.Ops.At(i)
				if op.DecidedAt == rlbench.None || op.Outcome == rlbench.Unknown {
					continue
				}
				stated++
				if at := rlbench.Instant(op.DecidedAt); at > op.Done || at.After(r.Policy.Resolution) <= op.Sent {
					t.Fatalf("%s, seed %d: op %d in [%s, %s] says %s", l.Name, seed, op.ID, op.Sent, op.Done, at)
				}
			}
		}
	}
	if stated == 0 {
		t.Error("no limiter states when it decided")
	}
}

// TestDecisionsInterleave: of two that read and then write, both read first for some
// seeds, and not for others; a script lets nothing come in between.
func TestDecisionsInterleave(t *testing.T) {
	both := map[string]int{}
	for name, d := range map[string]decide{"get-then-set": getThenSet, "script": fixedWindow} {
		s := scene{policy: fixed(rlbench.Epoch, limit(1, time.Second)), decide: d, instances: 2, traffic: []part{apart(0, 2, tick)}}
		for seed := range int64(100) {
			r := mutant(name, "", "", "", s).Run(seed)
			if r.Ops.Outcome[0] == rlbench.Allowed && r.Ops.Outcome[1] == rlbench.Allowed {
				both[name]++
			}
		}
	}
	if n := both["get-then-set"]; n < 10 || n > 90 {
		t.Errorf("two that read and write both passed for %d seeds of 100", n)
	}
	if n := both["script"]; n != 0 {
		t.Errorf("two scripts both passed for %d seeds of 100", n)
	}
}
