package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// TestTextsThatAreNoScenario are those that a golden file would not survive in
// a repository, or that say nothing of a line.
func TestTextsThatAreNoScenario(t *testing.T) {
	for _, row := range []struct{ reason, text, want string }{
		{"nothing at all", "", "the scenario is empty"},
		{"a document that is there and empty", "---\n", "the scenario is empty"},
		{"bytes of another encoding", "name: caf\xe9\n", "this is not UTF-8 text"},
		{"a terminal escape could hide what is written", "name: a\x1b[31m\n", "the control character U+001B at byte 7 has no place in a scenario"},
		{"larger than any story", minimal("why: " + strings.Repeat("x", TextMax)), "are more than the 65536 that a scenario may have"},
		{"nested by dashes on one line", strings.Repeat("- ", 200) + "a", "more than 32 deep"},
		{"a list as a field's name", "? [a]\n: 1\n", "this is not YAML"},
		{"an alias as a field's name", "*a : 1\n", "aliases (*name) are not read"},
		{"a merge of one field alone", "<<: {name: x}\n", "merge keys (<<) are not read"},
		{"a text alone", "race\n", "a scenario is a mapping, not a single value"},
		{"an escape smuggled in by quotes", minimal(`why: "\e[31m"`), `"why" holds the control character U+001B`},
		{"one of two bytes", minimal(`why: "\u0085x"`), `"why" holds the control character U+0085`},
		{"a key that would break a header", minimal(`traffic: [{burst: 1, key: "a\nb"}]`), "key is one line of 1 to 1024 bytes"},
		{"a key that no store should take", minimal("traffic: [{burst: 1, key: " + strings.Repeat("k", KeyMax+1) + "}]"), "key is one line of 1 to 1024 bytes"},
		{"a name that no folder could have", minimal("name: " + strings.Repeat("n", NameMax+1)), "is not a name of at most 64 characters"},
		{"an expectation without a check", minimal("targets: [{name: memory-fixed-window, expect: fail}]"), "expect is a mapping, not a single value"},
		{"params without names", minimal("targets: [{name: memory-fixed-window, params: [a]}]"), "params is a mapping, not a list"},
		{"a param that is a list", minimal("targets: [{name: redis-sync-fixed-window, params: {period: [a]}}]"), `"period" is a single value, not a list`},
		{"directives are another document to the parser", "%YAML 1.2\n---\n" + minimal(), "a second document begins here"},
	} {
		all := mistakesOf(t, row.text)
		if len(all) != 1 || !strings.Contains(all[0].Text, row.want) {
			t.Errorf("%s: want one mistake with %q, got\n%v", row.reason, row.want, all)
		}
	}
}

func TestEveryFieldIsRead(t *testing.T) {
	s := mustParse(t, `
name: whole
why: every field once
policy:
  algorithm: fixed-window
  limits: [10/s, {limit: 100/1m, anchor: first-request}]
  anchor: epoch
  resolution: 1us
  drift: 2us
  charges_refusals: true
  on_store_error: local
  params: {period: 5s, slack: 3}
instances: 3
traffic:
- {burst: 4, at: 1s, key: a, cost: 2}
- {rate: 5/s, for: 2s, arrivals: poisson, keys: {count: 6, spread: zipf}}
- {clients: 7, for: 3s, think: 4ms}
targets:
- {name: redis-sync-fixed-window, as: slow, params: {period: 9s}, expect: {never-over: inconclusive, own-model: pass}}
- {name: memory-token-bucket, policy: {algorithm: token-bucket, limit: 1/s, burst: 2}}
seed: -9
bounds: {duration: 4s, ops: 999, in_flight: 8}
start: {before_edge: 5ms}
`)
	limits := []rlbench.Limit{
		{Count: 10, Per: time.Second, Anchor: rlbench.Epoch},
		{Count: 100, Per: time.Minute, Anchor: rlbench.FirstRequest},
	}
	p := s.Policy
	if !slices.Equal(p.Limits, limits) || p.Resolution != time.Microsecond || p.Drift != 2*time.Microsecond ||
		!p.ChargesRefusals || p.OnStoreError != rlbench.Local || !maps.Equal(p.Params, map[string]string{"period": "5s", "slack": "3"}) {
		t.Errorf("policy is %+v", p)
	}
	parts := []Part{
		{Burst: 4, At: time.Second, Key: "a", Cost: 2},
		{Rate: rlbench.Limit{Count: 5, Per: time.Second}, For: 2 * time.Second, Arrivals: Poisson, Keys: Keys{6, Zipf}, Cost: 1},
		{Clients: 7, For: 3 * time.Second, Think: 4 * time.Millisecond, Key: KeyDefault, Cost: 1},
	}
	if !slices.Equal(s.Traffic, parts) {
		t.Errorf("traffic is %+v", s.Traffic)
	}
	slow, other := s.Targets[0], s.Targets[1]
	if slow.As != "slow" || !maps.Equal(slow.Policy.Params, map[string]string{"period": "9s", "slack": "3"}) ||
		!maps.Equal(slow.Expect, map[string]rlbench.Verdict{"never-over": rlbench.Inconclusive, "own-model": rlbench.Pass}) {
		t.Errorf("the first target is %+v", slow)
	}
	if p.Params["period"] != "5s" {
		t.Error("a target's params changed the scenario's policy")
	}
	if other.As != "memory-token-bucket" || other.Policy.Algorithm != rlbench.TokenBucket || other.Policy.Limits[0].Burst != 2 || other.Policy.Params != nil {
		t.Errorf("the second target is %+v", other)
	}
	if s.Instances != 3 || s.Seed != -9 || s.Bounds != (rlbench.Bounds{Duration: 4 * time.Second, Ops: 999, InFlight: 8}) ||
		s.Start != (rlbench.Placement{Edge: rlbench.BeforeEdge, By: 5 * time.Millisecond}) {
		t.Errorf("the rest is %+v", s)
	}
}

