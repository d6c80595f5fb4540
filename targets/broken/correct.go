package broken

import (
	"time"

	"github.com/rlbench/rlbench"
)

// rightly is a correct limiter of the policy.
func rightly(p rlbench.Policy) decide {
	switch p.Algorithm {
	case rlbench.SlidingLog:
		return slidingLog
	case rlbench.SlidingCounter:
		return slidingCounter
	case rlbench.TokenBucket:
		return tokenBucket
	case rlbench.GCRA:
		return gcra
	case rlbench.LeakyMeter:
		return leakyMeter
	case rlbench.LeakyQueue:
		return leakyQueue
	}
	switch {
	case p.Limits[0].Anchor == rlbench.Epoch:
		return fixedWindow
	case p.ChargesRefusals:
		return countedFirst
	}
	return openedWindow
}

// fixedWindow counts in aligned windows, all limits or none.
func fixedWindow(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		for _, l := range c.policy.Limits {
			if s.count(c.window(now, l.Per))+c.Cost > l.Count {
				return false
			}
		}
		for _, l := range c.policy.Limits {
			s.incr(c.window(now, l.Per), c.Cost)
		}
		return true
	})
}

// openedWindow keeps beside each count when its window ends: the first request that
// finds none open opens one.
func openedWindow(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		next := make([][]int64, len(c.policy.Limits))
		for i, l := range c.policy.Limits {
			w := s.get(c.part(l.Per))
			if w == nil || now >= w[1] {
				w = []int64{0, now + int64(l.Per)}
			}
			if w[0] += c.Cost; w[0] > l.Count {
				return false
			}
			next[i] = w
		}
		for i, l := range c.policy.Limits {
			s.set(c.part(l.Per), 0, next[i]...)
		}
		return true
	})
}

// countedFirst counts before it decides, refused requests too; the window ends when
// the key's time to live does.
func countedFirst(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		used := s.incr(c.Key, c.Cost)
		if used == c.Cost {
			s.expire(c.Key, c.limit().Per)
		}
		return used <= c.limit().Count
	})
}

// slidingLog keeps a stamp for each unit of cost.
func slidingLog(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		stamps := s.get(c.Key)
		longest := time.Duration(0)
		for _, l := range c.policy.Limits {
			longest = max(longest, l.Per)
			if int64(len(after(stamps, now-int64(l.Per))))+c.Cost > l.Count {
				return false
			}
		}
		stamps = after(stamps, now-int64(longest))
		for range c.Cost {
			stamps = append(stamps, now)
		}
		s.set(c.Key, 0, stamps...)
		return true
	})
}

// after returns the stamps later than a moment.
func after(stamps []int64, moment int64) []int64 {
	var kept []int64
	for _, at := range stamps {
		if at > moment {
			kept = append(kept, at)
		}
	}
	return kept
}

// slidingCounter keeps two counts for each limit, of this window and of the one
// before. The clock that it goes by never goes back.
func slidingCounter(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := max(c.read(), s.count(c.Key))
		c.readAt = now
		for _, l := range c.policy.Limits {
			before := s.count(c.window(now-int64(l.Per), l.Per))
			own := s.count(c.window(now, l.Per)) + c.Cost
			// The estimate own + before·(left of this window)/W, without a fraction.
			if own*int64(l.Per)+before*(int64(l.Per)-now%int64(l.Per)) > l.Count*int64(l.Per) {
				return false
			}
		}
		for _, l := range c.policy.Limits {
			s.incr(c.window(now, l.Per), c.Cost)
		}
		s.set(c.Key, 0, now)
		return true
	})
}

// tokenBucket keeps what is left, in parts of a token, and when it was counted.
func tokenBucket(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		next := make([][]int64, len(c.policy.Limits))
		for i, l := range c.policy.Limits {
			full := l.Burst * int64(l.Per)
			b := s.get(c.part(l.Per))
			if b == nil {
				b = []int64{full, now}
			}
			left := b[0] + min(max(now-b[1], 0), full/l.Count+1)*l.Count
			left = min(left, full) - c.Cost*int64(l.Per)
			if left < 0 {
				return false
			}
			next[i] = []int64{left, max(now, b[1])}
		}
		for i, l := range c.policy.Limits {
			s.set(c.part(l.Per), 0, next[i]...)
		}
		return true
	})
}

// gcra keeps when the bucket will have drained: the theoretical arrival time. The
// time that one costs is a whole number of nanoseconds.
func gcra(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		next := make([]int64, len(c.policy.Limits))
		for i, l := range c.policy.Limits {
			each := int64(l.Per) / l.Count
			next[i] = max(now, s.count(c.part(l.Per))) + c.Cost*each
			if next[i]-now > l.Burst*each {
				return false
			}
		}
		for i, l := range c.policy.Limits {
			s.set(c.part(l.Per), 0, next[i])
		}
		return true
	})
}

// leakyMeter keeps how full it is, and drains at the rate.
func leakyMeter(c *call) rlbench.Outcome {
	return c.script(func(s *store) bool {
		now := c.read()
		l := c.limit()
		b := s.get(c.Key)
		if b == nil {
			b = []int64{0, now}
		}
		drained := min(max(now-b[1], 0), b[0]/l.Count+1) * l.Count
		level := max(0, b[0]-drained) + c.Cost*int64(l.Per)
		if level > l.Burst*int64(l.Per) {
			return false
		}
		s.set(c.Key, 0, level, max(now, b[1]))
		return true
	})
}

// leakyQueue lets requests wait, as many as there is room for, and lets them go one
// by one at the rate. Where it decides is where they wait.
func leakyQueue(c *call) rlbench.Outcome {
	c.trip()
	l := c.limit()
	each := int64(l.Per) / l.Count
	now := c.read()
	goes := max(now, c.shared.count(c.Key))
	if goes+c.Cost*each-now > l.Burst*each {
		c.trip()
		return rlbench.Denied
	}
	c.shared.set(c.Key, 0, goes+c.Cost*each)
	c.queue(goes - now)
	c.trip()
	return rlbench.Allowed
}

// queue waits and then lets the request go. What was decided stays decided then.
func (c *call) queue(d int64) {
	decidedAt := c.readAt
	c.wait(time.Duration(d))
	c.releasedAt = c.read()
	c.readAt = decidedAt
}
