package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
)

// Scenario is a story that can be run: a promise, traffic, and the targets that
// are to keep it.
type Scenario struct {
	// Name is the scenario's own, fit for a folder's name; Why says in one
	// sentence what it is worth running for.
	Name, Why string
	// Policy is what the limiters promised, unless a target says otherwise.
	Policy    rlbench.Policy
	Instances int
	Traffic   []Part
	Targets   []TargetUse
	Seed      int64
	Bounds    rlbench.Bounds
	// Start is where the scenario asks to be placed against an edge; the zero
	// value leaves that to [Scenario.Plan]. Window is set by the Plan.
	Start rlbench.Placement
	// File is the name that the text was read under, Text the text itself with
	// its variables as they were written, Hash the SHA-256 of Text in
	// hexadecimal digits. Overrides are what was set beside it, in order.
	File      string
	Text      []byte
	Hash      string
	Overrides []string
}

// Catalogue is what a scenario may name. It comes from outside, because this
// package knows no target and no check.
type Catalogue struct {
	Targets []TargetInfo
	// Checks are the names of the promises that can be expected of a target.
	Checks []string
}

// TargetInfo is what a scenario must know of a target that it may name.
type TargetInfo struct {
	Name string
	// Algorithm is the one that it implements, Anchors the window anchors; nil
	// where the algorithm has none.
	Algorithm rlbench.Algorithm
	Anchors   []rlbench.Anchor
	// Resolution is the step of its clock under an anchor; nil when any policy's
	// own resolution will do.
	Resolution func(rlbench.Anchor) time.Duration
	// Params are the names of the parameters that it takes.
	Params []string
}

// Parse reads a scenario. file is its name in mistakes; getenv looks up the
// variables in its values (os.LookupEnv, or nil for none); each override is an
// assignment PATH=VALUE, such as policy.limit=50/1m, traffic[0].burst=50 or
// seed=7, that replaces the value at that path before anything is read.
//
// The error is [Mistakes]: everything wrong with the scenario at once.
func Parse(file string, text []byte, catalogue Catalogue, getenv func(string) (string, bool), overrides ...string) (*Scenario, error) {
	if getenv == nil {
		getenv = func(string) (string, bool) { return "", false }
	}
	r := &reader{}
	hash := sha256.Sum256(text)
	s := &Scenario{File: file, Text: text, Hash: hex.EncodeToString(hash[:]), Overrides: overrides}
	root := r.document(file, text)
	if root != nil {
		for i, o := range overrides {
			r.override(root, o, i+1)
		}
		if root = r.expand(root, getenv); root != nil {
			r.scenario(root, s, catalogue)
		}
	}
	if all := r.mistakes(); all != nil {
		return nil, all
	}
	return s, nil
}

// document reads a file's text into a tree, nil when there is nothing to go on with.
func (r *reader) document(file string, text []byte) *node {
	plain := strings.TrimPrefix(string(text), "\ufeff") // the mark that some editors put first
	return r.parseTree(newSource(file, 0, plain), plain)
}

// scenario reads the whole tree into s.
func (r *reader) scenario(root *node, s *Scenario, catalogue Catalogue) {
	if root.kind == empty {
		r.wrong(root.at, "begin with name:, why:, policy:, traffic: and targets:", "the scenario is empty")
		return
	}
	s.Instances, s.Seed = 1, 1
	s.Bounds = rlbench.Bounds{Duration: DurationDefault, Ops: OpsDefault, InFlight: InFlightDefault}
	sound := map[string]bool{}
	note := func(name string, read read) read {
		return func(field string, v *node) { sound[name] = r.clean(func() { read(field, v) }) }
	}
	r.fields(root, "a scenario",
		field{"name", r.label(&s.Name), "one word, such as name: race"},
		field{"why", r.text(&s.Why), "one sentence on what the scenario is worth running for"},
		field{"policy", note("policy", r.policy(&s.Policy)), "what the limiter promised: {algorithm: …, limit: 100/1m}"},
		field{"instances", whole(r, &s.Instances, 1, InstancesMax), ""},
		field{"traffic", note("traffic", r.traffic(&s.Traffic)), "what is asked: - {burst: 100}"},
		field{"targets", note("targets", r.targets(&s.Targets, catalogue)), "who is asked: - name: …"},
		field{"seed", whole(r, &s.Seed, minInt64, maxInt64), ""},
		field{"bounds", note("bounds", r.bounds(&s.Bounds)), ""},
		field{"start", note("start", r.start(&s.Start)), ""},
	)
	if sound["policy"] && sound["targets"] {
		r.compatible(root, s, catalogue)
		if sound["start"] {
			r.startFits(root, s)
		}
	}
	if sound["traffic"] && (root.entry("bounds") == nil || sound["bounds"]) {
		r.trafficFits(root, s)
	}
}

// bounds reads what ends a run.
func (r *reader) bounds(b *rlbench.Bounds) read {
	return func(_ string, v *node) {
		r.fields(v, "bounds",
			field{"duration", r.duration(&b.Duration, 1, DurationMax), ""},
			field{"ops", whole(r, &b.Ops, 1, OpsMax), ""},
			field{"in_flight", whole(r, &b.InFlight, 1, InFlightMax), ""},
		)
	}
}

// start reads against which side of an edge the run is placed.
func (r *reader) start(p *rlbench.Placement) read {
	return func(_ string, v *node) {
		edge := func(e rlbench.Edge) read {
			return func(name string, v *node) {
				p.Edge = e
				r.duration(&p.By, 0, DurationMax)(name, v)
			}
		}
		r.fields(v, "a start",
			field{"after_edge", edge(rlbench.AfterEdge), ""},
			field{"before_edge", edge(rlbench.BeforeEdge), ""},
		)
		if v.kind == mapping && len(v.entries) != 1 {
			r.wrong(v.at, "such as start: {after_edge: 10ms}", "a start is either after_edge or before_edge")
		}
	}
}

// startFits checks a start against the windows that it is placed in.
func (r *reader) startFits(root *node, s *Scenario) {
	start := root.child("start")
	windows := s.alignedWindows()
	if len(windows) == 0 {
		r.wrong(start.at, "leave it out, or choose anchor: epoch or a sliding-counter", "a start needs windows that lie on the limiter's clock, and these policies have none")
		return
	}
	if w := shortest(windows); s.Start.By >= w {
		r.wrong(start.entries[0].value.at, "", "%s %s an edge is not within the window of %s", s.Start.By, s.Start.Edge, w)
	}
}
