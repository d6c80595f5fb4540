package rlbench

import (
	"context"
	"time"
)

// Target is a limiter that can be asked. It is asked by many goroutines at once.
type Target interface {
	// Ask makes one request and reports what was said. It returns when the
	// limiter answered, when the target's own timeout passed, or when ctx ended.
	// What went wrong stands in the Answer (Outcome and Err): it is evidence.
	Ask(ctx context.Context, request Request) Answer
	// Close frees what the target holds and removes what it left in a store.
	Close() error
}

// Clocked is a Target whose limiter has a clock that can be read.
type Clocked interface {
	// ReadClock returns the reading in nanoseconds since the Unix epoch.
	ReadClock(ctx context.Context) (int64, error)
}

// Said names fields of an Answer that the limiter stated, as a set of bits.
type Said uint8

// The fields that an Answer may state.
const (
	SaidLimit Said = 1 << iota
	SaidRemaining
	SaidRetryAfter
	SaidReset
	SaidDecidedAt
	SaidReleasedAt
)

// Answer is what the limiter said.
type Answer struct {
	Outcome Outcome
	// Said tells which of the fields below were stated; the others mean nothing.
	Said Said
	// Status is the HTTP status, 0 where there is none.
	Status int32
	// Limit and Remaining are in units of cost.
	Limit, Remaining int64
	// RetryAfter and Reset count from the decision.
	RetryAfter, Reset time.Duration
	// DecidedAt is when the limiter says that it decided, ReleasedAt when it let
	// the request go: its own clock, nanoseconds since the Unix epoch.
	DecidedAt, ReleasedAt int64
	// Err is what went wrong on the way, if anything. With Unsent it says why
	// nothing was sent, with Allowed or Denied that the limiter decided without
	// its store.
	Err error
}
