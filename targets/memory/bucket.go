package memory

import (
	"fmt"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// bucket is one level a key and limit. Token bucket, generic cell rate algorithm
// and leaky bucket as a meter are three texts of this one algorithm: the tokens
// that are there are what the level leaves of the burst, and the theoretical
// arrival time is when the level will be down to nothing.
type bucket = limiter[level, bucketRule]

func newBucket(limits []rlbench.Limit, clock targets.Clock) *bucket {
	var rules []bucketRule
	for _, l := range limits {
		rules = append(rules, newBucketRule(l))
	}
	return newLimiter(rules, clock)
}

// newLeakyQueue is a bucket whose charges wait until those before have drained.
// The level is what lies before the next request in the queue.
func newLeakyQueue(limits []rlbench.Limit, clock targets.Clock) *bucket {
	q := newBucket(limits, clock)
	rule := q.rules[0]
	q.turn = func(a *level, now int64) int64 { return now + ceilDiv(rule.at(a, now), rule.drains) }
	return q
}

// bucketRule counts in parts of a unit so small that every nanosecond drains a
// whole number of them: at 3 a second a unit is 1 000 000 000 parts, and a
// nanosecond drains 3. No rate is ever rounded.
type bucketRule struct {
	burst int64
	// unit is the parts of a cost of 1, drains what a nanosecond takes out, room
	// the parts that fit.
	unit, drains, room int64
}

// partsMax bounds the parts of a burst, so that a moment and the time in which
// they drain can be added.
const partsMax = 1 << 62

func newBucketRule(l rlbench.Limit) bucketRule {
	common := greatestCommonDivisor(l.Count, int64(l.Per))
	r := bucketRule{burst: l.Burst, unit: int64(l.Per) / common, drains: l.Count / common}
	r.room = r.burst * r.unit
	return r
}

// acceptBuckets refuses a burst that is beyond what is counted exactly.
func acceptBuckets(limits []rlbench.Limit) error {
	for _, l := range limits {
		unit := newBucketRule(l).unit
		if l.Burst > partsMax/unit {
			return fmt.Errorf("%s: a burst above %d is more than 64 bits count exactly at this rate", l, partsMax/unit)
		}
	}
	return nil
}

func acceptQueue(limits []rlbench.Limit) error {
	if len(limits) != 1 {
		return fmt.Errorf("a queue lets requests go at one rate: it keeps one limit, not %d", len(limits))
	}
	return acceptBuckets(limits)
}

// level is how full the bucket was at a moment, in parts.
type level struct{ parts, moment int64 }

// at is how full it is at now.
func (r bucketRule) at(l *level, now int64) int64 {
	since := now - l.moment
	if since >= ceilDiv(l.parts, r.drains) {
		return 0
	}
	return l.parts - since*r.drains
}

func (r bucketRule) most() int64 { return r.burst }

func (r bucketRule) left(l *level, now int64) int64 { return (r.room - r.at(l, now)) / r.unit }

func (r bucketRule) wait(l *level, now, cost int64) int64 {
	return ceilDiv(r.at(l, now)+(cost*r.unit-r.room), r.drains)
}

func (r bucketRule) charge(l *level, now, cost int64) {
	*l = level{parts: r.at(l, now) + cost*r.unit, moment: now}
}

func (r bucketRule) idle(l *level, now int64) bool { return r.at(l, now) == 0 }

// ceilDiv divides and rounds up. a is at least 0, b above it.
func ceilDiv(a, b int64) int64 {
	if a%b == 0 {
		return a / b
	}
	return a/b + 1
}

func greatestCommonDivisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
