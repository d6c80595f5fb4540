package targettest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

const (
	// long is a window that nothing here outlasts, short one that is waited for.
	long  = time.Hour
	short = 400 * time.Millisecond
	// attempts bounds how often a rule is placed anew because the machine, not
	// the limiter, let a window's edge pass in the middle of it.
	attempts = 20
	// triesAlike is how often a rule is tried with windows of one length; they
	// double from one such row of tries to the next.
	triesAlike = 5
	// pollMax is the longest pause between two looks at a real clock.
	pollMax = 100 * time.Millisecond
)

// trial is one rule held against one subject.
type trial struct {
	Subject
	ctx    context.Context
	anchor rlbench.Anchor
	target rlbench.Target
	limits []rlbench.Limit
	keys   int
	// slow is how often short was doubled.
	slow int
}

// limit is count in per under the trial's anchor. A bucket of it holds count,
// and fills from nothing in per.
func (t *trial) limit(count int64, per time.Duration) rlbench.Limit {
	l := rlbench.Limit{Count: count, Per: per, Anchor: t.anchor}
	if t.Design.Algorithm.Bucket() {
		l.Burst = count
	}
	return l
}

// soon is a limit of count whose budget comes back soon: all of it within short,
// or of a bucket one unit in half of that, so that there is time to use it up before.
func (t *trial) soon(count int64) rlbench.Limit {
	if t.Design.Algorithm.Bucket() {
		return t.limit(count, short<<t.slow/2*time.Duration(count))
	}
	return t.limit(count, short<<t.slow)
}

// open opens the subject in place of what was open before.
func (t *trial) open(instances int, limits ...rlbench.Limit) error {
	if err := t.close(); err != nil {
		return err
	}
	target, err := t.Design.Open(t.ctx, t.setup(instances, limits))
	if err != nil {
		return fmt.Errorf("opening it: %w", err)
	}
	t.target, t.limits = target, limits
	return nil
}

func (t *trial) setup(instances int, limits []rlbench.Limit) targets.Setup {
	setup := t.Setup
	setup.Policy = t.Design.Promise(rlbench.Policy{Algorithm: t.Design.Algorithm, Limits: limits, Params: t.Setup.Policy.Params})
	setup.Instances, setup.InFlight = instances, instances*togetherPer
	return setup
}

func (t *trial) close() error {
	if t.target == nil {
		return nil
	}
	target := t.target
	t.target = nil
	if err := target.Close(); err != nil {
		return fmt.Errorf("closing it: %w", err)
	}
	return nil
}

// freshKey is one that was not asked for yet.
func (t *trial) freshKey() string {
	t.keys++
	return fmt.Sprintf("key-%d", t.keys)
}

// ask makes one request; anything but Allowed or Denied without an error is one.
func (t *trial) ask(key string, cost int64, instance int32) (rlbench.Answer, error) {
	a := t.target.Ask(t.ctx, rlbench.Request{Key: key, Cost: cost, Instance: instance})
	if a.Err != nil || (a.Outcome != rlbench.Allowed && a.Outcome != rlbench.Denied) {
		return a, fmt.Errorf("key %q, cost %d: outcome %s with error %v", key, cost, a.Outcome, a.Err)
	}
	return a, nil
}

// expect asks and compares the outcome.
func (t *trial) expect(want rlbench.Outcome, key string, cost int64) (rlbench.Answer, error) {
	a, err := t.ask(key, cost, 0)
	if err == nil && a.Outcome != want {
		err = fmt.Errorf("key %q, cost %d: %s instead of %s", key, cost, a.Outcome, want)
	}
	return a, err
}

// expectAll asks a row of costs for one key.
func (t *trial) expectAll(key string, row ...step) error {
	for i, s := range row {
		if _, err := t.expect(s.want, key, s.cost); err != nil {
			return fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return nil
}

type step struct {
	cost int64
	want rlbench.Outcome
}

func times(n int, s step) []step {
	row := make([]step, n)
	for i := range row {
		row[i] = s
	}
	return row
}

// clock reads the limiter's clock.
func (t *trial) clock() (int64, error) {
	clocked, ok := t.target.(rlbench.Clocked)
	if !ok {
		return 0, fmt.Errorf("%w: its clock cannot be read", ErrNotApplicable)
	}
	return clocked.ReadClock(t.ctx)
}

// until waits for the limiter's clock to reach the moment, by looking at it.
func (t *trial) until(moment int64) error {
	for {
		now, err := t.clock()
		if err != nil || now >= moment {
			return err
		}
		left := time.Duration(moment - now)
		if t.Pass != nil {
			t.Pass(left)
			continue
		}
		pause := time.NewTimer(min(left, pollMax))
		select {
		case <-pause.C:
		case <-t.ctx.Done():
			pause.Stop()
			return context.Cause(t.ctx)
		}
	}
}

// errEdge: budget came back where the rule wanted none.
var errEdge = errors.New("budget came back in the middle")

// undisturbed runs the rule's part with a key of its own until none of its
// budget came back meanwhile: whether some does is the machine's doing, so it is
// looked up and not hoped for.
func (t *trial) undisturbed(part func(key string) error) error {
	for range attempts {
		before, err := t.clock()
		if err != nil {
			return err
		}
		partErr := part(t.freshKey())
		after, err := t.clock()
		if err != nil {
			return err
		}
		if t.allKept(before, after) {
			return partErr
		}
	}
	return fmt.Errorf("%w, %d times of %d", errEdge, attempts, attempts)
}

// allKept reports whether of what was charged from before on nothing came back
// until after, under any limit.
func (t *trial) allKept(before, after int64) bool {
	for _, l := range t.limits {
		if !t.kept(l, 1, before, after) {
			return false
		}
	}
	return true
}

// kept reports whether of what was charged from before on less than the cost
// came back until after.
func (t *trial) kept(l rlbench.Limit, cost, before, after int64) bool {
	per := int64(l.Per)
	switch {
	case t.aligned():
		return before/per == after/per
	case t.Design.Algorithm.Bucket():
		return (after-before)*l.Count < cost*per
	}
	return after-before < per
}

// aligned: windows begin at whole multiples of their length.
func (t *trial) aligned() bool {
	return t.anchor == rlbench.Epoch || t.Design.Algorithm == rlbench.SlidingCounter
}

// comesBack is when the first of a budget that was used up between the two
// moments comes back at the earliest, and when all of it has at the latest.
func (t *trial) comesBack(l rlbench.Limit, before, after int64) (first, all int64) {
	per, step := int64(l.Per), int64(t.Design.Resolution(t.anchor))
	edge := before - before%per + per
	switch {
	case t.anchor == rlbench.Epoch:
		return edge, edge
	case t.Design.Algorithm == rlbench.SlidingCounter:
		return edge + per/l.Count, edge + per
	case t.Design.Algorithm.Bucket():
		return before + per/l.Count, after + per + step
	}
	return before + per, after + per + step
}
