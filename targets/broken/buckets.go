package broken

import (
	"time"

	"github.com/rlbench/rlbench"
)

// buckets are token buckets that misread time or forget their bounds.
func buckets() []Mutant {
	drain := together(0, 10)
	return []Mutant{
		mutant("bucket-uncapped", "credit for idleness", neverOver,
			"saves up beyond its burst while nothing is asked",
			scene{policy: bucket(), traffic: []part{drain, together(5*time.Second, 40)}, decide: tokens{earns: earned, withoutEnd: true}.decide}),
		mutant("bucket-full-and-late", "credit for idleness", neverOver,
			"a full bucket leaves its clock behind, and is paid twice for the same time",
			scene{policy: bucket(), traffic: []part{{at: 3 * time.Second, n: 2, every: 10 * tick, cost: 10}}, decide: fullAndLate}),
		mutant("bucket-starts-empty", "configuration edges", neverStarved,
			"a new key has no tokens: the first ones are refused",
			scene{policy: bucket(), traffic: []part{together(0, 3)}, decide: tokens{earns: earned, startsEmpty: true}.decide}),
		mutant("bucket-forgotten", "state dropped early", neverOver,
			"keeps a bucket for a second, though it takes five to fill",
			scene{policy: policy(rlbench.TokenBucket, rate(10, time.Second, 50)), traffic: []part{together(0, 50), together(1200*tick, 50)},
				decide: tokens{earns: earned, ttl: time.Second}.decide}),
		mutant("bucket-one-too-many", "off by one", neverOver,
			"takes the burst for what may come on top of one",
			scene{policy: policy(rlbench.GCRA, rate(10, time.Second, 10)), traffic: []part{together(0, 15)}, decide: burstOnTop}),
		mutant("bucket-time-goes-back", "clock skew, clock going back", neverOver,
			"goes by whatever time a caller brings: two instances a second apart earn the same second again and again",
			scene{policy: bucket(), instances: 2, decide: tokens{earns: earned}.decide,
				traffic: []part{{n: 40, every: 10 * tick, via: 1}, {at: 5 * tick, n: 40, every: 10 * tick, via: 2}},
				faults:  []fault{{do: func(w *world) { w.instance[1].late = int64(time.Second) }}}}),
		mutant("bucket-time-unsigned", "clock skew, clock going back", neverOver,
			"the time since the last request is an unsigned number: one step back fills the bucket",
			scene{policy: bucket(), traffic: []part{drain, together(200*tick, 10)}, decide: tokens{earns: earnedUnsigned}.decide,
				faults: []fault{{at: 100 * tick, do: func(w *world) { w.instance[0].late = int64(time.Second) }}}}),
		mutant("bucket-single-precision", "float and rounding", neverStarved,
			"keeps seconds since 1970 in single precision, which moves in steps of two minutes",
			scene{policy: bucket(), traffic: []part{drain, together(2*time.Second, 5)}, decide: tokens{earns: earnedInSinglePrecision}.decide}),
	}
}

// rates are token buckets that get the rate wrong.
func rates() []Mutant {
	const class = "under-admission"
	return []Mutant{
		mutant("rate-drips-away", class, neverStarved,
			"cuts each refill to whole tokens and forgets the rest: asked every 50 ms it earns nothing",
			scene{policy: bucket(), traffic: []part{together(0, 10), apart(50*tick, 30, 50*tick)},
				decide: tokens{earns: func(l rlbench.Limit, from, to int64) int64 {
					return (to - from) * l.Count / int64(l.Per) * int64(l.Per)
				}}.decide}),
		mutant("rate-in-whole-milliseconds", class, neverStarved,
			"cuts 1,500 a second to 1 a millisecond",
			scene{policy: policy(rlbench.TokenBucket, rate(1500, time.Second, 20)), traffic: []part{apart(0, 200, 500*time.Microsecond)},
				decide: tokens{earns: func(l rlbench.Limit, from, to int64) int64 {
					return (to - from) * (l.Count / 1000) * 1000
				}}.decide}),
		mutant("rate-a-second-of-the-minute", class, neverStarved,
			"divides 90 a minute into whole ones a second",
			scene{policy: policy(rlbench.TokenBucket, rate(90, time.Minute, 5)), traffic: []part{apart(0, 40, 500*tick)},
				decide: tokens{earns: func(l rlbench.Limit, from, to int64) int64 { return (to - from) * (l.Count / 60) * 60 }}.decide}),
		mutant("rate-overflows", "overflow", neverStarved,
			"multiplies milliseconds by the rate in 32 bits: after six idle hours the bucket is far below empty",
			scene{policy: policy(rlbench.TokenBucket, rate(100, time.Second, 10)), traffic: []part{together(0, 10), together(6*time.Hour, 5)},
				decide: tokens{earns: func(l rlbench.Limit, from, to int64) int64 {
					return int64(int32((to-from)/int64(tick))*int32(l.Count)) * int64(tick)
				}}.decide}),
	}
}

// tokens reads a bucket that is kept as parts of tokens and a time. A token has as
// many parts as its period has nanoseconds, so that each nanosecond earns Count of
// them. A new bucket is full.
func (c *call) tokens(kept []int64, now int64) (left, last int64) {
	if kept == nil {
		return c.full(), now
	}
	return kept[0], kept[1]
}

func (c *call) full() int64  { return c.limit().Burst * int64(c.limit().Per) }
func (c *call) price() int64 { return c.Cost * int64(c.limit().Per) }

// earned is what comes back from one moment to another, in parts of tokens.
func earned(l rlbench.Limit, from, to int64) int64 { return max(0, to-from) * l.Count }

// tokens is a token bucket by a clock that may go back, wrong where it is told to be.
type tokens struct {
	// earns is what comes back from one moment to another, in parts of tokens.
	earns func(l rlbench.Limit, from, to int64) int64
	// ttl is how long it is kept without being asked; 0: for ever.
	ttl                     time.Duration
	startsEmpty, withoutEnd bool
}

func (t tokens) decide(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		kept := s.get(c.Key)
		if kept == nil && t.startsEmpty {
			kept = []int64{0, now}
		}
		left, last := c.tokens(kept, now)
		left += t.earns(c.limit(), last, now)
		if !t.withoutEnd {
			left = min(left, c.full())
		}
		fits := left >= c.price()
		if fits {
			left -= c.price()
		}
		s.set(c.Key, t.ttl, left, now)
		return fits
	})
}

func earnedUnsigned(l rlbench.Limit, from, to int64) int64 {
	enough := uint64(l.Burst) * uint64(l.Per)
	return int64(min(uint64(to-from), enough)) * l.Count
}

func earnedInSinglePrecision(l rlbench.Limit, from, to int64) int64 {
	second := int64(time.Second)
	return int64(float32(to/second)-float32(from/second)) * second * l.Count
}

func fullAndLate(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		left, last := c.tokens(s.get(c.Key), epoch)
		if left < c.full() {
			left, last = min(c.full(), left+earned(c.limit(), last, now)), now
		}
		if left < c.price() {
			return false
		}
		s.set(c.Key, 0, left-c.price(), last)
		return true
	})
}

func burstOnTop(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now, each := c.read(), int64(c.limit().Per)/c.limit().Count
		empty := max(now, s.count(c.Key))
		if empty-now > c.limit().Burst*each {
			return false
		}
		s.set(c.Key, 0, empty+c.Cost*each)
		return true
	})
}
