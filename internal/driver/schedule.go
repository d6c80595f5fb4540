package driver

import (
	"math"
	"runtime"
	"time"

	"github.com/rlbench/rlbench"
)

const (
	// releaseLead and releaseLeadEach are how long before its instant a release
	// is put on workers: the time in which a parked goroutine surely runs.
	releaseLead     = 2 * time.Millisecond
	releaseLeadEach = 10 * time.Microsecond
	// spin is how long before an instant the scheduler no longer yields.
	spin = 20 * time.Microsecond
	// never is later than every instant.
	never rlbench.Instant = math.MaxInt64
)

// slot is the arrivals [from, to) that are planned for one instant.
type slot struct {
	from, to int
	at       rlbench.Instant
	released int // how many of them belong to a release
	// Of a prepared slot: the gate of each of its releases, and which arrivals
	// found no worker yet.
	prepared bool
	gates    map[int32]*gate
	unplaced map[int]bool
}

func (r *run) slotAt(from int) slot {
	s := slot{from: from, to: from, at: never}
	if from >= r.limit {
		return s
	}
	s.at = r.plan.Arrivals[from].At
	for ; s.to < r.limit && r.plan.Arrivals[s.to].At == s.at; s.to++ {
		if r.plan.Arrivals[s.to].Release != 0 {
			s.released++
		}
	}
	return s
}

// lead is how long before its instant the slot needs the scheduler.
func (s *slot) lead() time.Duration {
	if s.released == 0 {
		return 0
	}
	return releaseLead + time.Duration(s.released)*releaseLeadEach
}

func (s *slot) due() rlbench.Instant {
	if s.prepared || s.at == never {
		return s.at
	}
	return s.at.After(-s.lead())
}

// schedule waits for each planned instant and hands over what is due, until
// nothing more can be sent.
func (r *run) schedule() {
	s := r.slotAt(0)
	for !r.stopping.Load() {
		if s.at != never && s.at >= r.end {
			r.skip(s, late)
			s = r.slotAt(r.limit)
		}
		if s.at == never && (r.carried.Load() == 0 || r.clock.now() >= r.clientsEnd) {
			break
		}
		s = r.step(s)
	}
	if r.stopping.Load() {
		r.skip(s, stopped)
		if r.carried.Load() > 0 {
			r.cut.Store(true)
		}
	}
	for i := r.limit; i < len(r.plan.Arrivals); i++ {
		r.unsentBound.Add(1)
		r.unsent(i, r.texts.ops)
	}
}

// step does what is due, or waits for what is due next; it returns the slot to
// go on with.
func (r *run) step(s slot) slot {
	now := r.clock.now()
	wake := r.wakeups.earliest()
	if wake <= now {
		if c := r.wakeups.due(now); c != nil {
			r.begin(c)
		}
		return s
	}
	due := min(s.due(), wake)
	if s.at == never {
		due = min(due, r.clientsEnd)
	}
	switch {
	case now < due:
		r.pause(due.Since(now))
	case s.lead() > 0 && !s.prepared:
		r.prepare(&s)
	case s.at <= now:
		r.send(&s)
		return r.slotAt(s.to)
	}
	return s
}

// pause sleeps for most of d, yields for what is left of it, and spins at the
// end: a processor that was given away may come back too late. It may end early.
//
// The scheduler is not tied to a thread: yielding then passes the processor
// straight to the worker that was just handed an arrival, which sends within a
// microsecond. From a thread of its own every hand-over wakes another thread,
// and the median request leaves some 20 µs to 90 µs late instead of 1.
func (r *run) pause(d time.Duration) {
	switch {
	case d > oversleep:
		r.sleeper.sleep(d - oversleep)
	case d > spin:
		runtime.Gosched()
	}
}

// begin gives a client its worker, or wakes it from its thinking.
func (r *run) begin(c *client) {
	if c.begun {
		c.resume <- struct{}{}
		return
	}
	c.begun = true
	if w := r.pool.takeFor(c); w != nil {
		w.jobs <- job{client: c}
		runtime.Gosched()
		return
	}
	r.clientsHeld++
}

// prepare puts the slot's releases on workers, behind their gates.
func (r *run) prepare(s *slot) {
	s.prepared = true
	s.gates, s.unplaced = make(map[int32]*gate), make(map[int]bool)
	for i := s.from; i < s.to; i++ {
		release := r.plan.Arrivals[i].Release
		if release == 0 {
			continue
		}
		g := s.gates[release]
		if g == nil {
			g = &gate{open: make(chan struct{})}
			s.gates[release] = g
		}
		s.unplaced[i] = !r.hand(i, g)
	}
	for _, g := range s.gates {
		g.coming.Wait()
	}
}

// hand gives arrival i to a free worker, if there is one.
func (r *run) hand(i int, g *gate) bool {
	w := r.pool.take()
	if w == nil {
		return false
	}
	if g != nil {
		g.coming.Add(1)
	}
	w.jobs <- job{arrival: i, gate: g}
	return true
}

// send lets the slot's arrivals go in the order of the Plan, a release as a
// whole where its first arrival stands.
func (r *run) send(s *slot) {
	for i := s.from; i < s.to; i++ {
		release := r.plan.Arrivals[i].Release
		if release == 0 || s.unplaced[i] {
			// Workers may have become free since the release was prepared.
			if !r.hand(i, s.gates[release]) {
				r.overflow(i)
			}
		}
		if release == 0 {
			runtime.Gosched()
			continue
		}
		if i+1 == s.to || r.plan.Arrivals[i+1].Release != release {
			close(s.gates[release].open)
			runtime.Gosched()
		}
	}
}

// overflow records arrival i, for which no worker was free.
func (r *run) overflow(i int) {
	r.unsentInFlight++
	r.unsent(i, r.texts.inFlight)
}

func (r *run) unsent(i int, why string) {
	r.record.unsent(row{id: r.plan.OpOfArrival(i), planned: r.plan.Arrivals[i].At}, why)
	r.skipped.Add(1)
}

// skip records the arrivals that the schedule did not come to, from the slot s
// up to the bound on ops. Those that wait behind a gate record themselves.
func (r *run) skip(s slot, f fate) {
	for _, g := range s.gates {
		close(g.open)
	}
	for i := s.from; i < r.limit; i++ {
		if s.prepared && i < s.to && r.plan.Arrivals[i].Release != 0 && !s.unplaced[i] {
			continue
		}
		r.unsent(i, r.reason(f))
	}
}
