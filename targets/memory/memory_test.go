package memory_test

import (
	"testing"

	"github.com/rlbench/rlbench/targets/memory"
	"github.com/rlbench/rlbench/targets/targettest"
)

func TestDesignsKeepTheRules(t *testing.T) {
	// Just before a window's edge: a rule that hoped for no edge would meet it.
	clock := targettest.NewVirtualClock(1_700_000_000_399_999_999)
	for _, d := range memory.DesignsOn(clock.Read) {
		targettest.Run(t, targettest.Subject{Design: d, Pass: clock.Pass, Lacks: []string{"scripts-forgotten"}})
	}
}

func TestDesignsKeepTheRulesInRealTime(t *testing.T) {
	t.Parallel()
	for _, d := range memory.Designs() {
		targettest.Run(t, targettest.Subject{Design: d, Lacks: []string{"scripts-forgotten"}})
	}
}
