package oracle

import (
	"sort"

	"github.com/rlbench/rlbench"
)

// The states of a sliding counter: the window last charged, what was charged in it and
// in the one before. The last decision came no earlier than now.
type countRegion struct {
	shape            *countShape
	number           int64
	before, own, now int64
}

type countShape struct {
	aligned
	rounding string
	charges  bool
}

func newCountRegion(p rlbench.Policy, l rlbench.Limit, origin int64, charges bool) countRegion {
	window := aligned{limit: l.Count, length: int64(l.Per), origin: originIn(origin, l.Per)}
	return countRegion{shape: &countShape{window, p.Params[paramRounding], charges}, number: beginning, now: beginning}
}

// in returns the counter when its window is number.
func (r countRegion) in(number int64) slidingCount {
	c := slidingCount{limit: r.shape.limit, length: r.shape.length, rounding: r.shape.rounding,
		number: r.number, before: r.before, own: r.own}
	c.enter(number)
	return c
}

// after is the region when the counter is c and the last decision came at now.
func (r countRegion) after(c slidingCount, now int64) countRegion {
	return countRegion{r.shape, c.number, c.before, c.own, now}
}

func (r countRegion) admit(from, to, cost int64) []region {
	var out []region
	r.shape.spanned(max(from, r.now), to, func(k, first int64) {
		c := r.in(k)
		last := min(to, r.shape.start(k+1)-1)
		// The estimate only falls in a window: the first moment that lets it through
		// leaves most moments to those after it.
		fits := func(i int) bool { return cost <= c.limit-c.estimate(first+int64(i)+r.shape.origin) }
		i := sort.Search(int(last-first)+1, fits)
		if first+int64(i) > last {
			return
		}
		c.own += cost
		out = append(out, r.after(c, first+int64(i)))
	})
	return out
}

func (r countRegion) refuse(from, to, cost int64) []region {
	var out []region
	r.shape.spanned(max(from, r.now), to, func(k, first int64) {
		switch c := r.in(k); {
		case cost <= c.limit-c.estimate(first+r.shape.origin):
		case r.shape.charges:
			c.own += cost
			out = append(out, r.after(c, first))
		default:
			out = joined(out, countRegion{r.shape, r.number, r.before, r.own, first})
		}
	})
	return out
}

func (r countRegion) pass(from, to int64) []region {
	if r.now = max(r.now, from); r.now > to {
		return nil
	}
	return []region{r}
}

func (r countRegion) join(other region) (region, bool) {
	o, ok := other.(countRegion)
	now := min(r.now, o.now)
	r.now, o.now = now, now
	return r, ok && r == o
}

func (r countRegion) rough() bool { return false }

func (r countRegion) say(at int64) string {
	c := r.in(r.shape.number(at))
	return sayUsed(c.estimate(at+r.shape.origin), r.shape.limit)
}
