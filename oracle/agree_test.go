package oracle

import (
	"math/rand/v2"
	"testing"
)

// drawColumns makes random ops in order of sent.
func drawColumns(random *rand.Rand, n int, long, dearest int64) *columns {
	c := &columns{}
	for i := range n {
		sent := random.Int64N(25)
		c.sent, c.done = append(c.sent, sent), append(c.done, sent+random.Int64N(1+random.Int64N(long)))
		c.cost, c.row = append(c.cost, 1+random.Int64N(dearest)), append(c.row, uint32(i))
	}
	var chosen []int
	for _, i := range order(c.sent) {
		chosen = append(chosen, int(i))
	}
	return c.pick(chosen)
}

func drawRules(random *rand.Rand) []rule {
	var rules []rule
	for range 1 + random.IntN(2) {
		limit, length := 1+random.Int64N(4), 1+random.Int64N(9)
		switch random.IntN(3) {
		case 0:
			rules = append(rules, window{limit: limit, length: length})
		case 1:
			rules = append(rules, aligned{limit: limit, length: length, origin: random.Int64N(length)})
		default:
			rules = append(rules, newBucket(limit, 1+random.Int64N(3), length, 0))
		}
	}
	return rules
}

// Barriers one by one and barriers in rounds decide alike, for windows, aligned
// windows and buckets, and any of them together.
func TestBarriersAgreeWithRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	var explainer explainer
	counts := map[answer]int{}
	for range histories(t, 1000) {
		ops, rules := drawColumns(random, 1+random.IntN(14), 14, 1), drawRules(random)
		scaled := ops.scaled(rules)
		n := ops.len()
		barriers := explainer.explain(scaled, paces(rules, 1, n))
		if barriers == explained {
			checkExplanation(t, &explainer, ops, scaled, rules)
		}
		if r := rounds(scaled, paces(rules, 1, n), nil); r != barriers || r == undecided {
			t.Fatalf("%+v under %+v: barriers say %d, rounds %d", ops, rules, barriers, r)
		}
		if hall := hall(scaled, rules); hall != barriers {
			t.Fatalf("%+v under %+v: barriers say %d, Hall's system %d", ops, rules, barriers, hall)
		}
		counts[barriers]++
	}
	t.Logf("%d explained, %d not", counts[explained], counts[unexplained])
	if counts[explained] == 0 || counts[unexplained] == 0 {
		t.Error("one of the answers never came up")
	}
}

// checkExplanation demands of the moments that were found what they claim: each op
// once, within its interval, and every rule kept.
func checkExplanation(t *testing.T, e *explainer, ops, scaled *columns, rules []rule) {
	t.Helper()
	scale := gridOf(rules)
	at := make([]int64, ops.len())
	seen := make([]bool, ops.len())
	for i, op := range e.served {
		if seen[op] || e.at[i] < scaled.sent[op] || e.at[i] > scaled.done[op] {
			t.Fatalf("%+v: op %d is served at %d", ops, op, e.at[i])
		}
		seen[op], at[i] = true, e.at[i]
	}
	for _, r := range rules {
		for i := range at {
			for j := i; j < len(at); j++ {
				if !allows(r, scale, at[i:j+1]) {
					t.Fatalf("%+v under %+v: the moments %v break it", ops, rules, at)
				}
			}
		}
	}
}

// allows tells whether decisions of cost 1, in order, keep a rule, looking only at
// the whole stretch that they take.
func allows(r rule, scale int64, at []int64) bool {
	n, first, last := int64(len(at)), at[0], at[len(at)-1]
	switch r := r.(type) {
	case window:
		return last-first >= r.length*scale || n <= r.limit
	case aligned:
		k := func(t int64) int64 { return floorDiv(t+r.origin*scale, r.length*scale) }
		return k(first) != k(last) || n <= r.limit
	case bucket:
		return n*r.per*scale <= r.room*scale+r.count*(last-first)
	}
	panic("no such rule")
}

// hall decides by a system of differences: c(t) decisions are made by tick t; any
// stretch holds at least the ops that lie whole in it and at most what the rules
// allow. It is solved by letting the counts rise until nothing moves.
func hall(ops *columns, rules []rule) answer {
	scale := gridOf(rules)
	last := int64(0)
	for _, d := range ops.done {
		last = max(last, d)
	}
	whole := func(a, b int64) int64 {
		n := int64(0)
		for i := range ops.sent {
			if ops.sent[i] >= a && ops.done[i] <= b {
				n++
			}
		}
		return n
	}
	sentBy := func(t int64) int64 {
		n := int64(0)
		for _, s := range ops.sent {
			if s <= t {
				n++
			}
		}
		return n
	}
	// c[t] is the least number decided before tick t.
	c := make([]int64, last+2)
	for moved := true; moved; {
		moved = false
		raise := func(t, to int64) {
			if to > c[t] {
				c[t], moved = to, true
			}
		}
		for a := int64(0); a <= last; a++ {
			raise(a+1, c[a])
			for b := a; b <= last; b++ {
				raise(b+1, c[a]+whole(a, b))
				// No more than allowed between a and b: what is decided by b needs the
				// rest to be decided before a.
				raise(a, c[b+1]-mostIn(rules, scale, a, b))
			}
		}
		for t := int64(0); t <= last+1; t++ {
			if c[t] > sentBy(t-1) {
				return unexplained
			}
		}
	}
	return explained
}

// mostIn is the most that one whole stretch [a, b] may hold, by the rules that speak
// of such a stretch.
func mostIn(rules []rule, scale, a, b int64) int64 {
	most := int64(1 << 40)
	for _, r := range rules {
		switch r := r.(type) {
		case window:
			if b-a < r.length*scale {
				most = min(most, r.limit)
			}
		case aligned:
			k := func(t int64) int64 { return floorDiv(t+r.origin*scale, r.length*scale) }
			if k(a) == k(b) {
				most = min(most, r.limit)
			}
		case bucket:
			most = min(most, (r.room*scale+r.count*(b-a))/(r.per*scale))
		}
	}
	return most
}

// The quick sums are those of the plain definition, whatever the costs.
func TestCertainPeakIsThatOfTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	for range histories(t, 5000) {
		ops := drawColumns(random, 1+random.IntN(14), 9, 3)
		due := order(ops.done)
		for _, r := range drawRules(random) {
			got, want := max(0, r.certain(ops, due).over()), int64(0)
			for _, x := range ops.sent {
				for _, y := range ops.done {
					if held := wholeCost(ops, x, y); y >= x {
						want = max(want, held-room1(r, x, y))
					}
				}
			}
			if got != want {
				t.Fatalf("%+v under %+v: over by %d, want %d", ops, r, got, want)
			}
		}
	}
}

func wholeCost(ops *columns, x, y int64) int64 {
	held := int64(0)
	for i := range ops.sent {
		if ops.sent[i] >= x && ops.done[i] <= y {
			held += ops.cost[i]
		}
	}
	return held
}

// room1 is what the stretch [x, y] may hold by the sum that certain takes.
func room1(r rule, x, y int64) int64 {
	switch r := r.(type) {
	case window:
		if y-x < r.length {
			return r.limit
		}
	case aligned:
		return r.limit * (r.number(y) - r.number(x) + 1)
	case bucket:
		return (r.room + r.count*(y-x)) / r.per
	}
	return 1 << 40
}
