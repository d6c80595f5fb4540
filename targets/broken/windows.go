package broken

import (
	"time"

	"github.com/rlbench/rlbench"
)

// windows are fixed windows that begin, end or count wrongly.
func windows() []Mutant {
	fill := together(100*tick, 15)
	return []Mutant{
		mutant("window-one-too-many", "off by one", neverOver,
			"asks whether the count is at most the limit before it adds one",
			scene{policy: aligned(), traffic: []part{fill}, decide: windowed(func(used, cost, most int64) bool { return used <= most })}),
		mutant("window-one-too-few", "off by one", neverStarved,
			"refuses the last one that there is room for",
			scene{policy: aligned(), traffic: []part{fill}, decide: windowed(func(used, cost, most int64) bool { return used+cost < most })}),
		mutant("window-never-engages", "never engages", neverOver,
			"reads its limit from a setting of another name, finds 0, and takes that for no limit",
			scene{policy: aligned(), traffic: []part{fill}, decide: windowed(func(used, cost, most int64) bool { return true })}),
		mutant("window-first-request-for-epoch", "boundary double burst", neverOver,
			"promises windows aligned to the epoch, and opens them with the first request",
			scene{policy: aligned(), decide: openedWindow,
				traffic: []part{together(300*tick, 1), together(1250*tick, 9), together(1350*tick, 10)}}),
		mutant("window-whole-seconds", "state dropped early", neverOver,
			"a window of 1.9 s is kept for 1 s: the time to live is cut to whole seconds",
			scene{policy: fixed(rlbench.FirstRequest, limit(10, 1900*tick)), traffic: []part{together(0, 10), together(1200*tick, 10)},
				decide: keptFor(func(per time.Duration) time.Duration { return per.Truncate(time.Second) })}),
		mutant("window-rounded-up", "window too long", neverStarved,
			"a window of 1.5 s is kept for 2 s: the time to live is rounded up to whole seconds",
			scene{policy: fixed(rlbench.FirstRequest, limit(10, 1500*tick)), traffic: []part{together(0, 10), together(1600*tick, 3)},
				decide: keptFor(func(per time.Duration) time.Duration { return (per + time.Second - 1).Truncate(time.Second) })}),
		mutant("window-seconds-as-milliseconds", "wrong unit", neverOver,
			"hands seconds to a call that takes milliseconds: the window is a thousand times too short",
			scene{policy: opened(), traffic: []part{apart(0, 40, 10*tick)},
				decide: keptFor(func(per time.Duration) time.Duration { return per / 1000 })}),
		mutant("window-milliseconds-as-seconds", "wrong unit", neverStarved,
			"hands milliseconds to a call that takes seconds: the window is a thousand times too long",
			scene{policy: opened(), traffic: []part{together(0, 12), together(1500*tick, 3)},
				decide: keptFor(func(per time.Duration) time.Duration { return per * 1000 })}),
		mutant("window-expiry-lost", "key that never expires", neverStarved,
			"counts in one call and sets the expiry in another: when that one is lost the key stays for ever",
			scene{policy: charging(opened()), instances: 3, storeLost: 150, decide: expiryLost, traffic: sixKeys()}),
		mutant("window-expiry-renewed", "key that never expires", neverStarved,
			"renews the time to live on every request: under steady traffic the window never ends",
			scene{policy: charging(opened()), traffic: []part{apart(0, 20, 200*tick)}, decide: expiryRenewed}),
		mutant("window-refusals-charged", "refused requests consume quota", neverStarved,
			"promises that refusals are free, and counts before it decides",
			scene{policy: opened(), decide: countedFirst,
				traffic: []part{{n: 1, cost: 8}, {at: 100 * tick, n: 1, cost: 5}, {at: 200 * tick, n: 2}}}),
		mutant("window-cached-refusal", "local cache of refusals", neverStarved,
			"an instance remembers a refusal for a whole window, not until the window ends",
			scene{policy: aligned(), instances: 3, decide: cachedRefusal,
				traffic: []part{together(500*tick, 30), together(1200*tick, 6)}}),
		mutant("limits-charged-before-refusal", "limits charged in turn", neverStarved,
			"charges the limits one after the other: what a later one refuses, the earlier ones keep",
			scene{policy: fixed(rlbench.Epoch, limit(20, 10*time.Second), limit(2, time.Second)), decide: chargedInTurn,
				traffic: []part{apart(0, 30, 30*tick), together(2*time.Second, 2)}}),
		mutant("limits-share-a-count", "state corruption", neverOver,
			"two limits keep one count under one key, and the shorter window resets it for both",
			scene{policy: fixed(rlbench.FirstRequest, limit(5, time.Second), limit(12, 10*time.Second)), decide: sharedCount,
				traffic: []part{apart(0, 40, 100*tick)}}),
	}
}

// windowed is an aligned window whose question is another.
func windowed(fits func(used, cost, most int64) bool) decide {
	return func(c *call) rlbench.Outcome {
		return c.script(func(s *store) bool {
			key := c.window(c.read(), c.limit().Per)
			if !fits(s.count(key), c.Cost, c.limit().Count) {
				return false
			}
			s.incr(key, c.Cost)
			return true
		})
	}
}

// keptFor is a window opened by the first request that lives for another time.
func keptFor(ttl func(per time.Duration) time.Duration) decide {
	return func(c *call) rlbench.Outcome {
		return c.script(func(s *store) bool {
			used := s.count(c.Key)
			if used+c.Cost > c.limit().Count {
				return false
			}
			s.incr(c.Key, c.Cost)
			if used == 0 {
				s.expire(c.Key, ttl(c.limit().Per))
			}
			return true
		})
	}
}

// sixKeys comes back to each of six keys when its window is long over.
func sixKeys() []part {
	var parts []part
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		for window := range 6 {
			parts = append(parts, part{at: time.Duration(window) * 1500 * tick, n: 4, every: 200 * tick, key: key})
		}
	}
	return parts
}

func expiryLost(c *call) rlbench.Outcome {
	var used int64
	if !c.try(func(s *store) { used = s.incr(c.Key, c.Cost) }) {
		return rlbench.Unknown
	}
	if used == c.Cost {
		c.try(func(s *store) { s.expire(c.Key, c.limit().Per) })
	}
	return allowedIf(used <= c.limit().Count)
}

func expiryRenewed(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		used := s.incr(c.Key, c.Cost)
		s.expire(c.Key, c.limit().Per)
		return used <= c.limit().Count
	})
}

func cachedRefusal(c *call) rlbench.Outcome {
	if c.own.local.count(c.Key) > 0 {
		return rlbench.Denied
	}
	outcome := fixedWindow(c)
	if outcome == rlbench.Denied {
		c.own.local.set(c.Key, c.limit().Per, 1)
	}
	return outcome
}

func chargedInTurn(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		for _, l := range c.policy.Limits {
			key := c.window(now, l.Per)
			if s.count(key)+c.Cost > l.Count {
				return false
			}
			s.incr(key, c.Cost)
		}
		return true
	})
}

func sharedCount(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		for _, l := range c.policy.Limits {
			if s.count(c.Key)+c.Cost > l.Count {
				return false
			}
		}
		if s.incr(c.Key, c.Cost) == c.Cost {
			s.expire(c.Key, c.limit().Per)
		}
		return true
	})
}
