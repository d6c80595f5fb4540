package driver_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
)

func TestBoundOnOps(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: append(constant(5, 0), burst(5, 0, 1)...)}
	plan.Clients = []rlbench.Client{{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(time.Minute)}}
	for _, c := range []struct {
		ops          int64
		sent, unsent int
	}{
		{3, 3, 7},   // the bound cuts off arrivals that stand alone
		{7, 7, 3},   // and part of a release
		{10, 10, 0}, // leaves nothing to the client
		{25, 25, 0}, // leaves it 15
	} {
		plan.Bounds.Ops = c.ops
		r := drive(t, t.Context(), plan, allow, driver.Options{})
		demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: c.sent, rlbench.Unsent: c.unsent}, rlbench.Unsent, "ops was reached before it was sent")
		if r.UnsentBound != int64(c.unsent) {
			t.Errorf("bound of %d ops: %d unsent, want %d", c.ops, r.UnsentBound, c.unsent)
		}
	}
}

func TestBoundOnOpsIsSharedByClients(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy}
	plan.Bounds.Ops = 1001
	for range 8 {
		plan.Clients = append(plan.Clients, rlbench.Client{Requests: []rlbench.Request{request("a"), request("b"), request("c")}, Until: rlbench.Instant(time.Minute)})
	}
	r := drive(t, t.Context(), plan, allow, driver.Options{})
	if r.Ops.Len() != 1001 {
		t.Errorf("%d ops, want 1001", r.Ops.Len())
	}
}

func TestBoundOnDuration(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: append(constant(5, 0), burst(5, rlbench.Instant(time.Hour), 1)...)}
	plan.Bounds.Duration = 20 * time.Second // enough for five on any machine
	plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{Request: request("k"), At: rlbench.Instant(2 * time.Hour)})
	r := drive(t, t.Context(), plan, allow, driver.Options{})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 5, rlbench.Unsent: 6}, rlbench.Unsent, "the bound of 20s was reached before it was sent")
	if r.UnsentBound != 6 || r.Interrupted {
		t.Errorf("%d unsent, interrupted %v; want 6, false", r.UnsentBound, r.Interrupted)
	}
}

func TestNothingIsSentOnceTheDurationIsOver(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy, Arrivals: append(constant(3, 0), burst(3, 0, 1)...)}
	plan.Bounds.Duration = time.Second
	plan.Clients = []rlbench.Client{{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(time.Minute)}}
	var asked atomic.Int64
	// Instant 0 is long past: everything is due, and it is too late for all of it.
	r := drive(t, t.Context(), plan, func(context.Context, rlbench.Request) rlbench.Answer {
		asked.Add(1)
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}, driver.Options{Start: time.Now().Add(-time.Hour)})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Unsent: 6}, rlbench.Unsent, "the bound of 1s was reached before it was sent")
	if asked.Load() != 0 || r.UnsentBound != 6 {
		t.Errorf("asked %d times, %d unsent; want 0 and 6", asked.Load(), r.UnsentBound)
	}
}

func TestClientsStopAtUntil(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy}
	until := rlbench.Instant(5 * time.Millisecond)
	for _, think := range []time.Duration{0, 50 * time.Microsecond, time.Millisecond, 1<<63 - 1} {
		plan.Clients = append(plan.Clients, rlbench.Client{Requests: []rlbench.Request{request("k")}, Until: until, Think: think})
	}
	r := drive(t, t.Context(), plan, allow, driver.Options{})
	for i := range r.Ops.Len() {
		if op := r.Ops.At(i); op.Sent >= until || op.Planned >= until {
			t.Errorf("op %d was planned at %s and sent at %s, not before %s", op.ID, op.Planned, op.Sent, until)
		}
	}
}

func TestAClientWaitsForAWorker(t *testing.T) {
	plan := &rlbench.Plan{Bounds: roomy}
	plan.Bounds.InFlight, plan.Bounds.Ops = 1, 11
	for range 2 {
		plan.Clients = append(plan.Clients, rlbench.Client{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(time.Minute)})
	}
	// The arrival comes after both clients have been begun, and is the first op
	// to end, unsent: the only worker waits for it.
	plan.Arrivals = constant(1, 0)
	plan.Arrivals[0].At = 1
	given := make(chan struct{})
	var once sync.Once
	progress := func(done, _ int64) {
		if done > 0 {
			once.Do(func() { close(given) })
		}
	}
	r := drive(t, t.Context(), plan, func(context.Context, rlbench.Request) rlbench.Answer {
		<-given
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}, driver.Options{Progress: progress})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 10, rlbench.Unsent: 1}, rlbench.Unsent, "in-flight limit of 1 reached")
	if r.ClientsHeld != 1 {
		t.Errorf("%d clients held, want 1", r.ClientsHeld)
	}
}

func TestAnEmptyPlanIsEmptyEvidence(t *testing.T) {
	r := drive(t, t.Context(), &rlbench.Plan{Bounds: roomy}, allow, driver.Options{})
	if r.Ops.Len() != 0 || r.Interrupted || r.Latency.TotalCount() != 0 {
		t.Errorf("an empty plan gave %+v", r)
	}
}

func TestAPlanThatCannotBeCarriedOut(t *testing.T) {
	arrive := func(release int32, at rlbench.Instant) rlbench.Arrival {
		return rlbench.Arrival{Request: request("k"), At: at, Release: release}
	}
	for _, c := range []struct {
		plan rlbench.Plan
		text string
	}{
		{rlbench.Plan{}, "each is at least 1"},
		{rlbench.Plan{Bounds: roomy, Clients: []rlbench.Client{{}}}, "client 0: it needs a request"},
		{rlbench.Plan{Bounds: roomy, Arrivals: []rlbench.Arrival{arrive(0, 2), arrive(0, 1)}}, "arrival 1 is planned at 1ns, before"},
		{rlbench.Plan{Bounds: roomy, Arrivals: []rlbench.Arrival{arrive(1, 1), arrive(1, 2)}}, "release 1 is planned at two instants"},
		{rlbench.Plan{Bounds: roomy, Arrivals: []rlbench.Arrival{arrive(1, 1), arrive(0, 1), arrive(1, 1)}}, "the arrivals of release 1 do not stand together"},
	} {
		r, err := driver.Drive(t.Context(), &c.plan, target(allow), driver.Options{})
		if err == nil || r != nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("recording %v, error %v; want none and %q", r, err, c.text)
		}
	}
}
