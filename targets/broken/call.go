package broken

import (
	"strconv"
	"time"

	"github.com/rlbench/rlbench"
)

// call is one request on its way through an instance.
type call struct {
	rlbench.Request
	*world
	own  *instance
	wait func(time.Duration)
	// readAt is the last reading of the instance's clock, releasedAt when a queue let
	// the request go.
	readAt, releasedAt int64
}

// limit is the policy's first.
func (c *call) limit() rlbench.Limit { return c.policy.Limits[0] }

// read returns the instance's clock.
func (c *call) read() int64 {
	if c.skew > 0 && c.draw.IntN(4) == 0 {
		c.own.late = c.draw.Int64N(int64(c.skew) + 1)
	}
	t := epoch + int64(c.phase) + c.now - c.own.late
	c.readAt = t - t%int64(c.step)
	return c.readAt
}

// trip is one way over the network.
func (c *call) trip() {
	least := int64(c.latency) / 4
	c.wait(time.Duration(least + c.draw.Int64N(int64(c.latency)-least+1)))
}

// ask has something done at the store, at once, and waits for the answer.
func (c *call) ask(do func(*store)) {
	c.trip()
	do(c.shared)
	c.trip()
}

// try is ask of a store that may be down or lose what is said. False: no answer came;
// what was asked may have been done.
func (c *call) try(do func(*store)) bool {
	fate := c.draw.IntN(1000)
	c.trip()
	if c.shared.down || fate < c.storeLost/2 {
		c.wait(timeout)
		return false
	}
	do(c.shared)
	if fate < c.storeLost {
		c.wait(timeout)
		return false
	}
	c.trip()
	return true
}

// script decides at the store, all at once: nothing comes in between.
func (c *call) script(admit func(*store) bool) rlbench.Outcome {
	var admitted bool
	c.ask(func(s *store) { admitted = admit(s) })
	return allowedIf(admitted)
}

func (c *call) get(key string) (numbers []int64) {
	c.ask(func(s *store) { numbers = s.get(key) })
	return numbers
}

func (c *call) count(key string) (n int64) {
	c.ask(func(s *store) { n = s.count(key) })
	return n
}

func (c *call) set(key string, ttl time.Duration, numbers ...int64) {
	c.ask(func(s *store) { s.set(key, ttl, numbers...) })
}

func (c *call) incr(key string, by int64) (n int64) {
	c.ask(func(s *store) { n = s.incr(key, by) })
	return n
}

func (c *call) expire(key string, ttl time.Duration) {
	c.ask(func(s *store) { s.expire(key, ttl) })
}

func allowedIf(admitted bool) rlbench.Outcome {
	if admitted {
		return rlbench.Allowed
	}
	return rlbench.Denied
}

// window is the key of the aligned window of a length in which a moment lies.
func (c *call) window(now int64, per time.Duration) string {
	return c.part(per) + ":" + strconv.FormatInt(now/int64(per), 10)
}

// part is the key under which what belongs to one length of window is kept.
func (c *call) part(per time.Duration) string { return c.Key + ":" + per.String() }
