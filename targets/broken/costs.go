package broken

import "github.com/rlbench/rlbench"

// costs are those that get wrong what a request of more than one unit takes.
func costs() []Mutant {
	const class = "cost"
	threes := []part{{at: 100 * tick, n: 10, every: 10 * tick, cost: 3}}
	return []Mutant{
		mutant("cost-ignored", class, neverOver,
			"counts every request as one, whatever it costs",
			scene{policy: aligned(), traffic: threes, decide: charged(func(used, cost, most int64) (int64, bool) { return 1, used+1 <= most })}),
		mutant("cost-checked-only", class, neverOver,
			"asks whether the cost fits, and charges one",
			scene{policy: aligned(), traffic: threes, decide: charged(func(used, cost, most int64) (int64, bool) { return 1, used+cost <= most })}),
		mutant("cost-above-the-limit", class, neverOver,
			"lets through whatever comes first in a window, though it costs more than the window holds",
			scene{policy: aligned(), traffic: []part{{at: 100 * tick, n: 1, cost: 25}},
				decide: charged(func(used, cost, most int64) (int64, bool) { return cost, used == 0 || used+cost <= most })}),
		mutant("cost-steps-over-the-limit", class, neverOver,
			"refuses when the count equals the limit: steps of three never meet ten",
			scene{policy: aligned(), traffic: threes, decide: charged(func(used, cost, most int64) (int64, bool) { return cost, used != most })}),
		mutant("cost-wraps-around", "overflow", neverOver,
			"what is left is an unsigned number: below zero it is huge",
			scene{policy: aligned(), traffic: threes,
				decide: charged(func(used, cost, most int64) (int64, bool) { return cost, uint64(most-used-cost) > 0 })}),
		mutant("cost-refused-and-owed", "refused requests consume quota", neverStarved,
			"takes the cost first and refuses when that went below zero: each refusal deepens the debt",
			scene{policy: bucket(), decide: bucketDebt,
				traffic: []part{{n: 1, cost: 8}, {at: 10 * tick, n: 5, cost: 6, every: 10 * tick}, {at: 500 * tick, n: 2, cost: 2, every: 10 * tick}}}),
	}
}

// charged is an aligned window that charges and admits by another rule.
func charged(rule func(used, cost, most int64) (charge int64, fits bool)) decide {
	return func(c *call) rlbench.Outcome {
		return c.script(func(s *store) bool {
			key := c.window(c.read(), c.limit().Per)
			charge, fits := rule(s.count(key), c.Cost, c.limit().Count)
			if fits {
				s.incr(key, charge)
			}
			return fits
		})
	}
}

func bucketDebt(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		left, last := c.tokens(s.get(c.Key), now)
		left = min(c.full(), left+earned(c.limit(), last, now)) - c.price()
		s.set(c.Key, 0, left, now)
		return left >= 0
	})
}
