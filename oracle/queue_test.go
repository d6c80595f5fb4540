package oracle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// asQueue turns a history of a bucket into one of a queue whose ops state when they
// were decided.
func asQueue(r *rlbench.Run, decided ...int64) *rlbench.Run {
	r.Policy.Algorithm = rlbench.LeakyQueue
	r.Ops.DecidedAt = decided
	return r
}

func TestQueueIsJudgedAtItsDecisions(t *testing.T) {
	const none = rlbench.None
	for _, row := range []struct {
		why, history, check string
		decided             []int64
		flaw                func(*rlbench.Run)
		want                rlbench.Verdict
	}{
		{"the answers would excuse it, the stamps do not", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", []int64{0, 1}, nil, fail},
		{"far enough apart", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", []int64{0, 4}, nil, pass},
		{"one tick too close", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", []int64{0, 3}, nil, fail},
		{"a clock that may be off by one tick on either side", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", []int64{1, 3}, func(r *rlbench.Run) { r.Clock.Error = 1 }, pass},
		{"a stamp before it was sent accuses nobody here", "r=1/4 b=1: A[0,9] A[5,9]", "never-over", []int64{0, 1}, nil, open},
		{"without a stamp nothing is known", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", []int64{0, none}, nil, open},
		{"without any", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", nil, nil, open},
		{"a clock that was not read", "r=1/4 b=1: A[0,9] A[1,9]", "never-over", []int64{0, 1}, func(r *rlbench.Run) { r.Clock.Stated = false }, open},
		{"there was room again when it was refused", "r=1/4 b=1: A[0,9] D[1,9]", "never-starved", []int64{0, 8}, nil, fail},
		{"there was none yet", "r=1/4 b=1: A[0,9] D[1,9]", "never-starved", []int64{0, 3}, nil, pass},
		{"a refusal is answered at once and needs no stamp", "r=1/4 b=1: A[0,9] D[8,9]", "never-starved", []int64{0, none}, nil, fail},
		{"an unknown op may have filled it", "r=1/4 b=1: A[0,0] U[1,2] D[8,9]", "never-starved", []int64{0, none, 8}, nil, pass},
	} {
		r := asQueue(run(t, row.history), row.decided...)
		if row.flaw != nil {
			row.flaw(r)
		}
		if f := judgeOne(t, r, row.check); f.Verdict != row.want {
			t.Errorf("%s: %s, want %s: %s", row.why, f.Verdict, row.want, f.Because)
		}
	}
}

// TestQueueIsABucketOfStamps: judging a queue whose clock is exact is judging the bucket
// whose ops were sent and answered at their stamps, whatever lies around them.
func TestQueueIsABucketOfStamps(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	seen := map[rlbench.Verdict]int{}
	for range histories(t, 5000) {
		points := &rlbench.Run{Target: "history", Complete: true, Clock: rlbench.LimiterClock{Stated: true}}
		points.Policy = rlbench.Policy{Algorithm: rlbench.TokenBucket, Limits: []rlbench.Limit{{
			Count: 1 + random.Int64N(3), Per: time.Duration(1 + random.Int64N(5)), Burst: 1 + random.Int64N(3)}}}
		waits := *points
		var decided []int64
		for range 1 + random.IntN(6) {
			at, cost := random.Int64N(13), 1+random.Int64N(2)
			outcome := []rlbench.Outcome{rlbench.Allowed, rlbench.Allowed, rlbench.Denied}[random.IntN(3)]
			addOp(&points.Ops, "k", outcome, cost, at, at)
			addOp(&waits.Ops, "k", outcome, cost, at-random.Int64N(4), at+random.Int64N(9))
			decided = append(decided, at)
		}
		asQueue(&waits, decided...)
		for _, check := range []string{"never-over", "never-starved"} {
			want, got := judgeOne(t, points, check), judgeOne(t, &waits, check)
			if want.Verdict != got.Verdict || want.Doubt != got.Doubt {
				t.Fatalf("%s: the queue is %s with a doubt of %d, its stamps %s with %d: %s decided at %v",
					check, got.Verdict, got.Doubt, want.Verdict, want.Doubt, text(&waits), decided)
			}
			seen[got.Verdict]++
		}
	}
	if seen[pass] == 0 || seen[fail] == 0 {
		t.Errorf("only one side was seen: %v", seen)
	}
}
