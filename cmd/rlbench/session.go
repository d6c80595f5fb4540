package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/oracle"
	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/scenarios"
	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/service"
)

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
	file    evidence.File
	summary reports.Summary
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
	if s.folder, err = evidence.Create(s.options.out, s.story.Name, at); err != nil {
		return nil, &failure{status: statusBadInput, err: err, hint: "choose a folder that can be written with --out"}
	}
	s.file = evidence.NewFile(s.story.Name, s.story.Source, s.story.Text, s.plan.Seed, version())
	s.summary = reports.Summary{Scenario: s.story.Name, Why: s.story.Why, Seed: s.plan.Seed, Folder: s.folder.Path, Skipped: s.summary.Skipped}
	tries, err := s.carryOut(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range tries {
		s.summary.Targets = append(s.summary.Targets, t.judge())
	}
	s.summary.Interrupted = ctx.Err() != nil
	conclude(&s.summary, s.options.skipMissing)
	if err := s.folder.WriteSummary(func(w io.Writer) error { return reports.WriteJSON(w, &s.summary) }); err != nil {
		return nil, err
	}
	return &s.summary, nil
}

// carryOut runs the targets one after another and has each Run on disk before
// the next begins. What was recorded is kept whatever happens after.
func (s *session) carryOut(ctx context.Context) (tries []*try, err error) {
	defer func() {
		if saved := s.folder.Close(&s.file); err == nil {
			err = saved
		}
	}()
	for i, use := range s.uses {
		if ctx.Err() != nil {
			break
		}
		t := &try{use: use, design: design(use.Name), number: i}
		if err := t.run(ctx, s); err != nil {
			return nil, err
		}
		if err := s.folder.AddRun(&t.evidence); err != nil {
			return nil, err
		}
		tries = append(tries, t)
	}
	s.progress.clear()
	return tries, nil
}

// chosen are the scenario's targets, or those of them that --target names.
func (s *session) chosen() ([]scenarios.TargetUse, error) {
	if len(s.options.targets) == 0 {
		return s.story.Targets, nil
	}
	var uses []scenarios.TargetUse
	var names []string
	for _, use := range s.story.Targets {
		names = append(names, use.Name)
		if slices.Contains(s.options.targets, use.Name) {
			uses = append(uses, use)
		}
	}
	for _, wanted := range s.options.targets {
		if !slices.Contains(names, wanted) {
			return nil, badInput("its targets are "+strings.Join(names, ", "), "scenario %s has no target %q", s.story.Name, wanted)
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
			s.summary.Skipped = append(s.summary.Skipped, reports.Skip{Target: use.Name, Reason: err.Error()})
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
	for server, running := range s.servers {
		served = fmt.Sprintf("%s %s (%s) serves", server, running.Version, running.Backend)
	}
	fmt.Fprintf(s.text, "%s from %s: %s\n", s.story.Name, s.story.Source, served)
}

// judge turns the evidence of one target into its part of the summary.
func (t *try) judge() reports.Target {
	findings, accuracy := oracle.Judge(&t.evidence)
	out := reports.Target{
		Name: t.evidence.Target, Backend: t.evidence.Backend, BackendVersion: t.evidence.BackendVersion,
		Findings: expect(findings, t.use.Expect), Accuracy: accuracy,
		Latency: quantiles(t.recording.Latency), Service: quantiles(t.recording.Service), Lateness: quantiles(t.recording.Lateness),
		Warnings: t.warnings,
	}
	out.Verdict = targetVerdict(out.Findings)
	return out
}
