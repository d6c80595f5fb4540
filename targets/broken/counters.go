package broken

import (
	"time"

	"github.com/rlbench/rlbench"
)

// counters are sliding counters that blend their two counts wrongly.
func counters() []Mutant {
	const class = "counter approximation"
	twoBursts := []part{together(900*tick, 10), together(1020*tick, 10)}
	return []Mutant{
		mutant("counter-forgets-the-previous", class, neverOver,
			"counts in this window alone: a full burst on either side of the edge",
			scene{policy: counted(), traffic: twoBursts, decide: fixedWindow}),
		mutant("counter-cut-to-whole", class, neverOver,
			"cuts the share of the previous window to a whole number: 9.8 counts as 9",
			scene{policy: counted(), traffic: twoBursts, decide: blended(func(own, before, left, per int64) int64 { return own + before*left/per })}),
		mutant("counter-whole-seconds", class, neverStarved,
			"weighs the previous window by whole seconds, and refuses for up to a second more",
			scene{policy: policy(rlbench.SlidingCounter, limit(100, 10*time.Second)), decide: blended(func(own, before, left, per int64) int64 {
				whole := (left + int64(time.Second) - 1) / int64(time.Second) * int64(time.Second)
				return own + (before*whole+per-1)/per
			}), traffic: []part{together(9*time.Second, 100), together(11900*tick, 30)}}),
		mutant("counter-remembers-too-long", "credit for idleness", neverStarved,
			"takes the last window in which anything came for the previous one, however long ago it was",
			scene{policy: counted(), traffic: []part{together(900*tick, 10), together(3100*tick, 5)}, decide: rememberingCounter}),
	}
}

// blended is a sliding counter with an estimate of its own, given this window's count,
// the previous one's, and how much of this window of length per is left.
func blended(estimate func(own, before, left, per int64) int64) decide {
	return func(c *call) rlbench.Outcome {
		return c.script(func(s *store) bool {
			now, per := c.read(), c.limit().Per
			own, before := c.window(now, per), c.window(now-int64(per), per)
			if estimate(s.count(own)+c.Cost, s.count(before), int64(per)-now%int64(per), int64(per)) > c.limit().Count {
				return false
			}
			s.incr(own, c.Cost)
			return true
		})
	}
}

func rememberingCounter(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now, per := c.read(), int64(c.limit().Per)
		kept := s.get(c.Key)
		if kept == nil {
			kept = []int64{now / per, 0, 0}
		}
		if kept[0] != now/per {
			kept = []int64{now / per, 0, kept[1]}
		}
		kept[1] += c.Cost
		if kept[1]*per+kept[2]*(per-now%per) > c.limit().Count*per {
			return false
		}
		s.set(c.Key, 0, kept...)
		return true
	})
}
