package rlbench

import (
	"math"
	"time"
)

// None stands in an int64 column where the limiter stated nothing.
const None int64 = math.MinInt64

// Op is one Arrival after it met the Target: a view of one row of [Ops].
type Op struct {
	ID               int64
	Key              string
	Cost             int64
	Instance, Worker int32
	// Planned is when it was meant to be made. Sent and Done bound the moment
	// of the limiter's decision; [NoInstant] where there is none. The Done of an
	// Unknown op is when its client gave up, and bounds nothing.
	Planned, Sent, Done Instant
	Outcome             Outcome
	// Status is 0, and each of the numbers below [None], where nothing was said.
	Status                int32
	Limit, Remaining      int64
	RetryAfter, Reset     int64
	DecidedAt, ReleasedAt int64
	// Error is empty where nothing went wrong.
	Error string
}

// Ops are the columns of a Run, one row an op, all of one length; optional
// columns are nil when no op has a value there. Rows need no order.
type Ops struct {
	// Keys and Errors are the texts that the columns Key and Error number.
	// Errors[0] is empty: no error.
	Keys, Errors []string

	ID       []int64
	Key      []uint32
	Cost     []int64
	Instance []int32
	Worker   []int32
	Planned  []Instant
	Sent     []Instant
	Done     []Instant
	Outcome  []Outcome

	// Stated by the limiter. DecidedAt and ReleasedAt are its raw readings less
	// LimiterClock.Origin; RetryAfter and Reset are nanoseconds.
	Status     []int32
	Limit      []int64
	Remaining  []int64
	RetryAfter []int64
	Reset      []int64
	DecidedAt  []int64
	ReleasedAt []int64
	Error      []uint32
}

// Len is the number of ops.
func (o *Ops) Len() int { return len(o.Outcome) }

// At returns row i. It panics when there is no such row.
func (o *Ops) At(i int) Op {
	return Op{
		ID: o.ID[i], Key: o.Keys[o.Key[i]], Cost: o.Cost[i],
		Instance: o.Instance[i], Worker: o.Worker[i],
		Planned: o.Planned[i], Sent: o.Sent[i], Done: o.Done[i], Outcome: o.Outcome[i],
		Status: valueOr(o.Status, i, 0), Limit: valueOr(o.Limit, i, None), Remaining: valueOr(o.Remaining, i, None),
		RetryAfter: valueOr(o.RetryAfter, i, None), Reset: valueOr(o.Reset, i, None),
		DecidedAt: valueOr(o.DecidedAt, i, None), ReleasedAt: valueOr(o.ReleasedAt, i, None),
		Error: o.errorAt(i),
	}
}

func (o *Ops) errorAt(i int) string {
	if o.Error == nil {
		return ""
	}
	return o.Errors[o.Error[i]]
}

func valueOr[T any](column []T, i int, absent T) T {
	if column == nil {
		return absent
	}
	return column[i]
}

// Run is the whole evidence of one target: the only thing that the oracle and
// the reports may see of it.
type Run struct {
	// Target is the limiter's name, Backend what served it (container, process,
	// embedded, external, none, log), BackendVersion that server's own version.
	Target, Backend, BackendVersion string
	// Policy is what the limiter promised, its own clock's resolution included.
	Policy Policy
	// StartedAt is the host's wall clock at Instant 0.
	StartedAt time.Time
	// StartedError bounds how far StartedAt may be from that clock's true reading
	// at Instant 0, either way; 0 when nobody measured it.
	StartedError time.Duration
	Clock        LimiterClock
	// Complete: the run began with a fresh limiter, and every op of every
	// instance is here.
	Complete bool
	// Excerpt: the run is cut out of traffic that went on before it. From its first
	// op on every op of every instance is here, but what was charged before is not
	// known, so that refusals in the first window prove nothing. Complete is false.
	Excerpt bool
	// Interrupted: the run was stopped before its Plan was carried out.
	Interrupted bool
	Events      []Event
	Ops         Ops
}
