package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/scenarios"
)

// runOptions are the flags of rlbench run.
type runOptions struct {
	backend     string
	redisImage  string
	redisURL    string
	allowRemote []string
	targets     []string
	set         []string
	seed        int64
	seedGiven   bool
	count       int
	out         string
	json        string
	skipMissing bool
	dryRun      bool
	quiet       bool
}

const evidenceFolder = ".rlbench"

func runCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [FILE|DIR|NAME…]",
		Short: "Carry scenarios out and judge what happened",
		Long: `Carries scenarios out and judges what happened.

A scenario is a YAML file, a folder of them, or the name of one that ships with
rlbench (race). A file on disk wins over a shipped one of the same name. Without
an argument every shipped scenario is run.`,
		Example: `  rlbench run race
  rlbench run scenarios/race.yaml --backend process --count 30 -q
  rlbench run race --set policy.limit=50/1m --json - | jq .verdict`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seedGiven = cmd.Flags().Changed("seed")
			return runScenarios(cmd.Context(), args, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.backend, "backend", "auto", "what serves Redis: container, process, embedded, external, or auto (the first of the first three that works)")
	f.StringVar(&o.redisImage, "redis-image", "", "container image for Redis (also RLBENCH_REDIS_IMAGE)")
	f.StringVar(&o.redisURL, "redis", "", "address or URL of the external Redis (also RLBENCH_REDIS_ADDR)")
	f.StringSliceVar(&o.allowRemote, "allow-remote", nil, "host other than loopback that load may go to (repeatable)")
	f.StringArrayVar(&o.targets, "target", nil, "run only this target of the scenario (repeatable)")
	f.StringArrayVar(&o.set, "set", nil, "change a field before the scenario is read: policy.limit=50/1m (repeatable)")
	f.Int64Var(&o.seed, "seed", 0, "seed of everything random, in place of the scenario's own")
	f.IntVar(&o.count, "count", 1, "repeat so often; every run must find the same")
	f.StringVar(&o.out, "out", evidenceFolder, "folder for the evidence")
	f.StringVar(&o.json, "json", "", "write the summary as JSON to this file; - for standard output, which then holds nothing else")
	f.BoolVar(&o.skipMissing, "skip-missing", false, "leave out, with a line, the targets whose server is not there")
	f.BoolVar(&o.dryRun, "dry-run", false, "print what would be done and how long it takes, and send nothing")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only what was not as expected, and the last line")
	return cmd
}

// runScenarios reads every scenario before it runs the first, so that a mistake
// in the last costs nobody the time of the others.
func runScenarios(ctx context.Context, args []string, o runOptions, stdout, stderr io.Writer) error {
	if o.count < 1 {
		return badInput("", "--count %d: at least 1", o.count)
	}
	if o.out == "" {
		return badInput("leave it out for "+evidenceFolder, "--out names no folder")
	}
	if err := o.settleBackend(); err != nil {
		return err
	}
	stories, err := readScenarios(args, o)
	if err != nil {
		return err
	}
	if o.dryRun {
		if o.json != "" {
			return badInput("leave one of them out", "--dry-run runs nothing that --json could tell of")
		}
		return dryRun(stdout, stories, o)
	}
	jsonOut, text, closeJSON, err := outputs(o.json, stdout)
	if err != nil {
		return err
	}
	worst := statusMet
	for _, story := range stories {
		outcome, err := runRepeatedly(ctx, story, o, text, stderr, jsonOut)
		if err != nil {
			closeJSON()
			return err
		}
		if worst = graver(worst, outcome); ctx.Err() != nil {
			break
		}
	}
	if err := closeJSON(); err != nil {
		return err
	}
	return worst.orNil()
}

// outputs says where the JSON goes (nil: nowhere) and where the text. With "-"
// standard output is the JSON and nothing else, and the text is dropped.
func outputs(name string, stdout io.Writer) (jsonOut, text io.Writer, closeJSON func() error, err error) {
	nothing := func() error { return nil }
	switch name {
	case "":
		return nil, stdout, nothing, nil
	case "-":
		return stdout, io.Discard, nothing, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, nil, nil, badInput("", "creating the JSON file: %w", err)
	}
	return file, stdout, file.Close, nil
}

// runRepeatedly runs one scenario --count times.
func runRepeatedly(ctx context.Context, story *scenarios.Scenario, o runOptions, text, stderr, jsonOut io.Writer) (status, error) {
	worst := statusMet
	var runs []*reports.Summary
	for i := range o.count {
		if o.count > 1 && !o.quiet {
			fmt.Fprintf(text, "run %d of %d\n", i+1, o.count)
		}
		s := session{story: story, options: o, text: text, progress: newProgress(stderr, o)}
		summary, err := s.run(ctx)
		if err != nil {
			return statusBug, err
		}
		if err := printSummary(summary, o, text, jsonOut); err != nil {
			return statusBug, err
		}
		runs = append(runs, summary)
		if worst = graver(worst, status(summary.ExitStatus)); ctx.Err() != nil {
			return worst, nil
		}
	}
	if differ := disagreements(runs); len(differ) > 0 {
		fmt.Fprintf(text, "the %d runs do not agree:\n  %s\n", o.count, strings.Join(differ, "\n  "))
		worst = graver(worst, statusNotMet)
	} else if o.count > 1 {
		fmt.Fprintf(text, "all %d runs of %s found the same\n", o.count, story.Name)
	}
	return worst, nil
}

func printSummary(summary *reports.Summary, o runOptions, text, jsonOut io.Writer) error {
	if err := reports.WriteText(text, summary, textOptions(text, o.quiet)); err != nil {
		return fmt.Errorf("printing the report: %w", err)
	}
	if jsonOut == nil {
		return nil
	}
	if err := reports.WriteJSON(jsonOut, summary); err != nil {
		return fmt.Errorf("writing the JSON: %w", err)
	}
	return nil
}
