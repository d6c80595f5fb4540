package scenarios

import (
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// Arrivals says how the requests of a rate are spread over time.
type Arrivals string

const (
	// Constant: request k comes k·Per/Count after the first.
	Constant Arrivals = "constant"
	// Poisson: the gaps are drawn from an exponential distribution whose mean is
	// Per/Count.
	Poisson Arrivals = "poisson"
)

// Spread says how requests are spread over several keys.
type Spread string

const (
	// Uniform: each key is as likely as any other.
	Uniform Spread = "uniform"
	// Zipf: key number i is drawn in proportion to 1/i.
	Zipf Spread = "zipf"
)

// Keys are the keys key-1 to key-Count.
type Keys struct {
	Count  int64
	Spread Spread
}

// Part is one strand of traffic. Exactly one of Burst, Rate and Clients is set.
type Part struct {
	// Burst requests are released together.
	Burst int64
	// Rate is Count requests every Per, spread as Arrivals says.
	Rate     rlbench.Limit
	Arrivals Arrivals
	// Clients ask in a closed loop, each with a pause of Think between an answer
	// and its next request.
	Clients int64
	Think   time.Duration
	// At is when the part begins, For how long a rate or clients go on.
	At, For time.Duration
	// Key is the one key of the part, empty when Keys are drawn from.
	Key  string
	Keys Keys
	// Cost of each request, at least 1.
	Cost int64
}

// traffic reads the parts.
func (r *reader) traffic(into *[]Part) read {
	return r.list(func(_ int, item *node) {
		p := Part{Cost: 1}
		r.fields(item, "a traffic part",
			field{"burst", whole(r, &p.Burst, 1, InFlightMax), ""},
			field{"rate", r.limit(&p.Rate), ""},
			field{"clients", whole(r, &p.Clients, 1, InFlightMax), ""},
			field{"for", r.duration(&p.For, 1, DurationMax), ""},
			field{"arrivals", choice(r, &p.Arrivals, "way of arriving", Constant, Poisson), ""},
			field{"think", r.duration(&p.Think, 0, DurationMax), ""},
			field{"at", r.duration(&p.At, 0, DurationMax), ""},
			field{"key", r.key(&p.Key), ""},
			field{"keys", r.keys(&p.Keys), ""},
			field{"cost", whole(r, &p.Cost, 1, CostMax), ""},
		)
		if item.kind == mapping {
			r.shapeOf(item)
		}
		if p.Key == "" && p.Keys.Count == 0 {
			p.Key = KeyDefault
		}
		if p.Rate.Count > 0 && p.Arrivals == "" {
			p.Arrivals = Constant
		}
		*into = append(*into, p)
	})
}

func (r *reader) keys(into *Keys) read {
	return func(_ string, v *node) {
		into.Spread = Uniform
		r.fields(v, "keys",
			field{"count", whole(r, &into.Count, 1, KeysMax), "how many keys there are, such as count: 100"},
			field{"spread", choice(r, &into.Spread, "spread", Uniform, Zipf), ""},
		)
	}
}

// shapeOf checks that a part is one of the three, with the fields that go with it.
func (r *reader) shapeOf(item *node) {
	kinds := map[string][]string{ // which fields go with which kind alone
		"burst":   nil,
		"rate":    {"for", "arrivals"},
		"clients": {"for", "think"},
	}
	var is []string
	for _, name := range []string{"burst", "rate", "clients"} {
		if item.entry(name) != nil {
			is = append(is, name)
		}
	}
	if len(is) == 0 {
		r.wrong(item.at, "such as burst: 100, or rate: 200/s with for: 5s", "a traffic part needs one of burst, rate and clients")
		return
	}
	for _, extra := range is[1:] {
		r.wrong(item.entry(extra).key, "make it a part of its own", "a traffic part has %s or %s, not both", is[0], extra)
	}
	if item.entry("for") == nil && is[0] != "burst" {
		r.wrong(item.entry(is[0]).key, "such as for: 5s", "%s needs the field \"for\": how long it goes on", is[0])
	}
	for _, name := range []string{"for", "arrivals", "think"} {
		if e := item.entry(name); e != nil && len(is) == 1 && !slices.Contains(kinds[is[0]], name) {
			r.wrong(e.key, "leave it out", "%s means nothing to %s", name, is[0])
		}
	}
	if key := item.entry("key"); key != nil && item.entry("keys") != nil {
		r.wrong(key.key, "leave one of them out", "a traffic part has key or keys, not both")
	}
}

// trafficFits checks the traffic against what ends the run. A bound that was
// written is pointed at; a default is not there to be seen.
func (r *reader) trafficFits(root *node, s *Scenario) {
	traffic, bounds := root.child("traffic"), root.child("bounds")
	where := func(bound string, otherwise place) place {
		if bounds == nil || bounds.child(bound) == nil {
			return otherwise
		}
		return bounds.placeOf(bound)
	}
	var least int64 // counted no further than one beyond what may be asked for at all
	latest := 0
	for i, p := range s.Traffic {
		r.inFlightFits(traffic.items[i], p, s.Bounds.InFlight)
		if p.end() > s.Traffic[latest].end() {
			latest = i
		}
		least += p.count(s.Seed, i, OpsMax+1-least)
	}
	if end := s.Traffic[latest].end(); end > s.Bounds.Duration {
		r.wrong(where("duration", traffic.items[latest].at), raise("duration", end.String(), end <= DurationMax),
			"the traffic goes on until %s, and the bound is %s", end, s.Bounds.Duration)
	}
	switch at := where("ops", traffic.at); {
	case least > s.Bounds.Ops:
		r.wrong(at, raise("ops", fmt.Sprint(least), least <= OpsMax),
			"the traffic asks for at least %d requests, and the bound is %d", least, s.Bounds.Ops)
	case least == 0:
		r.wrong(traffic.at, "make it longer, or take another seed", "with seed %d the traffic holds no request at all", s.Seed)
	}
}

// inFlightFits refuses a burst of which not all can be in flight at once: it
// would be another burst than the one that was asked for.
func (r *reader) inFlightFits(item *node, p Part, most int) {
	if p.Burst > int64(most) {
		r.wrong(item.placeOf("burst"), raise("in_flight", fmt.Sprint(p.Burst), true),
			"a burst of %d cannot be in flight at once: the bound is %d", p.Burst, most)
	}
	if p.Clients > int64(most) {
		r.wrong(item.placeOf("clients"), raise("in_flight", fmt.Sprint(p.Clients), true),
			"%d clients cannot be in flight at once: the bound is %d", p.Clients, most)
	}
}

// raise is the hint to write a greater bound, where there can be one.
func raise(bound, value string, possible bool) string {
	if !possible {
		return "ask for less: no bound goes that far"
	}
	return fmt.Sprintf("bounds: {%s: %s}", bound, value)
}