func TestDefaults(t *testing.T) {
	s := mustParse(t, minimal())
	want := rlbench.Bounds{Duration: DurationDefault, Ops: OpsDefault, InFlight: InFlightDefault}
	if s.Instances != 1 || s.Seed != 1 || s.Bounds != want || s.Start != (rlbench.Placement{}) {
		t.Errorf("defaults are %+v", s)
	}
	if p := s.Traffic[0]; p.Key != KeyDefault || p.Cost != 1 || p.At != 0 {
		t.Errorf("a part's defaults are %+v", p)
	}
}

// TestHowValuesMayBeWritten covers what YAML offers and a scenario takes.
func TestHowValuesMayBeWritten(t *testing.T) {
	for _, row := range []struct{ reason, change, want string }{
		{"quotes", `why: "a: b"`, "a: b"},
		{"a block text", "why: >-\n  two\n  lines", "two lines"},
		{"a number where a text belongs", "why: 42", "42"},
		{"a variable", "why: at ${LIMIT}.", "at 50/1m."},
		{"a variable within quotes", `why: "${KEY} ${KEY}"`, "user-9 user-9"},
		{"escaped, and not read again", "why: $${KEY} $$ $KEY", "${KEY} $$ $KEY"},
		{"a comment behind it", "why: text # not this", "text"},
	} {
		if s := mustParse(t, minimal(row.change)); s.Why != row.want {
			t.Errorf("%s: why is %q, want %q", row.reason, s.Why, row.want)
		}
	}
	crlf := mustParse(t, strings.ReplaceAll(minimal("instances: 4"), "\n", "\r\n"))
	bom := mustParse(t, "\ufeff"+minimal("instances: 4"))
	if crlf.Instances != 4 || crlf.Why != "one request" || bom.Instances != 4 || bom.Name != "tiny" {
		t.Errorf("line ends or a byte order mark changed what is read: %+v, %+v", crlf, bom)
	}
	number := mustParse(t, minimal(`traffic: [{burst: "${BURST}"}]`))
	if number.Traffic[0].Burst != 7 {
		t.Errorf("a number from a variable was read as %d", number.Traffic[0].Burst)
	}
}

// TestVariablesAreNotKept: the text goes into evidence, a secret must not.
func TestVariablesAreNotKept(t *testing.T) {
	s := mustParse(t, minimal("why: ${KEY}"))
	if strings.Contains(string(s.Text), "user-9") {
		t.Errorf("the kept text holds the variable's value:\n%s", s.Text)
	}
}

func TestOverrides(t *testing.T) {
	for _, row := range []struct {
		reason string
		set    []string
		got    func(*Scenario) any
		want   any
	}{
		{"a field of a mapping", []string{"policy.limit=50/1m"}, func(s *Scenario) any { return s.Policy.Limits[0].Count }, int64(50)},
		{"an item of a list", []string{"traffic[0].burst=3"}, func(s *Scenario) any { return s.Traffic[0].Burst }, int64(3)},
		{"the seed, which is not there", []string{"seed=7"}, func(s *Scenario) any { return s.Seed }, int64(7)},
		{"a mapping that is not there", []string{"bounds.ops=5"}, func(s *Scenario) any { return s.Bounds.Ops }, int64(5)},
		{"the last of two wins", []string{"seed=7", "seed=8"}, func(s *Scenario) any { return s.Seed }, int64(8)},
		{"a whole mapping as YAML", []string{"targets[0].expect={never-over: fail}"}, func(s *Scenario) any { return s.Targets[0].Expect["never-over"] }, rlbench.Fail},
		{"a name with dashes", []string{"targets[0].expect.own-model=fail"}, func(s *Scenario) any { return s.Targets[0].Expect["own-model"] }, rlbench.Fail},
		{"a value with an equals sign", []string{"why=a=b"}, func(s *Scenario) any { return s.Why }, "a=b"},
		{"a variable", []string{"policy.limit=${LIMIT}"}, func(s *Scenario) any { return s.Policy.Limits[0].Count }, int64(50)},
		{"a target that was there already", []string{"targets[0].name=redis-lua-fixed-window"}, func(s *Scenario) any { return s.Targets[0].As }, "redis-lua-fixed-window"},
	} {
		if got := row.got(mustParse(t, minimal(), row.set...)); got != row.want {
			t.Errorf("%s: %v gives %v, want %v", row.reason, row.set, got, row.want)
		}
	}
	s := mustParse(t, minimal(), "seed=7")
	if string(s.Text) != minimal() || !slices.Equal(s.Overrides, []string{"seed=7"}) {
		t.Errorf("an override changed the kept text, or was not kept: %q, %v", s.Text, s.Overrides)
	}
}

