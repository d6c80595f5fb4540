package memory

import (
	"context"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// rule is one limit under one algorithm, and A is all that it must know of a
// key. The zero A is a key that was never seen. Moments are nanoseconds since
// the Unix epoch, and of one key they never fall.
type rule[A any] interface {
	// most is the greatest cost that can ever fit.
	most() int64
	// left is the greatest cost that fits at the moment.
	left(a *A, now int64) int64
	// wait is how long it takes, if nothing else is charged, until a cost fits
	// that does not now. It is at most most.
	wait(a *A, now, cost int64) int64
	// charge takes in a cost that fits.
	charge(a *A, now, cost int64)
	// idle reports whether the key is as good as one never seen, now and later.
	idle(a *A, now int64) bool
}

// limiter decides by rules that all hold at once, for every instance.
type limiter[A any, R rule[A]] struct {
	rules []R
	clock targets.Clock
	keys  keyspace[A]
	// turn is when a request that is charged next may go; nil where none waits.
	turn func(a *A, now int64) int64
}

func newLimiter[A any, R rule[A]](rules []R, clock targets.Clock) *limiter[A, R] {
	l := &limiter[A, R]{rules: rules, clock: clock}
	l.keys = keyspace[A]{rules: len(rules), idle: func(accounts []A) bool {
		now := clock()
		for i, r := range rules {
			if !r.idle(&accounts[i], now) {
				return false
			}
		}
		return true
	}}
	return l
}

// Ask decides at once. Where the algorithm makes a request wait for its turn it
// then does so, and if ctx ends first the outcome is Unknown: the request was
// charged and never let go. The turn is what ReleasedAt states: by how much a
// waiter wakes late is not the limiter's, and it never wakes early.
func (l *limiter[A, R]) Ask(ctx context.Context, r rlbench.Request) rlbench.Answer {
	answer := l.decide(r.Key, r.Cost)
	if answer.Said&rlbench.SaidReleasedAt != 0 {
		if err := l.clock.WaitUntil(ctx, answer.ReleasedAt); err != nil {
			return rlbench.Answer{Outcome: rlbench.Unknown, Err: err}
		}
	}
	return answer
}

// decide holds the lock of the key alone, so that no decision waits for another
// key, and reads the clock under it, so that a key's decisions stand in its order.
func (l *limiter[A, R]) decide(key string, cost int64) rlbench.Answer {
	for {
		h := l.keys.holding(key)
		h.Lock()
		if !h.dropped {
			answer := l.charge(h.accounts, cost)
			h.Unlock()
			return answer
		}
		h.Unlock()
	}
}

// charge charges all limits or, when any of them has no room, none.
func (l *limiter[A, R]) charge(accounts []A, cost int64) rlbench.Answer {
	now := l.clock()
	answer := rlbench.Answer{Outcome: rlbench.Allowed, DecidedAt: now, Said: rlbench.SaidLimit | rlbench.SaidRemaining | rlbench.SaidDecidedAt}
	var wait int64
	never := false
	for i, r := range l.rules {
		left, most := r.left(&accounts[i], now), r.most()
		switch {
		case cost <= left:
		case cost <= most: // the last of the limits to have room decides how long
			answer.Outcome = rlbench.Denied
			wait = max(wait, r.wait(&accounts[i], now, cost))
		default:
			answer.Outcome, never = rlbench.Denied, true
		}
		if i == 0 || left < answer.Remaining {
			answer.Limit, answer.Remaining = most, left
		}
	}
	switch {
	case answer.Outcome == rlbench.Allowed:
		l.admit(accounts, now, cost, &answer)
	case !never: // A cost that never fits is not told to come back.
		answer.RetryAfter = time.Duration(wait)
		answer.Said |= rlbench.SaidRetryAfter
	}
	return answer
}

func (l *limiter[A, R]) admit(accounts []A, now, cost int64, answer *rlbench.Answer) {
	// The limit with the least left stays the one: all are charged alike.
	answer.Remaining -= cost
	if l.turn != nil {
		answer.ReleasedAt = l.turn(&accounts[0], now)
		answer.Said |= rlbench.SaidReleasedAt
	}
	for i, r := range l.rules {
		r.charge(&accounts[i], now, cost)
	}
}

// ReadClock returns the clock that decisions go by.
func (l *limiter[A, R]) ReadClock(context.Context) (int64, error) { return l.clock(), nil }

// Close has nothing to free: the keys go with the limiter.
func (l *limiter[A, R]) Close() error { return nil }
