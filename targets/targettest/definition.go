package targettest

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// The definitions of the algorithms, over everything that was ever charged, in
// numbers of any length: slow, and plain to see. They share no code with what
// they judge.

// charge is a cost and when it was taken, on the limiter's clock.
type charge struct{ at, cost int64 }

// definition decides for one key.
type definition struct {
	algorithm rlbench.Algorithm
	limits    []rlbench.Limit
	charges   []charge // in order of at
}

// fits reports whether every limit has room for the cost at the moment.
func (d *definition) fits(at, cost int64) bool {
	for _, l := range d.limits {
		if !d.fitsUnder(l, at, cost) {
			return false
		}
	}
	return true
}

func (d *definition) fitsUnder(l rlbench.Limit, at, cost int64) bool {
	per := int64(l.Per)
	in := func(from, to int64) int64 { // charged in [from, to)
		var sum int64
		for _, c := range d.charges {
			if from <= c.at && c.at < to {
				sum += c.cost
			}
		}
		return sum
	}
	edge := at - at%per
	switch {
	case d.algorithm == rlbench.FixedWindow && l.Anchor == rlbench.Epoch:
		return cost <= l.Count-in(edge, edge+per)
	case d.algorithm == rlbench.FixedWindow:
		opens := d.opened(per)
		return cost <= l.Count-in(opens, opens+per) || at >= opens+per && cost <= l.Count
	case d.algorithm == rlbench.SlidingLog:
		return cost <= l.Count-in(at-per+1, at+1)
	case d.algorithm == rlbench.SlidingCounter:
		// before · (what is left of the window / per) + own + cost <= count
		slid := product(in(edge-per, edge), edge+per-at)
		return slid.Add(slid, product(in(edge, edge+per), per)).Add(slid, product(cost, per)).Cmp(product(l.Count, per)) <= 0
	}
	return d.level(l, at, cost).Cmp(product(l.Burst, per)) <= 0
}

// opened is when the newest window that a charge opened began.
func (d *definition) opened(per int64) int64 {
	opens := int64(-1 << 62)
	for _, c := range d.charges {
		if c.at >= opens+per {
			opens = c.at
		}
	}
	return opens
}

// level is how full a bucket is with the cost, times its period: of every stretch
// that ends now, what was charged less what drained, whichever is most.
func (d *definition) level(l rlbench.Limit, at, cost int64) *big.Int {
	most, sum := product(cost, int64(l.Per)), product(cost, int64(l.Per))
	for _, c := range slices.Backward(d.charges) {
		sum.Add(sum, product(c.cost, int64(l.Per)))
		if held := new(big.Int).Sub(sum, product(l.Count, at-c.at)); held.Cmp(most) > 0 {
			most = held
		}
	}
	return most
}

// leaves reports whether left is the greatest cost that fits at the moment.
func (d *definition) leaves(at, left int64) bool {
	return left >= 0 && (left == 0 || d.fits(at, left)) && !d.fits(at, left+1)
}

// capacity is the greatest cost that can ever fit.
func (d *definition) capacity() int64 {
	most := int64(1) << 62
	for _, l := range d.limits {
		if d.algorithm.Bucket() {
			most = min(most, l.Burst)
		} else {
			most = min(most, l.Count)
		}
	}
	return most
}

// turn is when a queue lets go what it takes in at the moment, in whole steps:
// when all before it has drained.
func (d *definition) turn(at int64, step time.Duration) int64 {
	drains := product(d.limits[0].Count, int64(step))
	steps, rest := new(big.Int).DivMod(d.level(d.limits[0], at, 0), drains, new(big.Int))
	if rest.Sign() > 0 {
		steps.Add(steps, big.NewInt(1))
	}
	return at + steps.Int64()*int64(step)
}

func product(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }

// asked is a request and what was answered.
type asked struct {
	key    string
	cost   int64
	answer rlbench.Answer
}

