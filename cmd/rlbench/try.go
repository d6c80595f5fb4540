package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
	"github.com/rlbench/rlbench/oracle"
	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/scenarios"
	"github.com/rlbench/rlbench/targets"
)

const (
	// decisionTimeout bounds one decision of a target that has no timeout of its
	// own; an op that exceeds it is Unknown.
	decisionTimeout = 2 * time.Second
	// latenessMax is the 99th percentile of lateness above which latency figures
	// say more about the generator than about the limiter.
	latenessMax = 5 * time.Millisecond
	// waitSilentMax is how long nothing may happen before a person is told why.
	waitSilentMax = 2 * time.Second
)

// try is one target's turn in a session: it is opened, driven, closed and, when
// the evidence is safe, judged.
type try struct {
	use       scenarios.TargetUse
	design    *targets.Design
	number    int
	base      time.Time // the monotonic clock's zero for everything below
	evidence  rlbench.Run
	recording *driver.Recording
	warnings  []string
}

// setup is what the target is opened with.
func (t *try) setup(s *session) targets.Setup {
	setup := targets.Setup{
		Policy: t.use.Policy, Instances: s.plan.Instances, InFlight: inFlight(s.plan), Timeout: decisionTimeout,
		Namespace: fmt.Sprintf("rlbench:%s-%d-%d:", t.base.UTC().Format("20060102T150405.000000"), os.Getpid(), t.number),
	}
	if server := s.servers[t.design.Needs]; server != nil {
		setup.Address = server.Address
	}
	return setup
}

// inFlight is how many requests can wait for answers at once: no more than the
// bound allows, and no more than there are. Targets keep connections for them.
func inFlight(p *rlbench.Plan) int {
	return min(p.Bounds.InFlight, len(p.Arrivals)+len(p.Clients))
}

// run drives the target. An error means that there is no evidence at all.
func (t *try) run(ctx context.Context, s *session) error {
	t.base = time.Now()
	t.describe(s)
	target, err := t.design.Open(ctx, t.setup(s))
	if err != nil {
		return t.notOpened(ctx, err)
	}
	defer t.close(target)
	ready := time.Now()
	clock, clocked := target.(rlbench.Clocked)
	var before offset
	if clocked {
		if before, err = readOffset(ctx, clock, t.base, t.evidence.Policy.Resolution); err != nil {
			return t.notOpened(ctx, err)
		}
	}
	start := placeStart(s.plan.Start, s.plan.Span(), time.Since(t.base), before)
	t.sayWait(s, start)
	origin := before.at(int64(start))
	t.recording, err = driver.Drive(ctx, s.plan, target, driver.Options{
		Start: t.base.Add(start), ClockOrigin: origin,
		Progress: func(done, planned int64) { s.progress.show(t.use.As, done, planned) },
	})
	if t.recording == nil {
		return fmt.Errorf("driving %s: %w", t.use.As, err)
	}
	if err != nil {
		t.evidence.Complete = false
		t.warnings = append(t.warnings, err.Error())
	}
	t.evidence.Ops, t.evidence.StartedAt, t.evidence.Interrupted = t.recording.Ops, t.recording.StartedAt, t.recording.Interrupted
	if clocked {
		t.tieClock(ctx, clock, origin, start, before, ready)
	}
	t.evidence.StartedError = wallError(t.evidence.StartedAt)
	t.warn(s)
	return nil
}

// wallError bounds how far the wall clock may have been from its reading at that
// moment, by how far it has gone astray from the monotonic clock since.
func wallError(at time.Time) time.Duration {
	now := time.Now()
	astray := now.Round(0).Sub(at.Round(0)) - now.Sub(at)
	return astray.Abs() + time.Microsecond
}

