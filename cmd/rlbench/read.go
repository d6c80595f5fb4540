package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rlbench/rlbench/scenarios"
	"github.com/rlbench/rlbench/targets/service"
)

// settleBackend lets an address or an image choose the backend that can use it,
// and refuses one that would be ignored: nobody shall believe that his own server
// was tested when it was not.
func (o *runOptions) settleBackend() error {
	wants := service.Backend(o.backend)
	switch {
	case o.redisURL != "" && o.redisImage != "":
		return badInput("give one of them", "--redis names a server that runs, --redis-image one to start")
	case o.redisURL != "":
		wants = service.External
	case o.redisImage != "":
		wants = service.Container
	}
	if o.backend != string(service.Auto) && o.backend != string(wants) {
		return badInput(fmt.Sprintf("say --backend %s, or leave it out", wants), "--backend %s does not use the server that is named", o.backend)
	}
	o.backend = string(wants)
	return nil
}

// choice is the server that the flags ask for.
func (o runOptions) choice() service.Choice {
	return service.Choice{
		Backend: service.Backend(o.backend), Image: o.redisImage, Address: o.redisURL, AllowRemote: o.allowRemote,
	}
}

// overrides are the --set assignments, and the seed as one of them.
func (o runOptions) overrides() []string {
	if !o.seedGiven {
		return o.set
	}
	return append(append([]string{}, o.set...), "seed="+strconv.FormatInt(o.seed, 10))
}

// readScenarios reads what the arguments name, every shipped scenario when they
// name nothing, and tells every mistake in all of them at once.
func readScenarios(args []string, o runOptions) ([]*scenarios.Scenario, error) {
	if len(args) == 0 {
		args = scenarios.Names()
	}
	var stories []*scenarios.Scenario
	var wrong []error
	for _, name := range args {
		sources, err := scenarios.Open(name)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		for _, source := range sources {
			story, err := readScenario(source, o)
			if err != nil {
				wrong = append(wrong, err)
				continue
			}
			stories = append(stories, story)
		}
	}
	if len(wrong) > 0 {
		return nil, &failure{status: statusBadInput, err: errors.Join(wrong...)}
	}
	return stories, nil
}

// readScenario reads one, and makes sure that each target can be opened as it asks.
func readScenario(source scenarios.Source, o runOptions) (*scenarios.Scenario, error) {
	story, err := scenarios.Parse(source.String(), source.Text, catalogue(), os.LookupEnv, o.overrides()...)
	if err != nil {
		return nil, err
	}
	plan, err := story.Plan()
	if err != nil {
		return nil, fmt.Errorf("planning %s: %w", source, err)
	}
	var wrong []error
	for _, use := range story.Targets {
		if err := checkSetup(use, plan); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", source, err))
		}
	}
	return story, errors.Join(wrong...)
}

// dryRun prints what each scenario would do.
func dryRun(stdout io.Writer, stories []*scenarios.Scenario, o runOptions) error {
	for _, story := range stories {
		uses, err := (&session{story: story, options: o}).chosen()
		if err != nil {
			return err
		}
		plan, err := story.Plan()
		if err != nil {
			return badInput("", "planning %s: %w", story.Name, err)
		}
		fmt.Fprintf(stdout, "%s, read from %s\n%s", story.Name, story.File, story.Shape(plan))
		for _, use := range uses {
			fmt.Fprintf(stdout, "target %s\n", use.As)
		}
	}
	return nil
}

func validateCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "validate FILE|DIR|NAME…",
		Short: "Judge scenarios without running them",
		Long:  "Reads scenarios and tells every mistake in them at once, with its place. Nothing is started.",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			stories, err := readScenarios(args, o)
			if err != nil {
				return err
			}
			for _, story := range stories {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: good\n", story.File)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "change a field before the scenario is read (repeatable)")
	return cmd
}
