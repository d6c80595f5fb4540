package oracle

import "github.com/rlbench/rlbench"

// Sliding log: at a moment t a request passes if what was charged in (t-W, t] and its
// own cost are at most L.
//
// Source: the sorted set of time stamps a key. Clock: the limiter's own; where it
// begins does not matter. A stamp of exactly t-W has left. In 3 per 10 s, stamps of
// 0, 4 and 8 refuse at 9.999 and let pass at 10.

// slidingLog is the stamps that may still count, the oldest first.
type slidingLog struct {
	limit, length int64
	at, cost      []int64
	held          int64
}

func newSlidingLog(l rlbench.Limit) *slidingLog {
	return &slidingLog{limit: l.Count, length: int64(l.Per)}
}

func (l *slidingLog) fits(at, cost int64) bool {
	for len(l.at) > 0 && l.at[0] <= at-l.length {
		l.held -= l.cost[0]
		l.at, l.cost = l.at[1:], l.cost[1:]
	}
	return cost <= l.limit-l.held
}

func (l *slidingLog) charge(at, cost int64) int64 {
	l.at, l.cost = append(l.at, at), append(l.cost, cost)
	l.held += cost
	return 0
}
