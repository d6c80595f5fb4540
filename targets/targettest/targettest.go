// Package targettest is what every limiter design must do, as a test suite: a
// design that passes keeps its promise in the small, sequentially and at its
// edges. Whether it keeps it under load is for the oracle to judge.
//
// The package also starts the servers that such tests need.
package targettest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// ruleTimeout bounds one rule.
const ruleTimeout = 60 * time.Second

// Subject is a design under test and the world that it stands in.
type Subject struct {
	Design targets.Design
	// Setup is what it is opened with. Policy, Instances and InFlight are the
	// rules' own; Namespace gets a suffix a rule.
	Setup targets.Setup
	// Pass lets time go by on the limiter's clock at once; nil where that clock
	// is real and must be waited for.
	Pass func(time.Duration)
	// ForgetScripts empties the server's cache of scripts; nil where there is none.
	ForgetScripts func(context.Context) error
	// Racy: requests at once may share a unit of budget; the design says so.
	Racy bool
	// Lacks names the rules that do not apply to the design, ANCHOR/RULE or RULE
	// for every anchor. Exactly those do not: a rule that stops applying
	// to a design is a failure like any other.
	Lacks []string
}

// Rule is one thing that every limiter must do.
type Rule struct {
	// Name is short, for test names; Says is the rule in words.
	Name, Says string
	// Judge returns what the subject did against the rule under the anchor, nil
	// if nothing, [ErrNotApplicable] if the rule says nothing of such a design.
	Judge func(context.Context, Subject, rlbench.Anchor) error
}

// ErrNotApplicable: the rule is about something that the design does not do.
var ErrNotApplicable = errors.New("the rule does not apply")

// Run holds every subject to every rule under each of its anchors. Rules that
// wait for a real clock all wait at once.
func Run(t *testing.T, subjects ...Subject) {
	for _, h := range holdAll(t.Context(), subjects) {
		t.Run(h.name(), func(t *testing.T) {
			switch notApplicable := errors.Is(h.err, ErrNotApplicable); {
			case notApplicable && h.lacks():
				// Nothing was left out: that the rule says nothing of this design
				// is what was to be shown.
				t.Log(h.err)
			case notApplicable:
				t.Errorf("%v, and the subject's Lacks does not say so", h.err)
			case h.lacks():
				t.Errorf("the rule applies, although the subject's Lacks names it")
			case h.err != nil:
				t.Errorf("%s\nbut %v", h.rule.Says, h.err)
			}
		})
	}
}

// holding is one rule held against one subject under one anchor.
type holding struct {
	subject Subject
	anchor  rlbench.Anchor
	rule    Rule
	err     error
}

func (h *holding) name() string {
	return fmt.Sprintf("%s/%s/%s", h.subject.Design.Name, h.anchor, h.rule.Name)
}

func (h *holding) lacks() bool {
	return slices.Contains(h.subject.Lacks, h.rule.Name) ||
		slices.Contains(h.subject.Lacks, fmt.Sprintf("%s/%s", h.anchor, h.rule.Name))
}

func (h *holding) judge(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, ruleTimeout)
	defer cancel()
	h.err = h.rule.Judge(ctx, h.subject, h.anchor)
}

func holdAll(ctx context.Context, subjects []Subject) []*holding {
	var held []*holding
	var waiting sync.WaitGroup
	for _, s := range subjects {
		for _, anchor := range s.Design.Anchors {
			for _, rule := range Rules() {
				h := &holding{subject: s, anchor: anchor, rule: rule}
				held = append(held, h)
				if s.Pass != nil {
					h.judge(ctx) // one virtual clock serves one rule at a time
					continue
				}
				waiting.Go(func() { h.judge(ctx) })
			}
		}
	}
	waiting.Wait()
	return held
}

// Rules lists the rules in a fixed order.
func Rules() []Rule {
	return []Rule{
		rule("exact-limit", "of limit + 1 requests in a row exactly the last is refused, also when the limit is 1", exactLimit),
		rule("costs", "a cost is admitted when it is at most what is left, and never when it is above the limit", costs),
		rule("keys-apart", "every key has a budget of its own, whatever it is spelled like", keysApart),
		rule("instances-share", "all instances draw on one budget", instancesShare),
		rule("together", "requests released together are admitted up to the limit exactly", together),
		rule("remaining", "limit and remaining, where stated, are what the next requests find", remaining),
		rule("decided-at", "the stated moment of decision lies between asking and answer on the limiter's clock", decidedAt),
		rule("retry-after", "who waits for as long as was stated is admitted; who can never be is told no time", retryAfter),
		rule("renews", "a window is full until its end, and has its whole budget from then on", renews),
		rule("load-without-pause", "under ten times the load, each of five windows in a row admits its limit", loadWithoutPause),
		rule("scripts-forgotten", "a server that forgets its scripts between calls changes nothing", scriptsForgotten),
		rule("several-limits", "several limits all hold, and who is refused by one is charged by none", severalLimits),
		rule("closes-twice", "closing again is no mistake", closesTwice),
	}
}

// rule wraps a judge that needs a trial: one open target at a time.
func rule(name, says string, judge func(*trial) error) Rule {
	return Rule{Name: name, Says: says, Judge: func(ctx context.Context, s Subject, anchor rlbench.Anchor) (err error) {
		tr := &trial{ctx: ctx, Subject: s, anchor: anchor}
		tr.Setup.Namespace += fmt.Sprintf("%s:%s:", name, anchor)
		defer func() { err = errors.Join(err, tr.close()) }()
		return judge(tr)
	}}
}
