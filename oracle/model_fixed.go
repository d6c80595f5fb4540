package oracle

import "github.com/rlbench/rlbench"

// Fixed window on the clock: in each window [k·W, (k+1)·W) at most L are let through.
//
// Source: the counter that a key named by the number of its window holds. Clock: the
// limiter's own; windows lie at whole multiples of W since the Unix epoch.
// In 5 a minute, five at 0:59 and five at 1:00 all pass: ten within two seconds.

// alignedWindow is one counter.
type alignedWindow struct {
	limit, length int64
	number, used  int64
}

func newAlignedWindow(l rlbench.Limit) *alignedWindow {
	return &alignedWindow{limit: l.Count, length: int64(l.Per), number: beginning}
}

func (w *alignedWindow) fits(at, cost int64) bool {
	w.enter(floorDiv(at, w.length))
	return cost <= w.limit-w.used
}

func (w *alignedWindow) charge(at, cost int64) int64 {
	w.enter(floorDiv(at, w.length))
	w.used += cost
	return 0
}

// enter begins a new count when the window is another.
func (w *alignedWindow) enter(number int64) {
	if number != w.number {
		w.number, w.used = number, 0
	}
}

// Fixed window from the first request: a charged request that finds no window open
// opens one of length W, in which at most L are let through.
//
// Source: a counter with an expiry that its first increment sets. Clock: the
// limiter's own; where it begins does not matter. A request refused for its cost alone
// opens nothing.

// firstRequestWindow is one counter and when it ends.
type firstRequestWindow struct {
	limit, length int64
	ends, used    int64
}

func newFirstRequestWindow(l rlbench.Limit) *firstRequestWindow {
	return &firstRequestWindow{limit: l.Count, length: int64(l.Per), ends: beginning}
}

func (w *firstRequestWindow) fits(at, cost int64) bool {
	if at >= w.ends {
		return cost <= w.limit
	}
	return cost <= w.limit-w.used
}

func (w *firstRequestWindow) charge(at, cost int64) int64 {
	if at >= w.ends {
		w.ends, w.used = at+w.length, 0
	}
	w.used += cost
	return 0
}
