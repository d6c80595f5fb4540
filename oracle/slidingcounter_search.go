package oracle

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// counterSearch tries every way to deal ops to windows, depth first, one window a
// node. Only the window of an op matters: within it the op is best decided as late
// as it can be, since then it counts against the fewest others and most of the
// window before has slid out. And of the ops that can wait for the next window,
// those due first may as well be the ones that stay: they all stay until the
// window's last tick. So the number that stays is the only choice at a node. For
// equal costs a tree seen whole without success proves that there are no lawful
// moments, provided that limit <= length in ticks: then no moment after the last
// tick is better.
type counterSearch struct {
	c      slidingCounter
	ops    *columns
	budget int64
	// prefer says who stays in a window first where costs differ.
	prefer preference
	path   []counterNode
	// dead holds the states that were seen to lead nowhere.
	dead map[string]struct{}
	key  []byte
}

// counterNode is a window about to be filled.
type counterNode struct {
	window int64
	// before is the cost in the window before; ops before position next were sent
	// by the end of this window, and those in left came from the one before.
	before int64
	next   int
	left   []uint32
	// own is the cost that must be decided here. wait are those that can wait, due
	// first; the next attempt keeps take of them, negative when none is left.
	own  int64
	wait []uint32
	take int
}

// search looks for moments that keep the limit; nil when it finds none. whole: the
// tree was seen to its end.
func (c slidingCounter) search(ops *columns, prefer preference, budget int64) (at []int64, whole bool) {
	s := &counterSearch{c: c, ops: ops, prefer: prefer, budget: budget, dead: map[string]struct{}{}}
	switch s.descend() {
	case unexplained:
		return nil, true
	case undecided:
		return nil, false
	}
	at = slices.Clone(ops.done)
	for i := range s.path {
		n := &s.path[i]
		// The attempt that led on kept one more than the next one would.
		for _, op := range n.wait[:n.take+1] {
			at[op] = c.start(n.window+1) - 1
		}
	}
	return at, true
}

func (s *counterSearch) descend() answer {
	s.path = append(s.path[:0], s.open(s.settle(counterNode{})))
	for len(s.path) > 0 {
		top := &s.path[len(s.path)-1]
		if s.budget < 0 {
			return undecided
		}
		if top.take < 0 {
			s.dead[s.keyOf(top)] = struct{}{}
			s.path = s.path[:len(s.path)-1]
			continue
		}
		child := counterNode{window: top.window + 1, before: top.own, next: top.next, left: top.wait[top.take:]}
		for _, op := range top.wait[:top.take] {
			child.before += s.ops.cost[op]
		}
		top.take--
		if child.next == s.ops.len() && len(child.left) == 0 {
			return explained
		}
		child = s.settle(child)
		if _, known := s.dead[s.keyOf(&child)]; !known {
			s.path = append(s.path, s.open(child))
		}
	}
	return unexplained
}

// keyOf names a state; equal names are equal states.
func (s *counterSearch) keyOf(n *counterNode) string {
	k := binary.AppendVarint(s.key[:0], n.window)
	k = binary.AppendUvarint(k, uint64(n.before))
	for _, i := range n.left {
		k = binary.AppendUvarint(k, uint64(i))
	}
	s.key = k
	return string(k)
}

// staysFirst orders the ops that can wait by who stays in the window first.
func (s *counterSearch) staysFirst(x, y uint32) int {
	by := 0
	switch s.prefer {
	case dearestFirst:
		by = cmp.Compare(s.ops.cost[y], s.ops.cost[x])
	case sentFirst:
		by = cmp.Compare(int64(x), int64(y))
	}
	if by == 0 {
		by = cmp.Compare(s.ops.done[x], s.ops.done[y])
	}
	if by == 0 {
		by = cmp.Compare(int64(x), int64(y))
	}
	return by
}

// settle skips the windows in which there is nothing to decide.
func (s *counterSearch) settle(n counterNode) counterNode {
	if len(n.left) > 0 {
		return n
	}
	if k := s.c.number(s.ops.sent[n.next]); n.next == 0 || k > n.window {
		n.window, n.before = k, 0
	}
	return n
}

// open gathers what can be decided in the node's window and how much of it can wait.
func (s *counterSearch) open(n counterNode) counterNode {
	ops, c := s.ops, s.c
	end := c.start(n.window+1) - 1
	var must []uint32
	deal := func(i uint32) {
		if ops.done[i] <= end {
			must = append(must, i)
			n.own += ops.cost[i]
		} else {
			n.wait = append(n.wait, i)
		}
	}
	for _, i := range n.left {
		deal(i)
	}
	for ; n.next < ops.len() && ops.sent[n.next] <= end; n.next++ {
		deal(uint32(n.next))
	}
	s.budget -= int64(len(must)+len(n.wait)) + 1
	slices.SortFunc(n.wait, s.staysFirst)
	n.take = -1
	if s.fits(must, n.before) {
		n.take = s.stay(&n, end)
	}
	return n
}

// fits reports whether the ops that must be decided in a window keep the limit at
// their Done.
func (s *counterSearch) fits(must []uint32, before int64) bool {
	slices.SortFunc(must, func(x, y uint32) int { return cmp.Compare(s.ops.done[x], s.ops.done[y]) })
	own := int64(0)
	for at, i := range must {
		own += s.ops.cost[i]
		tied := at+1 < len(must) && s.ops.done[must[at+1]] == s.ops.done[i]
		if !tied && s.c.estimate(before, own, s.ops.done[i]) > s.c.limit {
			return false
		}
	}
	return true
}

// stay puts those of the waiting first that have room at the window's end, due
// first, and returns how many they are.
func (s *counterSearch) stay(n *counterNode, end int64) int {
	room := s.c.limit - s.c.estimate(n.before, n.own, end)
	var stay, over []uint32
	for _, i := range n.wait {
		if s.ops.cost[i] <= room {
			room -= s.ops.cost[i]
			stay = append(stay, i)
		} else {
			over = append(over, i)
		}
	}
	n.wait = append(stay, over...)
	return len(stay)
}
