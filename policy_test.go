package rlbench_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

func TestParseLimit(t *testing.T) {
	for _, c := range []struct {
		text, reason string
		want         rlbench.Limit
	}{
		{"100/1m", "the ordinary form", rlbench.Limit{Count: 100, Per: time.Minute}},
		{"10/s", "a bare unit is one of it", rlbench.Limit{Count: 10, Per: time.Second}},
		{"1/4ms", "one each so often", rlbench.Limit{Count: 1, Per: 4 * time.Millisecond}},
		{"5/1m30s", "Go's own durations", rlbench.Limit{Count: 5, Per: 90 * time.Second}},
		{"3/7d", "days, which Go does not know", rlbench.Limit{Count: 3, Per: 7 * 24 * time.Hour}},
		{" 7 / h ", "spaces do no harm", rlbench.Limit{Count: 7, Per: time.Hour}},
	} {
		got, err := rlbench.ParseLimit(c.text)
		if err != nil || got != c.want {
			t.Errorf("%s: ParseLimit(%q) = %v, %v; want %v", c.reason, c.text, got, err, c.want)
		}
	}
}

func TestParseLimitRefuses(t *testing.T) {
	for text, reason := range map[string]string{
		"100":                    "no duration",
		"100/":                   "an empty duration",
		"/1m":                    "no count",
		"0/1m":                   "nothing may ever pass: no promise that a run could test",
		"-1/1m":                  "a negative count",
		"1.5/s":                  "a count is whole",
		"10/0s":                  "a window of no length",
		"10/-1s":                 "a negative window",
		"10/fortnight":           "no such unit",
		"10/1x":                  "no such unit",
		"99999999999999999999/s": "more than 64 bits",
		"1/99999999999d":         "more nanoseconds than 64 bits",
	} {
		if got, err := rlbench.ParseLimit(text); err == nil {
			t.Errorf("%s: ParseLimit(%q) = %v, want an error", reason, text, got)
		} else if !strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error %q does not quote %q", reason, err, text)
		}
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{"100/1m", "10/s", "1/4ms", "3/7d", "x/y", "/", "1/1ns"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := rlbench.ParseLimit(text)
		if err != nil {
			return
		}
		if limit.Count < 1 || limit.Per < 1 {
			t.Fatalf("%q was read as %v", text, limit)
		}
		again, err := rlbench.ParseLimit(limit.String())
		if err != nil || again != limit {
			t.Fatalf("%q is written %q, which is read as %v, %v", text, limit, again, err)
		}
	})
}

func TestPolicyProblems(t *testing.T) {
	perMinute := []rlbench.Limit{{Count: 100, Per: time.Minute}}
	anchored := []rlbench.Limit{{Count: 100, Per: time.Minute, Anchor: rlbench.Epoch}}
	for _, c := range []struct {
		reason string
		policy rlbench.Policy
		fields string // of the problems, in order
	}{
		{"a sound log", rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: perMinute}, ""},
		{"a sound fixed window", rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: anchored}, ""},
		{"a bucket needs its burst", rlbench.Policy{Algorithm: rlbench.GCRA, Limits: perMinute}, "burst"},
		{"a log has no anchor", rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: anchored}, "anchor"},
		{"a fixed window needs one", rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: perMinute}, "anchor"},
		{"nothing at all", rlbench.Policy{}, "algorithm limit"},
		{"a clock coarser than the window promises nothing", rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: perMinute, Resolution: time.Minute}, "resolution"},
		{"an unknown way to fail", rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: perMinute, OnStoreError: "maybe"}, "on_store_error"},
	} {
		var fields []string
		for _, p := range c.policy.Problems() {
			fields = append(fields, p.Field)
			if p.Text == "" {
				t.Errorf("%s: a problem of %s without words", c.reason, p.Field)
			}
		}
		if got := strings.Join(fields, " "); got != c.fields {
			t.Errorf("%s: problems with %q, want %q", c.reason, got, c.fields)
		}
	}
}

func TestNamesRoundTrip(t *testing.T) {
	for o := rlbench.Unknown; o <= rlbench.Unsent; o++ {
		var back rlbench.Outcome
		if text, _ := o.MarshalText(); back.UnmarshalText(text) != nil || back != o {
			t.Errorf("outcome %d is written %q and read as %v", o, text, back)
		}
	}
	for v := rlbench.Inconclusive; v <= rlbench.Fail; v++ {
		var back rlbench.Verdict
		if text, _ := v.MarshalText(); back.UnmarshalText(text) != nil || back != v {
			t.Errorf("verdict %d is written %q and read as %v", v, text, back)
		}
	}
	var o rlbench.Outcome
	var v rlbench.Verdict
	if o.UnmarshalText([]byte("allow")) == nil || v.UnmarshalText([]byte("passed")) == nil {
		t.Error("a word that is no name was read as one")
	}
}

func TestOpNumbersNeverCollide(t *testing.T) {
	plan := rlbench.Plan{Arrivals: make([]rlbench.Arrival, 5), Clients: make([]rlbench.Client, 3)}
	seen := map[int64]string{}
	note := func(id int64, who string) {
		if other, taken := seen[id]; taken {
			t.Errorf("%s and %s are both op %d", other, who, id)
		}
		seen[id] = who
	}
	for i := range plan.Arrivals {
		note(plan.OpOfArrival(i), "an arrival")
	}
	for c := range plan.Clients {
		for n := range 4 {
			note(plan.OpOfClient(c, n), "a client's request")
		}
	}
	if len(seen) != 5+3*4 {
		t.Errorf("%d numbers for 17 requests", len(seen))
	}
}
