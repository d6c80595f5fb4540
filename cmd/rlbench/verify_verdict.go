package main

import (
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/logs"
	"github.com/rlbench/rlbench/reports"
)

// The checks of which a log tells less than a run.
const (
	neverOver    = "never-over"
	neverStarved = "never-starved"
)

// refusedToo is a status that NGINX and others refuse with unless they are told
// otherwise, and that servers in need answer with as well. Taken for an answer of
// what stands behind the limiter it would accuse the innocent.
const refusedToo = 503

// lack is what the logs do not say, as far as a verdict hangs on it.
type lack struct {
	// complete: somebody vouches that the limiter was fresh and nothing is missing.
	complete bool
	// excerpt: somebody vouches that nothing is missing from the first line on.
	excerpt bool
	// missing says what could not be read; empty when nothing is missing.
	missing string
	// opened: the windows are those that requests open.
	opened bool
	// unbounded: when the requests were sent is not known, only that they were over
	// within stamp. spare is how much all of them together were over the limit.
	unbounded bool
	stamp     time.Duration
	spare     int64
	// rounds: the limiter rounds against those who ask, so its refusals are not
	// those of the rate that it states.
	rounds bool
}

// whole: the limiter was fresh, and every request is here.
func (l lack) whole() bool { return l.complete && l.missing == "" }

func (v *verification) lack(record *record) lack {
	l := lack{complete: v.options.complete, excerpt: v.options.whole, missing: record.missing(v.options.complete), rounds: v.options.promised.roundsCredit(v.policy), opened: v.policy.Limits[0].Anchor == rlbench.FirstRequest}
	for _, reader := range record.readers {
		d := reader.Doubt()
		l.unbounded = l.unbounded || d.Unbounded
		l.stamp = max(l.stamp, d.Stamp)
	}
	room := v.policy.Limits[0].Count
	for _, limit := range v.policy.Limits {
		most := limit.Count
		if v.policy.Algorithm.Bucket() {
			most = limit.Burst
		}
		room = min(room, most)
	}
	l.spare = record.seen.charged - room
	return l
}

// settle takes back what rests on more than the logs tell, and holds the rest against
// what is expected: that every promise was kept, as far as a log can tell. That
// nothing was refused wrongly it cannot tell unless every request is in it.
func (l lack) settle(findings []rlbench.Finding) []reports.Finding {
	var all []reports.Finding
	for _, f := range findings {
		f = l.doubted(l.without(f))
		want := rlbench.Pass
		if !l.complete && !l.excerpt && f.Check != neverOver && f.Verdict == rlbench.Inconclusive {
			want = rlbench.Inconclusive
			f.Because += "; --whole says that every request is in the log from its first line on, --complete that the limiter was fresh as well"
		}
		all = append(all, expect([]rlbench.Finding{f}, map[string]rlbench.Verdict{f.Check: want})...)
	}
	return all
}

// without is what is left of a finding without the requests that may not be in the
// logs. More of them can break a promise and never mend it, but for a window that one
// of them opened; and they can be what a refusal was right for.
func (l lack) without(f rlbench.Finding) rlbench.Finding {
	lines := l.missing
	if lines == "" && !l.complete && !l.excerpt && f.Check != neverOver {
		lines = "requests that are not in the log may have filled the limit"
	}
	switch {
	case lines == "" || f.Verdict == rlbench.Inconclusive:
	case f.Verdict == rlbench.Fail && f.Check == neverOver && !l.opened:
	case f.Verdict == rlbench.Fail:
		f.Verdict, f.Because = rlbench.Inconclusive, lines+"; otherwise "+f.Because
	default:
		f.Verdict, f.Because = rlbench.Inconclusive, "what could be read shows no breach, but "+lines
	}
	return f
}

// doubted takes back a verdict that rests on what is not known.
func (l lack) doubted(f rlbench.Finding) rlbench.Finding {
	switch {
	case l.unbounded && l.spare > 0 && f.Verdict != rlbench.Inconclusive:
		f.Verdict = rlbench.Inconclusive
		f.Doubt = max(f.Doubt, l.spare)
		f.Because = fmt.Sprintf("the log says only when a request was over: without --longest, the longest that one can have taken, nothing is certain. Had each been decided within the %s in which it was over: %s", l.stamp, f.Because)
	case l.rounds && f.Check == neverStarved && f.Verdict == rlbench.Fail:
		f.Verdict = rlbench.Inconclusive
		f.Because = "NGINX rounds what a rate a minute gives back, and refuses somewhat more than the rate says; by the rate itself " + f.Because
	}
	return f
}