// describe fills in what is known of the run before anything is sent.
func (t *try) describe(s *session) {
	t.recording = &driver.Recording{}
	t.evidence = rlbench.Run{
		Target: t.use.As, Backend: "none", Policy: t.design.Promise(t.use.Policy),
		StartedAt: t.base, Complete: true, Interrupted: true,
	}
	if server := s.servers[t.design.Needs]; server != nil {
		t.evidence.Backend, t.evidence.BackendVersion = string(server.Backend), server.Version
	}
}

// notOpened is the error of a target that its server did not let be opened.
type notOpened struct{ err error }

func (n *notOpened) Error() string { return n.err.Error() }
func (n *notOpened) Unwrap() error { return n.err }

// notOpened keeps a target whose opening was interrupted as a run without ops.
func (t *try) notOpened(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	t.evidence.Interrupted = false
	if t.design.Needs == targets.NoServer {
		return err
	}
	return &notOpened{err: err}
}

// lost notes that the server was not there at the given instant.
func (t *try) lost(at rlbench.Instant, err error) {
	t.evidence.Events = append(t.evidence.Events, rlbench.Event{
		Kind: rlbench.ServerLost, At: at, Until: at, Note: oneLine(err.Error()),
	})
}

// tieClock reads the limiter's clock again when the load is over. What the two
// readings allow is the error of every instant between; a clock that moved by
// more than they explain has stepped.
func (t *try) tieClock(ctx context.Context, clock rlbench.Clocked, origin int64, start time.Duration, before offset, ready time.Time) {
	t.evidence.Clock = limiterClock(origin, start, before)
	end := rlbench.Instant(time.Since(t.base) - start)
	// An interrupted run still wants to know whether its clock held.
	ctx = context.WithoutCancel(ctx)
	after, err := readOffset(ctx, clock, t.base, t.evidence.Policy.Resolution)
	if err != nil {
		t.lost(end, err)
		return
	}
	if stepped(before, after, time.Since(ready)) {
		t.evidence.Events = append(t.evidence.Events, rlbench.Event{
			Kind: rlbench.ClockStep, At: min(0, end), Until: end,
			Note: fmt.Sprintf("the limiter's clock moved by %s against the driver's", time.Duration(after.middle()-before.middle())),
		})
	}
	t.evidence.Clock = limiterClock(origin, start, before.hull(after))
}

// close frees the target. What it left behind on a server that is gone is gone too.
func (t *try) close(target rlbench.Target) {
	if err := target.Close(); err != nil {
		t.warnings = append(t.warnings, fmt.Sprintf("closing the target: %v", err))
	}
}

// sayWait tells a person why nothing happens for a while.
func (t *try) sayWait(s *session, start time.Duration) {
	if wait := start - time.Since(t.base); wait > waitSilentMax && !s.options.quiet {
		fmt.Fprintf(s.text, "%s: waiting %s for the window's edge\n", t.use.As, wait.Round(time.Second))
	}
}

// warn turns what went wrong with the load into sentences.
func (t *try) warn(s *session) {
	add := func(format string, args ...any) { t.warnings = append(t.warnings, fmt.Sprintf(format, args...)) }
	r := t.recording
	if n, why := unanswered(&r.Ops); n > 0 {
		add("%d of %d requests were not answered; the commonest reason: %s", n, r.Ops.Len(), why)
	}
	if p := s.plan; len(p.Clients) > 0 && int64(r.Ops.Len()) >= p.Bounds.Ops {
		add("bounds.ops (%d) ended the closed loops before their time", p.Bounds.Ops)
	}
	if n := t.misplaced(s.plan.Start); n > 0 {
		add("%d requests left so late that they fell into another window than the one they were planned for", n)
	}
	if r.ClientsHeld > 0 {
		add("%d clients found no free worker when they were to start: raise bounds.in_flight", r.ClientsHeld)
	}
	if r.Abandoned > 0 {
		add("%d requests never returned, even when they were cancelled", r.Abandoned)
	}
	if r.LatenessP99 > latenessMax {
		add("1 in 100 requests left more than %s late: the latency figures are the generator's, not the limiter's", r.LatenessP99.Round(time.Microsecond))
	}
	if r.Clamped > 0 {
		add("%d latencies were longer than the histogram can hold", r.Clamped)
	}
}

