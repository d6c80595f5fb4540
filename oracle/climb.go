package oracle

import "sort"

// Of the stretches [x, y] that begin when an op was sent and end when one was done,
// which held most for certain beyond what it may hold? What a stretch may hold grows
// with its length, as a bucket does with time and aligned windows with their number.

// slope is how a promise's room grows, in units of which a cost of 1 takes several.
type slope interface {
	// up is the room that opens up from some reference to x, down from there to the end
	// of a stretch that ends at y.
	up(x int64) int64
	down(y int64) int64
	unit() int64
}

// ridge is the best beginning of a stretch among those before everything still in
// flight: what is to come adds the same to each of them, so the best stays the best.
type ridge struct {
	known bool
	// x is where it begins, cost what certainly lies in it so far.
	x, cost int64
}

// climb is one walk over the ends of stretches, upwards. Each op adds its cost to all
// stretches that begin before it was sent, and a beginning that is worth no more than
// a sooner one never will be. So on equal worth the sooner end counts, then the
// sooner beginning.
type climb struct {
	slope
	ops *columns
	due []uint32
	// first is the first op to be counted: those before are in the ridge, which stands
	// for all beginnings before it.
	first int
	ridge ridge
	// crest holds the beginnings, the latest first and the ridge last.
	crest *crest
}

// summit is the stretch that held most: by excess more than the room that its length
// opened up.
type summit struct{ excess, cost, x, y int64 }

// walk returns the summit of the stretches that end in [from, to), and the ridge of
// the beginnings before next, from which on ops are to be counted anew.
func (c *climb) walk(from, to, next int64) (summit, ridge) {
	best := summit{excess: beginning}
	n := c.ops.len()
	if c.lay(); c.crest == nil {
		return best, ridge{}
	}
	rank := c.ranks()
	reached, later := c.first, int64(0)
	for k := 0; k < len(c.due) && c.ops.done[c.due[k]] < to; k++ {
		op := int(c.due[k])
		if op < c.first {
			continue
		}
		y := c.ops.done[op]
		for reached < n && c.ops.sent[reached] <= y {
			reached++
		}
		c.crest.add(rank[op-c.first], c.unit()*c.ops.cost[op])
		if c.ops.sent[op] >= next {
			later += c.ops.cost[op]
		}
		if y < from || k+1 < len(c.due) && c.ops.done[c.due[k+1]] == y {
			continue
		}
		worth := c.crest.from(int32(n - reached))
		if e := worth - c.down(y); e > best.excess {
			x := c.at(c.crest.head)
			best = summit{e, (worth - c.up(x)) / c.unit(), x, y}
		}
	}
	return best, c.move(next, later, int32(n-reached))
}

// lay lays out the beginnings.
func (c *climb) lay() {
	n := c.ops.len()
	values := make([]int64, 0, n-c.first+1)
	for i := n - 1; i >= c.first; i-- {
		values = append(values, c.up(c.ops.sent[i]))
	}
	if c.ridge.known {
		values = append(values, c.unit()*c.ridge.cost+c.up(c.ridge.x))
	}
	if len(values) > 0 {
		c.crest = newCrest(values)
	}
}

// at is the beginning at a position of the crest.
func (c *climb) at(position int32) int64 {
	if i := c.ops.len() - 1 - int(position); i >= c.first {
		return c.ops.sent[i]
	}
	return c.ridge.x
}

// ranks returns for each op the position of the last beginning that is no later: those
// of one height are one.
func (c *climb) ranks() []int32 {
	n := c.ops.len()
	rank := make([]int32, n-c.first)
	for i := n - 1; i >= c.first; i-- {
		rank[i-c.first] = int32(n - 1 - i)
		if i+1 < n && c.up(c.ops.sent[i]) == c.up(c.ops.sent[i+1]) {
			rank[i-c.first] = rank[i+1-c.first]
		}
	}
	return rank
}

// move returns the ridge of the beginnings before next; asked is the position asked
// for last, later the cost that is to be counted anew.
func (c *climb) move(next, later int64, asked int32) ridge {
	if next == forever {
		return ridge{}
	}
	n := c.ops.len()
	before := sort.Search(n-c.first, func(i int) bool { return c.ops.sent[c.first+i] >= next }) + c.first
	if before == c.first && !c.ridge.known {
		return ridge{}
	}
	place := int32(n - before)
	worth := c.crest.from(min(place, asked))
	at := c.crest.head
	for at < place {
		worth -= c.crest.gap[at]
		at = c.crest.visible(at + 1)
	}
	worth -= c.unit() * later
	if worth < c.up(next) {
		return ridge{} // Whatever begins next is worth more.
	}
	x := c.at(at)
	return ridge{true, x, (worth - c.up(x)) / c.unit()}
}
