package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/evidence"
	"github.com/rlbench/rlbench/internal/logs"
	"github.com/rlbench/rlbench/oracle"
	"github.com/rlbench/rlbench/reports"
)

// verification judges logs that are one history.
type verification struct {
	options  verifyOptions
	stdin    io.Reader
	text     io.Writer
	stderr   io.Writer
	progress progress
	policy   rlbench.Policy
}

// run reads the logs, judges them and sums up.
func (v *verification) run(ctx context.Context, args []string) (*reports.Summary, error) {
	var err error
	if v.policy, err = v.options.promised.policy(); err != nil {
		return nil, err
	}
	record, target, err := v.read(ctx, args)
	switch {
	case ctx.Err() != nil:
		return nil, &failure{status: statusInterrupted, err: fmt.Errorf("interrupted before the whole of %s was read", nameOf(args))}
	case err != nil:
		return nil, err
	}
	fmt.Fprintln(v.text, record.inWords())
	for _, place := range record.places() {
		fmt.Fprintln(v.stderr, place)
	}
	s := &reports.Summary{Scenario: record.name, Why: "what the log says, held against " + inWords(v.policy), Targets: []reports.Target{target}}
	conclude(s, false)
	return s, nil
}

// read opens the logs and judges them. The record is closed, but still knows what it
// has seen.
func (v *verification) read(ctx context.Context, args []string) (*record, reports.Target, error) {
	record, err := v.open(ctx, args)
	if err != nil {
		return nil, reports.Target{}, err
	}
	defer record.close()
	defer v.progress.clear()
	target, err := v.judge(ctx, record)
	return record, target, err
}

// judge feeds the logs to the oracle, block by block.
func (v *verification) judge(ctx context.Context, record *record) (reports.Target, error) {
	var block rlbench.Ops
	n, err := record.next(&block)
	if err != nil && !errors.Is(err, io.EOF) {
		return reports.Target{}, record.unreadable(err)
	}
	folds, problem := openFolds(v.head(record))
	if problem != nil {
		return reports.Target{}, badInput("", "%w", problem)
	}
	for ; err == nil && ctx.Err() == nil; n, err = record.next(&block) {
		record.count(&block)
		if err := folds.feed(&block); err != nil {
			return reports.Target{}, badInput("", "%w", err)
		}
		v.progress.show(record.name, record.seen.ops, 0)
	}
	if n > 0 || err != nil && !errors.Is(err, io.EOF) {
		return reports.Target{}, record.unreadable(err)
	}
	if err := record.keyed(v.options.log.Key); err != nil {
		return reports.Target{}, err
	}
	if target := v.options.log.Target; target != "" && record.seen.ops == 0 {
		return reports.Target{}, badInput("leave --target out to judge all that is in it", "%s holds no request of target %q", record.name, target)
	}
	return v.settle(record, folds)
}

// folds judge a log. Where requests open windows, what an excerpt shows can be excused
// by one that was open when it begins: then fresh judges it as if none had been, to
// know whether that excuse is needed.
type folds struct{ log, fresh *oracle.Fold }

func openFolds(head *rlbench.Run) (*folds, error) {
	log, err := oracle.Open(head)
	if err != nil || head.Complete || head.Policy.Limits[0].Anchor != rlbench.FirstRequest {
		return &folds{log: log}, err
	}
	whole := *head
	whole.Complete, whole.Excerpt = true, false
	fresh, err := oracle.Open(&whole, neverOver)
	return &folds{log: log, fresh: fresh}, err
}

func (f *folds) feed(block *rlbench.Ops) error {
	if f.fresh == nil {
		return f.log.Feed(block)
	}
	return errors.Join(f.log.Feed(block), f.fresh.Feed(block))
}

// close returns what was found. What passes only by a window that nobody saw open is
// Inconclusive.
func (f *folds) close() ([]rlbench.Finding, rlbench.Accuracy, error) {
	findings, accuracy, err := f.log.Close()
	if err != nil || f.fresh == nil {
		return findings, accuracy, err
	}
	fresh, _, err := f.fresh.Close()
	if err != nil {
		return nil, accuracy, err
	}
	for i := range findings {
		if l := &findings[i]; l.Check == neverOver && l.Verdict == rlbench.Pass && fresh[0].Verdict == rlbench.Fail {
			*l = fresh[0]
			l.Verdict = rlbench.Inconclusive
			l.Because = "it is broken only if the limiter was fresh when the log begins (--complete): " + l.Because
		}
	}
	return findings, accuracy, nil
}

// settle closes the folds and says what they come to.
func (v *verification) settle(record *record, folds *folds) (reports.Target, error) {
	findings, accuracy, err := folds.close()
	if err != nil {
		return reports.Target{}, badInput("", "%w", err)
	}
	lack := v.lack(record)
	target := reports.Target{
		Name: record.name, Backend: "log", BackendVersion: record.format,
		Findings: lack.settle(findings), Accuracy: lack.measured(accuracy), Warnings: v.warnings(record),
	}
	target.Verdict = targetVerdict(target.Findings)
	return target, nil
}

