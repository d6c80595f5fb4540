package oracle

// stair is a staircase of cost over time, walked upwards.
type stair struct {
	at   []int64
	cost []int64
	// by is the order in which at rises; nil when it rises as it is.
	by []uint32
	// skip tells which to leave out; nil for none.
	skip func(i int) bool
	next int
	sum  int64
}

// through returns the cost at or before t; t never falls from one call to the next.
func (s *stair) through(t int64) int64 {
	for ; s.next < len(s.at); s.next++ {
		i := s.next
		if s.by != nil {
			i = int(s.by[i])
		}
		if s.at[i] > t {
			break
		}
		if s.skip == nil || !s.skip(i) {
			s.sum += s.cost[i]
		}
	}
	return s.sum
}

// peek returns the next moment at which cost is added.
func (s *stair) peek() (at int64, more bool) {
	if s.next >= len(s.at) {
		return 0, false
	}
	if s.by != nil {
		return s.at[s.by[s.next]], true
	}
	return s.at[s.next], true
}

// early is the most that can have been admitted by each moment, late the least:
// the true curve lies between.
func (c *columns) early() stair { return stair{at: c.sent, cost: c.cost} }

func (c *columns) late(due []uint32) stair { return stair{at: c.done, cost: c.cost, by: due} }

// firm walks what was certainly charged within one window: late less early, without
// the ops for which skip holds because no window can hold them whole.
func (c *columns) firm(due []uint32, skip func(i int) bool) (late, early stair) {
	late, early = c.late(due), c.early()
	late.skip, early.skip = skip, skip
	return late, early
}
