package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/targets/service"
)

func targetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "targets",
		Short: "List the limiters that a scenario can name",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, d := range designs() {
				fmt.Fprintf(out, "%s\t%s\n", d.Name, d.About)
			}
			return out.Flush()
		},
	}
}

func doctorCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Tell which backends work here, and why the others do not",
		Long: `Starts and ends a Redis in every way that rlbench knows, and tells which of them
work here. Exit status: 0 when the one that auto would take works, 4 when none does.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			works := false
			for _, d := range service.Doctor(cmd.Context(), o.choice()) {
				mark := "no "
				if d.Works {
					mark, works = "yes", true
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  %-9s  %s\n", mark, d.Backend, d.Found)
				if d.Hint != "" && !d.Works {
					fmt.Fprintf(cmd.OutOrStdout(), "                hint: %s\n", d.Hint)
				}
			}
			if !works {
				return statusMissing
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.redisImage, "redis-image", "", "container image for Redis (also RLBENCH_REDIS_IMAGE)")
	f.StringVar(&o.redisURL, "redis", "", "address or URL of the external Redis (also RLBENCH_REDIS_ADDR)")
	f.StringSliceVar(&o.allowRemote, "allow-remote", nil, "host other than loopback that may be asked (repeatable)")
	return cmd
}

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema summary|run",
		Short:     "Print the JSON Schema of summary.json or run.json",
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"summary", "run"},
		RunE: func(cmd *cobra.Command, args []string) error {
			schema := reports.Schema
			if args[0] == "run" {
				schema = evidence.Schema
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", strings.TrimSpace(string(schema())))
			return err
		},
	}
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of rlbench and of what it was built with",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := versions()
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(v)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "rlbench %s (%s, %s/%s)\n", v["rlbench"], v["go"], runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, with the versions of the client libraries")
	return cmd
}

// recordedModules are the libraries whose versions can change what a run measures.
var recordedModules = map[string]string{
	"github.com/redis/go-redis/v9":     "go-redis",
	"github.com/alicebob/miniredis/v2": "miniredis",
}

// versions are those of everything that takes part in a run, by name.
func versions() map[string]string {
	v := map[string]string{"rlbench": "unknown", "go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v["rlbench"] = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && info.Main.Version == "(devel)" {
			v["rlbench"] = "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	for _, m := range info.Deps {
		if name, wanted := recordedModules[m.Path]; wanted {
			v[name] = m.Version
		}
	}
	return v
}
