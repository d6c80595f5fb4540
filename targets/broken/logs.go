package broken

import (
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// logs are sliding logs that lose or keep the wrong stamps.
func logs() []Mutant {
	fill := together(100*tick, 15)
	return []Mutant{
		mutant("log-is-a-fixed-window", "boundary double burst", neverOver,
			"promises any second, and counts in aligned ones: two bursts meet at the edge",
			scene{policy: logged(), traffic: []part{together(900*tick, 10), together(1050*tick, 10)}, decide: fixedWindow}),
		mutant("log-one-stamp-a-tick", "colliding members", neverOver,
			"keeps a set of timestamps: what comes in the same millisecond is kept once",
			scene{policy: logged(), traffic: []part{{at: 100 * tick, n: 40, every: tick / 4}},
				decide: logging(func(kept []int64, now, per int64) []int64 {
					return slices.Compact(after(append(kept, now), now-per))
				})}),
		mutant("log-expires-whole", "state dropped early", neverOver,
			"sets the time to live with the first stamp and never again: the whole log is gone a window later",
			scene{policy: logged(), traffic: []part{together(0, 1), together(900*tick, 9), together(1100*tick, 10)}, decide: logExpiresWhole}),
		mutant("log-trimmed-by-the-shorter", "state dropped early", neverOver,
			"two limits share one log, and the shorter one trims it",
			scene{policy: policy(rlbench.SlidingLog, limit(5, 200*tick), limit(10, 2*time.Second)), traffic: []part{apart(0, 60, 20*tick)}, decide: logTrimmedByShorter}),
		mutant("log-trimmed-by-a-fast-clock", "clock skew, clock going back", neverOver,
			"trims by the instance's clock: one that is ahead throws away what the others still need",
			scene{policy: logged(), instances: 2, decide: slidingLog,
				traffic: []part{{n: 10, via: 1}, {at: 300 * tick, n: 1, via: 2}, {at: 400 * tick, n: 10, via: 1}},
				faults:  []fault{{do: func(w *world) { w.instance[1].late = -int64(2 * time.Second) }}}}),
		mutant("log-counts-the-expired", "expired entries counted before removal", neverStarved,
			"counts first and removes what has expired after: the first one after a pause is refused",
			scene{policy: logged(), traffic: []part{fill, together(1500*tick, 3)}, decide: logCountsExpired}),
		mutant("log-never-slides", "== where <= was meant", neverStarved,
			"removes only what is exactly a window old",
			scene{policy: logged(), traffic: []part{fill, together(1500*tick, 3)},
				decide: logging(func(kept []int64, now, per int64) []int64 {
					return slices.DeleteFunc(append(kept, now), func(at int64) bool { return at == now-per })
				})}),
		mutant("log-of-refusals", "refused requests consume quota", neverStarved,
			"promises that refusals are free, and stamps them too: who keeps asking never gets in again",
			scene{policy: logged(), traffic: []part{fill, apart(150*tick, 30, 50*tick)}, decide: logOfRefusals}),
	}
}

// logging is a log whose trimming is another. It is trimmed after each admission.
func logging(add func(kept []int64, now, per int64) []int64) decide {
	return func(c *call) rlbench.Outcome {
		return c.script(func(s *store) bool {
			now, per := c.read(), int64(c.limit().Per)
			trimmed := add(s.get(c.Key), now, per)
			if int64(len(trimmed)) > c.limit().Count {
				return false
			}
			s.set(c.Key, 0, trimmed...)
			return true
		})
	}
}

func logExpiresWhole(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		kept := s.get(c.Key)
		if int64(len(after(kept, now-int64(c.limit().Per))))+c.Cost > c.limit().Count {
			return false
		}
		ends := s.values[c.Key].ends
		if kept == nil {
			ends = s.clock() + int64(c.limit().Per)
		}
		s.put(c.Key, value{numbers: append(kept, now), ends: ends})
		return true
	})
}

func logTrimmedByShorter(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		kept := s.get(c.Key)
		for _, l := range c.policy.Limits {
			kept = after(kept, now-int64(l.Per))
			if int64(len(kept))+c.Cost > l.Count {
				return false
			}
		}
		s.set(c.Key, 0, append(kept, now)...)
		return true
	})
}

func logCountsExpired(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		kept := s.get(c.Key)
		fits := int64(len(kept))+c.Cost <= c.limit().Count
		kept = after(kept, now-int64(c.limit().Per))
		if fits {
			kept = append(kept, now)
		}
		s.set(c.Key, 0, kept...)
		return fits
	})
}

func logOfRefusals(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		kept := append(after(s.get(c.Key), now-int64(c.limit().Per)), now)
		s.set(c.Key, 0, kept...)
		return int64(len(kept)) <= c.limit().Count
	})
}
