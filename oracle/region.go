package oracle

import "github.com/rlbench/rlbench"

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
	// refuse returns the states after such a request was refused; where refusals are
	// charged, it is.
	refuse(from, to, cost int64) []region
	// pass returns the states after some decision in [from, to] that changed nothing.
	pass(from, to int64) []region
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
	if len(parts) == 1 && charges != chargesEverything {
		return parts[0], nil
	}
	return newSeveralRegion(p, charges, parts), nil
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
