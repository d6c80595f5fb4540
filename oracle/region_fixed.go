package oracle

import (
	"time"

	"github.com/rlbench/rlbench"
)

// windowsMax bounds the windows that one request may have been decided in, when its
// interval spans many.
const windowsMax = 1 << 10

// The states of a window on the clock: the number of the window last charged and what
// was used of it. The last decision came no earlier than now.
type alignedRegion struct {
	shape        *alignedShape
	number, used int64
	now          int64
}

type alignedShape struct {
	aligned
	charges bool
}

func newAlignedRegion(l rlbench.Limit, origin int64, charges bool) alignedRegion {
	window := aligned{limit: l.Count, length: int64(l.Per), origin: originIn(origin, l.Per)}
	return alignedRegion{shape: &alignedShape{window, charges}, number: beginning, now: beginning}
}

// originIn is where a reading of the clock lies within the window, which is all that
// matters of it and keeps the numbers small.
func originIn(origin int64, window time.Duration) int64 {
	return origin - floorDiv(origin, int64(window))*int64(window)
}

// spanned calls visit for each window in which a moment of [from, to] lies, with the
// first such moment.
func (a aligned) spanned(from, to int64, visit func(number, first int64)) {
	if from > to {
		return
	}
	last := a.number(to)
	for k := a.number(from); k <= last; k++ {
		visit(k, max(from, a.start(k)))
	}
}

func (r alignedRegion) in(number int64) int64 {
	if number == r.number {
		return r.used
	}
	return 0
}

func (r alignedRegion) admit(from, to, cost int64) []region {
	var out []region
	r.shape.spanned(max(from, r.now), to, func(k, first int64) {
		if used := r.in(k); cost <= r.shape.limit-used {
			out = append(out, alignedRegion{r.shape, k, used + cost, first})
		}
	})
	return out
}

func (r alignedRegion) refuse(from, to, cost int64) []region {
	var out []region
	r.shape.spanned(max(from, r.now), to, func(k, first int64) {
		switch used := r.in(k); {
		case cost <= r.shape.limit-used:
		case r.shape.charges:
			out = append(out, alignedRegion{r.shape, k, used + cost, first})
		default:
			out = joined(out, alignedRegion{r.shape, r.number, r.used, first})
		}
	})
	return out
}

func (r alignedRegion) pass(from, to int64) []region {
	if r.now = max(r.now, from); r.now > to {
		return nil
	}
	return []region{r}
}

func (r alignedRegion) join(other region) (region, bool) {
	o, ok := other.(alignedRegion)
	if !ok || o.shape != r.shape || o.number != r.number || o.used != r.used {
		return nil, false
	}
	r.now = min(r.now, o.now)
	return r, true
}

func (r alignedRegion) rough() bool { return false }

func (r alignedRegion) say(at int64) string {
	return sayUsed(r.in(r.shape.number(at)), r.shape.limit)
}

// The states of a window that the first request opens: it ends in [lo, hi], and used
// was taken of it. The last decision came no earlier than now, nor than the window
// opened, which is at most its length before its end.
type firstRegion struct {
	shape             *firstShape
	lo, hi, used, now int64
}

// firstShape: a window lasts its length, or longer by at most late.
type firstShape struct {
	limit, length, late int64
	charges             bool
}

func newFirstRegion(l rlbench.Limit, late int64, charges bool) firstRegion {
	return firstRegion{&firstShape{l.Count, int64(l.Per), late, charges}, beginning, beginning, 0, beginning}
}

// open returns the states in which the window is open at a moment of [from, to].
func (r firstRegion) open(from, to int64) (firstRegion, bool) {
	r.lo, r.hi = max(r.lo, from+1), min(r.hi, to+r.shape.length+r.shape.late)
	r.now = from
	return r, r.lo <= r.hi
}

// opened returns those in which a request opened it, having found none open.
func (r firstRegion) opened(from, to, cost int64) (firstRegion, bool) {
	from = max(from, r.lo)
	length := r.shape.length
	return firstRegion{r.shape, from + length, to + length + r.shape.late, cost, from}, from <= to
}

func (r firstRegion) admit(from, to, cost int64) []region {
	if from = max(from, r.now); from > to {
		return nil
	}
	var out []region
	if open, ok := r.open(from, to); ok && cost <= r.shape.limit-r.used {
		open.used += cost
		out = append(out, open)
	}
	if opened, ok := r.opened(from, to, cost); ok && cost <= r.shape.limit {
		out = joined(out, opened)
	}
	return out
}

func (r firstRegion) refuse(from, to, cost int64) []region {
	dear := cost > r.shape.limit
	if dear && !r.shape.charges {
		return r.pass(from, to)
	}
	if from = max(from, r.now); from > to {
		return nil
	}
	var out []region
	if open, ok := r.open(from, to); ok && cost > r.shape.limit-r.used {
		if r.shape.charges {
			open.used += cost
		}
		out = append(out, open)
	}
	if opened, ok := r.opened(from, to, cost); ok && dear {
		out = joined(out, opened)
	}
	return out
}

func (r firstRegion) pass(from, to int64) []region {
	r.now, r.hi = max(r.now, from), min(r.hi, to+r.shape.length+r.shape.late)
	if r.now > to || r.lo > r.hi {
		return nil
	}
	return []region{r}
}

func (r firstRegion) join(other region) (region, bool) {
	o, ok := other.(firstRegion)
	if !ok || o.shape != r.shape || o.used != r.used {
		return nil, false
	}
	switch {
	case r.lo <= o.lo && o.hi <= r.hi && r.now <= o.now:
		return r, true
	case o.lo <= r.lo && r.hi <= o.hi && o.now <= r.now:
		return o, true
	case r.now != o.now || r.lo > o.hi+1 || o.lo > r.hi+1:
		return nil, false
	}
	r.lo, r.hi = min(r.lo, o.lo), max(r.hi, o.hi)
	return r, true
}

func (r firstRegion) rough() bool { return false }

func (r firstRegion) say(at int64) string {
	switch {
	case at >= r.hi:
		return sayUsed(0, r.shape.limit)
	case at < r.lo:
		return sayUsed(r.used, r.shape.limit)
	}
	return sayUsed(r.used, r.shape.limit) + ", or none"
}
