package driver

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlbench/rlbench"
)

// run is one Plan being carried out.
type run struct {
	plan        *rlbench.Plan
	target      rlbench.Target
	clockOrigin int64
	drain       time.Duration
	abandon     time.Duration

	clock   clock
	end     rlbench.Instant // no request is sent from here on
	limit   int             // arrivals from here on are beyond the bound on ops
	asks    context.Context // what every Ask is given a child of
	cancel  context.CancelFunc
	sleeper *sleeper
	workers []*worker
	parked  sync.WaitGroup // until every worker waits for its first job
	pool    *pool

	clients     []*client
	wakeups     *wakeups
	carried     atomic.Int64 // clients that have not ended
	opsLeft     atomic.Int64 // what the bound on ops leaves to the clients
	clientsEnd  rlbench.Instant
	clientsHeld int64

	stopping    atomic.Bool
	interrupted atomic.Bool
	cut         atomic.Bool // stopping kept something from being sent
	faultMu     sync.Mutex
	fault       error

	texts          texts
	record         *recorder // of ops that no worker took
	skipped        atomic.Int64
	unsentInFlight int64
	unsentBound    atomic.Int64
	abandoned      []*recorder
}

func newRun(ctx context.Context, plan *rlbench.Plan, target rlbench.Target, o Options) (*run, error) {
	sleeper, err := newSleeper()
	if err != nil {
		return nil, err
	}
	r := &run{
		plan: plan, target: target, clockOrigin: o.ClockOrigin, sleeper: sleeper,
		drain: orDefault(o.Drain, DefaultDrain), abandon: orDefault(o.Abandon, DefaultAbandon),
		end: rlbench.Instant(plan.Bounds.Duration), texts: textsOf(plan.Bounds), wakeups: newWakeups(),
		limit: int(min(int64(len(plan.Arrivals)), plan.Bounds.Ops)),
	}
	// An interrupt stops the sending at once, but leaves what is in flight the
	// drain to answer: the Asks must not end with ctx.
	r.asks, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	r.pool = &pool{quiet: make(chan struct{})}
	r.record = newRecorder(0, o.ClockOrigin, rowsMin)
	r.addClients()
	r.startWorkers()
	if o.Start.IsZero() {
		first := r.slotAt(0)
		o.Start = time.Now().Add(StartLead + first.lead())
	}
	r.clock = newClock(o.Start)
	return r, nil
}

func orDefault(d, byDefault time.Duration) time.Duration {
	if d == 0 {
		return byDefault
	}
	return max(d, 0)
}

func (r *run) addClients() {
	r.opsLeft.Store(r.plan.Bounds.Ops - int64(r.limit))
	r.carried.Store(int64(len(r.plan.Clients)))
	for i := range r.plan.Clients {
		c := &client{Client: &r.plan.Clients[i], number: i, resume: make(chan struct{}, 1)}
		c.end = min(c.Until, r.end)
		r.clientsEnd = max(r.clientsEnd, c.end)
		r.clients = append(r.clients, c)
		r.wakeups.add(c, c.From)
	}
}

// startWorkers parks as many workers as requests may be in flight, and no more
// than there can ever be work for.
func (r *run) startWorkers() {
	jobs := r.limit + len(r.clients)
	n := min(r.plan.Bounds.InFlight, jobs)
	if n == 0 {
		return // an empty plan
	}
	r.workers = make([]*worker, n)
	r.parked.Add(n)
	for i := range r.workers {
		r.workers[i] = newWorker(r, int32(i+1), jobs/n)
	}
	r.pool.free = append(r.pool.free, r.workers...)
	for _, w := range r.workers {
		go w.serve()
	}
	r.parked.Wait()
}

// watch stops the run when ctx ends. The function it returns ends the watching.
func (r *run) watch(ctx context.Context) func() {
	told := make(chan struct{})
	unregister := context.AfterFunc(ctx, func() {
		defer close(told)
		r.interrupted.Store(true)
		r.stop()
	})
	return func() {
		if !unregister() {
			<-told
		}
	}
}

