package driver_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
)

// plans is how many random plans the property is tried on; RLBENCH_HISTORIES
// asks for another number.
func plans(t *testing.T) int {
	text, set := os.LookupEnv("RLBENCH_HISTORIES")
	if !set {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("RLBENCH_HISTORIES: %v", err)
	}
	return n
}

// randomPlan makes a small plan of arrivals, releases and clients whose bounds
// bind now and then.
func randomPlan(seed uint64, size int) *rlbench.Plan {
	random := rand.New(rand.NewPCG(seed, uint64(size)))
	moment := func() rlbench.Instant { return rlbench.Instant(random.IntN(3_000_000)) }
	ask := func() rlbench.Request {
		return rlbench.Request{Key: string(rune('a' + random.IntN(4))), Cost: 1 + random.Int64N(3), Instance: random.Int32N(3)}
	}
	plan := &rlbench.Plan{Instances: 3, Bounds: rlbench.Bounds{
		Duration: time.Duration(1_000_000 + random.IntN(4_000_000)),
		Ops:      1 + random.Int64N(int64(4*size+1)), InFlight: 1 + random.IntN(size+4),
	}}
	for release := int32(1); len(plan.Arrivals) < size; {
		at := moment()
		if random.IntN(4) > 0 {
			plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{Request: ask(), At: at})
			continue
		}
		for range 1 + random.IntN(size) {
			plan.Arrivals = append(plan.Arrivals, rlbench.Arrival{Request: ask(), At: at, Release: release})
		}
		release++
	}
	slices.SortStableFunc(plan.Arrivals, func(a, b rlbench.Arrival) int { return int(a.At - b.At) })
	for range random.IntN(3) {
		c := rlbench.Client{From: moment(), Until: moment(), Think: time.Duration(random.IntN(3)) * 100 * time.Microsecond}
		for range 1 + random.IntN(3) {
			c.Requests = append(c.Requests, ask())
		}
		plan.Clients = append(plan.Clients, c)
	}
	return plan
}

// fickle answers in every way there is, by the number of times it was asked.
func fickle(random *rand.Rand) target {
	turn := make(chan *rand.Rand, 1)
	turn <- random
	return func(context.Context, rlbench.Request) rlbench.Answer {
		r := <-turn
		n := r.IntN(8)
		turn <- r
		switch n {
		case 0:
			return rlbench.Answer{Err: errors.New("timeout")}
		case 1:
			return rlbench.Answer{Outcome: rlbench.Unsent, Err: errors.New("refused")}
		case 2:
			return rlbench.Answer{Outcome: rlbench.Denied, Status: 429, Said: rlbench.SaidRetryAfter}
		}
		return rlbench.Answer{Outcome: rlbench.Allowed, Said: rlbench.SaidRemaining, Remaining: int64(n)}
	}
}

func TestRowsAreExactlyThePlan(t *testing.T) {
	parameters := gopter.DefaultTestParameters()
	parameters.MinSuccessfulTests = plans(t)
	parameters.MaxSize = 24
	properties := gopter.NewProperties(parameters)
	properties.Property("each op of the plan has one row, within the bounds", prop.ForAll(
		func(seed uint64, size int) (string, error) {
			plan := randomPlan(seed, size)
			r, err := driver.Drive(t.Context(), plan, fickle(rand.New(rand.NewPCG(seed, 1))), driver.Options{})
			if err != nil {
				return "", err
			}
			if err := wellFormed(plan, r); err != nil {
				return err.Error(), nil
			}
			return withinBounds(plan, r), nil
		},
		gen.UInt64(), gen.IntRange(1, 24),
	))
	properties.TestingRun(t)
}

// withinBounds is empty when the run kept its bounds, else what exceeded them.
func withinBounds(plan *rlbench.Plan, r *driver.Recording) string {
	beyond := max(int64(len(plan.Arrivals))-plan.Bounds.Ops, 0)
	if made := int64(r.Ops.Len()) - beyond; made > plan.Bounds.Ops {
		return "more ops were made than the bound allows"
	}
	type edge struct {
		at   rlbench.Instant
		step int
	}
	var edges []edge
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		if op.Outcome == rlbench.Unsent {
			continue
		}
		if op.Sent >= rlbench.Instant(plan.Bounds.Duration) {
			return "an op was sent after the bound on the duration"
		}
		edges = append(edges, edge{op.Sent, 1}, edge{op.Done, -1})
	}
	// At one instant those that end come first: none of it was longer than that.
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.step - b.step
	})
	inFlight := 0
	for _, e := range edges {
		if inFlight += e.step; inFlight > plan.Bounds.InFlight {
			return "more requests were in flight than the bound allows"
		}
	}
	return ""
}
