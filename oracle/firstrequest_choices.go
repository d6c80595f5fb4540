package oracle

import (
	"cmp"
	"math"
	"slices"
)

// firstChoice is one way to open and end the next window.
type firstChoice struct {
	open, end int64
	// by says what opens it, at which position among its like.
	by opening
	at int32
	// reach: it lasts to end only to hold an op sent just before, and is no use
	// without one.
	reach bool
}

// opening says what kind of request opens a window.
type opening uint8

const (
	// byServed: one of the allowed ops that it then serves.
	byServed opening = iota
	// byClass: an op that may have opened it at any moment from its Sent on.
	byClass
	// byBounded: an op that may have opened it, in its interval.
	byBounded
	// byUnseen: a request that is not in the history.
	byUnseen
)

// choose lists the windows that may follow the state, those opened by a served
// op first.
func (s *firstSearch) choose(n *firstNode) {
	u, longest := s.u, s.u.promise.windowMax
	first, due := int64(math.MaxInt64), int64(math.MaxInt64)
	for _, i := range n.left {
		first, due = min(first, u.sent[i]), min(due, u.done[i])
	}
	if n.next < len(u.sent) {
		first = min(first, u.sent[n.next])
	}
	start := max(n.end, first)
	late := n.choices
	for i := n.next; i < len(u.sent) && u.sent[i] <= due; i++ {
		s.budget--
		// Opening as late as this op was sent is worth it only for the op itself,
		// hence only if it is due before all that could open the window earlier.
		if u.sent[i] > start && (u.done[i] < due || !u.equal) {
			late = append(late, firstChoice{open: u.sent[i], by: byServed})
		}
		due = min(due, u.done[i])
	}
	n.choices = nil
	s.openings(n, firstChoice{open: start, by: byServed}, due)
	for _, c := range late {
		if c.open <= due {
			s.ends(n, c)
		}
	}
	useless := later(first, 1-longest)
	for class, at := range n.spent {
		if positions := u.classes[class].positions; int(at) < len(positions) {
			o := &u.openers[positions[at]]
			s.openings(n, firstChoice{open: max(n.end, o.sent, useless), by: byClass, at: int32(class)}, due)
		}
	}
	s.boundedOpenings(n, useless, due)
	if s.wildcard {
		s.openings(n, firstChoice{open: max(n.end, useless), by: byUnseen}, due)
	}
}

// boundedOpenings lists the windows opened by ops that may have opened them in
// their intervals.
func (s *firstSearch) boundedOpenings(n *firstNode, useless, due int64) {
	u := s.u
	from, _ := slices.BinarySearchFunc(u.bounded, later(n.end, -u.longestBounded),
		func(at int32, t int64) int { return cmp.Compare(u.openers[at].sent, t) })
	for at := from; at < len(u.bounded) && u.openers[u.bounded[at]].sent <= due; at++ {
		s.budget--
		if _, spent := slices.BinarySearch(n.used, int32(at)); !spent {
			o := &u.openers[u.bounded[at]]
			s.openings(n, firstChoice{open: max(n.end, o.sent, useless), by: byBounded, at: int32(at)}, min(due, o.done))
		}
	}
}

// openings lists the windows that open in [c.open, to]: at once, or as late as a
// longest window must to reach one more op.
func (s *firstSearch) openings(n *firstNode, c firstChoice, to int64) {
	if c.open > to {
		return
	}
	s.ends(n, c)
	u, longest := s.u, s.u.promise.windowMax
	i, _ := slices.BinarySearch(u.sent, later(c.open, longest))
	for ; i < len(u.sent) && later(u.sent[i], 1-longest) <= to; i++ {
		s.budget--
		if i == 0 || u.sent[i] != u.sent[i-1] {
			c.open, c.end, c.reach = u.sent[i]-longest+1, u.sent[i]+1, true
			n.choices = append(n.choices, c)
		}
	}
}

// ends lists the windows of one opening: of least length, or just long enough
// for one more op.
func (s *firstSearch) ends(n *firstNode, c firstChoice) {
	u := s.u
	least, most := later(c.open, u.promise.windowMin), later(c.open, u.promise.windowMax)
	c.end, c.reach = least, false
	n.choices = append(n.choices, c)
	if least == most {
		return
	}
	i, _ := slices.BinarySearch(u.sent, least)
	for ; i < len(u.sent) && u.sent[i] < most; i++ {
		s.budget--
		if c.end != u.sent[i]+1 {
			c.end, c.reach = u.sent[i]+1, true
			n.choices = append(n.choices, c)
		}
	}
}
