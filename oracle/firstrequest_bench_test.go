package oracle

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// benchRun is a saturated correct limiter on many keys: 20 % refused, 0.1 %
// unknown, about 1 ms each, over 100 s.
func benchRun(ops, keys int, window int64) *rlbench.Run {
	random := rand.New(rand.NewPCG(3, 3))
	const second = int64(1e9)
	gap := 100 * second / int64(ops)
	limit := max(1, window/gap*4/5/int64(keys))
	r := &rlbench.Run{Target: "bench", Complete: true, Policy: rlbench.Policy{
		Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: limit, Per: 0, Anchor: rlbench.FirstRequest}}}}
	r.Policy.Limits[0].Per = time.Duration(window)
	for k := range keys {
		r.Ops.Keys = append(r.Ops.Keys, strconv.Itoa(k))
	}
	ends, used := make([]int64, keys), make([]int64, keys)
	for i := range ops {
		k := random.IntN(keys)
		sent := int64(i)*gap + random.Int64N(gap)
		at := int64(i)*gap + gap + int64(random.ExpFloat64()*3e5)
		// Decisions are made in order of i, so that one pass decides them all.
		decided := int64(i)*gap + gap
		at = max(at, decided) + int64(random.ExpFloat64()*3e5)
		sent -= int64(random.ExpFloat64() * 4e5)
		outcome := rlbench.Denied
		if decided >= ends[k] {
			ends[k], used[k] = decided+window, 0
		}
		if used[k] < limit {
			used[k]++
			outcome = rlbench.Allowed
		}
		if random.IntN(1000) == 0 {
			outcome = rlbench.Unknown
		}
		o := &r.Ops
		o.ID, o.Key, o.Cost = append(o.ID, int64(i)), append(o.Key, uint32(k)), append(o.Cost, 1)
		o.Instance, o.Worker = append(o.Instance, 0), append(o.Worker, 0)
		o.Planned, o.Sent, o.Done = append(o.Planned, rlbench.Instant(sent)), append(o.Sent, rlbench.Instant(sent)), append(o.Done, rlbench.Instant(at))
		o.Outcome = append(o.Outcome, outcome)
	}
	return r
}

func BenchmarkFirstRequest(b *testing.B) {
	for _, c := range []struct {
		name      string
		ops, keys int
	}{{"one key", 1_000_000, 1}, {"10k keys", 1_000_000, 10_000}} {
		b.Run(c.name, func(b *testing.B) {
			r := benchRun(c.ops, c.keys, 1e9)
			b.ReportAllocs()
			for b.Loop() {
				f, err := Judge(r, "never-over")
				if err != nil || f[0].Verdict == rlbench.Fail {
					b.Fatalf("%v: %v", err, f)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.ops), "ns/judged-op")
		})
	}
}
