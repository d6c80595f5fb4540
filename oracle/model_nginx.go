package oracle

import (
	"fmt"
	"math"
	"time"

	"github.com/rlbench/rlbench"
)

// NGINX limit_req, to the last bit.
//
// Source: ngx_http_limit_req_module, the same from 1.17.6 on. Clock: the monotonic one
// in whole milliseconds, read once for each turn of the event loop. rate=N counts
// thousandths of a request a second, R, rounded down; burst=B. A key has an excess E in
// thousandths and the moment that it was last charged. At t:
//
//	unknown key      E = 0, last = t, let through
//	ms = t - last    1 if below -60000, else 0 if below 0
//	x = max(0, E - floor(R·ms/1000) + 1000)
//	x > 1000·B       refused, nothing changes
//	else             E = x, last = t unless ms = 0, let through
//
// So the capacity, which is the policy's burst, is B+1. What is let through waits
// floor((x - 1000·D)·1000/R) ms where x is above 1000·D: D = 0 without further word,
// delay=D, and nodelay for no wait at all. Several zones: the first that refuses ends
// it and nothing is charged; else all are, and the longest wait counts. Every request
// costs 1, whatever it is said to cost.

// nginxZone is one zone's state of one key.
type nginxZone struct {
	// rate is R; burst and delay are B and D in thousandths.
	rate, burst, delay int64
	known              bool
	// excess is in thousandths, last in milliseconds.
	excess, last int64
}

// nginxThousand is how NGINX counts a request.
const nginxThousand = 1000

func newNginxZone(p rlbench.Policy, l rlbench.Limit) (*nginxZone, error) {
	z := &nginxZone{rate: mulDiv(l.Count, nginxThousand*int64(time.Second), int64(l.Per))}
	if z.rate < 1 || z.rate > math.MaxInt64/(1<<20) || l.Burst > math.MaxInt64/(1<<20) {
		return nil, fmt.Errorf("%s is not a rate that NGINX can count", l)
	}
	z.burst = (l.Burst - 1) * nginxThousand
	delay, err := wholeParam(p, paramDelay, 1, 0)
	if err != nil {
		return nil, err
	}
	z.delay = min(delay, l.Burst) * nginxThousand
	switch text, given := p.Params[paramNodelay]; {
	case !given || text == "false":
	case text == "true":
		z.delay = math.MaxInt64
	default:
		return nil, fmt.Errorf("the parameter %s is %q, neither true nor false", paramNodelay, text)
	}
	return z, nil
}

// after returns the excess that one more request at ms makes, and the time that passed.
func (z *nginxZone) after(ms int64) (excess, passed int64) {
	if !z.known {
		return 0, 1
	}
	passed = ms - z.last
	switch {
	case passed < -60000:
		passed = 1
	case passed < 0:
		passed = 0
	}
	return max(0, z.excess-mulDiv(z.rate, passed, nginxThousand)+nginxThousand), passed
}

func (z *nginxZone) fits(at, _ int64) bool {
	excess, _ := z.after(floorDiv(at, millisecondNs))
	return !z.known || excess <= z.burst
}

func (z *nginxZone) charge(at, _ int64) int64 {
	ms := floorDiv(at, millisecondNs)
	excess, passed := z.after(ms)
	z.excess, z.known = excess, true
	if passed != 0 {
		z.last = ms
	}
	if excess <= z.delay {
		return 0
	}
	return mulDiv(excess-z.delay, nginxThousand, z.rate) * millisecondNs
}