// stop lets nothing more be sent.
func (r *run) stop() {
	r.stopping.Store(true)
	r.sleeper.wake()
}

// breakOff stops the run because of a defect of the target; the first counts.
func (r *run) breakOff(err error) {
	r.faultMu.Lock()
	if r.fault == nil {
		r.fault = err
	}
	r.faultMu.Unlock()
	r.stop()
}

func (r *run) broken() error {
	r.faultMu.Lock()
	defer r.faultMu.Unlock()
	return r.fault
}

// texts are why an op was not sent, in words.
type texts struct{ ops, duration, inFlight, interrupted, broken, parted string }

func textsOf(b rlbench.Bounds) texts {
	return texts{
		ops:         fmt.Sprintf("the bound of %d ops was reached before it was sent", b.Ops),
		duration:    fmt.Sprintf("the bound of %s was reached before it was sent", b.Duration),
		inFlight:    fmt.Sprintf("in-flight limit of %d reached", b.InFlight),
		interrupted: "interrupted before it was sent",
		broken:      "the target broke off before it was sent",
		parted:      "the run ended before it was sent",
	}
}

// reason counts one op of the given fate, and says it in words.
func (r *run) reason(f fate) string {
	switch {
	case f == late:
		r.unsentBound.Add(1)
		return r.texts.duration
	case f == parted:
		return r.texts.parted
	case r.interrupted.Load():
		r.cut.Store(true)
		return r.texts.interrupted
	}
	return r.texts.broken
}

// takeOp takes one op off what the bound leaves to the clients.
func (r *run) takeOp() bool {
	if r.opsLeft.Add(-1) >= 0 {
		return true
	}
	r.returnOp()
	return false
}

func (r *run) returnOp() { r.opsLeft.Add(1) }

func (r *run) clientEnded() {
	if r.carried.Add(-1) == 0 {
		r.sleeper.wake()
	}
}

// finish waits for answers, then cancels what is still in flight, then parts
// with what does not even return. Afterwards no worker writes a column.
func (r *run) finish() {
	r.wakeups.release()
	quiet := r.pool.drained()
	if !within(quiet, r.drain) {
		r.cancel()
		if !within(quiet, r.abandon) {
			for _, w := range r.workers {
				r.part(w)
			}
		}
	}
	for _, w := range r.workers {
		close(w.jobs)
	}
	for _, w := range r.workers {
		if !w.left {
			<-w.ended
		}
	}
}

// within waits for done, at most for d.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// part closes the books on a worker: one that is between two ops will end by
// itself, the op of one that is inside Ask is recorded here, as Unknown.
func (r *run) part(w *worker) {
	for {
		state := w.state.Load()
		if state&phases == closed {
			return
		}
		if !w.state.CompareAndSwap(state, state&^phases|closed) {
			continue
		}
		if state&phases == asking {
			w.left = true
			op := w.op
			op.done = rlbench.NoInstant
			record := newRecorder(w.record.worker, r.clockOrigin, 1)
			record.failed(op, fmt.Sprintf("the target did not return within %s of being cancelled", r.abandon))
			r.abandoned = append(r.abandoned, record)
		}
		return
	}
}

func (r *run) close() {
	r.cancel()
	r.sleeper.close()
}

// tell reports progress from a goroutine of its own. The function it returns
// reports once more and ends it.
func (r *run) tell(progress func(done, planned int64)) func() {
	if progress == nil {
		return func() {}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(ProgressPeriod)
		defer ticks.Stop()
		for running := true; running; {
			select {
			case <-ticks.C:
			case <-over:
				running = false
			}
			progress(r.progress())
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

func (r *run) progress() (done, planned int64) {
	done = r.skipped.Load()
	for _, w := range r.workers {
		done += int64(w.state.Load() / endedOp)
	}
	if len(r.clients) == 0 {
		planned = int64(len(r.plan.Arrivals))
	}
	return done, planned
}
