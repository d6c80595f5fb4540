package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// release plans n arrivals that are let go together at Instant 0.
func release(n, inFlight int) *rlbench.Plan {
	plan := &rlbench.Plan{Bounds: rlbench.Bounds{Duration: time.Hour, Ops: 1 << 20, InFlight: inFlight}}
	for range n {
		plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{Request: rlbench.Request{Key: "k", Cost: 1}, Release: 1})
	}
	return plan
}

func prepared(t *testing.T, plan *rlbench.Plan) *run {
	t.Helper()
	r, err := newRun(t.Context(), plan, &counter{}, Options{Abandon: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

func TestAReleaseTakesWorkersUntilItIsLetGo(t *testing.T) {
	r := prepared(t, release(1, 1))
	w := r.pool.take() // busy while the release is prepared, free when it is let go
	s := r.slotAt(0)
	r.prepare(&s)
	if !s.unplaced[0] {
		t.Fatal("the release was put on a worker that was busy")
	}
	r.pool.put(w)
	r.send(&s)
	r.finish()
	if got := r.recording().Ops.Outcome; !slices.Equal(got, []rlbench.Outcome{rlbench.Allowed}) {
		t.Errorf("outcomes %v, want allowed", got)
	}
}

func TestAReleaseBehindItsGateIsNotSentAfterAnInterrupt(t *testing.T) {
	r := prepared(t, release(5, 3))
	s := r.slotAt(0)
	r.prepare(&s)
	r.interrupted.Store(true)
	r.stop()
	r.skip(s, stopped)
	r.finish()
	recording := r.recording()
	if recording.Ops.Len() != 5 || !recording.Interrupted {
		t.Fatalf("%d rows, interrupted %v; want 5 and true", recording.Ops.Len(), recording.Interrupted)
	}
	for i := range 5 {
		if op := recording.Ops.At(i); op.ID != int64(i) || op.Outcome != rlbench.Unsent || op.Error != r.texts.interrupted {
			t.Errorf("row %d is %+v", i, op)
		}
	}
}

func TestAWorkerThatIsPartedWithBeforeItAsksSendsNothing(t *testing.T) {
	r := prepared(t, release(2, 1))
	r.drain = 0
	s := r.slotAt(0)
	r.prepare(&s)
	r.part(r.workers[0]) // between two ops: waits behind the gate
	r.send(&s)
	r.finish()
	recording := r.recording()
	want := []string{r.texts.parted, r.texts.inFlight}
	for i := range want {
		if op := recording.Ops.At(i); op.Outcome != rlbench.Unsent || op.Error != want[i] {
			t.Errorf("op %d is %s because %q, want %q", i, op.Outcome, op.Error, want[i])
		}
	}
}

// stuck returns when it is let go, whatever becomes of its context.
type stuck struct{ inside, free chan struct{} }

func (s stuck) Ask(context.Context, rlbench.Request) rlbench.Answer {
	close(s.inside)
	<-s.free
	return rlbench.Answer{Outcome: rlbench.Allowed, Status: 200, Err: errors.New("late")}
}

func (stuck) Close() error { return nil }

func TestAnAbandonedWorkerWritesNoColumn(t *testing.T) {
	r := prepared(t, release(1, 1))
	target := stuck{make(chan struct{}), make(chan struct{})}
	r.target, r.drain = target, 0
	s := r.slotAt(0)
	r.prepare(&s)
	r.send(&s)
	<-target.inside
	r.finish()
	before := r.recording().Ops
	w := r.workers[0]
	close(target.free)
	<-w.ended
	if len(w.record.last.rows) != 0 || len(w.record.texts) != 0 {
		t.Errorf("it wrote %+v", w.record.last.rows)
	}
	if op := before.At(0); before.Len() != 1 || op.Outcome != rlbench.Unknown || op.Done.Known() {
		t.Errorf("the op is %+v", op)
	}
}

func TestAnOpThatAClientDidNotMakeIsLeftToTheOthers(t *testing.T) {
	plan := release(0, 1)
	plan.Bounds.Ops = 1
	plan.Clients = []rlbench.Client{{Requests: []rlbench.Request{{Key: "k", Cost: 1}}, Until: 1}}
	r := prepared(t, plan)
	r.clock.base = r.clock.base.Add(-time.Second) // its Until has passed
	c := r.wakeups.due(0)
	r.begin(c)
	r.finish()
	if left := r.opsLeft.Load(); left != 1 {
		t.Errorf("%d ops left, want 1", left)
	}
}

func TestSleepEndsWhenWoken(t *testing.T) {
	s, err := newSleeper()
	if err != nil {
		t.Fatal(err)
	}
	s.wake()
	s.wake()
	s.sleep(time.Hour) // a wake-up ahead of the sleep ends it
	go s.wake()
	s.sleep(time.Hour)
	s.close()
}

func TestRecorderKeepsEveryRowThroughItsChunks(t *testing.T) {
	const n = 3*rowsMax + 7
	plan := &rlbench.Plan{Arrivals: make([]rlbench.Arrival, n)}
	r := &run{plan: plan, record: newRecorder(0, 0, 1)}
	for i := range n {
		answer := rlbench.Answer{}
		if i%1000 == 1 {
			answer = rlbench.Answer{Status: int32(i), Said: rlbench.SaidReset, Reset: time.Duration(i), Err: fmt.Errorf("error %d", i%3)}
		}
		// In reverse order of time, so that merging has to sort.
		at := rlbench.Instant(n - i)
		r.record.add(row{id: int64(i), planned: at, sent: at, done: at + 1, outcome: rlbench.Unknown}, &answer)
	}
	ops := r.merge()
	if ops.Len() != n || len(ops.Errors) != 4 {
		t.Fatalf("%d rows, errors %q; want %d rows and 4 texts", ops.Len(), ops.Errors, n)
	}
	for at := range n {
		i := n - 1 - at
		want := rlbench.Op{
			ID: int64(i), Planned: rlbench.Instant(n - i), Sent: rlbench.Instant(n - i), Done: rlbench.Instant(n - i + 1),
			Limit: rlbench.None, Remaining: rlbench.None, RetryAfter: rlbench.None, Reset: rlbench.None,
			DecidedAt: rlbench.None, ReleasedAt: rlbench.None,
		}
		if i%1000 == 1 {
			want.Status, want.Reset, want.Error = int32(i), int64(i), fmt.Sprintf("error %d", i%3)
		}
		if op := ops.At(at); op != want {
			t.Fatalf("row %d is %+v, want %+v", at, op, want)
		}
	}
}

func TestSortedAgreesWithTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, greatest := range []uint64{1, 2, 1 << 11, 1<<11 + 1, 1 << 40, 1<<64 - 1} {
		for _, n := range []int{0, 1, 2, 1000} {
			places := make([]place, n)
			for i := range places {
				places[i] = place{key: random.Uint64N(greatest) + (1<<63)*(greatest>>63^1), ref: uint64(i)}
			}
			want := slices.Clone(places)
			slices.SortStableFunc(want, func(a, b place) int {
				if a.key < b.key {
					return -1
				}
				return int(min(a.key-b.key, 1))
			})
			if got := sorted(places); !slices.Equal(got, want) {
				t.Errorf("%d keys below %d are not sorted, or not stably", n, greatest)
			}
		}
	}
}

func TestTiesAreInOrderOfOps(t *testing.T) {
	r := &run{plan: &rlbench.Plan{Arrivals: make([]rlbench.Arrival, 4)}, record: newRecorder(0, 0, 1)}
	for _, id := range []int64{3, 1} {
		r.record.add(row{id: id, planned: 5, sent: 5, done: 6}, &rlbench.Answer{})
	}
	other := newRecorder(1, 0, 1)
	other.unsent(row{id: 2, planned: 5}, "full")
	other.add(row{id: 0, planned: -7, sent: -7, done: 1}, &rlbench.Answer{})
	r.workers = []*worker{{record: other}}
	if ops := r.merge(); !slices.Equal(ops.ID, []int64{0, 1, 2, 3}) {
		t.Errorf("ops are in order %v", ops.ID)
	}
}

func TestMeasuresAreOfAnsweredOpsAlone(t *testing.T) {
	r := &run{plan: &rlbench.Plan{Arrivals: []rlbench.Arrival{{}, {Release: 1}, {}, {}, {}}}, record: newRecorder(0, 0, 1)}
	hour := rlbench.Instant(time.Hour)
	for _, op := range []row{
		{id: 0, planned: 0, sent: 10, done: 110, outcome: rlbench.Allowed},
		{id: 1, planned: 0, sent: 1000, done: 1500, outcome: rlbench.Denied},
		{id: 2, planned: 0, sent: 7, done: hour, outcome: rlbench.Unknown},
		{id: 3, planned: 0, sent: 20, done: 2 * hour, outcome: rlbench.Denied},
	} {
		r.record.add(op, &rlbench.Answer{})
	}
	r.record.unsent(row{id: 4}, "full")
	ops := r.merge()
	m := r.measure(&ops)
	for _, c := range []struct {
		name        string
		count       int64
		least, most int64
		got         [3]int64
	}{
		{"latency", 3, 110, int64(HighestTrackable), [3]int64{m.latency.TotalCount(), m.latency.Min(), m.latency.Max()}},
		{"service", 3, 100, int64(HighestTrackable), [3]int64{m.service.TotalCount(), m.service.Min(), m.service.Max()}},
		{"lateness", 3, 10, 1000, [3]int64{m.lateness.TotalCount(), m.lateness.Min(), m.lateness.Max()}},
		{"lateness outside releases", 2, 10, 20, [3]int64{m.alone.TotalCount(), m.alone.Min(), m.alone.Max()}},
	} {
		off := func(got, want int64) bool { return got < want-want/500 || got > want+want/500 }
		if c.got[0] != c.count || off(c.got[1], c.least) || off(c.got[2], c.most) {
			t.Errorf("%s: count, least and greatest are %v, want %d, %d, %d", c.name, c.got, c.count, c.least, c.most)
		}
	}
	if m.clamped != 2 {
		t.Errorf("%d clamped, want 2: a latency and a service time", m.clamped)
	}
}

// blocked never answers before its context ends.
type blocked struct{}

func (blocked) Ask(ctx context.Context, _ rlbench.Request) rlbench.Answer {
	<-ctx.Done()
	return rlbench.Answer{Err: errors.New("gave up")}
}

func (blocked) Close() error { return nil }

func TestWithoutADrainWhatIsInFlightIsCancelledAtOnce(t *testing.T) {
	recording, err := Drive(t.Context(), release(3, 3), blocked{}, Options{Drain: -1, Abandon: time.Hour})
	if err != nil || recording.Abandoned != 0 {
		t.Fatalf("error %v, %d abandoned", err, recording.Abandoned)
	}
	for i := range 3 {
		if op := recording.Ops.At(i); op.Outcome != rlbench.Unknown || op.Error != "gave up" || !op.Done.Known() {
			t.Errorf("op %d is %+v", op.ID, op)
		}
	}
}
