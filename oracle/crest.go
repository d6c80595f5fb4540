package oracle

// crest keeps, over a row of positions with values, the greatest value from some
// position on, while costs are added to whole tails of the row.
//
// A position is hidden for ever once a later one is no less, since every addition
// that reaches it reaches the later one too. Those left fall strictly, so only the
// gap from each to the next is kept: an addition from q on eats into the gaps left
// of q, and a position whose gap is eaten is hidden. Each position is hidden once,
// so that all additions together take near linear time.
type crest struct {
	// gap[k] is the value of k less that of the next position that is not hidden.
	gap []int64
	// next leads from a hidden position towards the next that is not; before is
	// the one before that is not, -1 for none.
	next, before []int32
	// head is the position asked for, value its value.
	head  int32
	value int64
}

// newCrest starts with the given values, at least one, asking from the last on.
func newCrest(values []int64) *crest {
	n := len(values)
	c := &crest{gap: make([]int64, n), next: make([]int32, n), before: make([]int32, n), head: int32(n - 1), value: values[n-1]}
	top := int32(n - 1)
	c.next[top] = top
	for k := n - 2; k >= 0; k-- {
		if values[k] <= values[top] {
			c.next[k] = top
			continue
		}
		c.gap[k] = values[k] - values[top]
		c.before[top] = int32(k)
		top = int32(k)
		c.next[top] = top
	}
	c.before[top] = -1
	return c
}

// visible returns the first position from q on that is not hidden.
func (c *crest) visible(q int32) int32 {
	for c.next[q] != q {
		c.next[q] = c.next[c.next[q]]
		q = c.next[q]
	}
	return q
}

// add adds cost to every position from q on.
func (c *crest) add(q int32, cost int64) {
	at := c.visible(q)
	if c.head >= q {
		c.value += cost
	}
	k := c.before[at]
	if k < 0 {
		return
	}
	c.gap[k] -= cost
	for k >= 0 && c.gap[k] <= 0 {
		less := c.gap[k]
		if c.head == k {
			c.head, c.value = at, c.value-less
		}
		c.next[k] = at
		k = c.before[k]
		c.before[at] = k
		if k >= 0 {
			c.gap[k] += less
		}
	}
}

// from asks for the greatest value from position q on; q never rises from one
// call to the next. head is where it stands.
func (c *crest) from(q int32) int64 {
	for k := c.before[c.head]; k >= q; k = c.before[c.head] {
		c.head, c.value = k, c.value+c.gap[k]
	}
	return c.value
}
