package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// asking is a limiter of any algorithm.
type asking struct {
	name string
	open func(targets.Clock) rlbench.Target
}

// algorithms open a limiter of count in per, whose bucket holds count. A queue is
// a bucket that waits, so it is the bucket that is measured.
func algorithms(count int64, per time.Duration) []asking {
	l := rlbench.Limit{Count: count, Per: per, Burst: count}
	anchored := func(a rlbench.Anchor) []rlbench.Limit { return []rlbench.Limit{limit(count, per, a)} }
	return []asking{
		{"fixed-window-epoch", func(c targets.Clock) rlbench.Target { return newFixedWindow(anchored(rlbench.Epoch), c) }},
		{"fixed-window-first-request", func(c targets.Clock) rlbench.Target { return newFixedWindow(anchored(rlbench.FirstRequest), c) }},
		{"sliding-log", func(c targets.Clock) rlbench.Target { return newSlidingLog([]rlbench.Limit{l}, c) }},
		{"sliding-counter", func(c targets.Clock) rlbench.Target { return newSlidingCounter([]rlbench.Limit{l}, c) }},
		{"bucket", func(c targets.Clock) rlbench.Target { return newBucket([]rlbench.Limit{l}, c) }},
	}
}

// TestNoAllocationADecision: whether it is admitted, refused, or finds that
// budget came back.
func TestNoAllocationADecision(t *testing.T) {
	for _, a := range algorithms(7, time.Second) {
		var now int64
		target := a.open(func() int64 { return now })
		outcomes := map[rlbench.Outcome]int{rlbench.Allowed: 0, rlbench.Denied: 0}
		r := rlbench.Request{Key: "key", Cost: 1}
		ask := func() {
			now += int64(100 * time.Millisecond)
			outcomes[target.Ask(t.Context(), r).Outcome]++
		}
		for range 100 {
			ask() // a log grows until it holds what its limit lets in
		}
		if got := testing.AllocsPerRun(1000, ask); got != 0 {
			t.Errorf("%s: %v allocations a decision", a.name, got)
		}
		if outcomes[rlbench.Allowed] == 0 || outcomes[rlbench.Denied] == 0 {
			t.Errorf("%s: only one kind of decision was measured: %v", a.name, outcomes)
		}
	}
}

// TestALogHoldsNoMoreThanItsLimit, however long and often it is asked.
func TestALogHoldsNoMoreThanItsLimit(t *testing.T) {
	const count = 100
	var now int64
	f := newSlidingLog([]rlbench.Limit{{Count: count, Per: time.Second}}, func() int64 { return now })
	for range 100_000 {
		now += int64(time.Millisecond)
		f.Ask(t.Context(), rlbench.Request{Key: "key", Cost: 1})
	}
	if held := len(f.keys.holding("key").accounts[0].ring); held > 2*count {
		t.Errorf("room for %d stamps is held under a limit of %d", held, count)
	}
}

// BenchmarkAsk gives the cost of a decision: one goroutine on one key, all
// goroutines on one key, and all goroutines over many.
func BenchmarkAsk(b *testing.B) {
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("user-%d", i)
	}
	for _, a := range algorithms(100, time.Second) {
		b.Run(a.name+"/one-goroutine", func(b *testing.B) {
			b.ReportAllocs()
			target := a.open(targets.SteadyClock())
			for b.Loop() {
				target.Ask(b.Context(), rlbench.Request{Key: keys[0], Cost: 1})
			}
		})
		for _, of := range []int{1, len(keys)} {
			b.Run(fmt.Sprintf("%s/all-goroutines/keys=%d", a.name, of), func(b *testing.B) {
				b.ReportAllocs()
				target := a.open(targets.SteadyClock())
				b.RunParallel(func(pb *testing.PB) {
					for i := 0; pb.Next(); i++ {
						target.Ask(b.Context(), rlbench.Request{Key: keys[i%of], Cost: 1})
					}
				})
			})
		}
	}
}
