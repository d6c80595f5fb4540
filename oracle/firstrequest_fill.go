package oracle

import (
	"cmp"
	"slices"
)

// firstFill is what can join the window that a choice opens.
type firstFill struct {
	ready bool
	// must counts the ops that are due before the window ends. may are those that
	// can wait, in the order in which they join (the opener first, if no other
	// can be it, then by done), and over those that find no room at all.
	must      int
	may, over []int32
	// take is how many of may the next attempt takes, least the fewest it can.
	take, least int
	// next is the position after the last op sent before the end.
	next int
}

// advance returns the next child of the state, or that there is none.
func (s *firstSearch) advance(n *firstNode) (child firstNode, more bool) {
	for n.tried < len(n.choices) {
		c := n.choices[n.tried]
		if !n.fill.ready {
			s.prepare(n, c)
		}
		if f := &n.fill; f.take >= f.least {
			child = s.child(n, c)
			f.take--
			return child, true
		}
		n.tried++
		n.fill.ready = false
	}
	return firstNode{}, false
}

// prepare finds what can join the window and how much of it has room.
func (s *firstSearch) prepare(n *firstNode, c firstChoice) {
	u, f := s.u, &n.fill
	*f = firstFill{ready: true, may: f.may[:0], over: f.over[:0], take: -1, next: n.next}
	room, opened, reached := s.room(c), c.by != byServed, !c.reach
	join := func(i int32) {
		if u.done[i] >= c.end {
			f.over = append(f.over, i)
			return
		}
		f.must++
		room -= u.weight[i]
		opened = opened || u.sent[i] <= c.open
		reached = reached || u.sent[i] == c.end-1
	}
	for _, i := range n.left {
		join(i)
	}
	for ; f.next < len(u.sent) && u.sent[f.next] < c.end; f.next++ {
		join(int32(f.next))
	}
	s.budget -= int64(f.next-n.next+len(n.left)) + 1
	slices.SortFunc(f.over, s.joinsFirst)
	if !opened {
		room = s.putOpener(f, c.open, room)
	}
	if room >= 0 {
		s.fit(f, room)
		s.keepReach(f, c, reached)
	}
}

// room is how many units fit into a window beside an opener that is none of the
// ops to serve.
func (s *firstSearch) room(c firstChoice) int64 {
	switch c.by {
	case byClass:
		return s.u.classes[c.at].room
	case byBounded:
		return s.u.openers[s.u.bounded[c.at]].room
	}
	return s.u.limit
}

func (s *firstSearch) dueFirst(x, y int32) int {
	if by := cmp.Compare(s.u.done[x], s.u.done[y]); by != 0 {
		return by
	}
	return cmp.Compare(int64(x), int64(y))
}

// joinsFirst orders the ops that can wait by who joins a window first: for equal
// costs those due first; else what the search was told to try.
func (s *firstSearch) joinsFirst(x, y int32) int {
	by := 0
	switch s.prefer {
	case dearestFirst:
		by = cmp.Compare(s.u.weight[y], s.u.weight[x])
	case sentFirst:
		by = cmp.Compare(s.u.sent[x], s.u.sent[y])
	}
	if by != 0 {
		return by
	}
	return s.dueFirst(x, y)
}

// putOpener makes the op sent by the opening that is due first join for certain.
// It returns the room left.
func (s *firstSearch) putOpener(f *firstFill, open, room int64) int64 {
	first := -1
	for at, i := range f.over {
		if s.u.sent[i] <= open && (first < 0 || s.dueFirst(i, f.over[first]) < 0) {
			first = at
		}
	}
	if first < 0 {
		return -1
	}
	i := f.over[first]
	f.over = slices.Delete(f.over, first, first+1)
	f.may = append(f.may, i)
	return room - s.u.weight[i]
}

// fit lets those that are due first join while there is room.
func (s *firstSearch) fit(f *firstFill, room int64) {
	f.least = len(f.may)
	if f.must == 0 {
		// A window that serves nothing is no use.
		f.least = 1
	}
	over := f.over[:0]
	for _, i := range f.over {
		if s.u.weight[i] > room {
			over = append(over, i)
			continue
		}
		room -= s.u.weight[i]
		f.may = append(f.may, i)
	}
	f.over, f.take = over, len(f.may)
}

// keepReach keeps the op for whose sake the window lasts so long from being left
// out of it.
func (s *firstSearch) keepReach(f *firstFill, c firstChoice, reached bool) {
	if reached {
		return
	}
	for at, i := range f.may {
		if s.u.sent[i] == c.end-1 {
			f.least = max(f.least, at+1)
			return
		}
	}
	f.take = -1
}

// child is the state after the window.
func (s *firstSearch) child(n *firstNode, c firstChoice) firstNode {
	f, u := &n.fill, s.u
	left := make([]int32, 0, len(f.may)-f.take+len(f.over))
	left = append(append(left, f.may[f.take:]...), f.over...)
	slices.SortFunc(left, s.dueFirst)
	child := firstNode{end: c.end, next: f.next, left: left, spent: n.spent}
	if c.by == byClass {
		child.spent = slices.Clone(n.spent)
		child.spent[c.at]++
	}
	for _, at := range n.used {
		if u.openers[u.bounded[at]].done >= c.end {
			child.used = append(child.used, at)
		}
	}
	if c.by == byBounded && u.openers[u.bounded[c.at]].done >= c.end {
		at, _ := slices.BinarySearch(child.used, c.at)
		child.used = slices.Insert(child.used, at, c.at)
	}
	return child
}
