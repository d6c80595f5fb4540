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
	// matters returns the first of the positions before end that still bears on an op
	// admitted at now or later; end when none does.
	matters(at []int64, end int, now int64) int
	// forget drops the first positions. Those left are counted from 0.
	forget(positions int)
	// differ tells that costs differ from here on. count positions were admitted.
	differ(count int)
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
		b.sums = append(make([]int64, 0, n+1), 0)
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
		b.sums = append(b.sums[:i+1], b.sums[i]+cost)
	}
}

func (b *budget) forget(positions int) {
	if b.equal == 0 {
		b.sums = b.sums[:copy(b.sums, b.sums[positions:])]
	}
}

func (b *budget) differ(count int) {
	for i := range count + 1 {
		b.sums = append(b.sums, int64(i)*b.equal)
	}
	b.equal = 0
}

// furthest returns a position before end from which on the limit is used up.
func (b *budget) furthest(end int) int {
	if b.equal > 0 {
		return max(0, end-int(min(int64(end), b.limit/b.equal)))
	}
	return 0
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

func (p *windowPace) matters(at []int64, end int, now int64) int {
	from := p.furthest(end)
	return from + sort.Search(end-from, func(j int) bool { return at[from+j]+p.length > now })
}

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

func (p *alignedPace) matters(at []int64, end int, now int64) int {
	from, window := p.furthest(end), floorDiv(now+p.origin, p.length)
	return from + sort.Search(end-from, func(j int) bool { return floorDiv(at[from+j]+p.origin, p.length) >= window })
}

// floorDiv rounds towards the past, so that windows before instant 0 are as long
// as those after it. The divisor is above 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
