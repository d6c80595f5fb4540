package broken

import "github.com/rlbench/rlbench"

// racy are those that let something come in between reading and writing.
func racy() []Mutant {
	const class = "atomicity race"
	burst := []part{together(100*tick, 40)}
	return []Mutant{
		mutant("window-get-then-set", class, neverOver,
			"reads the count, decides, and writes it back: all who read the same count write the same",
			scene{policy: aligned(), instances: 5, traffic: burst, decide: getThenSet}),
		mutant("window-check-then-increment", class, neverOver,
			"reads the count, decides, then increments: whoever read before the last increment passes",
			scene{policy: aligned(), instances: 5, traffic: burst, decide: checkThenIncrement}),
		mutant("window-reset-race", class, neverOver,
			"who finds the window over resets its count, and wipes out what others have counted since",
			scene{policy: opened(), instances: 5, latency: 5 * tick, decide: resetRace,
				traffic: []part{together(0, 10), together(1100*tick, 40)}}),
		mutant("log-count-then-add", class, neverOver,
			"counts the log in one call and adds to it in another",
			scene{policy: logged(), instances: 5, traffic: burst, decide: countThenAdd}),
		mutant("bucket-read-then-write", class, neverOver,
			"reads tokens and time, refills by itself, and writes both back",
			scene{policy: bucket(), instances: 5, traffic: burst, decide: bucketReadThenWrite}),
		mutant("window-late-refund", "refund", neverOver,
			"gives a refused request's cost back in a second call, which may land in the next window",
			scene{policy: opened(), instances: 5, latency: 20 * tick, decide: lateRefund,
				traffic: []part{together(0, 10), {at: 940 * tick, n: 60, spread: 60 * tick}, together(1300*tick, 60)}}),
	}
}

func getThenSet(c *call) rlbench.Outcome {
	key := c.window(c.read(), c.limit().Per)
	used := c.count(key) + c.Cost
	if used > c.limit().Count {
		return rlbench.Denied
	}
	c.set(key, 2*c.limit().Per, used)
	return rlbench.Allowed
}

func checkThenIncrement(c *call) rlbench.Outcome {
	key := c.window(c.read(), c.limit().Per)
	if c.count(key)+c.Cost > c.limit().Count {
		return rlbench.Denied
	}
	c.incr(key, c.Cost)
	return rlbench.Allowed
}

func resetRace(c *call) rlbench.Outcome {
	if now := c.read(); now >= c.count(c.Key+":ends") {
		c.ask(func(s *store) {
			s.set(c.Key+":ends", 0, now+int64(c.limit().Per))
			s.set(c.Key, 0, 0)
		})
	}
	return c.script(func(s *store) bool {
		if s.count(c.Key)+c.Cost > c.limit().Count {
			return false
		}
		s.incr(c.Key, c.Cost)
		return true
	})
}

func countThenAdd(c *call) rlbench.Outcome {
	now := c.read()
	if int64(len(after(c.get(c.Key), now-int64(c.limit().Per))))+c.Cost > c.limit().Count {
		return rlbench.Denied
	}
	c.ask(func(s *store) { s.set(c.Key, 0, append(s.get(c.Key), now)...) })
	return rlbench.Allowed
}

func bucketReadThenWrite(c *call) rlbench.Outcome {
	now := c.read()
	left, last := c.tokens(c.get(c.Key), now)
	left = min(c.full(), left+earned(c.limit(), last, now)) - c.price()
	if left < 0 {
		return rlbench.Denied
	}
	c.set(c.Key, 0, left, now)
	return rlbench.Allowed
}

func lateRefund(c *call) rlbench.Outcome {
	used := c.incr(c.Key, c.Cost)
	if used == c.Cost {
		c.expire(c.Key, c.limit().Per)
	}
	if used > c.limit().Count {
		c.incr(c.Key, -c.Cost)
		return rlbench.Denied
	}
	return rlbench.Allowed
}
