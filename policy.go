package rlbench

import (
	"fmt"
	"time"
)

// Algorithm names the design whose promise a limiter makes. The zero value
// claims nothing.
type Algorithm string

// The algorithms that promises are known for.
const (
	FixedWindow    Algorithm = "fixed-window"
	SlidingLog     Algorithm = "sliding-log"
	SlidingCounter Algorithm = "sliding-counter"
	TokenBucket    Algorithm = "token-bucket"
	GCRA           Algorithm = "gcra"
	LeakyMeter     Algorithm = "leaky-meter"
	LeakyQueue     Algorithm = "leaky-queue"
)

// Algorithms lists every algorithm in a fixed order.
func Algorithms() []Algorithm {
	return []Algorithm{FixedWindow, SlidingLog, SlidingCounter, TokenBucket, GCRA, LeakyMeter, LeakyQueue}
}

// Bucket reports whether the algorithm promises by rate and burst rather than
// by window.
func (a Algorithm) Bucket() bool {
	switch a {
	case TokenBucket, GCRA, LeakyMeter, LeakyQueue:
		return true
	}
	return false
}

// Anchor says where a fixed window begins. The zero value claims nothing.
type Anchor string

const (
	// Epoch: windows are [k·W, (k+1)·W) on the limiter's own clock.
	Epoch Anchor = "epoch"
	// FirstRequest: a charged request that finds no window open opens one.
	FirstRequest Anchor = "first-request"
)

// StoreError is what a limiter does when its store does not answer. The zero
// value claims nothing.
type StoreError string

const (
	// Open lets every request pass.
	Open StoreError = "open"
	// Closed refuses every request.
	Closed StoreError = "closed"
	// Local decides from what the instance knows by itself.
	Local StoreError = "local"
)

// Limit is one bound: Count in any Per, or for a bucket a rate of Count per Per
// with room for Burst.
type Limit struct {
	Count int64
	Per   time.Duration
	// Burst is a bucket's capacity; 0 elsewhere.
	Burst int64
	// Anchor is where a fixed window begins; empty elsewhere.
	Anchor Anchor
}

// String gives the COUNT/DURATION form that [ParseLimit] reads, with burst and
// anchor behind it where there are any.
func (l Limit) String() string {
	text := fmt.Sprintf("%d/%s", l.Count, formatPer(l.Per))
	if l.Burst > 0 {
		text += fmt.Sprintf(" burst %d", l.Burst)
	}
	if l.Anchor != "" {
		text += fmt.Sprintf(" (%s)", l.Anchor)
	}
	return text
}

// Policy is what the limiter promised, in its own terms.
type Policy struct {
	Algorithm Algorithm
	// Limits all hold at once.
	Limits []Limit
	// Resolution is the step of the limiter's own clock; it is part of the promise.
	Resolution time.Duration
	// Drift bounds how far that clock may stray over one window.
	Drift time.Duration
	// ChargesRefusals: a refused request uses budget too.
	ChargesRefusals bool
	// OnStoreError is what it does when its store is gone; empty when it says nothing.
	OnStoreError StoreError
	// Params hold what only one design has.
	Params map[string]string
}

// Problem is one thing wrong with a Policy, named by the scenario field it
// belongs to so that a reader of text can point at the place.
type Problem struct {
	// Field is the scenario's name of the field, such as "limit" or "resolution".
	Field string
	// Text says what is wrong, Hint what to write instead (it may be empty).
	Text, Hint string
}

// Problems returns everything that keeps the policy from being a promise at
// all; none means that it can be judged.
func (p Policy) Problems() []Problem {
	var found []Problem
	add := func(field, hint, format string, args ...any) {
		found = append(found, Problem{Field: field, Text: fmt.Sprintf(format, args...), Hint: hint})
	}
	known := false
	for _, a := range Algorithms() {
		known = known || a == p.Algorithm
	}
	if !known {
		add("algorithm", fmt.Sprintf("one of %v", Algorithms()), "%q is not an algorithm", p.Algorithm)
	}
	if len(p.Limits) == 0 {
		add("limit", "write COUNT/DURATION, such as 100/1m", "the policy has no limit")
	}
	for _, l := range p.Limits {
		p.limitProblems(l, add)
	}
	switch p.OnStoreError {
	case "", Open, Closed, Local:
	default:
		add("on_store_error", "one of open, closed, local", "%q is not a way to treat a lost store", p.OnStoreError)
	}
	if p.Resolution < 0 || p.Drift < 0 {
		add("resolution", "", "resolution and drift are at least 0")
	}
	return found
}

func (p Policy) limitProblems(l Limit, add func(field, hint, format string, args ...any)) {
	if l.Count < 1 || l.Per < 1 {
		add("limit", "write COUNT/DURATION, such as 100/1m", "a limit needs a count and a duration of at least 1, not %s", l)
		return
	}
	if p.Resolution >= l.Per {
		add("resolution", "a limiter whose clock is that coarse promises nothing",
			"a resolution of %s is not below the window of %s", p.Resolution, l.Per)
	}
	if p.Algorithm.Bucket() && l.Burst < 1 {
		add("burst", "the bucket's capacity, such as burst: 20", "a %s needs a burst of at least 1", p.Algorithm)
	}
	if !p.Algorithm.Bucket() && l.Burst != 0 {
		add("burst", "leave it out, or choose token-bucket", "a %s has no burst", p.Algorithm)
	}
	switch {
	case p.Algorithm != FixedWindow && l.Anchor != "":
		add("anchor", "leave it out", "a %s has no anchor", p.Algorithm)
	case p.Algorithm == FixedWindow && l.Anchor != Epoch && l.Anchor != FirstRequest:
		add("anchor", "epoch or first-request", "a fixed window needs an anchor")
	}
}
