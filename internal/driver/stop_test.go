package driver_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
)

// long are bounds within which a plan can lie far ahead.
var long = rlbench.Bounds{Duration: 2 * time.Hour, Ops: 1 << 20, InFlight: 16}

// nowAndLater plans n arrivals at once, and as many an hour later.
func nowAndLater(n int) *rlbench.Plan {
	plan := &rlbench.Plan{Bounds: long, Arrivals: constant(2*n, 0)}
	for i := n; i < 2*n; i++ {
		plan.Arrivals[i].At = rlbench.Instant(time.Hour)
	}
	return plan
}

// demand checks how many ops there are of each outcome, and that all of the
// last named have the error.
func demand(t *testing.T, r *driver.Recording, want map[rlbench.Outcome]int, of rlbench.Outcome, text string) {
	t.Helper()
	for o := rlbench.Unknown; o <= rlbench.Unsent; o++ {
		if got := count(r, o); got != want[o] {
			t.Errorf("%d ops are %s, want %d", got, o, want[o])
		}
	}
	for i := range r.Ops.Len() {
		if op := r.Ops.At(i); op.Outcome == of && !strings.Contains(op.Error, text) {
			t.Errorf("op %d is %s because %q, want %q", op.ID, of, op.Error, text)
		}
	}
}

func TestInterruptKeepsWhatWasRecorded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int64
	r := drive(t, ctx, nowAndLater(5), func(context.Context, rlbench.Request) rlbench.Answer {
		if asked.Add(1) == 5 {
			cancel()
		}
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}, driver.Options{})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 5, rlbench.Unsent: 5}, rlbench.Unsent, "interrupted before it was sent")
	if !r.Interrupted {
		t.Error("the recording does not say that it was interrupted")
	}
}

func TestInterruptBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan := &rlbench.Plan{Bounds: long, Arrivals: append(constant(3, time.Hour/4), burst(3, rlbench.Instant(time.Hour), 1)...)}
	plan.Clients = []rlbench.Client{{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(time.Hour)}}
	// Instant 0 is far off, so that whatever is sent would be sent after ctx ended.
	r := drive(t, ctx, plan, allow, driver.Options{Start: time.Now().Add(time.Hour)})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Unsent: 6}, rlbench.Unsent, "interrupted before it was sent")
	if !r.Interrupted {
		t.Error("the recording does not say that it was interrupted")
	}
}

func TestInterruptLeavesTheDrainToAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := drive(t, ctx, nowAndLater(1), func(asking context.Context, _ rlbench.Request) rlbench.Answer {
		cancel()
		<-ctx.Done()
		return rlbench.Answer{Outcome: rlbench.Allowed, Err: asking.Err()}
	}, driver.Options{Drain: time.Hour})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 1, rlbench.Unsent: 1}, rlbench.Allowed, "")
	if r.Ops.At(0).Error != "" {
		t.Errorf("the request in flight was cancelled by the interrupt: %s", r.Ops.At(0).Error)
	}
}

func TestAnInterruptThatKeptNothingBackIsNone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	plan := &rlbench.Plan{Bounds: long, Arrivals: constant(1, 0)}
	inside := make(chan struct{})
	progress := func(done, planned int64) {
		select {
		case <-inside: // sent: from here on the schedule has nothing left
			cancel()
		default:
		}
	}
	r := drive(t, ctx, plan, func(context.Context, rlbench.Request) rlbench.Answer {
		close(inside)
		<-ctx.Done()
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}, driver.Options{Progress: progress})
	if r.Interrupted {
		t.Error("everything planned was sent, and the recording says that it was interrupted")
	}
}

func TestInterruptEndsAThinkingClient(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	plan := &rlbench.Plan{Bounds: long, Clients: []rlbench.Client{
		{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(2 * time.Hour), Think: time.Hour},
	}}
	r := drive(t, ctx, plan, func(context.Context, rlbench.Request) rlbench.Answer {
		cancel()
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}, driver.Options{})
	if r.Ops.Len() != 1 || !r.Interrupted {
		t.Errorf("%d ops, interrupted %v; want 1 and true", r.Ops.Len(), r.Interrupted)
	}
}

func TestWhatTheDrainCutsOffIsUnknown(t *testing.T) {
	plan := &rlbench.Plan{Bounds: long, Arrivals: constant(4, 0)}
	r := drive(t, t.Context(), plan, func(ctx context.Context, _ rlbench.Request) rlbench.Answer {
		<-ctx.Done()
		return rlbench.Answer{Err: ctx.Err()}
	}, driver.Options{Drain: 20 * time.Millisecond, Abandon: time.Hour})
	demand(t, r, map[rlbench.Outcome]int{rlbench.Unknown: 4}, rlbench.Unknown, context.Canceled.Error())
	for i := range r.Ops.Len() {
		if !r.Ops.Done[i].Known() {
			t.Errorf("op %d: its client gave up, and no instant says when", r.Ops.ID[i])
		}
	}
}

