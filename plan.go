package rlbench

import "time"

// Request is what is asked of a limiter: whose budget, how much of it, and
// through which instance.
type Request struct {
	// Key is whose budget it uses.
	Key string
	// Cost is how much it uses, at least 1.
	Cost int64
	// Instance is the number of the instance that is asked, from 0.
	Instance int32
}

// Arrival is a Request and the instant we mean to make it.
type Arrival struct {
	Request
	At Instant
	// Release numbers the burst it belongs to, from 1: the requests of one
	// release wait for each other and are let go together. 0: it stands alone.
	Release int32
}

// Client is a closed loop: it asks, waits for the answer, thinks, and asks
// again. Which requests it makes is fixed here; when, only the run can tell.
type Client struct {
	// Requests are made in order, from the start again when they run out.
	Requests []Request
	// From is when it starts, Until when it makes no further request.
	From, Until Instant
	// Think is the pause between an answer and the next request.
	Think time.Duration
}

// Bounds end a run whatever the traffic asks for. All three are at least 1.
type Bounds struct {
	// Duration bounds the run's length, Ops the number of its requests,
	// InFlight how many may wait for their answers at once.
	Duration time.Duration
	Ops      int64
	InFlight int
}

// Edge says against which side of a window's edge a run is placed. The zero
// value places it nowhere in particular.
type Edge string

const (
	// AfterEdge: Instant 0 lies By after an edge.
	AfterEdge Edge = "after"
	// BeforeEdge: Instant 0 lies By before an edge.
	BeforeEdge Edge = "before"
	// InsideWindow: Instant 0 lies where the whole of the planned traffic fits
	// before the next edge, with By to spare.
	InsideWindow Edge = "inside"
)

// Placement says where Instant 0 lies against the edges of aligned windows of
// length Window on the limiter's clock.
type Placement struct {
	Edge   Edge
	By     time.Duration
	Window time.Duration
}

// EventKind names what befell a run beside its requests.
type EventKind string

const (
	// ClockStep: the limiter's clock moved against the driver's by more than it
	// could be misread.
	ClockStep EventKind = "clock-step"
	// ServerLost: the server that decided did not answer when the run was over.
	ServerLost EventKind = "server-lost"
)

// Event is a fault or a clock step, in the same history as the ops.
type Event struct {
	Kind EventKind
	// At and Until bound it; equal for a moment.
	At, Until Instant
	// Note says in words what happened, with numbers.
	Note string
}

// Plan is everything a run intends, fixed before anything is sent. The same
// scenario and seed give the same Plan.
type Plan struct {
	Seed      int64
	Instances int
	// Arrivals are in order of At; ties keep the scenario's order.
	Arrivals []Arrival
	Clients  []Client
	Start    Placement
	Bounds   Bounds
}

// OpOfArrival is the number of the op that arrival i becomes.
func (p *Plan) OpOfArrival(i int) int64 { return int64(i) }

// OpOfClient is the number of the op that the n-th request of client c becomes,
// both from 0. It collides with no other number of the Plan.
func (p *Plan) OpOfClient(c, n int) int64 {
	return int64(len(p.Arrivals)) + int64(n)*int64(len(p.Clients)) + int64(c)
}

// Span is the instant by which the last request is planned to be made.
func (p *Plan) Span() Instant {
	var last Instant
	if n := len(p.Arrivals); n > 0 {
		last = p.Arrivals[n-1].At
	}
	for _, c := range p.Clients {
		last = max(last, c.Until)
	}
	return last
}
