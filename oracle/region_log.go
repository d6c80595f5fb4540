package oracle

import (
	"slices"

	"github.com/rlbench/rlbench"
)

// The states of a sliding log: stamps in order, each in an interval of its own. The
// last decision came no earlier than now, nor than the last stamp. Both ends of the
// intervals rise from one stamp to the next; any choice of one moment in each, in
// order, is a state.
type logRegion struct {
	shape  *logShape
	stamps []stamp
	now    int64
	// loose: some choices are no states.
	loose bool
}

type stamp struct{ lo, hi, cost int64 }

type logShape struct {
	limit, length int64
	charges       bool
}

func newLogRegion(l rlbench.Limit, charges bool) *logRegion {
	return &logRegion{shape: &logShape{l.Count, int64(l.Per), charges}, now: beginning}
}

// leaver returns how many of the oldest stamps must have left for a cost to fit.
func (r *logRegion) leaver(cost int64) int {
	room := r.shape.limit - cost
	i := len(r.stamps)
	for ; i > 0 && r.stamps[i-1].cost <= room; i-- {
		room -= r.stamps[i-1].cost
	}
	return i
}

// next returns a copy whose last decision came in [from, to], if it can have: so the
// stamps lie before to. What has left by from, whatever its moment, is forgotten.
func (r *logRegion) next(from, to int64) (*logRegion, bool) {
	n := &logRegion{shape: r.shape, now: max(r.now, from), loose: r.loose}
	if last := len(r.stamps) - 1; last >= 0 {
		n.now = max(n.now, r.stamps[last].lo)
	}
	if n.now > to {
		return nil, false
	}
	gone := 0
	for gone < len(r.stamps) && r.stamps[gone].hi <= n.now-r.shape.length {
		gone++
	}
	n.stamps = slices.Clone(r.stamps[gone:])
	for i := len(n.stamps) - 1; i >= 0 && n.stamps[i].hi > to; i-- {
		n.stamps[i].hi = to
	}
	return n, true
}

func (r *logRegion) admit(from, to, cost int64) []region {
	n, ok := r.next(from, to)
	if !ok || cost > r.shape.limit {
		return nil
	}
	if gone := n.leaver(cost); gone > 0 {
		n.now = max(n.now, n.stamps[gone-1].lo+r.shape.length)
		n.stamps = n.stamps[gone:]
	}
	if n.now > to {
		return nil
	}
	n.stamps = append(n.stamps, stamp{n.now, to, cost})
	return []region{n}
}

func (r *logRegion) refuse(from, to, cost int64) []region {
	n, ok := r.next(from, to)
	if !ok {
		return nil
	}
	dear := cost > r.shape.limit
	if !dear {
		full := n.leaver(cost)
		if full == 0 || !n.hold(full-1) {
			return nil
		}
		to = min(to, n.stamps[full-1].hi+r.shape.length-1)
	}
	if r.shape.charges {
		n.stamps = append(n.stamps, stamp{n.now, to, cost})
		n.loose = n.loose || n.now < to && !dear
	}
	return []region{n}
}

func (r *logRegion) pass(from, to int64) []region {
	if n, ok := r.next(from, to); ok {
		return []region{n}
	}
	return nil
}

// hold demands that stamp i has not left at the moment of a decision, which is now or,
// where the last stamp is later, that one's: so stamp i is later than now less the
// window, and those after it are no earlier.
func (r *logRegion) hold(i int) bool {
	least := r.now - r.shape.length + 1
	for j := i; j < len(r.stamps) && r.stamps[j].lo < least; j++ {
		if r.stamps[j].lo = least; least > r.stamps[j].hi {
			return false
		}
	}
	last := r.stamps[len(r.stamps)-1]
	if last.hi > r.now && last.hi-r.stamps[i].lo >= r.shape.length {
		r.loose = true
	}
	return true
}

func (r *logRegion) same(o *logRegion) bool {
	return r.shape == o.shape && r.loose == o.loose && slices.Equal(r.stamps, o.stamps)
}

func (r *logRegion) join(other region) (region, bool) {
	o, ok := other.(*logRegion)
	if !ok || !r.same(o) {
		return nil, false
	}
	if o.now < r.now {
		return o, true
	}
	return r, true
}

func (r *logRegion) rough() bool { return r.loose }

func (r *logRegion) say(at int64) string {
	used := int64(0)
	for _, s := range r.stamps {
		if s.lo > at-r.shape.length {
			used += s.cost
		}
	}
	return sayUsed(used, r.shape.limit)
}
