package main

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/scenarios"
)

// verifyFolder judges the evidence of a run once more, by nothing but itself.
func verifyFolder(dir string) (*reports.Summary, error) {
	file, runs, err := evidence.Load(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, badInput("name the folder of a run, such as .rlbench/race", "reading the evidence: %w", err)
	case err != nil:
		return nil, badInput("", "%w", err)
	}
	s := &reports.Summary{Scenario: file.Scenario.Name, Seed: file.Seed, Folder: dir}
	story, problem := kept(file.Scenario)
	if story != nil {
		s.Why = story.Why
	}
	for _, run := range runs {
		target, err := judged(run, expectations(story, run.Target))
		if err != nil {
			return nil, badInput("", "%w", err)
		}
		target.Latency, target.Service, target.Lateness = measured(&run.Ops)
		if problem != nil {
			target.Warnings = append(target.Warnings, "the scenario that run.json keeps cannot be read here, so every promise is expected to be kept: "+problem.Error())
		}
		s.Targets = append(s.Targets, target)
		s.Interrupted = s.Interrupted || run.Interrupted
	}
	conclude(s, false)
	return s, nil
}

// kept reads the scenario that was run.
func kept(s evidence.Scenario) (*scenarios.Scenario, error) {
	return scenarios.Parse(s.Source, []byte(s.Text), catalogue(), os.LookupEnv, s.Overrides...)
}

// expectations are what the scenario expects of a target by name.
func expectations(story *scenarios.Scenario, target string) map[string]rlbench.Verdict {
	if story == nil {
		return nil
	}
	for _, use := range story.Targets {
		if use.As == target {
			return use.Expect
		}
	}
	return nil
}

// measured are the figures that the run itself had: of what was answered.
func measured(ops *rlbench.Ops) (latency, service, lateness reports.Quantiles) {
	var all [3]*hdrhistogram.Histogram
	for i := range all {
		all[i] = hdrhistogram.New(1, int64(driver.HighestTrackable), 3)
	}
	record := func(h *hdrhistogram.Histogram, d time.Duration) {
		_ = h.RecordValue(int64(min(d, driver.HighestTrackable))) // its only error is a value out of range
	}
	for i, outcome := range ops.Outcome {
		if outcome != rlbench.Allowed && outcome != rlbench.Denied {
			continue
		}
		planned, sent, done := ops.Planned[i], ops.Sent[i], ops.Done[i]
		record(all[0], done.Since(planned))
		record(all[1], done.Since(sent))
		record(all[2], sent.Since(planned))
	}
	return quantiles(all[0]), quantiles(all[1]), quantiles(all[2])
}