// replay holds every answer to the definition, key by key, in the order in which
// the limiter says that it decided. Of one moment, what left more came first.
func (t *trial) replay(all []asked) error {
	slices.SortStableFunc(all, func(x, y asked) int {
		a, b := x.answer, y.answer
		switch {
		case a.DecidedAt != b.DecidedAt:
			return cmp.Compare(a.DecidedAt, b.DecidedAt)
		case a.Remaining != b.Remaining:
			return cmp.Compare(b.Remaining, a.Remaining)
		}
		return cmp.Compare(a.Outcome, b.Outcome)
	})
	slices.SortStableFunc(all, func(x, y asked) int { return cmp.Compare(x.key, y.key) })
	var d *definition
	for i, q := range all {
		if i == 0 || q.key != all[i-1].key {
			d = &definition{algorithm: t.Design.Algorithm, limits: t.limits}
		}
		if err := t.agrees(d, q); err != nil {
			return fmt.Errorf("limits %v, key %q, cost %d, decided at %d: %w", t.limits, q.key, q.cost, q.answer.DecidedAt, err)
		}
		if q.answer.Outcome == allowed || t.Design.ChargesRefusals && q.cost <= d.capacity() {
			d.charges = append(d.charges, charge{q.answer.DecidedAt, q.cost})
		}
	}
	return nil
}

// agrees holds one answer to the definition before it is charged.
func (t *trial) agrees(d *definition, q asked) error {
	a, never := q.answer, q.cost > d.capacity()
	if a.Said&rlbench.SaidDecidedAt == 0 {
		if never && a.Outcome == denied && a.Said&rlbench.SaidRetryAfter == 0 {
			return nil // whenever it was
		}
		return fmt.Errorf("%w: it does not state when it decided", ErrNotApplicable)
	}
	if fits := d.fits(a.DecidedAt, q.cost); fits != (a.Outcome == allowed) {
		return fmt.Errorf("%s, where by definition it fits: %t", a.Outcome, fits)
	}
	if a.Said&rlbench.SaidRemaining != 0 {
		left := a.Remaining
		if a.Outcome == allowed {
			left += q.cost
		}
		// Who was refused and charged all the same has used up what was left.
		usedUp := t.Design.ChargesRefusals && a.Outcome == denied && !never
		if usedUp && left != 0 || !usedUp && !d.leaves(a.DecidedAt, left) {
			return fmt.Errorf("%s with %d remaining, which by definition is not what was left", a.Outcome, a.Remaining)
		}
	}
	if a.Outcome == allowed {
		return t.agreesOnTurn(d, a)
	}
	return t.agreesOnWait(d, q)
}

func (t *trial) agreesOnWait(d *definition, q asked) error {
	a := q.answer
	said, never := a.Said&rlbench.SaidRetryAfter != 0, q.cost > d.capacity()
	if said && never {
		return fmt.Errorf("told to come back after %s, and it never fits", a.RetryAfter)
	}
	if !said || t.Design.ChargesRefusals {
		return nil
	}
	then := a.DecidedAt + int64(a.RetryAfter)
	if !d.fits(then, q.cost) {
		return fmt.Errorf("told to come back after %s, when it does not fit yet", a.RetryAfter)
	}
	if d.fits(then-int64(t.Design.Resolution(t.anchor)), q.cost) {
		return fmt.Errorf("told to come back after %s, and it fits before that", a.RetryAfter)
	}
	return nil
}

func (t *trial) agreesOnTurn(d *definition, a rlbench.Answer) error {
	if said := a.Said&rlbench.SaidReleasedAt != 0; said != inTurn(d.algorithm) {
		return fmt.Errorf("it says when it let go: %t", said)
	}
	if !inTurn(d.algorithm) {
		return nil
	}
	if turn := d.turn(a.DecidedAt, t.Design.Resolution(t.anchor)); a.ReleasedAt != turn {
		return fmt.Errorf("let go %s after the decision instead of %s", time.Duration(a.ReleasedAt-a.DecidedAt), time.Duration(turn-a.DecidedAt))
	}
	return nil
}
