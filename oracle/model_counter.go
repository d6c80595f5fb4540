package oracle

import (
	"fmt"
	"math/bits"

	"github.com/rlbench/rlbench"
)

// Sliding counter: with windows [k·W, (k+1)·W), a request passes if
//
//	before · (1 - elapsed/W) + own + cost <= L
//
// where before and own are what was charged in the window before and in this one.
//
// Source: the two counters a key of many gateways. Clock: the limiter's own, windows
// at whole multiples of W since the Unix epoch. With 8 in the window before and 3 in
// this one against 10, one more passes from elapsed/W = 1/4 on: 8 · 3/4 + 3 + 1 = 10.
//
// Designs differ in rounding: exact fractions; floor, which rounds what is left of the
// window before down; nearest, which rounds the estimate to the nearest whole number,
// halves up.

// slidingCount is two counters.
type slidingCount struct {
	limit, length int64
	rounding      string
	number        int64
	before, own   int64
}

func newSlidingCount(p rlbench.Policy, l rlbench.Limit) (*slidingCount, error) {
	c := &slidingCount{limit: l.Count, length: int64(l.Per), rounding: p.Params[paramRounding], number: beginning}
	switch c.rounding {
	case "", roundFloor, roundNearest:
		return c, nil
	}
	return nil, fmt.Errorf("the parameter %s is %q, neither %s nor %s", paramRounding, c.rounding, roundFloor, roundNearest)
}

func (c *slidingCount) fits(at, cost int64) bool {
	c.enter(floorDiv(at, c.length))
	return cost <= c.limit-c.estimate(at)
}

func (c *slidingCount) charge(at, cost int64) int64 {
	c.enter(floorDiv(at, c.length))
	c.own += cost
	return 0
}

// enter moves on to a window.
func (c *slidingCount) enter(number int64) {
	switch number - c.number {
	case 0:
	case 1:
		c.before, c.own = c.own, 0
	default:
		c.before, c.own = 0, 0
	}
	c.number = number
}

// estimate at a moment of the window. Exact fractions are rounded up, which changes
// no comparison with a whole number.
func (c *slidingCount) estimate(at int64) int64 {
	left := c.length - (at - c.number*c.length)
	whole, rest := share(c.before, left, c.length)
	switch {
	case c.rounding == roundNearest && rest >= c.length-rest:
		whole++
	case c.rounding == "" && rest > 0:
		whole++
	}
	return c.own + whole
}

// share returns the whole part of n·part/of and what is over, in parts of of. part is
// at most of.
func share(n, part, of int64) (whole, over int64) {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, r := bits.Div64(hi, lo, uint64(of))
	return int64(q), int64(r)
}
