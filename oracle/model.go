package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/rlbench/rlbench"
)

// Models: each algorithm decided one request after the other, as its own text has it,
// in whole numbers. They are built from a Policy alone and share no code with any
// target. Each stands in a file of its own that opens with the rule, where it comes
// from and the clock it goes by.
//
// What only one design has stands in Policy.Params:
//
//	model     nginx, envoy or ratelimit-service: whose arithmetic decides, where it is
//	          not the algorithm's own
//	nodelay   true: an NGINX queue lets everything within its burst go at once
//	delay     how many of an NGINX burst are let go at once
//	rounding  floor or nearest: how a sliding counter rounds its estimate; it is exact
//	          without
const (
	paramModel    = "model"
	paramNodelay  = "nodelay"
	paramDelay    = "delay"
	paramRounding = "rounding"

	modelNginx   = "nginx"
	modelEnvoy   = "envoy"
	modelService = "ratelimit-service"

	roundFloor   = "floor"
	roundNearest = "nearest"
)

// limiter is one limit of a model, for one key. It is asked at moments that do not
// fall: nanoseconds on the limiter's own clock.
type limiter interface {
	// fits tells whether a request of the cost would be let through.
	fits(at, cost int64) bool
	// charge takes the cost in, whether it fits or not, and returns for how long a
	// queue holds the request back, in nanoseconds; 0 where nothing waits.
	charge(at, cost int64) (wait int64)
}

// charging says what a request that one of several limits refuses has used.
type charging int

const (
	// chargesNothing: all limits are charged, or none.
	chargesNothing charging = iota
	// chargesEverything: every limit is charged, whatever they say.
	chargesEverything
	// chargesEarlier: limits are asked in turn, each charges what it lets through, and
	// nothing is given back.
	chargesEarlier
)

// model decides for one key.
type model struct {
	limits []limiter
	charging
}

// decide returns whether a request of the cost is let through at the moment, and for
// how long a queue holds it back.
func (m *model) decide(at, cost int64) (allowed bool, wait int64) {
	allowed = true
	for _, l := range m.limits {
		if !l.fits(at, cost) {
			allowed = false
			if m.charging == chargesEarlier {
				return false, 0
			}
		} else if m.charging == chargesEarlier {
			wait = max(wait, l.charge(at, cost))
		}
	}
	if m.charging == chargesEarlier || !allowed && m.charging == chargesNothing {
		return allowed, wait
	}
	for _, l := range m.limits {
		wait = max(wait, l.charge(at, cost))
	}
	if !allowed {
		wait = 0
	}
	return allowed, wait
}

// newModel returns the model of a policy, fresh; the error says why there is none.
func newModel(p rlbench.Policy) (*model, error) {
	m := &model{charging: chargingOf(p)}
	for _, limit := range limitsInTurn(p) {
		l, err := newLimiter(p, limit)
		if err != nil {
			return nil, err
		}
		m.limits = append(m.limits, l)
	}
	return m, nil
}

func chargingOf(p rlbench.Policy) charging {
	switch {
	case p.ChargesRefusals || p.Params[paramModel] == modelService:
		return chargesEverything
	case p.Params[paramModel] == modelEnvoy:
		return chargesEarlier
	}
	return chargesNothing
}

// limitsInTurn returns the limits in the order in which the model asks them.
func limitsInTurn(p rlbench.Policy) []rlbench.Limit {
	if p.Params[paramModel] == modelEnvoy {
		return slowestFirst(p.Limits)
	}
	return p.Limits
}

