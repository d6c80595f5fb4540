package oracle

// stair is a staircase of cost over time, walked upwards.
type stair struct {
	at   []int64
	cost []int64
	// by is the order in which at rises; nil when it rises as it is.
	by   []uint32
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
		s.sum += s.cost[i]
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
