package scenarios

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// Where a run is placed when its scenario does not say, on aligned windows.
const (
	// EdgeMargin is how far behind an edge a run begins that is too long for one
	// window, in windows that are at least ten times as long.
	EdgeMargin = 10 * time.Millisecond
	// SpareMax is the most that is kept clear between the last planned request
	// and the next edge by a run that fits into one window.
	SpareMax = time.Second
)

// end is the moment by which the part asks no more.
func (p Part) end() time.Duration { return p.At + p.For }

// count is how many requests the part makes for certain, counted up to most: all
// of an open part's, one of each client.
func (p Part) count(seed int64, part int, most int64) int64 {
	switch {
	case p.Clients > 0:
		return min(p.Clients, most)
	case p.Burst > 0:
		return min(p.Burst, most)
	case p.Arrivals != Poisson || p.mean() > 2*OpsMax: // so many that no draw can be few
		return min(p.mean(), most)
	}
	var n int64
	for range p.instants(seed, part) {
		if n >= most {
			break
		}
		n++
	}
	return n
}

// mean is how many requests a rate makes on average, and exactly when its
// arrivals are constant: For·Count/Per, rounded up.
func (p Part) mean() int64 {
	if p.Rate.Per == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(p.For), uint64(p.Rate.Count))
	lo, carry := bits.Add64(lo, uint64(p.Rate.Per)-1, 0)
	if hi += carry; hi >= uint64(p.Rate.Per) {
		return maxInt64
	}
	n, _ := bits.Div64(hi, lo, uint64(p.Rate.Per))
	return int64(min(n, uint64(maxInt64)))
}

// Plan works out every request from the scenario and its seed alone. The error
// says that the traffic is more than its bounds allow, which [Parse] rules out.
func (s *Scenario) Plan() (*rlbench.Plan, error) {
	plan := &rlbench.Plan{Seed: s.Seed, Instances: s.Instances, Bounds: s.Bounds}
	ring := newKeyring(s.Traffic)
	var release int32
	for i, p := range s.Traffic {
		if p.Clients > 0 {
			s.addClients(plan, ring, i)
			continue
		}
		var together int32
		if p.Burst > 0 {
			release++
			together = release
		}
		if err := s.addOpen(plan, ring, i, together); err != nil {
			return nil, err
		}
	}
	byInstant := func(a, b rlbench.Arrival) int { return cmp.Compare(a.At, b.At) }
	if !slices.IsSortedFunc(plan.Arrivals, byInstant) {
		slices.SortStableFunc(plan.Arrivals, byInstant)
	}
	plan.Start = s.placement(time.Duration(plan.Span()))
	return plan, nil
}

// addOpen plans the requests of part i, a burst or a rate.
func (s *Scenario) addOpen(plan *rlbench.Plan, ring keyring, i int, release int32) error {
	p, rng, n := s.Traffic[i], stream(s.Seed, i, "keys", 0), 0
	plan.Arrivals = slices.Grow(plan.Arrivals, int(min(max(p.Burst, p.mean()), s.Bounds.Ops)))
	for at := range p.instants(s.Seed, i) {
		if int64(len(plan.Arrivals)) >= s.Bounds.Ops {
			return fmt.Errorf("planning traffic part %d of %s: more than %d requests", i+1, s.Name, s.Bounds.Ops)
		}
		plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{
			Request: rlbench.Request{Key: ring.draw(p, rng), Cost: p.Cost, Instance: int32(n % s.Instances)},
			At:      at,
			Release: release,
		})
		n++
	}
	return nil
}

// addClients plans the closed loops of part i. A client keeps to one instance,
// as a connection does; its requests are a cycle that is as long as its share of
// the run.
func (s *Scenario) addClients(plan *rlbench.Plan, ring keyring, i int) {
	p := s.Traffic[i]
	var clients int64
	for _, other := range s.Traffic {
		clients += other.Clients
	}
	cycle := min(max(s.Bounds.Ops/clients, 1), ClientCycleMax)
	if p.Keys.Count == 0 {
		cycle = 1
	}
	for c := range int(p.Clients) {
		rng := stream(s.Seed, i, "client", c)
		requests := make([]rlbench.Request, cycle)
		for n := range requests {
			requests[n] = rlbench.Request{Key: ring.draw(p, rng), Cost: p.Cost, Instance: int32(c % s.Instances)}
		}
		plan.Clients = append(plan.Clients, rlbench.Client{
			Requests: requests, From: rlbench.Instant(p.At), Until: rlbench.Instant(p.end()), Think: p.Think,
		})
	}
}

// placement decides where the run lies against the edges of aligned windows, so
// that none straddles an edge by luck.
func (s *Scenario) placement(span time.Duration) rlbench.Placement {
	windows := s.alignedWindows()
	if len(windows) == 0 {
		return rlbench.Placement{}
	}
	edge := shortest(windows)
	if s.Start.Edge != "" {
		return rlbench.Placement{Edge: s.Start.Edge, By: s.Start.By, Window: edge}
	}
	// What lies between two edges of the common grid lies inside every window.
	common := windows[0]
	for _, w := range windows[1:] {
		common = gcd(common, w)
	}
	if spare := min(SpareMax, common/10); span+spare < common {
		return rlbench.Placement{Edge: rlbench.InsideWindow, By: spare, Window: common}
	}
	return rlbench.Placement{Edge: rlbench.AfterEdge, By: min(EdgeMargin, edge/10), Window: edge}
}

// alignedWindows are the lengths of all windows, of any target's policy, that
// lie on the limiter's clock.
func (s *Scenario) alignedWindows() []time.Duration {
	var windows []time.Duration
	for _, t := range s.Targets {
		for _, l := range t.Policy.Limits {
			if t.Policy.Algorithm == rlbench.SlidingCounter || l.Anchor == rlbench.Epoch {
				windows = append(windows, l.Per)
			}
		}
	}
	return windows
}

func shortest(windows []time.Duration) time.Duration { return slices.Min(windows) }

func gcd(a, b time.Duration) time.Duration {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
