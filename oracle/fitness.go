package oracle

import (
	"fmt"
	"strings"

	"github.com/rlbench/rlbench"
)

// Fitness returns the reasons, one sentence each, why a Run cannot be trusted to
// pass; none when it can. A Run that has some is Inconclusive where it would pass.
// A Fail rests on the ops that are there and stands, but where the reason itself
// could excuse it: a stepped clock moves aligned windows, and ops that are not
// there may have filled the window that a refusal found full.
func Fitness(run *rlbench.Run) []string {
	var t turnout
	t.add(&run.Ops)
	return t.fitness(run)
}

// turnout counts the ops of a run, those that were answered, and those whose error
// says that the server was not there, with the first such error.
type turnout struct {
	ops, answered, absent int
	first                 string
}

// fitness returns the reasons; the run's own ops were counted.
func (t *turnout) fitness(run *rlbench.Run) []string {
	var reasons []string
	if !run.Complete {
		reasons = append(reasons, "the evidence is not complete: the limiter was not fresh when it begins, or ops of some instance are missing")
	}
	for _, e := range run.Events {
		switch e.Kind {
		case rlbench.ClockStep:
			reasons = append(reasons, fmt.Sprintf("the limiter's clock stepped at %s%s", e.At, inWords(e.Note)))
		case rlbench.ServerLost:
			reasons = append(reasons, fmt.Sprintf("the server was lost at %s%s", e.At, inWords(e.Note)))
		}
	}
	if t.answered == 0 {
		reasons = append(reasons, fmt.Sprintf("nothing was judged: none of %s was answered", count(t.ops, "op")))
	}
	if t.absent > 0 {
		reasons = append(reasons, fmt.Sprintf("the server was not there for %s of %d (%s)", count(t.absent, "op"), t.ops, t.first))
	}
	return reasons
}

func inWords(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

func (t *turnout) add(ops *rlbench.Ops) {
	t.ops += ops.Len()
	gone := make([]bool, len(ops.Errors))
	for i, text := range ops.Errors {
		gone[i] = saysAbsent(text)
	}
	for i, outcome := range ops.Outcome {
		switch outcome {
		case rlbench.Allowed, rlbench.Denied:
			t.answered++
			continue
		}
		if ops.Error == nil || int(ops.Error[i]) >= len(gone) {
			continue
		}
		if at := ops.Error[i]; gone[at] {
			if t.absent == 0 {
				t.first = ops.Errors[at]
			}
			t.absent++
		}
	}
}

// absences are what errors say when nothing listens where the server should be.
var absences = [...]string{"connection refused", "no such host", "no route to host", "network is unreachable", "host is down"}

func saysAbsent(text string) bool {
	for _, a := range absences {
		if strings.Contains(strings.ToLower(text), a) {
			return true
		}
	}
	return false
}

// stepped reports whether the limiter's clock moved by itself during the run.
func stepped(run *rlbench.Run) bool {
	for _, e := range run.Events {
		if e.Kind == rlbench.ClockStep {
			return true
		}
	}
	return false
}