// head is the history without its ops: cut out of traffic, unless somebody vouches
// that it is all there was.
func (v *verification) head(record *record) *rlbench.Run {
	origin, stated := record.origin()
	head := &rlbench.Run{Target: record.name, Backend: "log", BackendVersion: record.format, Policy: v.policy, Complete: v.options.complete, Excerpt: !v.options.complete}
	if !stated {
		return head
	}
	head.StartedAt = time.Unix(0, origin).UTC()
	// A load generator stamps by the clock of its own host, which is the limiter's
	// only if somebody says how far the two are apart.
	if record.atServer || v.options.clockErrorGiven {
		head.Clock = rlbench.LimiterClock{Origin: origin, Error: v.options.clockError, Stated: true}
	}
	return head
}

// open opens what the arguments name.
func (v *verification) open(ctx context.Context, args []string) (*record, error) {
	name := v.options.name
	if name == "" {
		name = nameOf(args)
	}
	for _, arg := range args {
		parquet, err := isParquet(arg)
		switch {
		case err != nil:
			return nil, badInput("", "reading a log: %w", err)
		case parquet && len(args) > 1:
			return nil, badInput("judge it in a call of its own", "%s holds instants of its own clock and cannot be judged together with other logs", arg)
		case parquet:
			return v.openOps(name, arg)
		}
	}
	if len(args) > 1 && !v.options.clockErrorGiven {
		return nil, badInput("--clock-error 5ms, or --clock-error 0s where one host's clock stamped them all", "nothing says how far the clocks of %d logs are apart", len(args))
	}
	return v.openLogs(ctx, name, args)
}

// nameOf names a history by the logs that it is read from.
func nameOf(args []string) string {
	var names []string
	for _, arg := range args {
		if arg == "-" {
			arg = "standard input"
		}
		names = append(names, arg)
	}
	const named = 3
	if len(names) > named {
		names = append(names[:named], fmt.Sprintf("and %d more", len(args)-named))
	}
	return strings.Join(names, ", ")
}

func isParquet(arg string) (bool, error) {
	if arg == "-" {
		return false, nil
	}
	file, err := os.Open(arg)
	if err != nil {
		return false, err
	}
	defer file.Close()
	magic := make([]byte, 4)
	_, err = io.ReadFull(file, magic)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return string(magic) == "PAR1", err
}

// openOps takes the ops of one target out of an ops.parquet.
func (v *verification) openOps(name, path string) (*record, error) {
	runs, err := evidence.LoadOps(path)
	if err != nil {
		return nil, badInput("", "%w", err)
	}
	var targets []string
	for _, run := range runs {
		targets = append(targets, run.Target)
		if run.Target == v.options.log.Target || v.options.log.Target == "" && len(runs) == 1 {
			return opsRecord(name, &run.Ops), nil
		}
	}
	if v.options.log.Target == "" && len(runs) > 1 {
		return nil, badInput("--target "+targets[0], "%s holds the requests of several targets: %s", path, strings.Join(targets, ", "))
	}
	return nil, badInput("", "%s holds no requests of a target %q; its targets are: %s", path, v.options.log.Target, strings.Join(targets, ", "))
}

// openLogs opens foreign logs and puts them in order.
func (v *verification) openLogs(ctx context.Context, name string, args []string) (_ *record, err error) {
	r := &record{name: name, atServer: true}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	for i, arg := range args {
		reader, err := v.openLog(ctx, r, i, arg)
		if err != nil {
			return nil, err
		}
		r.add(reader)
	}
	r.merged, err = logs.Merge(r.readers, logs.MergeOptions{ClockError: v.options.clockError, Reorder: v.options.reorder})
	if err != nil {
		return nil, badInput("", "%w", err)
	}
	r.next, r.origin = r.merged.Next, r.merged.Origin
	switch {
	case len(args) > 1: // merging has widened them
	case v.options.clockErrorGiven:
		r.widen(v.options.clockError, v.options.clockError)
	case r.byNGINX():
		r.widen(0, nginxLag)
	}
	return r, nil
}

func (v *verification) openLog(ctx context.Context, r *record, number int, arg string) (*logs.Reader, error) {
	options := v.options.log
	options.Name, options.Instance = nameOf([]string{arg}), int32(number)
	if options.Refused == nil && v.options.promised.nginx {
		options.Refused = []int{429, refusedToo}
	}
	if options.Refused == nil {
		options.Unknown = append([]int{refusedToo}, options.Unknown...)
		r.seen.doubtful = refusedToo
	}
	in := io.Reader(nil)
	if arg == "-" {
		in = until(ctx, v.stdin)
	} else {
		file, err := os.Open(arg)
		if err != nil {
			return nil, badInput("", "reading a log: %w", err)
		}
		r.closers = append(r.closers, func() { file.Close() })
		in = file
	}
	reader, err := logs.Open(in, options)
	if err != nil {
		return nil, badInput(formatHint(err), "%w", err)
	}
	r.closers = append(r.closers, reader.Close)
	return reader, nil
}

func formatHint(err error) string {
	if !errors.Is(err, logs.ErrFormat) {
		return ""
	}
	return "docs/logs.md says what can be read; --format, --log-format, --map and --key say what the log does not"
}

// until passes on what r gives, and ends with the context's error when that ends,
// even while r has nothing to give.
func until(ctx context.Context, r io.Reader) io.Reader {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out
}
