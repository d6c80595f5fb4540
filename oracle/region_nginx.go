package oracle

import (
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
)

// The states of NGINX's zones, each by itself: its numbers are rounded, so that
// intervals would not do. With each state goes the least millisecond of the last
// decision.
//
// Whose milliseconds begin where is not known, so an instant belongs to one of two; and
// the clock is read once a turn of the event loop, up to one step early.
type nginxRegion struct {
	shape  *nginxShape
	states map[nginxState]int64
	// lost: there were too many to go on.
	lost bool
}

// zonesMax bounds the zones of one policy, statesMax the states that are followed.
const (
	zonesMax  = 4
	statesMax = 1 << 14
)

type nginxState [zonesMax]nginxZone

// nginxShape: origin is where the limiter's clock stood in its millisecond at instant 0.
type nginxShape struct {
	zones  int
	origin int64
}

func newNginxRegion(p rlbench.Policy, origin int64) (region, error) {
	if len(p.Limits) > zonesMax {
		return nil, fmt.Errorf("%d zones are more than the %d that are followed", len(p.Limits), zonesMax)
	}
	var fresh nginxState
	for i, l := range p.Limits {
		zone, err := newNginxZone(p, l)
		if err != nil {
			return nil, err
		}
		fresh[i] = *zone
	}
	return &nginxRegion{shape: &nginxShape{len(p.Limits), originIn(origin, time.Millisecond)}, states: map[nginxState]int64{fresh: beginning}}, nil
}

// readings calls visit for every state and every millisecond that the limiter's clock
// may have read in the interval.
func (r *nginxRegion) readings(from, to int64, visit func(s nginxState, ms int64)) {
	first, last := floorDiv(from+r.shape.origin, millisecondNs), floorDiv(to+r.shape.origin, millisecondNs)
	if from < to {
		first, last = floorDiv(from, millisecondNs), floorDiv(to, millisecondNs)+1
	}
	for s, now := range r.states {
		for ms := max(first, now); ms <= last; ms++ {
			visit(s, ms)
		}
	}
}

func (s *nginxState) fits(zones int, ms int64) bool {
	for i := range zones {
		if !s[i].fits(ms*millisecondNs, 1) {
			return false
		}
	}
	return true
}

func (r *nginxRegion) admit(from, to, _ int64) []region {
	return r.decide(from, to, func(s *nginxState, ms int64) bool {
		if !s.fits(r.shape.zones, ms) {
			return false
		}
		for i := range r.shape.zones {
			s[i].charge(ms*millisecondNs, 1)
		}
		return true
	})
}

func (r *nginxRegion) refuse(from, to, _ int64) []region {
	return r.decide(from, to, func(s *nginxState, ms int64) bool { return !s.fits(r.shape.zones, ms) })
}

func (r *nginxRegion) pass(from, to int64) []region {
	return r.decide(from, to, func(*nginxState, int64) bool { return true })
}

// decide returns the states that allow what was decided.
func (r *nginxRegion) decide(from, to int64, step func(s *nginxState, ms int64) bool) []region {
	if r.lost {
		return []region{r}
	}
	after := &nginxRegion{shape: r.shape, states: map[nginxState]int64{}}
	r.readings(from, to, func(s nginxState, ms int64) {
		if len(after.states) < statesMax && step(&s, ms) {
			after.note(s, ms)
		}
	})
	if len(after.states) >= statesMax {
		return []region{&nginxRegion{shape: r.shape, lost: true}}
	}
	if len(after.states) == 0 {
		return nil
	}
	return []region{after}
}

func (r *nginxRegion) note(s nginxState, ms int64) {
	if before, known := r.states[s]; !known || ms < before {
		r.states[s] = ms
	}
}

func (r *nginxRegion) join(other region) (region, bool) {
	o := other.(*nginxRegion)
	if r.lost || o.lost {
		return &nginxRegion{shape: r.shape, lost: true}, true
	}
	both := &nginxRegion{shape: r.shape, states: make(map[nginxState]int64, len(r.states)+len(o.states))}
	for _, part := range []*nginxRegion{r, o} {
		for s, now := range part.states {
			both.note(s, now)
		}
	}
	return both, true
}

func (r *nginxRegion) rough() bool { return r.lost }

func (r *nginxRegion) say(at int64) string {
	least, most, first := int64(0), int64(0), true
	for s := range r.states {
		excess, _ := s[0].after(floorDiv(at+r.shape.origin, millisecondNs))
		if first || excess < least {
			least = excess
		}
		if first || excess > most {
			most = excess
		}
		first = false
	}
	return fmt.Sprintf("an excess of %d to %d thousandths", least, most)
}
