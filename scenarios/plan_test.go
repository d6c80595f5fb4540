package scenarios

import (
	"crypto/sha256"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// everyKind is a scenario that holds each kind of traffic part.
const everyKind = `
name: every-kind
why: each kind of traffic once
policy: {algorithm: fixed-window, limit: 100/1m, anchor: first-request}
instances: 3
traffic:
- {burst: 7, at: 500ms, key: a}
- {rate: 30/s, for: 2s, keys: {count: 5}}
- {rate: 30/s, for: 2s, arrivals: poisson, keys: {count: 50, spread: zipf}, cost: 2}
- {clients: 4, for: 1s, at: 1s, think: 3ms, keys: {count: 9, spread: zipf}}
- {clients: 2, for: 1s}
targets: [{name: memory-fixed-window}]
bounds: {ops: 1200}
`

// digest is the SHA-256 of everything in a Plan.
func digest(p *rlbench.Plan) string {
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%+v", *p)))
}

// TestPlanIsTheSameEverywhere: a seed that replays a finding must replay it on
// another machine and with a later version. A change here breaks that.
func TestPlanIsTheSameEverywhere(t *testing.T) {
	const want = "6c2a8b1f2bb055f9374c51aab3b7c05aa4a71aa3ebd446667e1051438526f1db"
	if got := digest(mustPlan(t, mustParse(t, everyKind))); got != want {
		t.Errorf("the Plan of seed 1 is %s, it was %s", got, want)
	}
}

func TestPlanFollowsFromScenarioAndSeed(t *testing.T) {
	s := mustParse(t, everyKind)
	first, again := mustPlan(t, s), mustPlan(t, mustParse(t, everyKind))
	if !reflect.DeepEqual(first, again) {
		t.Error("one scenario and seed gave two Plans")
	}
	other := mustPlan(t, mustParse(t, everyKind, "seed=2"))
	var poisson, keys int
	for i := range min(len(first.Arrivals), len(other.Arrivals)) {
		a, b := first.Arrivals[i], other.Arrivals[i]
		if a.At != b.At {
			poisson++
		}
		if a.Key != b.Key {
			keys++
		}
	}
	if poisson == 0 || keys == 0 || reflect.DeepEqual(first.Clients, other.Clients) {
		t.Errorf("another seed changed %d instants and %d keys", poisson, keys)
	}
}

// TestPartsDoNotDisturbEachOther: a part added at the end leaves the others as
// they were, and another way of arriving leaves the keys.
func TestPartsDoNotDisturbEachOther(t *testing.T) {
	of := func(parts ...string) *rlbench.Plan {
		return mustPlan(t, mustParse(t, minimal("traffic: ["+strings.Join(parts, ", ")+"]")))
	}
	first := "{rate: 50/s, for: 2s, arrivals: poisson, keys: {count: 9}}"
	alone, beside := of(first), of(first, "{rate: 20/s, for: 2s, at: 10s, arrivals: poisson, keys: {count: 9}}")
	if !slices.Equal(alone.Arrivals, beside.Arrivals[:len(alone.Arrivals)]) {
		t.Error("a second part changed the first")
	}
	same := of(first, strings.Replace(first, "for: 2s", "for: 2s, at: 10s", 1))
	shifted := slices.Clone(same.Arrivals[len(alone.Arrivals):])
	for i := range shifted {
		shifted[i].At -= rlbench.Instant(10 * time.Second)
	}
	if slices.Equal(shifted, alone.Arrivals) {
		t.Error("two parts drew the same numbers")
	}
	steady := of(strings.Replace(first, "poisson", "constant", 1))
	for i := range min(len(steady.Arrivals), len(alone.Arrivals)) {
		if steady.Arrivals[i].Key != alone.Arrivals[i].Key {
			t.Fatalf("the way of arriving changed key %d", i)
		}
	}
}

func TestConstantArrivalsAreExact(t *testing.T) {
	for _, row := range []struct {
		reason, part string
		want         []rlbench.Instant
	}{
		{"a rate that divides a second", "{rate: 4/s, for: 1s}", []rlbench.Instant{0, 250e6, 500e6, 750e6}},
		{"thirds are rounded down, each from the start", "{rate: 3/10ns, for: 20ns}", []rlbench.Instant{0, 3, 6, 10, 13, 16}},
		{"the end is not part of it", "{rate: 1/s, for: 2s}", []rlbench.Instant{0, 1e9}},
		{"a moment beyond is", "{rate: 1/s, for: 2000000001ns}", []rlbench.Instant{0, 1e9, 2e9}},
		{"longer gaps than the part", "{rate: 1/h, for: 1s}", []rlbench.Instant{0}},
		{"faster than the clock can tell", "{rate: 2/1ns, for: 2ns}", []rlbench.Instant{0, 0, 1, 1}},
		{"an offset moves all", "{rate: 2/s, for: 1s, at: 1s}", []rlbench.Instant{1e9, 15e8}},
		{"a gap that fits no 64 bits times its number", "{rate: 1000000000/1000000s, for: 3ms}", []rlbench.Instant{0, 1e6, 2e6}},
	} {
		var got []rlbench.Instant
		s := mustParse(t, minimal("traffic: ["+row.part+"]"))
		for _, a := range mustPlan(t, s).Arrivals {
			got = append(got, a.At)
		}
		if n := s.Traffic[0].count(s.Seed, 0, OpsMax); n != int64(len(got)) {
			t.Errorf("%s: counted %d requests, planned %d", row.reason, n, len(got))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %s arrives at %v, want %v", row.reason, row.part, got, row.want)
		}
	}
}

// TestConstantArrivalsDoNotDrift: the last of many is where the first one says.
func TestConstantArrivalsDoNotDrift(t *testing.T) {
	plan := mustPlan(t, mustParse(t, minimal("traffic: [{rate: 7/1s, for: 3h}]", "bounds: {duration: 3h}")))
	last := len(plan.Arrivals) - 1
	if last != 7*3*3600-1 {
		t.Fatalf("%d requests", last+1)
	}
	if want := rlbench.Instant(int64(last) * 1e9 / 7); plan.Arrivals[last].At != want {
		t.Errorf("the last arrives at %d, want %d", plan.Arrivals[last].At, want)
	}
}

// TestPoissonArrivals holds a fixed seed to what the exponential distribution
// says of its gaps. The bounds are four standard errors.
func TestPoissonArrivals(t *testing.T) {
	s := mustParse(t, minimal("traffic: [{rate: 1000/s, for: 100s, arrivals: poisson}]", "bounds: {duration: 100s, ops: 200000}"))
	plan := mustPlan(t, s)
	n := float64(len(plan.Arrivals))
	if math.Abs(n-100_000) > 4*math.Sqrt(100_000) {
		t.Errorf("%v requests, want about 100000", n)
	}
	var sum, squares, long, whole float64
	var last rlbench.Instant
	for _, a := range plan.Arrivals {
		gap := float64(a.At-last) / 1e6 // in mean gaps
		last = a.At
		sum, squares = sum+gap, squares+gap*gap
		if gap > 1 {
			long++
		}
		if gap > 2 {
			whole++
		}
	}
	mean, variance := sum/n, squares/n-(sum/n)*(sum/n)
	for _, row := range []struct {
		reason          string
		got, want, slip float64
	}{
		{"mean of the gaps", mean, 1, 4 / math.Sqrt(n)},
		{"variance of the gaps", variance, 1, 4 * math.Sqrt(8/n)},
		{"share longer than the mean", long / n, math.Exp(-1), 4 * math.Sqrt(0.24/n)},
		{"share longer than twice the mean", whole / n, math.Exp(-2), 4 * math.Sqrt(0.12/n)},
	} {
		if math.Abs(row.got-row.want) > row.slip {
			t.Errorf("%s: %.4f, want %.4f within %.4f", row.reason, row.got, row.want, row.slip)
		}
	}
}

// TestSpreads holds a fixed seed to the shares that each spread says.
func TestSpreads(t *testing.T) {
	const keys, requests = 10, 100_000
	var harmonic float64
	for i := 1; i <= keys; i++ {
		harmonic += 1 / float64(i)
	}
	for _, row := range []struct {
		spread Spread
		share  func(rank int) float64
	}{
		{Uniform, func(int) float64 { return 1. / keys }},
		{Zipf, func(rank int) float64 { return 1 / float64(rank) / harmonic }},
	} {
		plan := mustPlan(t, mustParse(t, minimal(
			fmt.Sprintf("traffic: [{burst: %d, keys: {count: %d, spread: %s}}]", requests, keys, row.spread),
			"bounds: {in_flight: 100000}")))
		counts := map[string]float64{}
		for _, a := range plan.Arrivals {
			counts[a.Key]++
		}
		if len(counts) != keys {
			t.Errorf("%s: %d keys were drawn, want %d", row.spread, len(counts), keys)
		}
		for rank := 1; rank <= keys; rank++ {
			want := row.share(rank)
			got := counts[fmt.Sprintf("key-%d", rank)] / requests
			if slip := 4 * math.Sqrt(want*(1-want)/requests); math.Abs(got-want) > slip {
				t.Errorf("%s: key-%d has a share of %.4f, want %.4f within %.4f", row.spread, rank, got, want, slip)
			}
		}
	}
}

func TestClients(t *testing.T) {
	plan := mustPlan(t, mustParse(t, everyKind))
	if len(plan.Clients) != 6 {
		t.Fatalf("%d clients", len(plan.Clients))
	}
	drawing, fixed := plan.Clients[:4], plan.Clients[4:]
	for i, c := range drawing {
		// 1200 requests are the most that the run makes, shared by 6 clients.
		if len(c.Requests) != 200 || c.From != 1e9 || c.Until != 2e9 || c.Think != 3*time.Millisecond {
			t.Errorf("client %d is %d requests from %s until %s thinking %s", i, len(c.Requests), c.From, c.Until, c.Think)
		}
		for _, q := range c.Requests {
			if q.Instance != int32(i%3) || q.Cost != 1 {
				t.Fatalf("client %d asks %+v", i, q)
			}
		}
		if i > 0 && slices.Equal(c.Requests, drawing[i-1].Requests) {
			t.Errorf("clients %d and %d ask the same", i-1, i)
		}
	}
	for i, c := range fixed {
		want := []rlbench.Request{{Key: KeyDefault, Cost: 1, Instance: int32(i)}}
		if !slices.Equal(c.Requests, want) || c.From != 0 || c.Until != 1e9 {
			t.Errorf("a client with one key is %+v", c)
		}
	}
	many := mustPlan(t, mustParse(t, minimal("traffic: [{clients: 2, for: 1s, keys: {count: 3}}]")))
	if n := len(many.Clients[0].Requests); n != ClientCycleMax {
		t.Errorf("%d requests are drawn ahead, want at most %d", n, ClientCycleMax)
	}
}

// TestArrivalsAreInOrder: by instant, ties in the order of the scenario, bursts
// numbered and dealt over the instances.
func TestArrivalsAreInOrder(t *testing.T) {
	plan := mustPlan(t, mustParse(t, minimal("instances: 2", `traffic:
- {rate: 2/s, for: 2s, key: late, at: 1s}
- {burst: 3, at: 1s, key: b1}
- {burst: 2, key: b2, cost: 5}`)))
	var got []string
	for _, a := range plan.Arrivals {
		got = append(got, fmt.Sprintf("%s/%s/%d/%d/%d", a.At, a.Key, a.Cost, a.Instance, a.Release))
	}
	want := "0s/b2/5/0/2 0s/b2/5/1/2 1s/late/1/0/0 1s/b1/1/0/1 1s/b1/1/1/1 1s/b1/1/0/1 1.5s/late/1/1/0 2s/late/1/0/0 2.5s/late/1/1/0"
	if strings.Join(got, " ") != want {
		t.Errorf("arrivals are %v\nwant %s", got, want)
	}
}

func TestPlacement(t *testing.T) {
	const aligned = "policy: {algorithm: fixed-window, limit: 10/10s, anchor: epoch}"
	const counter = "policy: {algorithm: sliding-counter, limits: [10/4s, 100/6s]}"
	const counterTarget = "targets: [{name: memory-sliding-counter}]"
	place := func(e rlbench.Edge, by, window time.Duration) rlbench.Placement {
		return rlbench.Placement{Edge: e, By: by, Window: window}
	}
	for _, row := range []struct {
		reason  string
		changes []string
		want    rlbench.Placement
	}{
		{"windows that requests open have no edges", nil, rlbench.Placement{}},
		{"fits into a window with a second to spare", []string{aligned, "traffic: [{burst: 1, at: 8999ms}]"}, place(rlbench.InsideWindow, time.Second, 10*time.Second)},
		{"fits, but with less to spare", []string{aligned, "traffic: [{burst: 1, at: 9s}]"}, place(rlbench.AfterEdge, EdgeMargin, 10*time.Second)},
		{"longer than a window", []string{aligned, "traffic: [{rate: 1/s, for: 20s}]"}, place(rlbench.AfterEdge, EdgeMargin, 10*time.Second)},
		{"a client goes on until its end", []string{aligned, "traffic: [{clients: 1, for: 20s}]"}, place(rlbench.AfterEdge, EdgeMargin, 10*time.Second)},
		{"windows too short for the margin", []string{"policy: {algorithm: fixed-window, limit: 10/20ms, anchor: epoch}", "traffic: [{burst: 1, at: 1s}]"}, place(rlbench.AfterEdge, 2*time.Millisecond, 20*time.Millisecond)},
		{"two windows: inside what both have in common", []string{counter, counterTarget}, place(rlbench.InsideWindow, 200*time.Millisecond, 2*time.Second)},
		{"two windows, too long for that: behind an edge of the shorter", []string{counter, counterTarget, "traffic: [{burst: 1, at: 3s}]"}, place(rlbench.AfterEdge, EdgeMargin, 4*time.Second)},
		{"as the scenario says, before", []string{aligned, "start: {before_edge: 20ms}"}, place(rlbench.BeforeEdge, 20*time.Millisecond, 10*time.Second)},
		{"as the scenario says, after", []string{counter, counterTarget, "start: {after_edge: 0s}"}, place(rlbench.AfterEdge, 0, 4*time.Second)},
		{"a target of its own with edges", []string{"targets: [{name: memory-fixed-window}, {name: memory-sliding-counter, policy: {algorithm: sliding-counter, limit: 1/5s}}]"}, place(rlbench.InsideWindow, 500*time.Millisecond, 5*time.Second)},
	} {
		if got := mustPlan(t, mustParse(t, minimal(row.changes...))).Start; got != row.want {
			t.Errorf("%s: placed %+v, want %+v", row.reason, got, row.want)
		}
	}
}

// TestPlanKeepsTheBound: a scenario that was changed after it was parsed cannot
// ask for more than it may.
func TestPlanKeepsTheBound(t *testing.T) {
	s := mustParse(t, minimal("traffic: [{burst: 5}]"))
	s.Bounds.Ops = 5
	if plan := mustPlan(t, s); len(plan.Arrivals) != 5 {
		t.Errorf("%d requests", len(plan.Arrivals))
	}
	s.Bounds.Ops = 4
	if _, err := s.Plan(); err == nil || err.Error() != "planning traffic part 1 of tiny: more than 4 requests" {
		t.Errorf("five requests within a bound of four: %v", err)
	}
}
