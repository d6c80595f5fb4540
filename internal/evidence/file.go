package evidence

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/rlbench/rlbench"
)

// SchemaVersion rises when a field of [File], or a column of ops.parquet, is
// renamed or changes meaning.
const SchemaVersion = 1

// File is the content of run.json: everything about a run but its ops. Numbers
// whose names end in _ns are 64-bit integers that do not all fit a float64: read
// them as integers.
type File struct {
	SchemaVersion int `json:"schema_version" jsonschema:"enum=1"`
	Head
	// Targets are in the order in which they were run.
	Targets []Target `json:"targets"`
}

// Head is what a run's targets have in common.
type Head struct {
	Scenario Scenario `json:"scenario"`
	// Seed is what everything random in the Plan came from.
	Seed int64 `json:"seed"`
	// Versions of whatever took part: rlbench, go, and client libraries.
	Versions map[string]string `json:"versions"`
	Host     Host              `json:"host"`
}

// Scenario is the story that was run.
type Scenario struct {
	Name string `json:"name"`
	// Source is where it came from: a path, or the name of an embedded one.
	Source string `json:"source"`
	// Text is the whole of it as it was read, Hash its digest, such as
	// sha256:9f86….
	Text string `json:"text"`
	Hash string `json:"hash"`
	// Overrides are the assignments PATH=VALUE that changed it for this run, in order.
	Overrides []string `json:"overrides,omitempty"`
}

// Host is the machine that the load came from.
type Host struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// LocalHost describes this machine.
func LocalHost() Host {
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()}
}

// Target is one limiter and its run, the ops aside.
type Target struct {
	Name           string `json:"name"`
	Backend        string `json:"backend" jsonschema:"enum=container,enum=process,enum=embedded,enum=external,enum=none,enum=log"`
	BackendVersion string `json:"backend_version"`
	// Ops is how many rows of ops.parquet are this target's.
	Ops    int64  `json:"ops"`
	Policy Policy `json:"policy"`
	// StartedAt is the host's wall clock at instant 0, StartedErrorNS how far it
	// may be off, either way; null when nobody measured that.
	StartedAt      time.Time `json:"started_at"`
	StartedErrorNS *int64    `json:"started_error_ns" jsonschema:"nullable"`
	Clock          Clock     `json:"clock"`
	// Complete: it began with a fresh limiter, and every op of every instance is here.
	Complete bool `json:"complete"`
	// Interrupted: it was stopped before its Plan was carried out.
	Interrupted bool    `json:"interrupted"`
	Events      []Event `json:"events"`
}

// Policy is what the limiter promised, in the scenario's words.
type Policy struct {
	Algorithm       rlbench.Algorithm  `json:"algorithm"`
	Limits          []Limit            `json:"limits"`
	ResolutionNS    int64              `json:"resolution_ns"`
	DriftNS         int64              `json:"drift_ns"`
	ChargesRefusals bool               `json:"charges_refusals"`
	OnStoreError    rlbench.StoreError `json:"on_store_error,omitempty"`
	Params          map[string]string  `json:"params,omitempty"`
}

// Limit is one bound of a Policy.
type Limit struct {
	// Limit is Count and PerNS as COUNT/DURATION, for people; programs read the numbers.
	Limit  string         `json:"limit"`
	Count  int64          `json:"count"`
	PerNS  int64          `json:"per_ns"`
	Burst  int64          `json:"burst,omitempty"`
	Anchor rlbench.Anchor `json:"anchor,omitempty"`
}

// Clock ties the limiter's own clock to the instants.
type Clock struct {
	// OriginNS is its reading at instant 0, in nanoseconds since the Unix epoch:
	// add it to decided_at_ns and released_at_ns for the raw readings. ErrorNS
	// bounds how far it may be off, either way.
	OriginNS int64 `json:"origin_ns"`
	ErrorNS  int64 `json:"error_ns"`
	// Stated is false when the clock could not be read: then the others claim nothing.
	Stated bool `json:"stated"`
}

// Event is a fault or a clock step; null instants are not known.
type Event struct {
	Kind    rlbench.EventKind `json:"kind"`
	AtNS    *int64            `json:"at_ns" jsonschema:"nullable"`
	UntilNS *int64            `json:"until_ns" jsonschema:"nullable"`
	Note    string            `json:"note"`
}

