package driver_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// target answers by a function.
type target func(ctx context.Context, request rlbench.Request) rlbench.Answer

func (t target) Ask(ctx context.Context, request rlbench.Request) rlbench.Answer {
	return t(ctx, request)
}
func (target) Close() error { return nil }

// allow lets everything pass at once.
func allow(context.Context, rlbench.Request) rlbench.Answer {
	return rlbench.Answer{Outcome: rlbench.Allowed}
}

// roomy are bounds that no test reaches unless it means to.
var roomy = rlbench.Bounds{Duration: time.Minute, Ops: 1 << 20, InFlight: 64}

func request(key string) rlbench.Request { return rlbench.Request{Key: key, Cost: 1} }

// constant plans n arrivals that stand alone, one every gap.
func constant(n int, gap time.Duration) []rlbench.Arrival {
	arrivals := make([]rlbench.Arrival, n)
	for i := range arrivals {
		arrivals[i] = rlbench.Arrival{Request: request("k"), At: rlbench.Instant(0).After(time.Duration(i) * gap)}
	}
	return arrivals
}

// burst plans n arrivals of one release.
func burst(n int, at rlbench.Instant, release int32) []rlbench.Arrival {
	arrivals := make([]rlbench.Arrival, n)
	for i := range arrivals {
		arrivals[i] = rlbench.Arrival{Request: request("k"), At: at, Release: release}
	}
	return arrivals
}

// drive carries the plan out and demands what holds of every recording.
func drive(t *testing.T, ctx context.Context, plan *rlbench.Plan, ask target, o driver.Options) *driver.Recording {
	t.Helper()
	recording, err := driver.Drive(ctx, plan, ask, o)
	if err != nil {
		t.Fatalf("Drive: %v", err)
	}
	if err := wellFormed(plan, recording); err != nil {
		t.Fatal(err)
	}
	return recording
}

func count(r *driver.Recording, o rlbench.Outcome) int {
	n := 0
	for _, outcome := range r.Ops.Outcome {
		if outcome == o {
			n++
		}
	}
	return n
}

func TestEveryArrivalIsAskedOnceAtItsInstant(t *testing.T) {
	var asked atomic.Int64
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: constant(200, 100*time.Microsecond)}
	r := drive(t, t.Context(), plan, func(context.Context, rlbench.Request) rlbench.Answer {
		asked.Add(1)
		return rlbench.Answer{Outcome: rlbench.Denied}
	}, driver.Options{})
	if asked.Load() != 200 || count(r, rlbench.Denied) != 200 {
		t.Fatalf("asked %d times, %d denied; want 200 of each", asked.Load(), count(r, rlbench.Denied))
	}
	if r.Latency.TotalCount() != 200 || r.Service.TotalCount() != 200 || r.Lateness.TotalCount() != 200 {
		t.Fatal("a histogram misses ops")
	}
}

func TestClosedLoop(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy}
	plan.Bounds.Ops = 1000
	for range 3 {
		plan.Clients = append(plan.Clients, rlbench.Client{
			Requests: []rlbench.Request{request("a"), request("b")}, From: 0, Until: rlbench.Instant(time.Minute),
		})
	}
	r := drive(t, t.Context(), plan, allow, driver.Options{})
	if r.Ops.Len() != 1000 || count(r, rlbench.Allowed) != 1000 {
		t.Fatalf("%d ops, %d allowed; want 1000", r.Ops.Len(), count(r, rlbench.Allowed))
	}
}

func TestBurstIsTogether(t *testing.T) {
	const k = 50
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: burst(k, 0, 1)}
	r := drive(t, t.Context(), plan, together(k), driver.Options{})
	if count(r, rlbench.Allowed) != k {
		t.Fatalf("%d allowed, want %d", count(r, rlbench.Allowed), k)
	}
	if last, first := slices.Max(r.Ops.Sent), slices.Min(r.Ops.Sent); r.ReleaseSpread != last.Since(first) {
		t.Fatalf("release spread %s, want %s", r.ReleaseSpread, last.Since(first))
	}
}
