package oracle

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// benchOps is how many ops a benchmark judges: RLBENCH_OPS, or a number that takes
// little time. The budget is stated for 10,000,000.
func benchOps(b *testing.B) int {
	n, err := strconv.Atoi(os.Getenv("RLBENCH_OPS"))
	if err != nil {
		n = 200_000
	}
	if testing.Short() {
		n = 10_000
	}
	return n
}

// saturated is the run of a correct limiter with more asked of it than it gives: ops
// spread over 100 s and as many keys, about 1 ms each, one in five refused, one in a
// thousand unknown, recorded in order of Sent.
func saturated(n, keys int, policy rlbench.Policy) *rlbench.Run {
	random := rand.New(rand.NewPCG(1, 1))
	r := &rlbench.Run{Target: "saturated", Complete: true, Policy: policy, Clock: rlbench.LimiterClock{Stated: true}}
	for k := range keys {
		r.Ops.Keys = append(r.Ops.Keys, fmt.Sprintf("key-%07d", k))
	}
	limiters := make([]*sequential, keys)
	for k := range limiters {
		limiters[k] = &sequential{policy: policy}
	}
	o := &r.Ops
	step := int64(100*time.Second) / int64(n)
	at := make([]int64, n)
	for i := range n {
		sent := int64(i)*step + random.Int64N(step)
		at[i] = sent + int64(random.ExpFloat64()*5e5)
		done := at[i] + int64(random.ExpFloat64()*5e5)
		o.ID, o.Key, o.Cost = append(o.ID, int64(i)), append(o.Key, uint32(random.IntN(keys))), append(o.Cost, 1)
		o.Instance, o.Worker = append(o.Instance, 0), append(o.Worker, 0)
		o.Planned, o.Sent, o.Done = append(o.Planned, rlbench.Instant(sent)), append(o.Sent, rlbench.Instant(sent)), append(o.Done, rlbench.Instant(done))
		o.Outcome = append(o.Outcome, rlbench.Denied)
	}
	for _, i := range order(at) {
		if limiters[o.Key[i]].ask(at[i]) {
			o.Outcome[i] = rlbench.Allowed
		}
		if random.IntN(1000) == 0 {
			o.Outcome[i] = rlbench.Unknown
		}
	}
	return r
}

// sequential is a correct limiter of one limit; it is asked at moments that never
// fall.
type sequential struct {
	policy rlbench.Policy
	taken  []int64
	// full is the moment at which a bucket will have drained.
	full int64
}

func (s *sequential) ask(at int64) bool {
	l := s.policy.Limits[0]
	if s.policy.Algorithm.Bucket() {
		// Times are scaled by the count so that each op takes Per.
		now := at * l.Count
		if max(s.full, now)-now > (l.Burst-1)*int64(l.Per) {
			return false
		}
		s.full = max(s.full, now) + int64(l.Per)
		return true
	}
	n := len(s.taken)
	if l.Anchor == rlbench.Epoch {
		at -= at % int64(l.Per)
		if n >= int(l.Count) && s.taken[n-int(l.Count)] == at {
			return false
		}
		s.taken = append(s.taken, at)
		return true
	}
	if n >= int(l.Count) && s.taken[n-int(l.Count)] > at-int64(l.Per) {
		return false
	}
	s.taken = append(s.taken, at)
	return true
}

// BenchmarkJudge takes both checks together. The budget for 10 M ops on one core is
// 2 s and 64 bytes an op.
func BenchmarkJudge(b *testing.B) {
	n := benchOps(b)
	perSecond := int64(n) / 100
	for _, c := range []struct {
		name   string
		keys   int
		policy rlbench.Policy
	}{
		{"window/1-key", 1, rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: perSecond * 4 / 5, Per: time.Second}}}},
		{"window/many-keys", n / 100, rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 8, Per: 10 * time.Second}}}},
		{"aligned/1-key", 1, rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: perSecond * 4 / 5, Per: time.Second, Anchor: rlbench.Epoch}}}},
		{"bucket/1-key", 1, rlbench.Policy{Algorithm: rlbench.GCRA, Limits: []rlbench.Limit{{Count: perSecond * 4 / 5, Per: time.Second, Burst: 1 + perSecond/10}}}},
		{"bucket/many-keys", n / 100, rlbench.Policy{Algorithm: rlbench.GCRA, Limits: []rlbench.Limit{{Count: 8, Per: 10 * time.Second, Burst: 3}}}},
	} {
		run := saturated(n, c.keys, c.policy)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, err := Judge(run)
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range found {
					if f.Verdict != rlbench.Pass {
						b.Fatalf("%s: %s", f.Check, f.Because)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/rlop")
		})
	}
}