// targetOf describes a run.
func targetOf(run *rlbench.Run) Target {
	t := Target{
		Name: run.Target, Backend: run.Backend, BackendVersion: run.BackendVersion,
		Ops:       int64(run.Ops.Len()),
		Policy:    policyOf(run.Policy),
		StartedAt: run.StartedAt.UTC(),
		Clock:     Clock{OriginNS: run.Clock.Origin, ErrorNS: int64(run.Clock.Error), Stated: run.Clock.Stated},
		Complete:  run.Complete, Interrupted: run.Interrupted,
		Events: []Event{},
	}
	if run.StartedError != 0 {
		t.StartedErrorNS = new(int64(run.StartedError))
	}
	for _, e := range run.Events {
		t.Events = append(t.Events, Event{Kind: e.Kind, AtNS: nullable(e.At), UntilNS: nullable(e.Until), Note: e.Note})
	}
	return t
}

func policyOf(p rlbench.Policy) Policy {
	words := Policy{
		Algorithm: p.Algorithm, Limits: []Limit{}, ResolutionNS: int64(p.Resolution), DriftNS: int64(p.Drift),
		ChargesRefusals: p.ChargesRefusals, OnStoreError: p.OnStoreError, Params: p.Params,
	}
	for _, l := range p.Limits {
		bare := rlbench.Limit{Count: l.Count, Per: l.Per}
		words.Limits = append(words.Limits, Limit{
			Limit: bare.String(), Count: l.Count, PerNS: int64(l.Per), Burst: l.Burst, Anchor: l.Anchor,
		})
	}
	return words
}

// run is the inverse of targetOf; the ops are still to be read.
func (t *Target) run() (*rlbench.Run, error) {
	policy, err := t.Policy.policy()
	if err != nil {
		return nil, err
	}
	run := &rlbench.Run{
		Target: t.Name, Backend: t.Backend, BackendVersion: t.BackendVersion,
		Policy:    policy,
		StartedAt: t.StartedAt,
		Clock:     rlbench.LimiterClock{Origin: t.Clock.OriginNS, Error: time.Duration(t.Clock.ErrorNS), Stated: t.Clock.Stated},
		Complete:  t.Complete, Interrupted: t.Interrupted,
	}
	if t.StartedErrorNS != nil {
		run.StartedError = time.Duration(*t.StartedErrorNS)
	}
	for _, e := range t.Events {
		run.Events = append(run.Events, rlbench.Event{Kind: e.Kind, At: instant(e.AtNS), Until: instant(e.UntilNS), Note: e.Note})
	}
	return run, nil
}

func (p *Policy) policy() (rlbench.Policy, error) {
	policy := rlbench.Policy{
		Algorithm: p.Algorithm, Resolution: time.Duration(p.ResolutionNS), Drift: time.Duration(p.DriftNS),
		ChargesRefusals: p.ChargesRefusals, OnStoreError: p.OnStoreError, Params: p.Params,
	}
	for _, l := range p.Limits {
		limit := rlbench.Limit{Count: l.Count, Per: time.Duration(l.PerNS), Burst: l.Burst, Anchor: l.Anchor}
		// A file edited by hand must not be judged by a number that its reader
		// does not look at.
		if said, err := rlbench.ParseLimit(l.Limit); err == nil && (said.Count != limit.Count || said.Per != limit.Per) {
			return policy, fmt.Errorf("the limit %s contradicts its count %d and per_ns %d", l.Limit, l.Count, l.PerNS)
		}
		policy.Limits = append(policy.Limits, limit)
	}
	return policy, nil
}

// nullable is nil for [rlbench.NoInstant].
func nullable(i rlbench.Instant) *int64 {
	if !i.Known() {
		return nil
	}
	return new(int64(i))
}

// instant is the inverse of nullable.
func instant(ns *int64) rlbench.Instant {
	if ns == nil {
		return rlbench.NoInstant
	}
	return rlbench.Instant(*ns)
}

// writeFile writes run.json: the same File, the same bytes.
func writeFile(w io.Writer, f *File) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(f)
}

// readFile reads run.json. A file of a newer schema, or without one, is an error.
func readFile(r io.Reader) (*File, error) {
	var f File
	decoder := json.NewDecoder(r)
	if err := decoder.Decode(&f); err != nil {
		return nil, err
	}
	switch {
	case f.SchemaVersion > SchemaVersion:
		return nil, fmt.Errorf("its schema_version is %d and this rlbench knows up to %d: use a newer rlbench", f.SchemaVersion, SchemaVersion)
	case f.SchemaVersion < 1:
		return nil, fmt.Errorf("it has no schema_version: it is not a run.json")
	}
	return &f, nil
}
