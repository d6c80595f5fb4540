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
	answered, absent, first := answers(&run.Ops)
	if answered == 0 {
		reasons = append(reasons, fmt.Sprintf("nothing was judged: none of %s was answered", count(run.Ops.Len(), "op")))
	}
	if absent > 0 {
		reasons = append(reasons, fmt.Sprintf("the server was not there for %s of %d (%s)", count(absent, "op"), run.Ops.Len(), first))
	}
	if unsent, why := unsentBesides(&run.Ops); unsent*unsentShare > run.Ops.Len() && !run.Interrupted {
		reasons = append(reasons, fmt.Sprintf("%d of the %d planned requests were not sent%s: what was asked is not what was planned", unsent, run.Ops.Len(), inWords(why)))
	}
	return reasons
}

// unsentShare: when more than one in so many requests never left, for whatever
// reason on our side, the limiter was not put to the test that was planned, and
// that it passed says little.
const unsentShare = 100

// unsentBesides counts the ops that were not sent though the server was there,
// with the reason of the first.
func unsentBesides(ops *rlbench.Ops) (unsent int, why string) {
	for i, outcome := range ops.Outcome {
		if outcome != rlbench.Unsent {
			continue
		}
		text := ""
		if ops.Error != nil {
			text = ops.Errors[ops.Error[i]]
		}
		if saysAbsent(text) {
			continue
		}
		if unsent == 0 {
			why = text
		}
		unsent++
	}
	return unsent, why
}

func inWords(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

// answers counts the ops that were answered, and those whose error says that the
// server was not there, with the first such error.
func answers(ops *rlbench.Ops) (answered, absent int, first string) {
	gone := make([]bool, len(ops.Errors))
	for i, text := range ops.Errors {
		gone[i] = saysAbsent(text)
	}
	for i, outcome := range ops.Outcome {
		switch outcome {
		case rlbench.Allowed, rlbench.Denied:
			answered++
			continue
		}
		if ops.Error == nil || int(ops.Error[i]) >= len(gone) {
			continue
		}
		if at := ops.Error[i]; gone[at] {
			if absent == 0 {
				first = ops.Errors[at]
			}
			absent++
		}
	}
	return answered, absent, first
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
