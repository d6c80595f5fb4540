package oracle

import "sort"

// pace says how soon after those before it one more op may be admitted: the only
// thing an explanation needs to know of a promise. The moments at which ops are
// admitted stand in order in at; position i is the next. Every pace is monotone:
// moments before that are no earlier never allow an earlier next. The exactness
// of explain rests on that alone.
type pace interface {
	// after returns the least moment at which an op of the given cost may be
	// admitted at position i.
	after(at []int64, i int, cost int64) int64
	// admit notes that an op of the given cost was admitted at at[i]. What was
	// noted of later positions is forgotten.
	admit(at []int64, i int, cost int64)
}

// beginning is a moment before every other. It leaves room for arithmetic.
const beginning = -1 << 62

// budget counts the cost admitted up to each position, to find how far back the
// last op lies that must have left before one more fits under the limit.
type budget struct {
	limit int64
	// equal is the cost of every op, 0 when costs differ; then sums holds the
	// cost of the positions before each.
	equal int64
	sums  []int64
}

func newBudget(limit, equal int64, n int) budget {
	b := budget{limit: limit, equal: equal}
	if equal == 0 {
		b.sums = make([]int64, n+1)
	}
	return b
}

// leaver returns the last position before i that must be out of the window for
// an op of this cost to fit at i; -1 when there is room. No cost is above the limit.
func (b *budget) leaver(i int, cost int64) int {
	if b.equal > 0 {
		return max(-1, i-int(min(int64(i)+1, b.limit/b.equal)))
	}
	need := b.sums[i] + cost - b.limit
	return sort.Search(i, func(j int) bool { return b.sums[j] >= need }) - 1
}

func (b *budget) admit(i int, cost int64) {
	if b.equal == 0 {
		b.sums[i+1] = b.sums[i] + cost
	}
}

// windowPace: at most limit in any window of the given length, half open.
type windowPace struct {
	budget
	length int64
}

func (p *windowPace) after(at []int64, i int, cost int64) int64 {
	if j := p.leaver(i, cost); j >= 0 {
		return at[j] + p.length
	}
	return beginning
}

func (p *windowPace) admit(_ []int64, i int, cost int64) { p.budget.admit(i, cost) }

// alignedPace: at most limit in each window [k·length, (k+1)·length) of a clock
// that reads origin at instant 0.
type alignedPace struct {
	budget
	length, origin int64
}

func (p *alignedPace) after(at []int64, i int, cost int64) int64 {
	if j := p.leaver(i, cost); j >= 0 {
		return (floorDiv(at[j]+p.origin, p.length)+1)*p.length - p.origin
	}
	return beginning
}

func (p *alignedPace) admit(_ []int64, i int, cost int64) { p.budget.admit(i, cost) }

// floorDiv rounds towards the past, so that windows before instant 0 are as long
// as those after it. The divisor is above 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
