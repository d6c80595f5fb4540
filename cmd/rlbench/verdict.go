package main

import (
	"fmt"
	"sort"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/oracle"
	"github.com/rlbench/rlbench/reports"
)

// judged is the evidence of one target, judged and held against what is expected of
// it. What the run measured is for the caller to add.
func judged(run *rlbench.Run, expected map[string]rlbench.Verdict) (reports.Target, error) {
	findings, err := oracle.Judge(run, checks(run.Policy, expected)...)
	if err != nil {
		return reports.Target{}, fmt.Errorf("judging %s: %w", run.Target, err)
	}
	out := reports.Target{
		Name: run.Target, Backend: run.Backend, BackendVersion: run.BackendVersion,
		Findings: expect(findings, expected), Accuracy: oracle.Accuracy(run),
	}
	for _, e := range run.Events {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s at %s: %s", e.Kind, e.At, e.Note))
	}
	out.Verdict = targetVerdict(out.Findings)
	return out, nil
}

// expect holds the Findings against what the scenario expects of the target:
// anything it does not name is expected to pass.
func expect(findings []rlbench.Finding, expected map[string]rlbench.Verdict) []reports.Finding {
	out := make([]reports.Finding, 0, len(findings))
	for _, f := range findings {
		want, named := expected[f.Check]
		if !named {
			want = rlbench.Pass
		}
		out = append(out, reports.Finding{
			Check: f.Check, Promise: f.Promise, Expected: want, Verdict: f.Verdict,
			AsExpected: f.Verdict == want, Because: f.Because, Doubt: f.Doubt,
			Witness: witnesses(f.Witness), Proof: f.Proof,
		})
	}
	return out
}

func witnesses(ops []rlbench.Op) []reports.Witness {
	out := make([]reports.Witness, 0, len(ops))
	for _, op := range ops {
		out = append(out, reports.Witness{
			Op: op.ID, Key: op.Key, Instance: op.Instance, Cost: op.Cost,
			Sent: known(op.Sent), Done: known(op.Done), Outcome: op.Outcome,
		})
	}
	return out
}

func known(i rlbench.Instant) *int64 {
	if !i.Known() {
		return nil
	}
	n := int64(i)
	return &n
}

// targetVerdict is about the expectations: Fail when the evidence settles a
// promise the other way, Inconclusive when it settles too little, or nothing
// was judged at all.
func targetVerdict(findings []reports.Finding) rlbench.Verdict {
	if len(findings) == 0 {
		return rlbench.Inconclusive
	}
	verdict := rlbench.Pass
	for _, f := range findings {
		switch {
		case f.AsExpected:
		case f.Verdict == rlbench.Inconclusive:
			if verdict == rlbench.Pass {
				verdict = rlbench.Inconclusive
			}
		default:
			verdict = rlbench.Fail
		}
	}
	return verdict
}

// conclude fills in what the whole summary came to. missing: something that was
// not there kept a target from being run, and the person had not agreed to that.
func conclude(s *reports.Summary, missing bool) {
	s.SchemaVersion = reports.SchemaVersion
	out := statusMet
	if len(s.Targets) == 0 {
		out = statusInconclusive
	}
	for _, t := range s.Targets {
		out = graver(out, statusOf(t.Verdict))
	}
	if missing {
		out = graver(out, statusMissing)
	}
	s.Verdict = verdictOf(out)
	if s.Interrupted {
		if s.Verdict == rlbench.Pass {
			s.Verdict = rlbench.Inconclusive
		}
		out = graver(out, statusInterrupted)
	}
	s.ExitStatus = int(out)
}

func statusOf(v rlbench.Verdict) status {
	switch v {
	case rlbench.Pass:
		return statusMet
	case rlbench.Fail:
		return statusNotMet
	}
	return statusInconclusive
}

func verdictOf(s status) rlbench.Verdict {
	switch s {
	case statusMet:
		return rlbench.Pass
	case statusNotMet:
		return rlbench.Fail
	}
	return rlbench.Inconclusive
}

// disagreements compares the runs of one scenario, which must all find the same:
// one sentence for each check that did not.
func disagreements(runs []*reports.Summary) []string {
	found := map[string]map[rlbench.Verdict]int{}
	for _, run := range runs {
		for _, t := range run.Targets {
			for _, f := range t.Findings {
				name := t.Name + ": " + f.Check
				if found[name] == nil {
					found[name] = map[rlbench.Verdict]int{}
				}
				found[name][f.Verdict]++
			}
		}
	}
	var out []string
	for name, verdicts := range found {
		if len(verdicts) > 1 {
			out = append(out, fmt.Sprintf("%s came out pass %d times, fail %d times, inconclusive %d times",
				name, verdicts[rlbench.Pass], verdicts[rlbench.Fail], verdicts[rlbench.Inconclusive]))
		}
	}
	sort.Strings(out)
	return out
}
