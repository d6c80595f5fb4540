package driver

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/rlbench/rlbench"
)

// A worker's state is its phase in the low bits and above them the number of
// ops it has ended. Every change of phase is a compare-and-swap, so that the
// run can part with a worker whose Ask never returns: who moves the state first
// owns the op, and the other touches no column.
const (
	idle    = 0 // between two ops
	asking  = 1 // inside Ask: id, planned and sent are set
	closed  = 2 // makes no further op
	phases  = 3 // the mask
	endedOp = 4 // one more op ended
)

// fate is why an op was not made, made when it was.
type fate uint8

const (
	made    fate = iota
	stopped      // the run was stopped first
	late         // no request may be sent any more
	parted       // the run has parted with this worker, before it asked
	lost         // the same while it asked: the op is the run's now
)

// job is what the scheduler hands a worker: one arrival, or a whole client.
type job struct {
	arrival int
	gate    *gate // nil for an arrival that stands alone
	client  *client
}

// gate is the barrier of one release: its requests wait behind it.
type gate struct {
	coming sync.WaitGroup // those handed to a worker that is not behind it yet
	open   chan struct{}
}

// worker makes one op at a time.
type worker struct {
	run   *run
	jobs  chan job // room for one: only a free worker is handed one
	ended chan struct{}
	// ctx is the worker's own: if all shared one, a target that derives a
	// context for each request would have them queue for its lock.
	ctx    context.Context
	cancel context.CancelFunc
	record *recorder

	state  atomic.Uint64
	inAsk  bool    // for the worker itself, when it panics
	client *client // the one it carries, if any
	op     row     // the op it is asking, without done and outcome
	left   bool    // for the run: it parted while the worker was inside Ask
}

func newWorker(r *run, number int32, rows int) *worker {
	w := &worker{run: r, jobs: make(chan job, 1), ended: make(chan struct{}), record: newRecorder(number, r.clockOrigin, rows)}
	w.ctx, w.cancel = context.WithCancel(r.asks)
	return w
}

// serve does jobs until there are no more.
func (w *worker) serve() {
	defer close(w.ended)
	defer w.cancel()
	defer w.recover()
	w.run.parked.Done()
	for j := range w.jobs {
		w.do(j)
		for c := w.next(); c != nil; c = w.next() {
			w.carry(c)
		}
	}
}

// next makes the worker free, or returns the client that waits for one.
func (w *worker) next() *client {
	if w.state.Load()&phases == closed {
		return nil
	}
	return w.run.pool.put(w)
}

func (w *worker) do(j job) {
	if j.client != nil {
		w.carry(j.client)
		return
	}
	if j.gate != nil {
		j.gate.coming.Done()
		<-j.gate.open
	}
	r := w.run
	a := &r.plan.Arrivals[j.arrival]
	op := row{id: r.plan.OpOfArrival(j.arrival), planned: a.At}
	if _, f := w.ask(op, &a.Request, r.end); f != made && f != lost {
		w.record.unsent(op, r.reason(f))
		w.state.Add(endedOp)
	}
}

// carry makes the requests of a closed loop, each planned for the instant at
// which the client became free.
func (w *worker) carry(c *client) {
	r := w.run
	w.client = c
	op := row{id: r.plan.OpOfClient(c.number, 0), planned: c.From}
	for n := 0; op.planned < c.end; n++ {
		if n == len(c.Requests) {
			n = 0
		}
		if c.Think > 0 && !r.think(c, op.planned) {
			break
		}
		if !r.takeOp() {
			break
		}
		free, f := w.ask(op, &c.Requests[n], c.end)
		if f == parted || f == lost {
			return
		}
		if f != made {
			r.returnOp()
			break
		}
		if c.end.Since(free) <= c.Think {
			break
		}
		op.planned = free.After(c.Think)
		op.id += int64(len(r.clients))
	}
	w.client = nil
	r.clientEnded()
}

// ask makes one op unless it is too late for it, and records it. It returns the
// instant at which the target came back.
func (w *worker) ask(op row, request *rlbench.Request, end rlbench.Instant) (rlbench.Instant, fate) {
	r := w.run
	if r.stopping.Load() {
		return 0, stopped
	}
	state := w.state.Load() &^ phases
	w.op.id, w.op.planned = op.id, op.planned
	w.op.sent = r.clock.now()
	if w.op.sent >= end {
		return 0, late
	}
	if !w.state.CompareAndSwap(state|idle, state|asking) {
		return 0, parted
	}
	w.inAsk = true
	answer := r.target.Ask(w.ctx, *request)
	done := r.clock.now()
	w.inAsk = false
	if !w.state.CompareAndSwap(state|asking, (state+endedOp)|idle) {
		return 0, lost
	}
	op.sent, op.done, op.outcome = w.op.sent, done, answer.Outcome
	if answer.Outcome >= rlbench.Unsent {
		op = notAnswered(op, &answer)
	}
	w.record.add(op, &answer)
	return done, made
}

// notAnswered gives an op the form of one that was never sent. An outcome that
// is none at all claims nothing.
func notAnswered(op row, a *rlbench.Answer) row {
	if a.Outcome == rlbench.Unsent {
		op.sent, op.done = rlbench.NoInstant, rlbench.NoInstant
		return op
	}
	op.outcome = rlbench.Unknown
	a.Err = fmt.Errorf("the target answered %s", a.Outcome)
	return op
}

// recover turns a panic inside Ask into the run's error. The op is Unknown: it
// may have been charged before the target broke off. Panics of the driver's own
// code pass.
func (w *worker) recover() {
	if !w.inAsk {
		return
	}
	cause, stack := recover(), debug.Stack()
	state := w.state.Load() &^ phases
	if !w.state.CompareAndSwap(state|asking, (state+endedOp)|closed) {
		return // the run has parted with this op
	}
	text := "the target ended its goroutine"
	if cause != nil {
		text = fmt.Sprintf("the target panicked: %v", cause)
	}
	op := w.op
	op.done = w.run.clock.now()
	w.record.failed(op, text)
	w.run.breakOff(fmt.Errorf("asking for op %d: %w: %s\n%s", op.id, ErrTarget, text, stack))
	if w.client != nil {
		w.run.clientEnded()
	}
	w.run.pool.lose()
}
