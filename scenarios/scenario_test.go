package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// testCatalogue is what the tests may name: a design of each kind that the
// checks of this package tell apart.
func testCatalogue() Catalogue {
	both := []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest}
	first := []rlbench.Anchor{rlbench.FirstRequest}
	millisecond := func(rlbench.Anchor) time.Duration { return time.Millisecond }
	return Catalogue{
		Targets: []TargetInfo{
			{Name: "memory-fixed-window", Algorithm: rlbench.FixedWindow, Anchors: both},
			{Name: "memory-sliding-counter", Algorithm: rlbench.SlidingCounter, Params: []string{"rounding"}},
			{Name: "memory-token-bucket", Algorithm: rlbench.TokenBucket},
			{Name: "redis-getset-fixed-window", Algorithm: rlbench.FixedWindow, Anchors: first, Resolution: millisecond},
			{Name: "redis-incr-fixed-window", Algorithm: rlbench.FixedWindow, Anchors: first, Resolution: millisecond},
			{Name: "redis-lua-fixed-window", Algorithm: rlbench.FixedWindow, Anchors: both, Resolution: millisecond},
			{Name: "redis-sync-fixed-window", Algorithm: rlbench.FixedWindow, Anchors: both, Params: []string{"period", "slack"}},
		},
		Checks: []string{"never-over", "never-starved", "own-model", "even-outflow", "key-isolation", "outage-policy"},
	}
}

// testEnv is the environment that the tests run in.
func testEnv(name string) (string, bool) {
	value, ok := map[string]string{"LIMIT": "50/1m", "BURST": "7", "KEY": "user-9", "BLANK": ""}[name]
	return value, ok
}

// minimal is a sound scenario with the given parts in place of its own.
func minimal(changes ...string) string {
	parts := []string{
		"name: tiny", "why: one request", "policy: {algorithm: fixed-window, limit: 10/1m, anchor: first-request}",
		"traffic: [{burst: 1}]", "targets: [{name: memory-fixed-window}]",
	}
	for _, change := range changes {
		field, _, _ := strings.Cut(change, ":")
		i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, field+":") })
		if i < 0 {
			parts = append(parts, change)
		} else {
			parts[i] = change
		}
	}
	return strings.Join(parts, "\n") + "\n"
}

// mustParse parses a sound scenario.
func mustParse(t *testing.T, text string, overrides ...string) *Scenario {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text), testCatalogue(), testEnv, overrides...)
	if err != nil {
		t.Fatalf("parsing a sound scenario:\n%v\n%s", err, text)
	}
	return s
}

// mustPlan plans a sound scenario.
func mustPlan(t *testing.T, s *Scenario) *rlbench.Plan {
	t.Helper()
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// mistakesOf parses a scenario that is not sound.
func mistakesOf(t *testing.T, text string, overrides ...string) Mistakes {
	t.Helper()
	_, err := Parse("test.yaml", []byte(text), testCatalogue(), testEnv, overrides...)
	var all Mistakes
	if !errors.As(err, &all) {
		t.Fatalf("want mistakes, not %v, in\n%s", err, text)
	}
	return all
}

func TestRaceIsReadWhole(t *testing.T) {
	source, err := Open("race")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(source[0].Name, source[0].Text, testCatalogue(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{
		{Count: 100, Per: time.Minute, Anchor: rlbench.FirstRequest}}}
	if s.Name != "race" || s.Instances != 10 || s.Seed != 1 || s.Policy.Algorithm != want.Algorithm || !slices.Equal(s.Policy.Limits, want.Limits) {
		t.Errorf("race was read as %+v", s)
	}
	if s.Bounds != (rlbench.Bounds{Duration: 10 * time.Second, Ops: 10000, InFlight: 1000}) {
		t.Errorf("bounds are %+v", s.Bounds)
	}
	var names []string
	for _, u := range s.Targets {
		names = append(names, u.As)
		if !slices.Equal(u.Policy.Limits, want.Limits) {
			t.Errorf("%s promises %v", u.As, u.Policy.Limits)
		}
	}
	if got := strings.Join(names, " "); got != "redis-getset-fixed-window redis-lua-fixed-window redis-incr-fixed-window memory-fixed-window" {
		t.Errorf("targets are %s", got)
	}
	if v, named := s.Targets[0].Expect["never-over"]; !named || v != rlbench.Fail || s.Targets[1].Expect != nil {
		t.Errorf("expectations are %v and %v", s.Targets[0].Expect, s.Targets[1].Expect)
	}
	sum := sha256.Sum256(source[0].Text)
	if s.Hash != hex.EncodeToString(sum[:]) {
		t.Errorf("the hash %s is not the text's", s.Hash)
	}
}

func TestRacePlan(t *testing.T) {
	source, _ := Open("race")
	s, err := Parse(source[0].Name, source[0].Text, testCatalogue(), nil)
	if err != nil {
		t.Fatal(err)
	}
	plan := mustPlan(t, s)
	if len(plan.Arrivals) != 500 || plan.Instances != 10 || plan.Start != (rlbench.Placement{}) {
		t.Fatalf("%d requests to %d instances at %v", len(plan.Arrivals), plan.Instances, plan.Start)
	}
	for i, a := range plan.Arrivals {
		want := rlbench.Arrival{Request: rlbench.Request{Key: "user-1", Cost: 1, Instance: int32(i % 10)}, Release: 1}
		if a != want {
			t.Fatalf("request %d is %+v, want %+v", i, a, want)
		}
	}
}