// misplaced counts the requests that were planned on one side of a window's edge
// and left on the other, where the run was placed against an edge.
func (t *try) misplaced(p rlbench.Placement) (n int) {
	policy := &t.evidence.Policy
	aligned := policy.Algorithm == rlbench.SlidingCounter || len(policy.Limits) > 0 && policy.Limits[0].Anchor == rlbench.Epoch
	if p.Edge == "" || !aligned || !t.evidence.Clock.Stated {
		return 0
	}
	ops, origin, window := &t.evidence.Ops, t.evidence.Clock.Origin, int64(p.Window)
	index := func(i rlbench.Instant) int64 { return (origin + int64(i) - floorMod(origin+int64(i), window)) / window }
	for i, sent := range ops.Sent {
		if sent.Known() && index(sent) != index(ops.Planned[i]) {
			n++
		}
	}
	return n
}

// unanswered counts the ops that were not sent or not answered, and finds the
// commonest reason.
func unanswered(ops *rlbench.Ops) (n int, why string) {
	counts := make([]int, len(ops.Errors))
	for i, outcome := range ops.Outcome {
		if outcome != rlbench.Unsent && outcome != rlbench.Unknown {
			continue
		}
		if n++; ops.Error != nil {
			counts[ops.Error[i]]++
		}
	}
	why, most := "none was given", 0
	for i, c := range counts {
		if i > 0 && c > most {
			why, most = ops.Errors[i], c
		}
	}
	return n, oneLine(why)
}

// oneLine joins what a library wrote over several lines.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// judge turns the evidence into the target's part of the summary.
func (t *try) judge() (reports.Target, error) {
	out, err := judged(&t.evidence, t.use.Expect)
	if err != nil {
		return out, err
	}
	out.Latency, out.Service, out.Lateness = quantiles(t.recording.Latency), quantiles(t.recording.Service), quantiles(t.recording.Lateness)
	out.Warnings = append(t.warnings, out.Warnings...)
	return out, nil
}

// quantiles reads the report's figures off a histogram; nil is an empty one.
func quantiles(h *hdrhistogram.Histogram) reports.Quantiles {
	if h == nil || h.TotalCount() == 0 {
		return reports.Quantiles{}
	}
	return reports.Quantiles{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99),
		P999: h.ValueAtQuantile(99.9), Max: h.Max(),
	}
}

// checkSetup finds before anything starts what a target cannot be opened with.
func checkSetup(use scenarios.TargetUse, plan *rlbench.Plan) error {
	d := design(use.Name)
	setup := targets.Setup{
		Policy: use.Policy, Instances: plan.Instances, InFlight: inFlight(plan),
		Timeout: decisionTimeout, Namespace: "check", Address: "check",
	}
	if err := d.Check(setup); err != nil {
		return badInput("", "%w", err)
	}
	for name := range use.Expect {
		if promised, known := promise(name, d.Promise(use.Policy)); known && promised == "" {
			return badInput("remove it from expect", "%s: a %s makes no promise that %s judges", use.As, use.Policy.Algorithm, name)
		}
	}
	return nil
}

// checks names those that apply to a policy, and those of which something is expected
// besides.
func checks(p rlbench.Policy, expected map[string]rlbench.Verdict) []string {
	names := oracle.Default(p)
	for _, c := range oracle.Checks() {
		if _, named := expected[c.Name]; named && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// promise says in words what the policy promises under the check's name; known
// is false when there is no such check.
func promise(name string, p rlbench.Policy) (text string, known bool) {
	for _, c := range oracle.Checks() {
		if c.Name == name {
			return c.Promise(p), true
		}
	}
	return "", false
}
