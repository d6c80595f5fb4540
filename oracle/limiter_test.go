package oracle

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// clocked is a correct limiter as it really runs: its true time is finer than its
// clock, which may be set wrong, and its decisions lie anywhere between Sent and Done.
type clocked struct {
	why    string
	policy func(*rand.Rand) rlbench.Policy
	// decide tells whether it lets a cost through, given what its clock reads.
	decide func(p rlbench.Policy, log []decision, reading, cost int64) bool
	// offset: its clock is set wrong by up to this much, which is stated.
	offset int64
	// jitter: its clock may read late or early by its resolution. That is no clock of
	// whole steps, so that only refusals, which are judged with twice the resolution,
	// must stand it.
	jitter bool
	// goesBack: it may then read less than before, and the design does not mind it.
	goesBack bool
}

func oneLimit(algorithm rlbench.Algorithm, anchor rlbench.Anchor) func(*rand.Rand) rlbench.Policy {
	return func(random *rand.Rand) rlbench.Policy {
		step := 10 * (1 + random.Int64N(3))
		p := rlbench.Policy{Algorithm: algorithm, Resolution: time.Duration(step)}
		l := rlbench.Limit{Count: 1 + random.Int64N(3), Per: time.Duration(step + 1 + random.Int64N(60)), Anchor: anchor}
		if algorithm.Bucket() {
			l.Burst = 1 + random.Int64N(3)
		}
		if anchor == rlbench.Epoch {
			l.Per = time.Duration(step * (2 + random.Int64N(5)))
		}
		p.Limits = []rlbench.Limit{l}
		return p
	}
}

var clockedLimiters = []clocked{
	{
		why: "sliding log that stamps whole steps", policy: oneLimit(rlbench.SlidingLog, ""),
		decide: func(p rlbench.Policy, log []decision, reading, cost int64) bool {
			return heldSince(log, reading-int64(p.Limits[0].Per))+cost <= p.Limits[0].Count
		},
	},
	{
		why: "fixed window on a clock that is set wrong", policy: oneLimit(rlbench.FixedWindow, rlbench.Epoch), offset: 25,
		decide: func(p rlbench.Policy, log []decision, reading, cost int64) bool {
			per := int64(p.Limits[0].Per)
			return heldSince(log, floorDiv(reading, per)*per-1)+cost <= p.Limits[0].Count
		},
	},
	{
		why: "bucket on a clock of whole steps", policy: oneLimit(rlbench.GCRA, ""),
		decide: bucketDecides,
	},
	{
		why: "bucket on a clock that reads late or early", policy: oneLimit(rlbench.GCRA, ""), jitter: true,
		decide: bucketDecides,
	},
	{
		why: "bucket that keeps its arrival time only, on a clock that goes back", policy: oneLimit(rlbench.GCRA, ""),
		jitter: true, goesBack: true, decide: bucketDecides,
	},
}

func heldSince(log []decision, after int64) int64 {
	held := int64(0)
	for _, d := range log {
		if d.at > after {
			held += d.cost
		}
	}
	return held
}

func bucketDecides(p rlbench.Policy, log []decision, reading, cost int64) bool {
	l := p.Limits[0]
	full := int64(-1 << 40) // When it will have drained, in time times count.
	for _, d := range log {
		full = max(full, d.at*l.Count) + d.cost*int64(l.Per)
	}
	return max(full, reading*l.Count)+cost*int64(l.Per)-reading*l.Count <= l.Burst*int64(l.Per)
}

// play runs the limiter on random arrivals.
func (c clocked) play(random *rand.Rand) *rlbench.Run {
	p := c.policy(random)
	r := &rlbench.Run{Target: c.why, Complete: true, Policy: p, Clock: rlbench.LimiterClock{Stated: true, Error: time.Duration(c.offset)}}
	off := int64(0)
	if c.offset > 0 {
		off = random.Int64N(2*c.offset+1) - c.offset
	}
	var log []decision
	last := int64(-1 << 40)
	at := int64(0)
	for range 3 + random.IntN(25) {
		at += random.Int64N(30)
		reading := floorDiv(at+off, int64(p.Resolution)) * int64(p.Resolution)
		if c.jitter {
			reading = at + random.Int64N(2*int64(p.Resolution)+1) - int64(p.Resolution)
		}
		if c.jitter && !c.goesBack {
			reading = max(reading, last) // It never credits the same time twice.
		}
		last = reading
		cost := 1 + random.Int64N(2)
		outcome := rlbench.Denied
		if c.decide(p, log, reading, cost) {
			outcome = rlbench.Allowed
			log = append(log, decision{reading, cost})
		}
		if random.IntN(12) == 0 {
			outcome = rlbench.Unknown
		}
		addOp(&r.Ops, "k", outcome, cost, at-random.Int64N(20), at+random.Int64N(20))
	}
	return r
}

// A correct limiter is never accused, whatever its clock does within its bounds.
func TestCorrectLimitersAreNotAccused(t *testing.T) {
	for i, c := range clockedLimiters {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 15))
			counts := map[string]int{}
			for range histories(t, 2000) {
				r := c.play(random)
				for _, name := range []string{"never-over", "never-starved"} {
					if c.jitter && name == "never-over" {
						continue
					}
					f := judgeOne(t, r, name)
					counts[name+" "+f.Verdict.String()]++
					if f.Verdict == fail {
						t.Fatalf("%s accuses a correct limiter: %s: %s", name, text(r), f.Because)
					}
				}
			}
			t.Log(counts)
		})
	}
}
