package main

import (
	"testing"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/reports"
)

func TestTargetVerdict(t *testing.T) {
	const pass, fail, unsure = rlbench.Pass, rlbench.Fail, rlbench.Inconclusive
	for _, c := range []struct {
		reason         string
		expected, seen []rlbench.Verdict
		want           rlbench.Verdict
	}{
		{"a kept promise", []rlbench.Verdict{pass}, []rlbench.Verdict{pass}, pass},
		{"a broken one", []rlbench.Verdict{pass}, []rlbench.Verdict{fail}, fail},
		{"broken, as it should be", []rlbench.Verdict{fail}, []rlbench.Verdict{fail}, pass},
		{"the harness did not see what it should", []rlbench.Verdict{fail}, []rlbench.Verdict{pass}, fail},
		{"cannot be told", []rlbench.Verdict{pass}, []rlbench.Verdict{unsure}, unsure},
		{"expected to break, cannot be told", []rlbench.Verdict{fail}, []rlbench.Verdict{unsure}, unsure},
		{"expected to stay open", []rlbench.Verdict{unsure}, []rlbench.Verdict{unsure}, pass},
		{"a certain failure outweighs doubt elsewhere", []rlbench.Verdict{pass, pass}, []rlbench.Verdict{unsure, fail}, fail},
		{"nothing judged is no pass", nil, nil, unsure},
	} {
		var findings []reports.Finding
		for i := range c.seen {
			findings = append(findings, expect(
				[]rlbench.Finding{{Check: "never-over", Verdict: c.seen[i]}},
				map[string]rlbench.Verdict{"never-over": c.expected[i]})...)
		}
		if got := targetVerdict(findings); got != c.want {
			t.Errorf("%s: %v, want %v", c.reason, got, c.want)
		}
	}
}

func TestConclude(t *testing.T) {
	target := func(v rlbench.Verdict) reports.Target { return reports.Target{Verdict: v} }
	for _, c := range []struct {
		reason  string
		summary reports.Summary
		missing bool
		want    status
	}{
		{"all met", reports.Summary{Targets: []reports.Target{target(rlbench.Pass)}}, false, statusMet},
		{"one not met, one open: the failure is told", reports.Summary{Targets: []reports.Target{target(rlbench.Inconclusive), target(rlbench.Fail)}}, false, statusNotMet},
		{"nothing ran", reports.Summary{}, false, statusInconclusive},
		{"something was missing", reports.Summary{Targets: []reports.Target{target(rlbench.Fail)}, Skipped: []reports.Skip{{Target: "x"}}}, true, statusMissing},
		{"missing, and that is all right", reports.Summary{Targets: []reports.Target{target(rlbench.Pass)}, Skipped: []reports.Skip{{Target: "x"}}}, false, statusMet},
		{"everything was missing: nothing was judged", reports.Summary{Skipped: []reports.Skip{{Target: "x"}}}, false, statusInconclusive},
		{"interrupted outranks all", reports.Summary{Interrupted: true, Targets: []reports.Target{target(rlbench.Fail)}}, false, statusInterrupted},
	} {
		c.summary.Verdict = rlbench.Pass
		if conclude(&c.summary, c.missing); status(c.summary.ExitStatus) != c.want {
			t.Errorf("%s: %d, want %d", c.reason, c.summary.ExitStatus, c.want)
		}
		if passed := c.summary.Verdict == rlbench.Pass; passed != (c.want == statusMet) {
			t.Errorf("%s: the verdict is %v", c.reason, c.summary.Verdict)
		}
	}
}

func TestDisagreements(t *testing.T) {
	run := func(v rlbench.Verdict) *reports.Summary {
		return &reports.Summary{Targets: []reports.Target{{Name: "a", Findings: []reports.Finding{{Check: "never-over", Verdict: v}}}}}
	}
	if got := disagreements([]*reports.Summary{run(rlbench.Pass), run(rlbench.Pass)}); len(got) != 0 {
		t.Errorf("two runs that agree: %v", got)
	}
	if got := disagreements([]*reports.Summary{run(rlbench.Pass), run(rlbench.Fail)}); len(got) != 1 {
		t.Errorf("two runs that differ: %v", got)
	}
}
