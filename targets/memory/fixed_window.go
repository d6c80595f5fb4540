package memory

import (
	"context"
	"sync"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// fixedWindow is one counter a key, limit and window, for every instance.
type fixedWindow struct {
	limits []rlbench.Limit
	clock  targets.Clock
	keys   keyspace
}

func newFixedWindow(limits []rlbench.Limit, clock targets.Clock) *fixedWindow {
	return &fixedWindow{limits: limits, clock: clock}
}

// budget is what one key has used of each limit. The lock is the key's own: no
// decision waits for another key.
type budget struct {
	sync.Mutex
	key     string
	windows []window
	// dropped: swept from the keyspace; who still holds it looks the key up again.
	dropped bool
}

// window is what was used until the moment that it ends. A window that has
// ended is as good as none.
type window struct{ ends, used int64 }

// at returns the window as it stands at now: renewed when it has ended.
func (w window) at(now int64, l rlbench.Limit) window {
	if w.inForce(now) {
		return w
	}
	per := int64(l.Per)
	if l.Anchor == rlbench.Epoch {
		// Before 1970 the remainder is negative, and the window ends that much nearer.
		return window{ends: now - floorMod(now, per) + per}
	}
	return window{ends: now + per}
}

// inForce reports whether the window is open. Only a charge opens one, so a
// window of which nothing was used never was.
func (w window) inForce(now int64) bool { return w.used > 0 && now < w.ends }

func floorMod(a, b int64) int64 { return (a%b + b) % b }

// Ask decides at once; ctx is of no use here, because there is nothing to wait for.
func (f *fixedWindow) Ask(_ context.Context, r rlbench.Request) rlbench.Answer {
	for {
		b := f.keys.budget(r.Key, len(f.limits), f.clock)
		b.Lock()
		if !b.dropped {
			answer := f.decide(b, r.Cost)
			b.Unlock()
			return answer
		}
		b.Unlock()
	}
}

// decide charges all limits or, when any of them has no room, none. The clock is
// read under the key's lock, so that a key's decisions stand in its order.
func (f *fixedWindow) decide(b *budget, cost int64) rlbench.Answer {
	now := f.clock()
	answer := rlbench.Answer{Outcome: rlbench.Allowed, DecidedAt: now, Said: rlbench.SaidLimit | rlbench.SaidRemaining | rlbench.SaidDecidedAt}
	var wait int64
	fits := true
	for i, l := range f.limits {
		w := b.windows[i].at(now, l)
		if cost > l.Count-w.used {
			answer.Outcome = rlbench.Denied
			wait = max(wait, w.ends-now)
		}
		fits = fits && cost <= l.Count
	}
	for i, l := range f.limits {
		w := b.windows[i].at(now, l)
		if answer.Outcome == rlbench.Allowed {
			w.used += cost
			b.windows[i] = w
		}
		if left := l.Count - w.used; i == 0 || left < answer.Remaining {
			answer.Limit, answer.Remaining = l.Count, left
		}
	}
	// A cost that no empty window has room for is never told to come back.
	if answer.Outcome == rlbench.Denied && fits {
		answer.RetryAfter = time.Duration(wait)
		answer.Said |= rlbench.SaidRetryAfter
	}
	return answer
}

// ReadClock returns the clock that decisions go by.
func (f *fixedWindow) ReadClock(context.Context) (int64, error) { return f.clock(), nil }

// Close has nothing to free: the keys go with the limiter.
func (f *fixedWindow) Close() error { return nil }
