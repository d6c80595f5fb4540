// Package reports draws Findings for people and for programs. It computes no
// verdict: everything it shows stands in the Summary it is given.
package reports

import "github.com/rlbench/rlbench"

// SchemaVersion rises when a field of [Summary] is renamed or changes meaning.
const SchemaVersion = 1

// Summary is what a run, or a judged log, came to: the content of summary.json.
type Summary struct {
	SchemaVersion int    `json:"schema_version" jsonschema:"enum=1"`
	Scenario      string `json:"scenario"`
	// Why says in one sentence what the scenario is worth running for.
	Why  string `json:"why,omitempty"`
	Seed int64  `json:"seed"`
	// Verdict is about the expectations: pass when every one was met.
	Verdict    rlbench.Verdict `json:"verdict"`
	ExitStatus int             `json:"exit_status" jsonschema:"enum=0,enum=1,enum=2,enum=3,enum=4,enum=5,enum=130"`
	// Interrupted: the run was stopped before its end.
	Interrupted bool     `json:"interrupted"`
	Targets     []Target `json:"targets"`
	// Skipped names the targets that were left out, each with the reason.
	Skipped []Skip `json:"skipped,omitempty"`
	// Folder is where the evidence lies; empty when none was kept.
	Folder string `json:"folder,omitempty"`
}

// Skip is a target that was not run because something it needs is not there.
type Skip struct {
	Target string `json:"target"`
	Reason string `json:"reason"`
}

// Target is what one limiter came to.
type Target struct {
	Name           string           `json:"name"`
	Backend        string           `json:"backend" jsonschema:"enum=container,enum=process,enum=embedded,enum=external,enum=none,enum=log"`
	BackendVersion string           `json:"backend_version"`
	Verdict        rlbench.Verdict  `json:"verdict"`
	Findings       []Finding        `json:"findings"`
	Accuracy       rlbench.Accuracy `json:"accuracy"`
	// Latency counts from the planned instant, Service from the sent one;
	// Lateness is sent less planned. All in nanoseconds.
	Latency  Quantiles `json:"latency_ns"`
	Service  Quantiles `json:"service_ns"`
	Lateness Quantiles `json:"lateness_ns"`
	// Warnings are sentences about the run itself: lateness, unsent requests,
	// clock steps.
	Warnings []string `json:"warnings,omitempty"`
}

// Finding is one check on one target, against what was expected of it.
type Finding struct {
	Check    string          `json:"check"`
	Promise  string          `json:"promise"`
	Expected rlbench.Verdict `json:"expected"`
	Verdict  rlbench.Verdict `json:"verdict"`
	// AsExpected: Verdict is the one that was Expected.
	AsExpected bool      `json:"as_expected"`
	Because    string    `json:"because"`
	Doubt      int64     `json:"doubt"`
	Witness    []Witness `json:"witness"`
	// Proof says step by step why no decision moments excuse the witness.
	Proof []string `json:"proof,omitempty"`
}

// Witness is one op that a Finding rests on. Instants are nanoseconds since the
// target's own run began; null where there is none.
type Witness struct {
	Op       int64           `json:"op"`
	Key      string          `json:"key"`
	Instance int32           `json:"instance"`
	Cost     int64           `json:"cost"`
	Sent     *int64          `json:"sent_ns" jsonschema:"nullable"`
	Done     *int64          `json:"done_ns" jsonschema:"nullable"`
	Outcome  rlbench.Outcome `json:"outcome"`
}

// Quantiles of one histogram, in nanoseconds; all 0 when nothing was measured.
type Quantiles struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99_9"`
	Max  int64 `json:"max"`
}
