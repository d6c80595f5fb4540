package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
)

// Shape describes a Plan without its requests: what it asks for, and how long it
// will take.
type Shape struct {
	// Requests are those of the open parts; what Clients ask, only the run can tell.
	Requests int
	Clients  int
	Parts    []PartShape
	// Span is when the last request is planned, Keys how many keys are asked for.
	Span      time.Duration
	Keys      int
	Instances int
	// Start is the placement, WaitMax the longest wait for its edge.
	Start   rlbench.Placement
	WaitMax time.Duration
	Bounds  rlbench.Bounds
}

// PartShape is one part of the traffic.
type PartShape struct {
	// About is the part in words, Requests how many it makes when that is known.
	About    string
	Requests int64
	Clients  int64
}

// Shape describes the Plan of this scenario.
func (s *Scenario) Shape(plan *rlbench.Plan) Shape {
	shape := Shape{
		Requests: len(plan.Arrivals), Clients: len(plan.Clients), Span: time.Duration(plan.Span()),
		Keys: keysOf(plan), Instances: plan.Instances, Start: plan.Start, Bounds: plan.Bounds,
	}
	for i, p := range s.Traffic {
		part := PartShape{About: p.String(), Clients: p.Clients}
		if p.Clients == 0 {
			part.Requests = p.count(s.Seed, i, s.Bounds.Ops)
		}
		shape.Parts = append(shape.Parts, part)
	}
	switch plan.Start.Edge {
	case rlbench.AfterEdge, rlbench.BeforeEdge:
		shape.WaitMax = plan.Start.Window
	case rlbench.InsideWindow: // only what is left of a window that is nearly over
		shape.WaitMax = shape.Span + plan.Start.By
	}
	return shape
}

func keysOf(plan *rlbench.Plan) int {
	keys := map[string]bool{}
	for _, a := range plan.Arrivals {
		keys[a.Key] = true
	}
	for _, c := range plan.Clients {
		for _, q := range c.Requests {
			keys[q.Key] = true
		}
	}
	return len(keys)
}

// String writes the shape over several lines.
func (s Shape) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", counted(int64(s.Requests), "request"))
	if s.Clients > 0 {
		fmt.Fprintf(&b, " and %s in closed loops", counted(int64(s.Clients), "client"))
	}
	fmt.Fprintf(&b, " over %s, on %s, to %s\n", s.Span, counted(int64(s.Keys), "key"), counted(int64(s.Instances), "instance"))
	for _, p := range s.Parts {
		fmt.Fprintf(&b, "- %s", p.About)
		if p.Clients == 0 {
			fmt.Fprintf(&b, ": %s", counted(p.Requests, "request"))
		}
		b.WriteString("\n")
	}
	b.WriteString(s.placed())
	fmt.Fprintf(&b, "bounds: %s, %s, %d in flight\n", s.Bounds.Duration, counted(s.Bounds.Ops, "request"), s.Bounds.InFlight)
	return b.String()
}

func (s Shape) placed() string {
	switch s.Start.Edge {
	case rlbench.AfterEdge, rlbench.BeforeEdge:
		return fmt.Sprintf("begins %s %s an edge of the %s window: waits for at most %s\n", s.Start.By, s.Start.Edge, s.Start.Window, s.WaitMax)
	case rlbench.InsideWindow:
		return fmt.Sprintf("lies inside one %s window: waits for at most %s\n", s.Start.Window, s.WaitMax)
	}
	return "begins at once\n"
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// String gives the part in words.
func (p Part) String() string {
	var about string
	switch {
	case p.Burst > 0:
		about = fmt.Sprintf("at %s, %d released together", p.At, p.Burst)
	case p.Rate.Count > 0:
		about = fmt.Sprintf("from %s for %s, %s %s", p.At, p.For, p.Rate, p.Arrivals)
	default:
		about = fmt.Sprintf("from %s for %s, %s", p.At, p.For, counted(p.Clients, "client"))
		if p.Think > 0 {
			about += fmt.Sprintf(" thinking %s", p.Think)
		}
	}
	if p.Keys.Count > 0 {
		about += fmt.Sprintf(", over %s (%s)", counted(p.Keys.Count, "key"), p.Keys.Spread)
	} else {
		about += ", on " + p.Key
	}
	if p.Cost > 1 {
		about += fmt.Sprintf(", at cost %d", p.Cost)
	}
	return about
}
