package driver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
)

// together answers once k requests are inside at once, or when cancelled.
func together(k int64) target {
	var inside atomic.Int64
	all := make(chan struct{})
	return func(ctx context.Context, _ rlbench.Request) rlbench.Answer {
		if inside.Add(1) == k {
			close(all)
		}
		select {
		case <-all:
			return rlbench.Answer{Outcome: rlbench.Allowed}
		case <-ctx.Done():
			return rlbench.Answer{Err: ctx.Err()}
		}
	}
}

func TestOpenLoopDoesNotWaitForASlowTarget(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: constant(40, 200*time.Microsecond)}
	r := drive(t, t.Context(), plan, together(40), driver.Options{})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 40}, rlbench.Allowed, "")
}

func TestInFlightLimit(t *testing.T) {
	for _, c := range []struct {
		name     string
		arrivals []rlbench.Arrival
	}{
		{"alone", constant(10, 10*time.Microsecond)},
		{"one release", burst(10, 0, 1)},
		{"two releases", append(burst(5, 0, 1), burst(5, 0, 2)...)},
		{"both", append(constant(5, 0), burst(5, rlbench.Instant(time.Millisecond), 7)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := &rlbench.Plan{Bounds: roomy, Arrivals: c.arrivals}
			plan.Bounds.InFlight = 3
			free := make(chan struct{})
			var once sync.Once
			var inside, tooMany atomic.Int64
			// Nothing answers until the other seven have been given up.
			progress := func(done, planned int64) {
				if planned != 10 {
					t.Errorf("%d planned, want 10", planned)
				}
				if done >= 7 {
					once.Do(func() { close(free) })
				}
			}
			r := drive(t, t.Context(), plan, func(context.Context, rlbench.Request) rlbench.Answer {
				if inside.Add(1) > 3 {
					tooMany.Add(1)
				}
				defer inside.Add(-1)
				<-free
				return rlbench.Answer{Outcome: rlbench.Denied}
			}, driver.Options{Progress: progress, Drain: time.Hour})
			demand(t, r, map[rlbench.Outcome]int{rlbench.Denied: 3, rlbench.Unsent: 7}, rlbench.Unsent, "in-flight limit of 3 reached")
			if r.UnsentInFlight != 7 || tooMany.Load() != 0 {
				t.Errorf("%d unsent, %d beyond the limit; want 7 and 0", r.UnsentInFlight, tooMany.Load())
			}
		})
	}
}

func TestReleasesOfOneInstantAreEachTogether(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy}
	plan.Arrivals = append(plan.Arrivals, burst(20, rlbench.Instant(5*time.Millisecond), 1)...)
	plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{Request: request("alone"), At: rlbench.Instant(5 * time.Millisecond)})
	plan.Arrivals = append(plan.Arrivals, burst(20, rlbench.Instant(5*time.Millisecond), 2)...)
	r := drive(t, t.Context(), plan, together(41), driver.Options{})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 41}, rlbench.Allowed, "")
	spread := time.Duration(0)
	for _, ids := range [][2]int64{{0, 20}, {21, 41}} {
		first, last := rlbench.Instant(1<<62), rlbench.Instant(0)
		for i, id := range r.Ops.ID {
			if ids[0] <= id && id < ids[1] {
				first, last = min(first, r.Ops.Sent[i]), max(last, r.Ops.Sent[i])
			}
		}
		spread = max(spread, last.Since(first))
	}
	if r.ReleaseSpread != spread {
		t.Errorf("release spread %s, want %s", r.ReleaseSpread, spread)
	}
}

func TestPoissonPlanKeepsItsInstants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	plan := &rlbench.Plan{Bounds: roomy}
	at := 0.0
	for range 500 {
		at += random.ExpFloat64() * float64(50*time.Microsecond)
		plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{Request: request("k"), At: rlbench.Instant(at)})
	}
	r := drive(t, t.Context(), plan, allow, driver.Options{}) // wellFormed compares every instant
	if got := count(r, rlbench.Allowed) + int(r.UnsentInFlight); got != 500 {
		t.Errorf("%d rows, want 500", got)
	}
}

