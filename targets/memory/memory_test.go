package memory_test

import (
	"testing"

	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/memory"
	"github.com/rlbench/rlbench/targets/targettest"
)

func TestDesignsKeepTheRules(t *testing.T) {
	// Just before a window's edge, and at a moment that is on none.
	clock := targettest.NewVirtualClock(1_700_000_000_399_999_999)
	for _, d := range memory.DesignsOn(clock.Read) {
		t.Run(d.Name, func(t *testing.T) {
			targettest.Run(t, targettest.Subject{Design: d, Pass: clock.Pass})
		})
	}
}

func TestDesignsKeepTheRulesInRealTime(t *testing.T) {
	for _, d := range memory.Designs() {
		t.Run(d.Name, func(t *testing.T) {
			targettest.Run(t, targettest.Subject{Design: d, Setup: targets.Setup{}})
		})
	}
}