// TestOverrideMistakes: each points into the override itself.
func TestOverrideMistakes(t *testing.T) {
	for _, row := range []struct{ reason, set, want, hint string }{
		{"no value", "seed", `--set:1:1: "seed" sets nothing`, "PATH=VALUE"},
		{"no path", "=5", `--set:1:1: a field's name is missing`, "traffic[0]"},
		{"a name left out in the middle", "policy..limit=5", `--set:1:8: a field's name is missing`, ""},
		{"a field nobody knows", "polcy.limit=50/1m", `--set:1:1: a scenario has no field "polcy"`, "did you mean policy?"},
		{"a field nobody knows, deeper", "bounds.opps=50", `--set:1:8: bounds has no field "opps"`, "did you mean ops?"},
		{"an item that is not there", "traffic[1].burst=5", `--set:1:8: [1] names no item: the list has 1`, "counted from 0"},
		{"an index on a mapping", "policy[0]=5", `--set:1:7: [0] needs a list, and this is a mapping`, ""},
		{"a name on a list", "traffic.burst=5", `--set:1:9: "burst" needs a mapping, and this is a list`, ""},
		{"a name on a value", "name.first=5", `--set:1:6: "first" needs a mapping, and this is a single value`, ""},
		{"a word as index", "traffic[first].burst=5", `--set:1:8: "[first]" is not the number of an item`, "traffic[0]"},
		{"text behind an index", "traffic[0]x=5", `--set:1:11: "x" is not the number of an item`, ""},
		{"an open index", "traffic[0=5", `--set:1:8: "[0" is not the number of an item`, ""},
		{"a wrong value", "policy.limit=50x", `--set:1:14: "50x" is not COUNT/DURATION`, "100/1m"},
		{"an empty value", "why=", `--set:1:1: "why" is empty`, "leave it out"},
		{"a value that is not YAML", "why={", `--set:1:5: this is not YAML`, ""},
		{"two documents", "why=a\n---\nb", `--set:3:1: a second document`, ""},
		{"a variable that is not set", "why=${NONE}", `--set:1:5: the environment has no variable NONE`, ""},
		{"beside what the scenario has", "policy.limits=[1/s]", `test.yaml:3:35: a policy has limit or limits`, ""},
	} {
		all := mistakesOf(t, minimal(), row.set)
		text := all.Error()
		if len(all) != 1 || !strings.HasPrefix(text, row.want) || !strings.Contains(all[0].Hint, row.hint) {
			t.Errorf("%s: --set %q\nwant %s\n got %s", row.reason, row.set, row.want, text)
		}
	}
	// The caret stands under the value in the override.
	want := "policy.limit=50x\n             ^"
	if got := mistakesOf(t, minimal(), "policy.limit=50x")[0].Excerpt; got != want {
		t.Errorf("the excerpt is\n%s\nwant\n%s", got, want)
	}
}

// TestMistakesAreInOrder: the file's first, by line and column, then those of
// each override.
func TestMistakesAreInOrder(t *testing.T) {
	all := mistakesOf(t, minimal("seed: x", "instances: y", "why: ''"), "bounds.ops=z", "bounds.in_flight=z")
	var places []string
	for _, m := range all {
		places = append(places, fmt.Sprintf("%s:%d:%d", m.File, m.Line, m.Column))
	}
	want := "test.yaml:2:6 test.yaml:6:7 test.yaml:7:12 --set:1:12 --set:1:18"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("mistakes stand at %s, want %s", got, want)
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"fixed-window", "sliding-log", "token-bucket", "gcra"}
	for _, row := range []struct{ reason, word, want string }{
		{"a letter left out", "fixed-windw", "did you mean fixed-window?"},
		{"neighbours swapped", "gcar", "did you mean gcra?"},
		{"the beginning alone", "token", "did you mean token-bucket?"},
		{"nothing like any", "leaky", "one of fixed-window, sliding-log, token-bucket, gcra"},
		{"too long to compare", strings.Repeat("x", 5000), "one of fixed-window, sliding-log, token-bucket, gcra"},
		{"empty", "", "one of fixed-window, sliding-log, token-bucket, gcra"},
	} {
		if got := suggest(row.word, names); got != row.want {
			t.Errorf("%s: %q gives %q, want %q", row.reason, row.word, got, row.want)
		}
	}
	if got := suggest("x", nil); got != "" {
		t.Errorf("there is nothing to suggest, yet %q", got)
	}
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprintf("name-%02d", i)
	}
	if got := suggest("zzz", many); !strings.HasSuffix(got, "name-11 and 8 more") {
		t.Errorf("a long list is %q", got)
	}
}