func TestEveryDecisionLiesBetweenSentAndDone(t *testing.T) {
	start := time.Now().Add(10 * time.Millisecond)
	plan := &rlbench.Plan{Bounds: roomy}
	plan.Arrivals = append(constant(100, 50*time.Microsecond), burst(50, rlbench.Instant(10*time.Millisecond), 1)...)
	plan.Clients = []rlbench.Client{
		{Requests: []rlbench.Request{request("a")}, Until: rlbench.Instant(10 * time.Millisecond), Think: 300 * time.Microsecond},
		{Requests: []rlbench.Request{request("b")}, From: rlbench.Instant(time.Millisecond), Until: rlbench.Instant(2 * time.Millisecond)},
	}
	const origin = 1_000_000
	r := drive(t, t.Context(), plan, func(context.Context, rlbench.Request) rlbench.Answer {
		return rlbench.Answer{Outcome: rlbench.Allowed, Said: rlbench.SaidDecidedAt, DecidedAt: origin + int64(time.Since(start))}
	}, driver.Options{Start: start, ClockOrigin: origin})
	if !r.StartedAt.Equal(start) {
		t.Errorf("started at %s, want %s", r.StartedAt, start)
	}
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		if op.Outcome == rlbench.Allowed && (rlbench.Instant(op.DecidedAt) < op.Sent || rlbench.Instant(op.DecidedAt) > op.Done) {
			t.Errorf("op %d was decided at %d, outside of [%d, %d]", op.ID, op.DecidedAt, op.Sent, op.Done)
		}
	}
}

func TestWhatTheTargetSaysIsKept(t *testing.T) {
	answers := []rlbench.Answer{
		{Outcome: rlbench.Allowed, Said: rlbench.SaidLimit | rlbench.SaidRemaining, Limit: 7, Remaining: 6, Reset: 99},
		{Outcome: rlbench.Denied, Status: 429, Said: rlbench.SaidRetryAfter | rlbench.SaidReleasedAt, RetryAfter: 5, ReleasedAt: 12},
		{Outcome: rlbench.Unsent, Err: errors.New("refused")},
		{Outcome: rlbench.Unknown, Err: errors.New("reset")},
		{Outcome: 9},
		{Outcome: rlbench.Denied, Err: errors.New("refused")},
	}
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: constant(len(answers), 0)}
	for i := range answers {
		plan.Arrivals[i].Instance = int32(i)
		plan.Arrivals[i].Cost = int64(10 + i)
	}
	r := drive(t, t.Context(), plan, func(_ context.Context, request rlbench.Request) rlbench.Answer {
		return answers[request.Instance]
	}, driver.Options{ClockOrigin: 2})
	byID := make([]rlbench.Op, len(answers))
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		byID[op.ID] = op
	}
	none := rlbench.None
	want := []struct {
		outcome                          rlbench.Outcome
		status                           int32
		limit, remaining, retry, release int64
		text                             string
	}{
		{rlbench.Allowed, 0, 7, 6, none, none, ""},
		{rlbench.Denied, 429, none, none, 5, 10, ""},
		{rlbench.Unsent, 0, none, none, none, none, "refused"},
		{rlbench.Unknown, 0, none, none, none, none, "reset"},
		{rlbench.Unknown, 0, none, none, none, none, "the target answered outcome(9)"},
		{rlbench.Denied, 0, none, none, none, none, "refused"},
	}
	for i, w := range want {
		op := byID[i]
		if op.Outcome != w.outcome || op.Status != w.status || op.Limit != w.limit || op.Remaining != w.remaining ||
			op.RetryAfter != w.retry || op.ReleasedAt != w.release || op.Error != w.text {
			t.Errorf("op %d is %+v, want %+v", i, op, w)
		}
	}
	if r.Ops.Reset != nil || r.Ops.DecidedAt != nil {
		t.Error("there are columns that nobody stated a value for")
	}
	if len(r.Ops.Errors) != 4 || r.Ops.Errors[0] != "" || len(r.Ops.Keys) != 1 {
		t.Errorf("errors %q, keys %q", r.Ops.Errors, r.Ops.Keys)
	}
}
