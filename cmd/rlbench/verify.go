package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/internal/logs"
	"github.com/rlbench/rlbench/reports"
)

// verifyOptions are the flags of rlbench verify.
type verifyOptions struct {
	promised promised
	// log is what the logs do not say of themselves.
	log      logs.Options
	format   string
	moment   string
	timeForm string
	// clockError bounds how far the clocks that stamped the logs are from each other
	// and from the limiter's.
	clockError      time.Duration
	clockErrorGiven bool
	reorder         time.Duration
	name            string
	complete, whole bool
	json            string
	quiet           bool
	// saysOfLogs: some flag was given that says something of a log.
	saysOfLogs bool
}

func verifyCommand() *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "verify LOG…",
		Short: "Judge a log that somebody else recorded, with no load at all",
		Long: `Judges what a log says happened, with no load at all.

A LOG is an access log of NGINX or Envoy, the results of vegeta, k6 or JMeter, JSON
Lines or CSV with the columns of ops.parquet, plain, gzip or zstd, - for standard
input; an ops.parquet; or the folder of a run, which is judged again by what it says
itself. Several logs, one an instance, are judged as one history.

What the limiter promised is said by --limit (at most so many in any window), by
--rate and --burst (a bucket), or by --policy.`,
		Example: `  rlbench verify access.log --limit 100/1m --longest 2s
  rlbench verify results.csv --limit 100/1m --key url
  rlbench verify access.log --nginx --rate 10r/s --burst 20 --longest 2s
  rlbench verify a.log b.log --clock-error 5ms --limit 100/1m --log-format "$(cat format)"
  rlbench verify .rlbench/race`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.given(cmd)
			return verify(cmd.Context(), args, o, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.flags(cmd)
	return cmd
}

func (o *verifyOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	o.promised.flags(cmd)
	f.StringVar(&o.log.Key, "key", "", "field that says whose budget a request uses")
	f.IntSliceVar(&o.log.Refused, "refused", nil, "statuses that are refusals (default 429; 503 too with --nginx)")
	f.IntSliceVar(&o.log.Unknown, "unknown", nil, "statuses that do not tell whether a request was charged, besides 0 and 499")
	f.DurationVar(&o.log.Longest, "longest", 0, "the longest that a request can have taken, where the log has one time a request and no duration")
	f.DurationVar(&o.clockError, "clock-error", 0, "how far the clocks that stamped the logs, and the limiter's, are apart at most")
	f.BoolVar(&o.whole, "whole", false, "from its first line on the log has every request that the limiter decided, though it was not fresh: refusals after the first window are judged")
	f.BoolVar(&o.complete, "complete", false, "the limiter was fresh when the log begins, and the log has every request that it decided")
	f.StringVar(&o.format, "format", "", fmt.Sprintf("what wrote the log, where its look does not tell: %v", logs.Formats()))
	f.StringVar(&o.log.Template, "log-format", "", "NGINX's log_format or Envoy's format string, word for word")
	f.StringToStringVar(&o.log.Map, "map", nil, "what the log calls a field: status=http_code (repeatable)")
	f.StringVar(&o.moment, "moment", "", "what a lone time stands for: start, end or decision")
	f.StringVar(&o.timeForm, "time", "", "how times are written: text, unix, unix-ms, unix-us or unix-ns")
	f.BoolVar(&o.log.Rounded, "rounded", false, "times are rounded to their last digit, not cut off at it")
	f.StringVar(&o.log.Target, "target", "", "judge this target alone where the log holds several")
	f.DurationVar(&o.reorder, "reorder", logs.DefaultReorder, "how much earlier than the lines around it a line may belong")
	f.StringVar(&o.name, "name", "", "name in the report, in place of the file's")
	f.StringVar(&o.json, "json", "", "write the summary as JSON to this file; - for standard output, which then holds nothing else")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only what was not as expected, and the last line")
}

// given notes which flags were given, where that says more than their values.
func (o *verifyOptions) given(cmd *cobra.Command) {
	changed := cmd.Flags().Changed
	o.clockErrorGiven = changed("clock-error")
	o.promised.burstGiven = changed("burst")
	o.promised.resolutionGiven = changed("resolution")
	outputs := 0
	for _, name := range []string{"json", "quiet"} {
		if changed(name) {
			outputs++
		}
	}
	o.saysOfLogs = cmd.Flags().NFlag() > outputs
	o.log.Format, o.log.Moment, o.log.Form = logs.Format(o.format), logs.Moment(o.moment), logs.Form(o.timeForm)
}

// verify judges folders of runs one by one, or logs together.
func verify(ctx context.Context, args []string, o verifyOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	folders, err := runFolders(args)
	if err != nil {
		return err
	}
	if len(folders) > 0 && o.saysOfLogs {
		return badInput("leave out all flags but --json and --quiet, or name its ops.parquet to judge the same requests in another way",
			"the folder of a run says itself what was promised and what there is: %s", folders[0])
	}
	jsonOut, text, closeJSON, err := outputs(o.json, stdout)
	if err != nil {
		return err
	}
	worst := statusMet
	told := func(s *reports.Summary, err error) error {
		if err != nil {
			return err
		}
		worst = graver(worst, status(s.ExitStatus))
		return printSummary(s, runOptions{quiet: o.quiet}, text, jsonOut)
	}
	if len(folders) == 0 {
		v := verification{options: o, stdin: stdin, text: text, stderr: stderr, progress: newProgress(stderr, runOptions{quiet: o.quiet})}
		err = told(v.run(ctx, args))
	}
	for _, folder := range folders {
		if err == nil {
			err = told(verifyFolder(folder))
		}
	}
	if closed := closeJSON(); err == nil && closed != nil {
		err = badInput("", "writing the JSON: %w", closed)
	}
	if err != nil {
		return err
	}
	return worst.orNil()
}

// runFolders are the arguments as folders of runs, none when they are all logs. The
// folder of a scenario, and the file latest in it, stand for its newest run.
func runFolders(args []string) ([]string, error) {
	var folders []string
	for _, arg := range args {
		folder, err := runFolder(arg)
		if err != nil {
			return nil, err
		}
		if folder != "" {
			folders = append(folders, folder)
		}
	}
	if n := len(folders); n > 0 && n < len(args) {
		return nil, badInput("judge them in two calls", "folders of runs and logs cannot be judged together: %s", strings.Join(args, ", "))
	}
	return folders, nil
}

// runFolder is the folder of a run that the argument names; empty for a log.
func runFolder(arg string) (string, error) {
	if arg == "-" {
		return "", nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return "", badInput("", "reading a log: %w", err)
	}
	switch {
	case !info.IsDir() && filepath.Base(arg) == evidence.LatestFile:
		return newest(filepath.Dir(arg))
	case !info.IsDir():
		return "", nil
	}
	if _, err := os.Stat(filepath.Join(arg, evidence.RunFile)); err == nil {
		return arg, nil
	}
	return newest(arg)
}

// newest is the newest run of a scenario's folder.
func newest(dir string) (string, error) {
	name, err := os.ReadFile(filepath.Join(dir, evidence.LatestFile))
	if err != nil {
		return "", badInput("name a log, or the folder of a run such as .rlbench/race", "%s is not the folder of a run: it has no %s and no %s", dir, evidence.RunFile, evidence.LatestFile)
	}
	return filepath.Join(dir, filepath.Base(strings.TrimSpace(string(name)))), nil
}
