package driver

import (
	"container/heap"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/rlbench/rlbench"
)

// client is one closed loop of the Plan.
type client struct {
	*rlbench.Client
	number int
	end    rlbench.Instant // it makes no request from here on

	begun  bool            // of the scheduler: a worker carries it, or will
	at     rlbench.Instant // of the wakeups: when to wake it
	resume chan struct{}   // room for one
}

// think waits for the instant at which the client is free again. It reports
// whether the run still goes on.
func (r *run) think(c *client, until rlbench.Instant) bool {
	for {
		left := until.Since(r.clock.now())
		switch {
		case r.stopping.Load():
			return false
		case left <= 0:
			return true
		case left > oversleep:
			// Only the scheduler sleeps by the precise timer.
			if !r.wakeups.add(c, until) {
				return false
			}
			if r.wakeups.earliest() == until {
				r.sleeper.wake()
			}
			<-c.resume
		default:
			runtime.Gosched()
		}
	}
}

// wakeups are the clients that the scheduler is to wake, the earliest first.
type wakeups struct {
	first atomic.Int64 // earliest, for a look without the lock
	mu    sync.Mutex
	queue clientQueue
	over  bool
}

func newWakeups() *wakeups {
	w := &wakeups{}
	w.first.Store(int64(never))
	return w
}

func (w *wakeups) earliest() rlbench.Instant { return rlbench.Instant(w.first.Load()) }

// add has c woken at the instant; false when nobody is woken any more.
func (w *wakeups) add(c *client, at rlbench.Instant) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	c.at = at
	heap.Push(&w.queue, c)
	w.first.Store(int64(w.queue[0].at))
	return true
}

// due takes out the client to be woken first, nil when none is due at now.
func (w *wakeups) due(now rlbench.Instant) *client {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 || w.queue[0].at > now {
		return nil
	}
	c := heap.Pop(&w.queue).(*client)
	w.first.Store(int64(never))
	if len(w.queue) > 0 {
		w.first.Store(int64(w.queue[0].at))
	}
	return c
}

// release wakes everyone who thinks: the schedule has ended.
func (w *wakeups) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	for _, c := range w.queue {
		if c.begun {
			c.resume <- struct{}{}
		}
	}
	w.queue = nil
}

// clientQueue is a heap by the instant to wake at.
type clientQueue []*client

func (q clientQueue) Len() int           { return len(q) }
func (q clientQueue) Less(i, j int) bool { return q[i].at < q[j].at }
func (q clientQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *clientQueue) Push(c any)        { *q = append(*q, c.(*client)) }
func (q *clientQueue) Pop() any {
	n := len(*q) - 1
	c := (*q)[n]
	*q = (*q)[:n]
	return c
}
