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
	// unsent were not sent though the server was there, the first because of why.
	unsent int
	why    string
}

// fitness returns the reasons; the run's own ops were counted.
func (t *turnout) fitness(run *rlbench.Run) []string {
	var reasons []string
	if !run.Complete && !run.Excerpt {
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
	if t.unsent*unsentShare > t.ops && !run.Interrupted {
		reasons = append(reasons, fmt.Sprintf("%d of the %d planned requests were not sent%s: what was asked is not what was planned", t.unsent, t.ops, inWords(t.why)))
	}
	return reasons
}

// unsentShare: when more than one in so many requests never left, for whatever
// reason on our side, the limiter was not put to the test that was planned, and
// that it passed says little.
const unsentShare = 100

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
		text, absent := "", false
		if ops.Error != nil && int(ops.Error[i]) < len(gone) {
			text, absent = ops.Errors[ops.Error[i]], gone[ops.Error[i]]
		}
		t.missed(outcome, text, absent)
	}
}

// missed counts an op without an answer.
func (t *turnout) missed(outcome rlbench.Outcome, text string, absent bool) {
	switch {
	case absent:
		if t.absent == 0 {
			t.first = text
		}
		t.absent++
	case outcome == rlbench.Unsent:
		if t.unsent == 0 {
			t.why = text
		}
		t.unsent++
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
