package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// clientWindows says which key counts a request, for the designs that decide in
// the client.
//
// Under the epoch anchor there is a key a window, numbered by the client's own
// clock: that is how such limiters are written, and the server's clock would
// cost a round trip more. Its expiry frees memory and decides nothing. Under the
// first-request anchor there is one key, and its expiry ends the window.
type clientWindows struct {
	*store
	limit rlbench.Limit
	clock targets.Clock
}

func newClientWindows(s *store, setup targets.Setup) clientWindows {
	return clientWindows{store: s, limit: setup.Policy.Limits[0], clock: targets.SteadyClock()}
}

// clientResolution is the step of the clock that windows go by.
func clientResolution(anchor rlbench.Anchor) time.Duration {
	if anchor == rlbench.Epoch {
		return clientClock
	}
	return expiryClock
}

func (c *clientWindows) firstRequest() bool { return c.limit.Anchor == rlbench.FirstRequest }

// counter is the key that counts a request.
type counter struct {
	key string
	// ttl is how long the key shall live, in whole milliseconds.
	ttl time.Duration
	// at and ends are the client's reading and how far the window's end was
	// then; both 0 where only the server knows.
	at   int64
	ends time.Duration
}

func (c *clientWindows) counter(r rlbench.Request) counter {
	if c.firstRequest() {
		return counter{key: c.key(r.Key, ""), ttl: c.limit.Per}
	}
	now, per := c.clock(), int64(c.limit.Per)
	ends := time.Duration(per - now%per)
	return counter{
		key: c.key(r.Key, ":"+strconv.FormatInt(now/per, 10)),
		ttl: wholeMillis(ends + keptAfter), at: now, ends: ends,
	}
}

// decided is the Answer when the window holds used after the decision.
func (c *clientWindows) decided(n counter, admitted bool, used, cost int64) rlbench.Answer {
	a := rlbench.Answer{
		Outcome: rlbench.Denied, Said: rlbench.SaidLimit | rlbench.SaidRemaining,
		Limit: c.limit.Count, Remaining: max(0, c.limit.Count-used),
	}
	if n.at != 0 {
		a.DecidedAt = n.at
		a.Said |= rlbench.SaidDecidedAt
	}
	switch {
	case admitted:
		a.Outcome = rlbench.Allowed
	case n.ends > 0 && cost <= c.limit.Count:
		a.RetryAfter = n.ends
		a.Said |= rlbench.SaidRetryAfter
	}
	return a
}

// ReadClock reads the clock that windows go by: this process's own under the
// epoch anchor, the server's where its expiry ends them.
func (c *clientWindows) ReadClock(ctx context.Context) (int64, error) {
	if c.firstRequest() {
		return c.readTime(ctx)
	}
	return c.clock(), nil
}
