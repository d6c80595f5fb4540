package oracle

import "sort"

// pieces explains ops whose costs differ as if each were many of one equal cost that
// may be decided apart: when not even that can be explained, nothing can. Each time a
// cost is no multiple of that one it begins anew with the ops that are listed.
type pieces struct {
	walker *walker
	size   int64
	// ends are, for each op listed, how many pieces there are up to its end.
	ends []int
	cut  *columns
}

func (p *pieces) advance(ops *columns, fresh int, frontier int64, rules []rule) answer {
	size := p.size
	for _, cost := range ops.cost {
		size = greatestCommonDivisor(size, cost)
	}
	if size != p.size {
		p.size, p.walker, fresh = size, newWalker(rules), 0
	}
	if p.size == 0 || sum(ops.cost)/p.size > pieceMax {
		p.walker.answer = undecided
		return undecided
	}
	p.cut, p.ends = &columns{}, p.ends[:0]
	for i, cost := range ops.cost {
		for range cost / p.size {
			p.cut.sent, p.cut.done = append(p.cut.sent, ops.sent[i]), append(p.cut.done, ops.done[i])
			p.cut.cost = append(p.cut.cost, p.size)
		}
		p.ends = append(p.ends, p.cut.len())
	}
	start := 0
	if fresh > 0 {
		start = p.ends[fresh-1]
	}
	p.walker.advance(p.cut, start, frontier)
	return p.walker.answer
}

// settle is that of a walker; ops are counted whole.
func (p *pieces) settle(n int, frontier int64) int {
	first := 0
	if n > 0 {
		first = p.ends[n-1]
	}
	needed := p.walker.settle(p.cut, first, frontier)
	return min(n, sort.Search(len(p.ends), func(i int) bool { return p.ends[i] > needed }))
}

func (p *pieces) shift(costs []int64) {
	p.walker.shift(int(sum(costs) / max(1, p.size)))
}
