package broken

import (
	"container/heap"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/rlbench/rlbench"
)

// scene is everything that a world starts from.
type scene struct {
	policy    rlbench.Policy
	decide    decide
	traffic   []part
	instances int // 1 when not given
	// latency is the longest that one way over the network takes; 1 ms when not given.
	latency time.Duration
	// phase is what the limiter's clock reads beyond a whole number of windows when
	// the run begins, step how far it moves at once (the policy's resolution when not
	// given), skew by how much an instance's clock may be late, now more, now less.
	phase, step, skew time.Duration
	// lost is how many requests in a thousand are never answered; half of them were
	// not even heard. storeLost is the same of an instance's calls to the store.
	lost, storeLost int
	// replicate is how often the replica copies the store; 0: there is none.
	replicate time.Duration
	// keysMax is how many keys the store has room for; 0: as many as there are.
	keysMax int
	faults  []fault
	// stamps: the limiter states by its clock when it decided.
	stamps bool
}

// fault is something that befalls the world.
type fault struct {
	at time.Duration
	do func(*world)
}

// decide is one decision of a limiter. It is written as real ones are: straight on,
// with calls to a store that take time, in which other decisions come in between.
type decide func(*call) rlbench.Outcome

// epoch is what the limiter's clock reads at the start of a run: a whole number of
// every window that a scene uses. timeout is when clients and instances give up.
const (
	epoch   = 1_700_000_000_000_000_000
	timeout = 50 * time.Millisecond
)

// world is one run in virtual time.
type world struct {
	scene
	draw     *rand.Rand
	now      int64
	agenda   agenda
	shared   *store
	replica  *store
	instance []*instance
	ops      rlbench.Ops
}

// instance is one of the limiter's instances: its clock is late by some of the skew,
// and it remembers a few things by itself.
type instance struct {
	late  int64
	local *store
}

func newWorld(s scene, draw *rand.Rand) *world {
	s.instances = max(s.instances, 1)
	if s.latency == 0 {
		s.latency = time.Millisecond
	}
	if s.step == 0 {
		s.step = max(s.policy.Resolution, 1)
	}
	w := &world{scene: s, draw: draw}
	w.shared, w.replica = w.newStore(), w.newStore()
	w.shared.keysMax = s.keysMax
	for range s.instances {
		w.instance = append(w.instance, &instance{local: w.newStore(), late: draw.Int64N(int64(s.skew) + 1)})
	}
	return w
}

// run lets every request happen and returns the evidence of them.
func (w *world) run() *rlbench.Run {
	arrivals := w.arrivals()
	w.ops = columns(arrivals)
	for i, a := range arrivals {
		w.at(int64(a.At), w.flight(i, a.Request))
	}
	for _, f := range w.faults {
		w.at(int64(f.at), func() { f.do(w) })
	}
	if w.replicate > 0 {
		for t := int64(0); t <= int64(arrivals[len(arrivals)-1].At); t += int64(w.replicate) {
			w.at(t, func() { w.replica.copy(w.shared) })
		}
	}
	for w.agenda.Len() > 0 {
		next := heap.Pop(&w.agenda).(entry)
		w.now = next.at
		next.do()
	}
	return &rlbench.Run{
		Backend: "none", Policy: w.policy, StartedAt: time.Unix(0, epoch+int64(w.phase)).UTC(), Complete: true,
		Clock: rlbench.LimiterClock{Origin: epoch + int64(w.phase), Error: w.skew, Stated: true},
		Ops:   w.ops,
	}
}

// at puts something on the agenda. Of things at one instant the seed draws the order.
func (w *world) at(t int64, do func()) {
	heap.Push(&w.agenda, entry{at: t, turn: w.draw.Uint64(), do: do})
}

// flight returns one request as something to be done: each time until it next waits.
func (w *world) flight(row int, r rlbench.Request) func() {
	c := &call{Request: r, world: w, own: w.instance[r.Instance], readAt: rlbench.None, releasedAt: rlbench.None}
	next, _ := iter.Pull(func(yield func(time.Duration) bool) {
		c.wait = func(d time.Duration) { yield(d) }
		c.live(row)
	})
	var resume func()
	resume = func() {
		if d, more := next(); more {
			w.at(w.now+int64(d), resume)
		}
	}
	return resume
}

// live is what becomes of a request from the moment it is sent.
func (c *call) live(row int) {
	fate := c.draw.IntN(1000)
	if fate < c.lost/2 {
		c.unanswered(row)
		return
	}
	c.trip()
	outcome := c.decide(c)
	c.trip()
	if fate < c.lost || outcome == rlbench.Unknown {
		c.unanswered(row)
		return
	}
	c.ops.Outcome[row], c.ops.Done[row] = outcome, rlbench.Instant(c.now)
	c.ops.ReleasedAt[row] = c.since(c.releasedAt)
	if c.stamps {
		c.ops.DecidedAt[row] = c.since(c.readAt)
	}
}

// unanswered: the client gave up, whatever may yet be decided.
func (c *call) unanswered(row int) {
	c.ops.Outcome[row], c.ops.Done[row] = rlbench.Unknown, c.ops.Sent[row].After(timeout)
}

// since is a reading as a Run keeps it.
func (w *world) since(reading int64) int64 {
	if reading == rlbench.None {
		return reading
	}
	return reading - epoch - int64(w.phase)
}

// agenda is what is still to happen, soonest first.
type agenda []entry

type entry struct {
	at   int64
	turn uint64
	do   func()
}

// Len, Less, Swap, Push and Pop make it a heap.
func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].turn < a[j].turn
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	next := (*a)[last]
	*a = (*a)[:last]
	return next
}
