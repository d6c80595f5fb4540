package driver

import (
	"context"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// counter is the least work that is still a decision: one worker alone asks it.
type counter struct{ n int64 }

func (c *counter) Ask(context.Context, rlbench.Request) rlbench.Answer {
	c.n++
	if c.n&1 == 0 {
		return rlbench.Answer{Outcome: rlbench.Denied}
	}
	return rlbench.Answer{Outcome: rlbench.Allowed}
}

func (*counter) Close() error { return nil }

// BenchmarkRecord measures what keeping one op costs beside the Ask: the row of
// an answered op that stated what it had left and when it decided. The cost of
// new chunks is in it, and must come to no allocation an op.
func BenchmarkRecord(b *testing.B) {
	answer := rlbench.Answer{Outcome: rlbench.Allowed, Said: rlbench.SaidRemaining | rlbench.SaidDecidedAt, Remaining: 3, DecidedAt: 9}
	for _, c := range []struct {
		name   string
		answer rlbench.Answer
	}{{"plain", rlbench.Answer{Outcome: rlbench.Allowed}}, {"stated", answer}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			r := newRecorder(1, 0, rowsMax)
			for b.Loop() {
				if len(r.chunks) > 64 { // as much as one worker keeps warm; more would measure the page faults of the benchmark
					r = newRecorder(1, 0, rowsMax)
				}
				r.add(row{id: 1, planned: 2, sent: 3, done: 4, outcome: rlbench.Allowed}, &c.answer)
			}
		})
	}
}

// BenchmarkClosedLoop measures decisions a second of an in-process target
// through the whole of Drive, every op recorded and merged: one closed loop
// makes b.N requests. Run it with -cpu 1 for the figure of one core. The metric
// is decisions/s of the driving alone; ns/op has merging and histograms too.
func BenchmarkClosedLoop(b *testing.B) {
	plan := &rlbench.Plan{
		Bounds:  rlbench.Bounds{Duration: time.Hour, Ops: int64(b.N), InFlight: 1},
		Clients: []rlbench.Client{{Requests: []rlbench.Request{{Key: "k", Cost: 1}}, Until: rlbench.Instant(time.Hour)}},
	}
	b.ReportAllocs()
	recording, err := Drive(b.Context(), plan, &counter{}, Options{})
	if err != nil || recording.Ops.Len() != b.N {
		b.Fatalf("%d ops of %d, %v", recording.Ops.Len(), b.N, err)
	}
	last := recording.Ops.Done[b.N-1]
	b.ReportMetric(float64(b.N)/time.Duration(last).Seconds(), "decisions/s")
}
