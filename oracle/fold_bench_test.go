package oracle

import (
	"runtime"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// blockOps is how many ops a Fold is fed at once in benchmarks, as a reader of logs
// gives them.
const blockOps = 8192

// block returns the rows from a to b.
func block(o *rlbench.Ops, a, b int) *rlbench.Ops {
	return &rlbench.Ops{
		Keys: o.Keys, ID: o.ID[a:b], Key: o.Key[a:b], Cost: o.Cost[a:b], Instance: o.Instance[a:b], Worker: o.Worker[a:b],
		Planned: o.Planned[a:b], Sent: o.Sent[a:b], Done: o.Done[a:b], Outcome: o.Outcome[a:b],
	}
}

// liveHeap is what a Fold holds, in MB, beyond what there was before.
func liveHeap(before uint64) float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(int64(m.HeapAlloc)-int64(before)) / 1e6
}

// BenchmarkFold streams a saturated run through both checks and the figures. It reports
// the memory held after the second and the last eighth of the run.
func BenchmarkFold(b *testing.B) {
	n := benchOps(b)
	perSecond := int64(n) / 100
	window := rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: perSecond * 4 / 5, Per: time.Second}}}
	bucket := rlbench.Policy{Algorithm: rlbench.GCRA, Limits: []rlbench.Limit{{Count: perSecond * 4 / 5, Per: time.Second, Burst: perSecond / 10}}}
	fixed := window
	fixed.Algorithm, fixed.Limits = rlbench.FixedWindow, []rlbench.Limit{{Count: perSecond * 4 / 5, Per: time.Second, Anchor: rlbench.Epoch}}
	for _, c := range []struct {
		name   string
		keys   int
		policy rlbench.Policy
	}{
		{"window/1-key", 1, window},
		{"bucket/1-key", 1, bucket},
		{"aligned/1-key", 1, fixed},
		{"window/many-keys", n / 100, rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 8, Per: 10 * time.Second}}}},
		{"bucket/many-keys", n / 100, rlbench.Policy{Algorithm: rlbench.GCRA, Limits: []rlbench.Limit{{Count: 8, Per: 10 * time.Second, Burst: 4}}}},
	} {
		run := saturated(n, c.keys, c.policy)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var early, late float64
			for b.Loop() {
				early, late = foldRun(b, run)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/rlop")
			b.ReportMetric(early, "MB@2/8")
			b.ReportMetric(late, "MB@8/8")
		})
		b.Run(c.name+"/whole", func(b *testing.B) {
			for b.Loop() {
				if _, err := Judge(run); err != nil {
					b.Fatal(err)
				}
				Accuracy(run)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/rlop")
		})
	}
}

func foldRun(b *testing.B, run *rlbench.Run) (early, late float64) {
	head := *run
	head.Ops = rlbench.Ops{}
	b.StopTimer()
	before := uint64(liveHeap(0) * 1e6)
	b.StartTimer()
	f, err := Open(&head)
	if err != nil {
		b.Fatal(err)
	}
	n := run.Ops.Len()
	eighth := 1
	for at := 0; at < n; at += blockOps {
		if err := f.Feed(block(&run.Ops, at, min(n, at+blockOps))); err != nil {
			b.Fatal(err)
		}
		if at >= eighth*(n/8)-blockOps {
			b.StopTimer()
			late = liveHeap(before)
			b.Logf("after %d/8: %.0f MB", eighth, late)
			if eighth == 2 {
				early = late
			}
			eighth++
			b.StartTimer()
		}
	}
	found, _, err := f.Close()
	if err != nil {
		b.Fatal(err)
	}
	for _, finding := range found {
		if finding.Verdict != rlbench.Pass {
			b.Fatalf("%s: %s", finding.Check, finding.Because)
		}
	}
	return early, late
}
