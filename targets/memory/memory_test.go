package memory_test

import (
	"testing"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/memory"
	"github.com/rlbench/rlbench/targets/targettest"
)

// scriptless: nothing here is a script.
var scriptless = []string{"scripts-forgotten", "queue-scripts-forgotten"}

func TestDesignsKeepTheRules(t *testing.T) {
	// Just before a window's edge: a rule that hoped for no edge would meet it.
	clock := targettest.NewVirtualClock(1_700_000_000_399_999_999)
	for _, d := range memory.DesignsOn(clock.Read) {
		if d.Algorithm == rlbench.LeakyQueue {
			continue // who waits there waits by real timers, below
		}
		targettest.Run(t, targettest.Subject{Design: d, Pass: clock.Pass, Lacks: scriptless})
	}
}

func TestDesignsKeepTheRulesInRealTime(t *testing.T) {
	t.Parallel()
	var subjects []targettest.Subject
	for _, d := range memory.Designs() {
		subjects = append(subjects, targettest.Subject{Design: d, Lacks: scriptless})
	}
	targettest.Run(t, subjects...)
}
