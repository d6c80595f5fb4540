package oracle

import "encoding/binary"

// firstSearch looks for openings and moments that keep the promise, depth first. A
// firstNode is the state in which a window has ended: when, and which ops sent by
// then are not yet served. For equal costs the choices tried at a node are
// enough, so that a tree seen whole without success proves that none exist:
//
//   - For given ops in a window, an earlier opening and an earlier end only
//     loosen what follows. So a window opens as soon as the last one ended, its
//     opener was sent and it can still reach its latest op; and it ends at its
//     least length, or just past its latest op.
//   - Ops due before the end must join. Of the others sent by then, those due
//     first may as well be the ones that join, and of those sent by the opening
//     the one due first may as well be the opener: any of them can take the
//     later place of one due earlier.
//   - Room may be left unused, since an op left over can open a later window.
//   - An op that only may open windows is best used for nothing else.
type firstSearch struct {
	u *unitOps
	// wildcard: a request that nobody saw may open a window at any moment.
	wildcard bool
	// budget is how many ops may still be touched, overdrawn: it was not enough.
	budget    int64
	overdrawn bool
	path      []firstNode
	// dead holds the states that were seen to lead nowhere.
	dead map[string]struct{}
	// reached is the position of the furthest op that any state had passed.
	reached int
	key     []byte
	// prefer says who joins a window first where costs differ.
	prefer preference
}

// firstNode is a state and how far its choices have been tried.
type firstNode struct {
	// end is when the last window ended; ops before position next were sent by
	// then, and those of them in left are not served, in order of done.
	end  int64
	next int
	left []int32
	// spent counts the openers used up of each class, used names the bounded ones
	// that were and could still come, in rising order.
	spent, used []int32
	// choices are the windows that may come next; tried counts those done with.
	choices []firstChoice
	tried   int
	// fill is the window being tried, with all that can join it.
	fill firstFill
}

// preference is an order in which ops that can wait join a window.
type preference uint8

const (
	dueFirst preference = iota
	dearestFirst
	sentFirst
)

// preferences are tried one after the other where costs differ; where they do not,
// the first is as good as any.
var preferences = [...]preference{dueFirst, dearestFirst, sentFirst}

// search prepares the search with a budget of ops to touch.
func (u *unitOps) search(budget int64) *firstSearch {
	return &firstSearch{u: u, wildcard: !u.promise.complete, budget: budget, dead: map[string]struct{}{}}
}

// explain searches for an explanation. Where costs differ, which of the ops that
// can wait join a window is a choice of its own; three ways of it are tried.
func (u *unitOps) explain() (s *firstSearch, found bool) {
	if u.equal {
		s = u.search(u.promise.budget)
		return s, s.descend()
	}
	for _, prefer := range preferences {
		s = u.search(u.promise.budget / int64(len(preferences)))
		s.prefer = prefer
		if s.descend() {
			return s, true
		}
	}
	return s, false
}

// descend reports whether an explanation was found. Not found and not overdrawn:
// the tree was seen whole.
func (s *firstSearch) descend() bool {
	if len(s.u.sent) == 0 {
		return true
	}
	s.path = append(s.path[:0], s.root())
	for len(s.path) > 0 {
		top := &s.path[len(s.path)-1]
		child, more := s.advance(top)
		if s.budget < 0 {
			s.overdrawn = true
			return false
		}
		if !more {
			s.dead[s.keyOf(top)] = struct{}{}
			s.path = s.path[:len(s.path)-1]
			continue
		}
		if child.next == len(s.u.sent) && len(child.left) == 0 {
			return true
		}
		if _, known := s.dead[s.keyOf(&child)]; known {
			continue
		}
		s.reached = max(s.reached, child.next)
		s.choose(&child)
		s.path = append(s.path, child)
	}
	return false
}

// root is the state before anything was decided. A window that opened earlier
// than this would be over before the first op was sent.
func (s *firstSearch) root() firstNode {
	n := firstNode{end: later(s.u.sent[0], 1-s.u.promise.windowMax), spent: make([]int32, len(s.u.classes))}
	s.choose(&n)
	return n
}

// keyOf names a state; equal names are equal states.
func (s *firstSearch) keyOf(n *firstNode) string {
	k := binary.AppendVarint(s.key[:0], n.end)
	k = binary.AppendUvarint(k, uint64(len(n.left)))
	for _, i := range n.left {
		k = binary.AppendUvarint(k, uint64(i))
	}
	for _, c := range n.spent {
		k = binary.AppendUvarint(k, uint64(c))
	}
	for _, i := range n.used {
		k = binary.AppendUvarint(k, uint64(i))
	}
	s.key = k
	return string(k)
}
