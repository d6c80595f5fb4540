package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/reports"
)

// quick is a race of which one target is expected to break its promise.
const quick = `
name: quick
why: One of two limiters is wrong on purpose.
policy: {algorithm: fixed-window, limit: 20/1m, anchor: first-request}
instances: 4
traffic:
- {burst: 60}
targets:
- {name: redis-getset-fixed-window, as: wrong, expect: {never-over: fail}}
- {name: memory-fixed-window}
`

// summaryOf reads a summary that was written as JSON.
func summaryOf(t *testing.T, text []byte) reports.Summary {
	t.Helper()
	var s reports.Summary
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

// TestRunJudgedAgain: the evidence alone gives the findings that the run itself gave,
// and the same bytes each time.
func TestRunJudgedAgain(t *testing.T) {
	for _, c := range []struct {
		why, scenario string
		flags         []string
		status        int
	}{
		{"as the scenario expects", quick, nil, 0},
		{"expectations that were set for this run alone", quick, []string{"--set", "targets[0].expect={never-over: pass}", "--seed", "5"}, 1},
		{"checks that only the scenario asks for", strings.Replace(quick, "memory-fixed-window}", "memory-fixed-window, expect: {own-model: pass}}", 1), nil, 0},
		{"aligned windows, whose clock was read", atTheEdge, nil, 0},
	} {
		status, folder, _ := carried(t, c.scenario, c.flags...)
		if status != c.status {
			t.Fatalf("%s: the run's exit status is %d, want %d", c.why, status, c.status)
		}
		text, err := os.ReadFile(filepath.Join(folder, summaryFile))
		if err != nil {
			t.Fatal(err)
		}
		want := summaryOf(t, text)
		var bodies [][]byte
		for _, arg := range []string{folder, filepath.Dir(folder), filepath.Join(filepath.Dir(folder), evidence.LatestFile)} {
			var out, errs bytes.Buffer
			if got := run([]string{"verify", arg, "--json", "-"}, &out, &errs); got != status {
				t.Errorf("%s: verify %s: exit status %d, of the run %d: %s", c.why, arg, got, status, &errs)
			}
			bodies = append(bodies, out.Bytes())
		}
		if !bytes.Equal(bodies[0], bodies[1]) || !bytes.Equal(bodies[0], bodies[2]) {
			t.Errorf("%s: judged again it is not the same:\n%s\n%s", c.why, bodies[0], bodies[1])
		}
		got := summaryOf(t, bodies[0])
		if len(got.Targets) != 2 || len(got.Targets[0].Findings) == 0 {
			t.Fatalf("%s: %d targets", c.why, len(got.Targets))
		}
		for i := range got.Targets {
			// What the generator had to say of its own load is not evidence.
			got.Targets[i].Warnings, want.Targets[i].Warnings = nil, nil
		}
		if asked := strings.Contains(c.scenario, "own-model"); asked != bytes.Contains(bodies[0], []byte(`"check": "own-model"`)) {
			t.Errorf("%s: own-model asked for: %v, and its evidence was not judged so", c.why, asked)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the run said\n%+v\nand its evidence\n%+v", c.why, want, got)
		}
	}
}

// TestRunByAnotherPromise: ops.parquet alone is a log like any other.
func TestRunByAnotherPromise(t *testing.T) {
	_, folder, _ := carried(t, quick)
	ops := filepath.Join(folder, evidence.OpsFile)
	first := []string{"--algorithm", "fixed-window", "--anchor", "first-request"}
	over(t, "what it promised", rlbench.Pass, append(first, ops, "--target", "memory-fixed-window", "--limit", "20/1m")...)
	over(t, "less than it let through", rlbench.Fail, ops, "--target", "memory-fixed-window", "--limit", "19/1m")
	over(t, "the wrong one, complete", rlbench.Fail, append(first, ops, "--target", "wrong", "--limit", "20/1m", "--complete")...)
	status, s, errs := verified(t, ops, "--target", "memory-fixed-window", "--limit", "20/1m", "--complete")
	if status != 0 || finding(t, s, neverStarved).Verdict != rlbench.Pass {
		t.Errorf("complete, and nothing was refused wrongly: exit status %d %s", status, errs)
	}
	for _, c := range []struct {
		why  string
		args []string
		want string
	}{
		{"several targets", []string{ops, "--limit", "20/1m"}, "several targets: wrong, memory-fixed-window"},
		{"a target that is not there", []string{ops, "--limit", "20/1m", "--target", "no"}, `no requests of a target "no"`},
		{"beside another log", []string{ops, own(t, "allowed 0 1\n"), "--limit", "20/1m"}, "cannot be judged together"},
		{"a folder beside a log", []string{folder, ops, "--limit", "20/1m"}, "cannot be judged together"},
		{"a folder and a promise", []string{folder, "--limit", "20/1m"}, "says itself what was promised"},
		{"a folder and a key", []string{folder, "--key", "k"}, "leave out all flags but --json and --quiet"},
		{"a folder that holds no run", []string{t.TempDir()}, "is not the folder of a run"},
	} {
		status, _, errs := verified(t, c.args...)
		if status != int(statusBadInput) || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit status %d, want 3 and %q in %s", c.why, status, c.want, errs)
		}
	}
}

// TestDamagedEvidence: it is judged as it was, or not at all.
func TestDamagedEvidence(t *testing.T) {
	_, folder, _ := carried(t, quick)
	path := filepath.Join(folder, evidence.RunFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.Replace(whole, []byte("never-over: fail"), []byte("never-ever: fail"), 1))
	status, s, errs := verified(t, folder)
	if status != int(statusNotMet) || !strings.Contains(strings.Join(s.Targets[0].Warnings, "\n"), "never-ever") {
		t.Errorf("a scenario that cannot be read expects that every promise is kept, and says so: exit status %d %s", status, errs)
	}
	write(whole[:len(whole)/2])
	if status, _, errs := verified(t, folder); status != int(statusBadInput) || !strings.Contains(errs, evidence.RunFile) {
		t.Errorf("half a run.json: exit status %d %s", status, errs)
	}
	write(whole)
	if err := os.Truncate(filepath.Join(folder, evidence.OpsFile), 100); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := verified(t, folder); status != int(statusBadInput) || !strings.Contains(errs, evidence.OpsFile) {
		t.Errorf("cut off ops: exit status %d %s", status, errs)
	}
}