func newLimiter(p rlbench.Policy, limit rlbench.Limit) (limiter, error) {
	rate, err := rateOf(limit)
	if p.Algorithm.Bucket() && err != nil {
		return nil, err
	}
	switch named, a := p.Params[paramModel], p.Algorithm; {
	case named == modelNginx && (a == rlbench.LeakyQueue || a == rlbench.LeakyMeter):
		return newNginxZone(p, limit)
	case named == modelEnvoy && a == rlbench.TokenBucket:
		return newTokenBucket(rate), nil
	case named == modelService && a == rlbench.FixedWindow && limit.Anchor == rlbench.Epoch:
		return newServiceWindow(limit)
	case named != "":
		return nil, fmt.Errorf("there is no model %q of a %s", named, a)
	case a == rlbench.FixedWindow && limit.Anchor == rlbench.Epoch:
		return newAlignedWindow(limit), nil
	case a == rlbench.FixedWindow:
		return newFirstRequestWindow(limit), nil
	case a == rlbench.SlidingLog:
		return newSlidingLog(limit), nil
	case a == rlbench.SlidingCounter:
		return newSlidingCount(p, limit)
	case a == rlbench.TokenBucket:
		return newTokenBucket(rate), nil
	case a == rlbench.GCRA:
		return newArrivalTime(rate), nil
	case a == rlbench.LeakyMeter:
		return newMeter(rate), nil
	case a == rlbench.LeakyQueue:
		return newQueue(rate), nil
	}
	return nil, fmt.Errorf("there is no model of a %s", p.Algorithm)
}

// rate is a bucket's limit in whole numbers: a cost of 1 is worth per, a nanosecond
// gives back count, and the bucket holds room. count and per have no common divisor.
type rate struct{ count, per, room int64 }

// roomMax bounds what a bucket holds in those numbers, so that they can be added.
const roomMax = 1 << 60

func rateOf(l rlbench.Limit) (rate, error) {
	if l.Count < 1 || l.Per < 1 || l.Burst < 1 {
		return rate{}, nil
	}
	g := greatestCommonDivisor(l.Count, int64(l.Per))
	r := rate{count: l.Count / g, per: int64(l.Per) / g}
	if r.room = mulDiv(l.Burst, r.per, 1); r.room > roomMax || r.count > roomMax {
		return rate{}, fmt.Errorf("a burst of %d at %s is beyond whole numbers of 64 bits", l.Burst, l)
	}
	return r, nil
}

// worth is what a cost takes up, at most more than any bucket holds.
func (r rate) worth(cost int64) int64 { return min(mulDiv(cost, r.per, 1), 2*roomMax) }

// gained is what a stretch of time gives back, at most more than any bucket lacks.
func (r rate) gained(stretch int64) int64 {
	return mulDiv(max(0, stretch), r.count, 1)
}

// slowestFirst puts limits in order of their rate.
func slowestFirst(limits []rlbench.Limit) []rlbench.Limit {
	sorted := slices.Clone(limits)
	slices.SortStableFunc(sorted, func(x, y rlbench.Limit) int {
		xh, xl := mul(x.Count, int64(y.Per))
		yh, yl := mul(y.Count, int64(x.Per))
		if xh != yh {
			return cmp.Compare(xh, yh)
		}
		return cmp.Compare(xl, yl)
	})
	return sorted
}

// wholeParam reads a parameter that is a whole number of at least least; absent where
// it is not given.
func wholeParam(p rlbench.Policy, name string, least, absent int64) (int64, error) {
	text, given := p.Params[name]
	if !given {
		return absent, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least {
		return 0, fmt.Errorf("the parameter %s is %q, not a whole number of at least %d", name, text, least)
	}
	return n, nil
}

// modelWords says in words which decisions a policy promises.
func modelWords(p rlbench.Policy) string {
	words := overWords(p)
	if words == "" {
		return ""
	}
	name := "an exact " + string(p.Algorithm)
	switch p.Params[paramModel] {
	case modelNginx:
		name = "NGINX's limit_req"
	case modelEnvoy:
		name = "Envoy's local rate limit"
	case modelService:
		name = "the rate limit service's fixed window"
	}
	return fmt.Sprintf("every decision is the one that %s makes: %s", name, words)
}

const millisecondNs = int64(time.Millisecond)
