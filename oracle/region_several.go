package oracle

import (
	"fmt"

	"github.com/rlbench/rlbench"
)

// severalRegion is the states of several limits, each in its own region. The limits
// share the moment of a decision, and regions keep that only where the moment is known
// or nothing but the window that it lies in matters: elsewhere this one is rough.
type severalRegion struct {
	charging
	parts []region
	open  bool
	// most is the least that one of the limits ever has room for.
	most int64
}

func newSeveralRegion(p rlbench.Policy, charges charging, parts []region) severalRegion {
	s := severalRegion{charging: charges, parts: parts, most: -beginning}
	for _, l := range p.Limits {
		if p.Algorithm.Bucket() {
			s.most = min(s.most, l.Burst)
		} else {
			s.most = min(s.most, l.Count)
		}
	}
	return s
}

func (s severalRegion) with(i int, part region) severalRegion {
	parts := make([]region, len(s.parts))
	copy(parts, s.parts)
	parts[i] = part
	s.parts = parts
	return s
}

// each replaces part i by what next makes of it.
func each(all []region, i int, next func(region) []region) []region {
	var out []region
	for _, r := range all {
		s := r.(severalRegion)
		for _, part := range next(s.parts[i]) {
			out = append(out, s.with(i, part))
		}
	}
	return out
}

// pieces cuts a stretch at the edges of every window on the clock, and calls visit for
// each piece with the region as it is to be asked there.
func (s severalRegion) pieces(from, to int64, visit func(s severalRegion, from, to int64)) {
	windows := true
	for _, part := range s.parts {
		switch p := part.(type) {
		case alignedRegion:
			from = max(from, p.now)
		default:
			windows = false
		}
	}
	for from <= to {
		end := to
		for _, part := range s.parts {
			switch p := part.(type) {
			case alignedRegion:
				end = min(end, p.shape.start(p.shape.number(from)+1)-1)
			case countRegion:
				end = min(end, p.shape.start(p.shape.number(from)+1)-1)
			}
		}
		asked := s
		asked.open = s.open || from < end && !windows && len(s.parts) > 1
		visit(asked, from, end)
		from = end + 1
	}
}

func (s severalRegion) admit(from, to, cost int64) []region {
	var out []region
	s.pieces(from, to, func(s severalRegion, from, to int64) {
		some := []region{s}
		for i := range s.parts {
			some = each(some, i, func(r region) []region { return r.admit(from, to, cost) })
		}
		out = joined(out, some...)
	})
	return out
}

func (s severalRegion) refuse(from, to, cost int64) []region {
	var out []region
	s.pieces(from, to, func(s severalRegion, from, to int64) {
		out = joined(out, s.refused(from, to, cost)...)
	})
	return out
}

// refused asks for each limit: was it this one that refused?
func (s severalRegion) refused(from, to, cost int64) []region {
	admit := func(r region) []region { return r.admit(from, to, cost) }
	refuse := func(r region) []region { return r.refuse(from, to, cost) }
	var out []region
	for culprit := range s.parts {
		some := each([]region{s}, culprit, refuse)
		for i := range s.parts {
			switch {
			case i == culprit:
			case s.charging == chargesEverything:
				some = each(some, i, func(r region) []region { return append(admit(r), refuse(r)...) })
			case s.charging == chargesEarlier && i < culprit:
				some = each(some, i, admit)
			default:
				some = each(some, i, func(r region) []region { return r.pass(from, to) })
			}
		}
		out = joined(out, some...)
	}
	if s.charging == chargesEverything && cost > s.most {
		// Whether what never fits is charged differs among those that charge.
		out = joined(out, s.pass(from, to)...)
	}
	return out
}

func (s severalRegion) pass(from, to int64) []region {
	some := []region{s}
	for i := range s.parts {
		some = each(some, i, func(r region) []region { return r.pass(from, to) })
	}
	return some
}

// join joins where all parts but one are the same, or differ only in how soon the last
// decision may have come.
func (s severalRegion) join(other region) (region, bool) {
	o, ok := other.(severalRegion)
	if !ok || s.open != o.open {
		return nil, false
	}
	if s.sooner(o) {
		return s, true
	}
	if o.sooner(s) {
		return o, true
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
	one, ok := s.parts[differs].join(o.parts[differs])
	if !ok {
		return nil, false
	}
	return s.with(differs, one), true
}

// sooner tells whether the states are the same, and no last decision came later.
func (s severalRegion) sooner(o severalRegion) bool {
	for i, part := range s.parts {
		x, windows := part.(alignedRegion)
		if !windows {
			if !sameRegion(part, o.parts[i]) {
				return false
			}
			continue
		}
		y := o.parts[i].(alignedRegion)
		if x.number != y.number || x.used != y.used || x.now > y.now {
			return false
		}
	}
	return true
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
		return ok && x.same(y) && x.now == y.now
	}
	switch a.(type) {
	case bucketRegion, alignedRegion, firstRegion, countRegion:
		return a == b
	}
	return false
}

// sayUsed is how the regions of counters describe themselves.
func sayUsed(used, limit int64) string { return fmt.Sprintf("%d of %d used", used, limit) }
