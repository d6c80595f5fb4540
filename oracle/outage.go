package oracle

import (
	"slices"

	"github.com/rlbench/rlbench"
)

// judged returns the ops as they are to be judged. A decision that the limiter says
// it made without its store, inside a stretch when the run's history says that
// something had befallen it, is not a decision by its budget: outage-policy judges
// it. Let through so, an op may have been charged or not; refused so, it says nothing
// of the budget. Outside of such a stretch an error excuses nothing.
func judged(run *rlbench.Run) rlbench.Ops {
	ops := run.Ops
	outages := outagesOf(run)
	if ops.Error == nil || len(outages) == 0 {
		return ops
	}
	ops.Outcome = slices.Clone(ops.Outcome)
	for i, outcome := range ops.Outcome {
		if ops.Error[i] == 0 || !slices.ContainsFunc(outages, func(e rlbench.Event) bool { return e.At <= ops.Done[i] && ops.Sent[i] <= e.Until }) {
			continue
		}
		switch outcome {
		case rlbench.Allowed:
			ops.Outcome[i] = rlbench.Unknown
		case rlbench.Denied:
			ops.Outcome[i] = rlbench.Unsent
		}
	}
	return ops
}

// outagesOf returns what befell the run, but for what befell its clock.
func outagesOf(run *rlbench.Run) []rlbench.Event {
	return slices.DeleteFunc(slices.Clone(run.Events), func(e rlbench.Event) bool { return e.Kind == rlbench.ClockStep })
}
