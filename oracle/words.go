package oracle

import (
	"fmt"
	"strings"

	"github.com/rlbench/rlbench"
)

// overWords says in words what a policy promises never to exceed.
func overWords(p rlbench.Policy) string {
	return eachLimit(p, func(l rlbench.Limit) string {
		bare := rlbench.Limit{Count: l.Count, Per: l.Per}
		_, per, _ := strings.Cut(bare.String(), "/")
		switch p.Algorithm {
		case rlbench.FixedWindow:
			if l.Anchor == rlbench.FirstRequest {
				return fmt.Sprintf("at most %d in each window of %s opened by a request that found none open", l.Count, per)
			}
			return fmt.Sprintf("at most %d in each window of %s on the limiter's clock", l.Count, per)
		case rlbench.SlidingLog:
			return fmt.Sprintf("at most %d in any %s", l.Count, per)
		case rlbench.SlidingCounter:
			return fmt.Sprintf("the estimate over two windows of %s is never above %d", per, l.Count)
		case rlbench.LeakyQueue:
			return fmt.Sprintf("no more than %d wait, leaving at %s", l.Burst, bare)
		case rlbench.TokenBucket, rlbench.GCRA, rlbench.LeakyMeter:
			return fmt.Sprintf("at most %d + %s over any stretch of time", l.Burst, bare)
		}
		return ""
	})
}

// starvedWords says in words when a policy promises to let a request through.
func starvedWords(p rlbench.Policy) string {
	words := overWords(p)
	if words == "" {
		return ""
	}
	words = "a request is refused only where letting it through would break: " + words
	if p.ChargesRefusals {
		words += "; refused requests use budget too"
	}
	return words
}

func eachLimit(p rlbench.Policy, say func(rlbench.Limit) string) string {
	var parts []string
	for _, l := range p.Limits {
		if text := say(l); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", and ")
}

// steppedWindows is why nothing can be said against windows on a stepped clock.
const steppedWindows = "the limiter's clock stepped, so where its windows lie is not known"

// openOver returns the judge of never-over for the policy of a Run.
func openOver(e *evidence) (judge, string) {
	switch p := e.run.Policy; {
	case p.Algorithm == rlbench.SlidingLog:
		return newOver(e, windowRules(p)), ""
	case p.Algorithm == rlbench.FixedWindow && anchoredAt(p, rlbench.Epoch):
		o := newOver(e, alignedRules(e.run))
		if stepped(e.run) {
			o.frail = steppedWindows
		}
		return o, ""
	case p.Algorithm == rlbench.FixedWindow && anchoredAt(p, rlbench.FirstRequest):
		return newOpened(e), ""
	case p.Algorithm == rlbench.SlidingCounter:
		return newEstimated(e), ""
	case p.Algorithm == rlbench.LeakyQueue:
		return byStamps(e, func() judge { return newOver(e, bucketRules(e.run)) })
	case p.Algorithm.Bucket():
		return newOver(e, bucketRules(e.run)), ""
	}
	return nil, notJudged(e.run.Policy)
}

// openStarved returns the judge of never-starved for the policy of a Run.
func openStarved(e *evidence) (judge, string) {
	s := starvedOf(e)
	switch {
	case s != nil && e.run.Policy.Algorithm == rlbench.LeakyQueue:
		return byStamps(e, func() judge { return s })
	case s != nil:
		return s, ""
	}
	return nil, notJudged(e.run.Policy)
}

func starvedOf(e *evidence) *starved {
	p := e.run.Policy
	switch {
	case p.Algorithm == rlbench.SlidingLog:
		s := newStarved(e, windowRooms(p, int64(p.Drift)), nil, doubt{})
		if p.Drift > 0 {
			s.strict = [][]room{windowRooms(p, 0)}
		}
		s.firm = windowRooms(p, -int64(p.Resolution)-int64(p.Drift))
		return s
	case p.Algorithm == rlbench.FixedWindow && anchoredAt(p, rlbench.Epoch):
		rules := alignedRules(e.run)
		s := newStarved(e, alignedRooms(rules.lenient), nil, rules.wide)
		if !rules.wide.none() {
			for _, world := range rules.strict {
				s.strict = append(s.strict, alignedRooms(world))
			}
		}
		s.firm = s.lenient
		if !e.run.Clock.Stated {
			s.blind = rules.onlyIf
		}
		if stepped(e.run) {
			s.frail = steppedWindows
		}
		return s
	case p.Algorithm == rlbench.FixedWindow && anchoredAt(p, rlbench.FirstRequest):
		// What ends such a window may come up to one step of the clock late.
		late := int64(p.Resolution)
		s := newStarved(e, windowRooms(p, late+int64(p.Drift)), nil, doubt{})
		if p.Drift > 0 {
			s.strict = [][]room{windowRooms(p, late)}
		}
		return s
	case p.Algorithm == rlbench.SlidingCounter:
		return starvedByEstimate(e)
	case p.Algorithm.Bucket():
		s := newStarved(e, bucketRooms(e.run, true), nil, doubt{})
		if p.Drift > 0 {
			s.strict = [][]room{bucketRooms(e.run, false)}
		}
		s.firm = s.lenient
		return s
	}
	return nil
}

// bucketRooms are the buckets of the policy's limits. A clock that may read early or
// late by its resolution misjudges a stretch by twice as much.
func bucketRooms(run *rlbench.Run, drifts bool) []room {
	p := run.Policy
	var rooms []room
	for _, l := range p.Limits {
		late := 2 * int64(p.Resolution)
		if drifts {
			late += driftOver(run, l.Per)
		}
		rooms = append(rooms, bucketRoom{
			bucket: newBucket(l.Burst, l.Count, int64(l.Per), 0), late: late, uncredits: p.Algorithm == rlbench.GCRA,
		})
	}
	return rooms
}

func alignedRooms(rules []rule) []room {
	var rooms []room
	for _, r := range rules {
		rooms = append(rooms, alignedRoom{r.(aligned)})
	}
	return rooms
}

// windowRooms are the windows of the policy's limits, longer by what the limiter's
// clock may be late.
func windowRooms(p rlbench.Policy, late int64) []room {
	var rooms []room
	for _, l := range p.Limits {
		rooms = append(rooms, windowRoom{limit: l.Count, length: roundUp(l.Per, p.Resolution) + late})
	}
	return rooms
}

func anchoredAt(p rlbench.Policy, anchor rlbench.Anchor) bool {
	for _, l := range p.Limits {
		if l.Anchor != anchor {
			return false
		}
	}
	return true
}

func notJudged(p rlbench.Policy) string {
	return fmt.Sprintf("the promise of a %s with these limits is not judged", p.Algorithm)
}
