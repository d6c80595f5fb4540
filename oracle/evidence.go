package oracle

import (
	"fmt"
	"math"
	"time"

	"github.com/rlbench/rlbench"
)

// evidence is a Run that was found fit to be read, dealt to its keys.
type evidence struct {
	run *rlbench.Run
	// ops are the run's, with the outcomes by which they are judged.
	ops    rlbench.Ops
	groups grouping
	// unfit says why the run cannot be trusted to pass.
	unfit []string
}

// instantMax bounds the instants of a run, some 18 years either way, so that
// windows can be added to them; costMax its total cost; windowMax a window.
const (
	instantMax = 1 << 59
	costMax    = 1 << 59
	windowMax  = 1 << 60
)

func newEvidence(run *rlbench.Run) (*evidence, error) {
	if err := readable(run); err != nil {
		return nil, err
	}
	e := &evidence{run: run, ops: judged(run), unfit: Fitness(run)}
	e.groups = group(&e.ops)
	return e, nil
}

// readable returns what is wrong with the form of a Run.
func readable(run *rlbench.Run) error {
	for _, p := range run.Policy.Problems() {
		return fmt.Errorf("judging a run of target %q: policy: %s", run.Target, p.Text)
	}
	longest := max(run.Policy.Drift, run.Clock.Error)
	for _, l := range run.Policy.Limits {
		longest = max(longest, l.Per)
	}
	if longest > windowMax || run.Clock.Error < 0 {
		return fmt.Errorf("judging a run of target %q: a window, a drift or a clock error of %s is not between 0 and %s", run.Target, longest, time.Duration(windowMax))
	}
	ops := &run.Ops
	n := ops.Len()
	if n >= math.MaxUint32 {
		return fmt.Errorf("judging a run of target %q: %d ops are more than the %d that one run may have", run.Target, n, math.MaxUint32-1)
	}
	for _, length := range []int{len(ops.ID), len(ops.Key), len(ops.Cost), len(ops.Instance), len(ops.Worker), len(ops.Planned), len(ops.Sent), len(ops.Done)} {
		if length != n {
			return fmt.Errorf("judging a run of target %q: a column has %d rows where another has %d", run.Target, length, n)
		}
	}
	for _, length := range []int{len(ops.DecidedAt), len(ops.Error)} {
		if length != 0 && length != n {
			return fmt.Errorf("judging a run of target %q: an optional column has %d rows where others have %d", run.Target, length, n)
		}
	}
	total := int64(0)
	for i := range n {
		if wrong := wrongRow(ops, i); wrong != "" {
			return fmt.Errorf("judging a run of target %q: op %d: %s", run.Target, ops.ID[i], wrong)
		}
		if ops.Outcome[i] == rlbench.Unsent {
			continue
		}
		if total += ops.Cost[i]; total > costMax {
			return fmt.Errorf("judging a run of target %q: its costs add up to more than %d", run.Target, int64(costMax))
		}
	}
	return nil
}

// wrongRow says what is wrong with a row; empty for nothing.
func wrongRow(ops *rlbench.Ops, i int) string {
	outcome := ops.Outcome[i]
	switch {
	case int(ops.Key[i]) >= len(ops.Keys):
		return "its key has no name"
	case len(ops.Error) > 0 && int(ops.Error[i]) >= len(ops.Errors):
		return "its error has no text"
	case outcome > rlbench.Unsent:
		return fmt.Sprintf("%s is not an outcome", outcome)
	case outcome == rlbench.Unsent:
		return ""
	case ops.Cost[i] < 1 || ops.Cost[i] > costMax:
		return fmt.Sprintf("a cost of %d", ops.Cost[i])
	case ops.Sent[i] < -instantMax || ops.Sent[i] > instantMax:
		return fmt.Sprintf("%s, but sent at %s", outcome, ops.Sent[i])
	case outcome == rlbench.Unknown:
		return ""
	case ops.Done[i] < ops.Sent[i] || ops.Done[i] > instantMax:
		return fmt.Sprintf("%s, sent at %s, but done at %s", outcome, ops.Sent[i], ops.Done[i])
	}
	return ""
}
