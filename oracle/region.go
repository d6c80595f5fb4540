package oracle

import (
	"fmt"

	"github.com/rlbench/rlbench"
)

// region is a set of states in which the model of one key may be, when the moments of
// its decisions are known only to lie in intervals. Regions never change; a decision
// makes new ones. Decisions come one after the other, each no earlier than the last.
//
// A region is exact, unless it says that it is rough: it holds just the states that
// some choice of moments leads to. What follows of a region rests on this: where two
// choices lead to one state, the one whose last moment is earlier explains all that the
// other does, because the next decision can always come later.
type region interface {
	// admit returns the states after a request of the cost was let through at some
	// moment in [from, to]; none when no state and no moment allows that.
	admit(from, to, cost int64) []region
	// refuse returns the states after such a request was refused.
	refuse(from, to, cost int64) []region
	// join returns the union with another region, where it is a region.
	join(other region) (region, bool)
	// rough: it may hold states besides those that some moments lead to.
	rough() bool
	// say describes the states at a moment in words, for people.
	say(at int64) string
}

// regionOf returns the region that holds only the fresh model of a policy. origin is
// the reading of the limiter's clock at instant 0, begin a moment before all others,
// late how much longer than it should a window from the first request may last.
func regionOf(p rlbench.Policy, origin, begin, late int64) (region, error) {
	if _, err := newModel(p); err != nil {
		return nil, err
	}
	charges := chargingOf(p)
	if p.Params[paramModel] == modelNginx {
		return newNginxRegion(p, origin)
	}
	var parts []region
	for _, l := range limitsInTurn(p) {
		switch {
		case p.Algorithm.Bucket():
			r, err := rateOf(l)
			if err != nil {
				return nil, err
			}
			parts = append(parts, newBucketRegion(r, begin, charges == chargesEverything))
		case p.Algorithm == rlbench.SlidingLog:
			parts = append(parts, newLogRegion(l, charges == chargesEverything))
		case p.Algorithm == rlbench.SlidingCounter:
			parts = append(parts, newCountRegion(p, l, origin, charges == chargesEverything))
		case l.Anchor == rlbench.Epoch:
			parts = append(parts, newAlignedRegion(l, origin, charges == chargesEverything))
		default:
			parts = append(parts, newFirstRegion(l, late, charges == chargesEverything))
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return severalRegion{charging: charges, parts: parts}, nil
}

// joined adds regions to others, each that can be joined with one of them.
func joined(all []region, more ...region) []region {
	for _, r := range more {
		for i := 0; i < len(all); i++ {
			if one, ok := all[i].join(r); ok {
				r = one
				all = append(all[:i:i], all[i+1:]...)
				i = -1
			}
		}
		all = append(all, r)
	}
	return all
}

// severalRegion is the states of several limits, each in its own region. It is rough
// where moments are open: the limits share them, and that is not kept.
type severalRegion struct {
	charging
	parts []region
	open  bool
}

func (s severalRegion) with(i int, part region, open bool) severalRegion {
	parts := make([]region, len(s.parts))
	copy(parts, s.parts)
	parts[i] = part
	return severalRegion{charging: s.charging, parts: parts, open: s.open || open}
}

// each replaces part i by what next makes of it.
func each(all []region, i int, open bool, next func(region) []region) []region {
	var out []region
	for _, r := range all {
		s := r.(severalRegion)
		for _, part := range next(s.parts[i]) {
			out = append(out, s.with(i, part, open))
		}
	}
	return out
}

func (s severalRegion) admit(from, to, cost int64) []region {
	out := []region{s}
	for i := range s.parts {
		out = each(out, i, from < to, func(r region) []region { return r.admit(from, to, cost) })
	}
	return out
}

// refuse asks for each limit: was it this one that refused?
func (s severalRegion) refuse(from, to, cost int64) []region {
	var out []region
	for culprit := range s.parts {
		some := each([]region{s}, culprit, from < to, func(r region) []region { return r.refuse(from, to, cost) })
		for i := range s.parts {
			switch {
			case i == culprit:
			case s.charging == chargesEverything:
				some = each(some, i, from < to, func(r region) []region {
					return append(r.admit(from, to, cost), r.refuse(from, to, cost)...)
				})
			case s.charging == chargesEarlier && i < culprit:
				some = each(some, i, from < to, func(r region) []region { return r.admit(from, to, cost) })
			}
		}
		out = joined(out, some...)
	}
	return out
}

// join joins where all parts but one are the same.
func (s severalRegion) join(other region) (region, bool) {
	o, ok := other.(severalRegion)
	if !ok || s.open != o.open {
		return nil, false
	}
	differs := -1
	for i := range s.parts {
		if sameRegion(s.parts[i], o.parts[i]) {
			continue
		}
		if differs >= 0 {
			return nil, false
		}
		differs = i
	}
	if differs < 0 {
		return s, true
	}
	one, ok := s.parts[differs].join(o.parts[differs])
	if !ok {
		return nil, false
	}
	return s.with(differs, one, false), true
}

func (s severalRegion) rough() bool {
	for _, r := range s.parts {
		if r.rough() {
			return true
		}
	}
	return s.open
}

func (s severalRegion) say(at int64) string {
	text := ""
	for i, r := range s.parts {
		if i > 0 {
			text += "; "
		}
		text += r.say(at)
	}
	return text
}

// sameRegion reports whether two regions hold the same states; false where that
// cannot be told by looking.
func sameRegion(a, b region) bool {
	if x, ok := a.(*logRegion); ok {
		y, ok := b.(*logRegion)
		return ok && x.same(y)
	}
	switch a.(type) {
	case bucketRegion, alignedRegion, firstRegion, countRegion:
		return a == b
	}
	return false
}

// sayUsed is how the regions of counters describe themselves.
func sayUsed(used, limit int64) string { return fmt.Sprintf("%d of %d used", used, limit) }
