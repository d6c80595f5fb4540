package memory

import (
	"math"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// TestTheGreatestPolicies are decided to the unit, and no sum overflows.
func TestTheGreatestPolicies(t *testing.T) {
	const per = targets.WindowMax
	const day = 24 * time.Hour
	var now int64 = 1_700_000_000_000_000_000
	clock := func() int64 { return now }
	for name, row := range map[string]struct {
		most   int64
		target rlbench.Target
	}{
		"sliding-log":     {math.MaxInt64, newSlidingLog([]rlbench.Limit{{Count: math.MaxInt64, Per: per}}, clock)},
		"sliding-counter": {math.MaxInt64, newSlidingCounter([]rlbench.Limit{{Count: math.MaxInt64, Per: per}}, clock)},
		"slow bucket":     {partsMax / int64(day), newBucket([]rlbench.Limit{{Count: 1, Per: day, Burst: partsMax / int64(day)}}, clock)},
		"fast bucket":     {partsMax, newBucket([]rlbench.Limit{{Count: math.MaxInt64, Per: 1, Burst: partsMax}}, clock)},
	} {
		for i, step := range []struct {
			cost int64
			want rlbench.Outcome
			left int64
		}{{row.most - 1, rlbench.Allowed, 1}, {row.most, rlbench.Denied, 1}, {math.MaxInt64, rlbench.Denied, 1}, {1, rlbench.Allowed, 0}} {
			a := row.target.Ask(t.Context(), rlbench.Request{Key: name, Cost: step.cost})
			if a.Outcome != step.want || a.Remaining != step.left || a.Limit != row.most {
				t.Errorf("%s, request %d: %s with %d of %d remaining", name, i+1, a.Outcome, a.Remaining, a.Limit)
			}
			if a.RetryAfter < 0 {
				t.Errorf("%s, request %d: told to come back after %s", name, i+1, a.RetryAfter)
			}
		}
	}
}

// TestWhatIsBeyondABucketIsRefused in words.
func TestWhatIsBeyondABucketIsRefused(t *testing.T) {
	for _, d := range Designs() {
		if !d.Algorithm.Bucket() {
			continue
		}
		s := targets.Setup{Instances: 1, InFlight: 1, Policy: rlbench.Policy{Algorithm: d.Algorithm,
			Limits: []rlbench.Limit{{Count: 7, Per: time.Hour, Burst: partsMax/int64(time.Hour) + 1}}}}
		if target, err := d.Open(t.Context(), s); err == nil {
			_ = target.Close()
			t.Errorf("%s accepts %s", d.Name, s.Policy.Limits[0])
		}
	}
}