// measured takes back the figures that are not certain of such a log: that a refusal
// was wrong unless it is complete, and anything where it does not say when a request
// was sent.
func (l lack) measured(a rlbench.Accuracy) rlbench.Accuracy {
	if a.Denied > 0 && !l.whole() {
		a.CannotTell += float64(a.RefusedWronglyCertain) / float64(a.Denied)
		a.RefusedWronglyCertain = 0
	}
	if l.unbounded {
		a.OverCertain, a.RefusedWronglyCertain, a.WorstWindow, a.WorstWindowRatio = 0, 0, 0, 0
		a.CannotTell = float64(min(a.Denied, 1))
	}
	return a
}

// missing says which lines a verdict lacks. A lone log that is no more than an excerpt
// may well begin within its first line and end within its last; of several, one that
// does lacks what the others go on to tell of.
func (r *record) missing(complete bool) string {
	var unread, late int64
	for _, reader := range r.readers {
		c := reader.Count()
		lost := c.Unreadable
		excerpt := !complete && len(r.readers) == 1
		if excerpt && c.CutOff {
			lost--
		}
		if excerpt && len(c.Places) > 0 && c.Places[0].Line == 1 {
			lost--
		}
		unread += max(0, lost)
	}
	if r.merged != nil {
		late = r.merged.Count().Late
	}
	switch {
	case unread > 0 && late > 0:
		return fmt.Sprintf("%s could not be read and %s too late", lines(unread), lines(late))
	case unread > 0:
		return lines(unread) + " could not be read"
	case late > 0:
		return lines(late) + " came too late to be put in order"
	}
	return ""
}

func lines(n int64) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}

// warnings are what a reader of the report has to know of the logs.
func (v *verification) warnings(record *record) []string {
	var all []string
	for _, reader := range record.readers {
		for _, w := range readerWarnings(reader) {
			if len(record.readers) > 1 {
				w = reader.Name() + ": " + w
			}
			all = append(all, w)
		}
	}
	if record.merged != nil {
		all = append(all, mergeWarnings(record.merged.Count())...)
	}
	if n := record.seen.doubts; n > 0 {
		all = append(all, fmt.Sprintf("%s of status %d counted as unknown, because some limiters refuse with it: --refused 429,%d says that it is a refusal, --refused 429 that the limiter let it through", lines(n), refusedToo, refusedToo))
	}
	if len(record.readers) == 1 && record.byNGINX() && !v.options.clockErrorGiven {
		all = append(all, fmt.Sprintf("each of NGINX's workers stamps by a clock that it reads now and then, taken to lag by %s at most: --clock-error says otherwise, 0s where there is one worker", nginxLag))
	}
	if v.aligned() {
		all = append(all, v.windowsLie(record))
	}
	return all
}

// windowsLie says what is assumed of the limiter's clock.
func (v *verification) windowsLie(record *record) string {
	if v.head(record).Clock.Stated {
		return fmt.Sprintf("the limiter's windows are taken to lie on the log's own clock, to within %s", v.options.clockError)
	}
	words := "where the limiter's windows lie is not known: "
	if _, stated := record.origin(); !stated {
		return words + "the log has no wall clock's times"
	}
	return words + "--clock-error says how far its clock is from the log's"
}

// aligned reports whether the promise is about windows on the limiter's clock.
func (v *verification) aligned() bool {
	return v.policy.Algorithm == rlbench.SlidingCounter || v.policy.Limits[0].Anchor == rlbench.Epoch
}

func readerWarnings(r *logs.Reader) []string {
	all := r.Doubt().Sentences()
	c := r.Count()
	if c.Unreadable > 0 {
		all = append(all, fmt.Sprintf("%d of %s could not be read, the first at %s", c.Unreadable, lines(c.Lines), c.Places[0]))
	}
	if c.CutOff {
		all = append(all, "it is cut off within its last line")
	}
	if c.Unkeyed > 0 {
		all = append(all, fmt.Sprintf("%s left out that have no %s: nobody's budget was used", lines(c.Unkeyed), r.KeyField()))
	}
	if c.Skipped > 0 {
		all = append(all, lines(c.Skipped)+" left out that tell of no request to the limiter")
	}
	if r.KeyField() == "" {
		all = append(all, "all of it is taken as one budget; --key FIELD where each user has his own")
	}
	return all
}

func mergeWarnings(c logs.MergeCount) []string {
	var all []string
	if c.Late > 0 {
		all = append(all, fmt.Sprintf("%s left out that came too late to be put in order", lines(c.Late)))
	}
	if c.Doubled > 0 {
		all = append(all, fmt.Sprintf("%s left out that were there twice", lines(c.Doubled)))
	}
	return all
}
