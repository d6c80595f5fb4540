package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/scenarios"
	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/service"
)

// summaryFile is the file that holds the Summary.
const summaryFile = "summary.json"

// session carries one scenario out once: servers, targets one after another,
// evidence on disk, and only then the verdict.
type session struct {
	story    *scenarios.Scenario
	options  runOptions
	text     io.Writer
	progress progress

	plan    *rlbench.Plan
	uses    []scenarios.TargetUse
	servers map[targets.Server]*service.Service
	folder  *evidence.Folder
	summary reports.Summary
	// missing: a target was left out, and nobody said that it may be.
	missing bool
}

// run returns what the scenario came to. An error means that nothing was judged.
func (s *session) run(ctx context.Context) (summary *reports.Summary, err error) {
	if s.plan, err = s.story.Plan(); err != nil {
		return nil, badInput("", "planning %s: %w", s.story.Name, err)
	}
	if s.uses, err = s.chosen(); err != nil {
		return nil, err
	}
	if err := s.startServers(ctx); err != nil {
		return nil, err
	}
	defer s.stopServers()
	s.announce()
	at := time.Now()
	if err := s.openFolder(at); err != nil {
		return nil, &failure{status: statusBadInput, err: err, hint: "choose a folder that can be written with --out"}
	}
	s.summary.Scenario, s.summary.Why, s.summary.Seed, s.summary.Folder = s.story.Name, s.story.Why, s.plan.Seed, s.folder.Path()
	tries, err := s.carryOut(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tries {
		judged, err := t.judge()
		if err != nil {
			return nil, err
		}
		s.summary.Targets = append(s.summary.Targets, judged)
	}
	s.summary.Interrupted = ctx.Err() != nil
	conclude(&s.summary, s.missing)
	if err := s.folder.Write(summaryFile, func(w io.Writer) error { return reports.WriteJSON(w, &s.summary) }); err != nil {
		return nil, err
	}
	return &s.summary, nil
}

// openFolder makes the folder of this run and says in it what is run.
func (s *session) openFolder(at time.Time) (err error) {
	if s.folder, err = evidence.Create(s.options.out, s.story.Name, at); err != nil {
		return err
	}
	return s.folder.Describe(evidence.Head{
		Scenario: evidence.Scenario{Name: s.story.Name, Source: s.story.File, Text: string(s.story.Text), Hash: "sha256:" + s.story.Hash, Overrides: s.story.Overrides},
		Seed:     s.plan.Seed, Versions: versions(), Host: evidence.LocalHost(),
	})
}

// carryOut runs the targets one after another and has each Run on disk before
// the next begins. What was recorded is kept whatever happens after.
func (s *session) carryOut(ctx context.Context) ([]*try, error) {
	defer s.progress.clear()
	var tries []*try
	for i, use := range s.uses {
		if ctx.Err() != nil {
			s.summary.Skipped = append(s.summary.Skipped, reports.Skip{Target: use.As, Reason: "interrupted before its turn"})
			continue
		}
		t := &try{use: use, design: design(use.Name), number: i}
		err := t.run(ctx, s)
		var closed *notOpened
		switch {
		case errors.As(err, &closed) && serverLost(tries):
			t.lost(0, closed.err)
		case errors.As(err, &closed):
			s.summary.Skipped = append(s.summary.Skipped, reports.Skip{Target: use.As, Reason: closed.Error()})
			s.missing = true
			continue
		case err != nil:
			return nil, err
		}
		if err := s.save(t); err != nil {
			return nil, err
		}
		tries = append(tries, t)
	}
	return tries, nil
}

// serverLost reports whether the server went away under an earlier target: then
// it is no missing one, and what cannot be opened any more is a run without ops.
func serverLost(earlier []*try) bool {
	for _, t := range earlier {
		for _, e := range t.evidence.Events {
			if e.Kind == rlbench.ServerLost {
				return true
			}
		}
	}
	return false
}

// save puts the evidence of one target on disk.
func (s *session) save(t *try) error {
	if err := s.folder.AddRun(&t.evidence); err != nil {
		return err
	}
	if t.recording.Latency == nil {
		return nil
	}
	return s.folder.Write(evidence.LatencyFile(t.use.As), func(w io.Writer) error {
		return evidence.WriteLatency(w, t.recording.Latency)
	})
}

// chosen are the scenario's targets, or those of them that --target names.
func (s *session) chosen() ([]scenarios.TargetUse, error) {
	if len(s.options.targets) == 0 {
		return s.story.Targets, nil
	}
	var uses []scenarios.TargetUse
	var names []string
	for _, use := range s.story.Targets {
		names = append(names, use.As, use.Name)
		if slices.Contains(s.options.targets, use.As) || slices.Contains(s.options.targets, use.Name) {
			uses = append(uses, use)
		}
	}
	for _, wanted := range s.options.targets {
		if !slices.Contains(names, wanted) {
			return nil, badInput("its targets are "+strings.Join(slices.Compact(names), ", "), "scenario %s has no target %q", s.story.Name, wanted)
		}
	}
	return uses, nil
}

// startServers starts each server that a chosen target needs. One that is not to
// be had ends the run, or with --skip-missing leaves out what needs it.
func (s *session) startServers(ctx context.Context) error {
	s.servers = map[targets.Server]*service.Service{}
	var kept []scenarios.TargetUse
	for _, use := range s.uses {
		err := s.start(ctx, design(use.Name).Needs)
		var missing *service.Missing
		switch {
		case err == nil:
			kept = append(kept, use)
		case errors.As(err, &missing) && s.options.skipMissing:
			s.summary.Skipped = append(s.summary.Skipped, reports.Skip{Target: use.As, Reason: err.Error()})
		case errors.As(err, &missing):
			s.stopServers()
			return &failure{status: statusMissing, err: err, hint: missing.Hint}
		default:
			s.stopServers()
			return err
		}
	}
	s.uses = kept
	return nil
}

func (s *session) start(ctx context.Context, server targets.Server) error {
	if server == targets.NoServer || s.servers[server] != nil {
		return nil
	}
	s.progress.say("starting " + string(server))
	defer s.progress.clear()
	running, err := service.Start(ctx, s.options.choice())
	var mistake *service.Mistake
	if errors.As(err, &mistake) {
		return badInput(mistake.Hint, "%w", err)
	}
	if err != nil {
		return err
	}
	s.servers[server] = running
	return nil
}

func (s *session) stopServers() {
	for _, running := range s.servers {
		if err := running.Close(); err != nil {
			fmt.Fprintf(s.text, "stopping %s: %v\n", running, err)
		}
	}
}

// announce says first of all what was read and which server serves.
func (s *session) announce() {
	served := "no server is needed"
	if len(s.summary.Skipped) > 0 {
		served = "without the server that is missing"
	}
	for server, running := range s.servers {
		served = fmt.Sprintf("%s served by %s", server, running)
	}
	fmt.Fprintf(s.text, "%s, read from %s, %s\n", s.story.Name, s.story.File, served)
	if s.options.backend != "external" && os.Getenv(service.AddressVariable) != "" {
		fmt.Fprintf(s.text, "  %s is set, and not used: --backend external uses it\n", service.AddressVariable)
	}
	if s.options.quiet {
		return
	}
	for _, running := range s.servers {
		for _, why := range running.Passed {
			fmt.Fprintf(s.text, "  passed over %s\n", why)
		}
	}
}