func TestATargetThatNeverReturnsLosesNothing(t *testing.T) {
	for _, afterwards := range []string{"answers", "panics"} {
		t.Run(afterwards, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			stuck, inside := make(chan struct{}), make(chan struct{})
			ask := func(_ context.Context, request rlbench.Request) rlbench.Answer {
				if request.Key != "stuck" {
					<-inside
					return rlbench.Answer{Outcome: rlbench.Allowed}
				}
				close(inside)
				<-stuck // ignores its context
				if afterwards == "panics" {
					panic("too late to matter")
				}
				return rlbench.Answer{Outcome: rlbench.Denied, Status: 429, Err: errors.New("late")}
			}
			plan := &rlbench.Plan{Bounds: long, Arrivals: append(constant(1, 0), constant(9, 0)...)}
			plan.Arrivals[0].Key = "stuck"
			r := drive(t, t.Context(), plan, ask, driver.Options{Drain: 100 * time.Millisecond, Abandon: 100 * time.Millisecond})
			close(stuck)
			goleak.VerifyNone(t, leaks) // the stuck worker has come back, and ended
			demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 9, rlbench.Unknown: 1}, rlbench.Unknown, "did not return")
			if r.Abandoned != 1 {
				t.Errorf("%d abandoned, want 1", r.Abandoned)
			}
			for i := range r.Ops.Len() {
				if op := r.Ops.At(i); op.Outcome == rlbench.Unknown && (op.Done.Known() || op.ID != 0 || op.Worker == 0) {
					t.Errorf("the abandoned op is %+v", op)
				}
			}
		})
	}
}

func TestAStuckClientLosesNothing(t *testing.T) {
	leaks := goleak.IgnoreCurrent()
	stuck := make(chan struct{})
	var asked atomic.Int64
	plan := &rlbench.Plan{Bounds: long, Clients: []rlbench.Client{
		{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(20 * time.Millisecond)},
	}}
	r := drive(t, t.Context(), plan, func(context.Context, rlbench.Request) rlbench.Answer {
		if asked.Add(1) == 3 {
			<-stuck
		}
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}, driver.Options{Start: time.Now().Add(-time.Millisecond), Drain: -1, Abandon: -1})
	close(stuck)
	goleak.VerifyNone(t, leaks)
	if n := asked.Load(); int(n) != r.Ops.Len() || count(r, rlbench.Unknown) != int(r.Abandoned) {
		t.Errorf("%d asked, %d ops, %d unknown, %d abandoned", n, r.Ops.Len(), count(r, rlbench.Unknown), r.Abandoned)
	}
}

func TestABrokenTargetIsAnErrorThatNamesTheOp(t *testing.T) {
	for _, c := range []struct {
		name, text string
		breakOff   func()
	}{
		{"panic", "asking for op 2: the target broke off: the target panicked: no budget for k", func() { panic("no budget for k") }},
		{"exit", "asking for op 2: the target broke off: the target ended its goroutine", runtime.Goexit},
	} {
		t.Run(c.name, func(t *testing.T) {
			plan := nowAndLater(3)
			plan.Arrivals[2].Key = "broken"
			var answered atomic.Int64
			both := make(chan struct{})
			r, err := driver.Drive(t.Context(), plan, target(func(_ context.Context, request rlbench.Request) rlbench.Answer {
				if request.Key == "broken" {
					<-both
					c.breakOff()
				}
				if answered.Add(1) == 2 {
					close(both)
				}
				return rlbench.Answer{Outcome: rlbench.Allowed}
			}), driver.Options{})
			if !errors.Is(err, driver.ErrTarget) || !strings.HasPrefix(err.Error(), c.text) {
				t.Fatalf("error %v, want %s", err, c.text)
			}
			if err := wellFormed(plan, r); err != nil {
				t.Fatal(err)
			}
			demand(t, r, map[rlbench.Outcome]int{rlbench.Allowed: 2, rlbench.Unknown: 1, rlbench.Unsent: 3}, rlbench.Unsent, "the target broke off")
			if r.Interrupted {
				t.Error("a broken target is no interrupt")
			}
		})
	}
}

func TestABrokenTargetEndsAClosedLoop(t *testing.T) {
	plan := &rlbench.Plan{Bounds: long}
	for range 3 {
		plan.Clients = append(plan.Clients, rlbench.Client{Requests: []rlbench.Request{request("k")}, Until: rlbench.Instant(time.Hour)})
	}
	var asked atomic.Int64
	r, err := driver.Drive(t.Context(), plan, target(func(context.Context, rlbench.Request) rlbench.Answer {
		if asked.Add(1) == 100 {
			panic("enough")
		}
		return rlbench.Answer{Outcome: rlbench.Allowed}
	}), driver.Options{})
	if !errors.Is(err, driver.ErrTarget) {
		t.Fatalf("error %v", err)
	}
	if err := wellFormed(plan, r); err != nil {
		t.Fatal(err)
	}
	if int64(r.Ops.Len()) != asked.Load() || count(r, rlbench.Unknown) != 1 {
		t.Errorf("%d ops of %d, %d unknown", r.Ops.Len(), asked.Load(), count(r, rlbench.Unknown))
	}
}
