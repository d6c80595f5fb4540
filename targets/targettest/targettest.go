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

const (
	// ruleTimeout bounds one rule.
	ruleTimeout = 60 * time.Second
	// atOnceMax is how many rules wait for a real clock at once: enough for their
	// waiting to overlap, and not so many that they slow each other down.
	atOnceMax = 20
)

// Subject is a design under test and the world that it stands in.
type Subject struct {
	Design targets.Design
	// Setup is what it is opened with. The Policy but for its Params, Instances and
	// InFlight are the rules' own; Namespace gets a suffix a rule.
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
	// Of reports whether the rule is about an algorithm. A queue keeps who asks
	// waiting, so it has rules of its own.
	Of func(rlbench.Algorithm) bool
	// Judge returns what the subject did against the rule under the anchor, nil
	// if nothing, [ErrNotApplicable] if the rule says nothing of such a design.
	Judge func(context.Context, Subject, rlbench.Anchor) error
}

// ErrNotApplicable: the rule is about something that the design does not do.
var ErrNotApplicable = errors.New("the rule does not apply")

// Run holds every subject to every rule of its algorithm, under each of its
// anchors if it has any. Rules that wait for a real clock all wait at once.
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
	if h.anchor == "" {
		return fmt.Sprintf("%s/%s", h.subject.Design.Name, h.rule.Name)
	}
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
	turns := make(chan struct{}, atOnceMax)
	for _, s := range subjects {
		for _, anchor := range Anchors(s.Design) {
			for _, rule := range Rules() {
				if !rule.Of(s.Design.Algorithm) {
					continue
				}
				h := &holding{subject: s, anchor: anchor, rule: rule}
				held = append(held, h)
				if s.Pass != nil {
					h.judge(ctx) // one virtual clock serves one rule at a time
					continue
				}
				waiting.Go(func() {
					turns <- struct{}{}
					h.judge(ctx)
					<-turns
				})
			}
		}
	}
	waiting.Wait()
	return held
}

// Anchors are those of the design; the empty one alone where it has none.
func Anchors(d targets.Design) []rlbench.Anchor {
	if len(d.Anchors) == 0 {
		return []rlbench.Anchor{""}
	}
	return d.Anchors
}

// Rules lists the rules in a fixed order.
func Rules() []Rule {
	return []Rule{
		rule(atOnce, "exact-limit", "of limit + 1 requests in a row exactly the last is refused, also when the limit is 1", exactLimit),
		rule(atOnce, "costs", "a cost is admitted when it is at most what is left, and never when it is above the limit", costs),
		rule(atOnce, "keys-apart", "every key has a budget of its own, whatever it is spelled like", keysApart),
		rule(atOnce, "instances-share", "all instances draw on one budget", instancesShare),
		rule(atOnce, "together", "requests released together are admitted up to the limit exactly", together),
		rule(atOnce, "remaining", "limit and remaining, where stated, are what the next requests find", remaining),
		rule(atOnce, "decided-at", "the stated moment of decision lies between asking and answer on the limiter's clock", decidedAt),
		rule(atOnce, "retry-after", "who waits for as long as was stated is admitted; who can never be is told no time", retryAfter),
		rule(atOnce, "renews", "what is full refuses until the first of it comes back, and has its whole budget when all has", renews),
		rule(atOnce, "load-without-pause", "under ten times the load, each of five windows in a row admits its limit", loadWithoutPause),
		rule(atOnce, "exact", "each decision, and what is stated with it, is what the algorithm's definition says of the moment stated", exact),
		rule(atOnce, "scripts-forgotten", "a server that forgets its scripts between calls changes nothing", scriptsForgotten),
		rule(atOnce, "several-limits", "several limits all hold, and who is refused by one is charged by none", severalLimits),
		rule(inTurn, "queue-exact", "of requests released together so many are let in as the definition says, and each is told its turn", queueExact),
		rule(inTurn, "queue-costs", "a cost is let in when it is at most what is left, and never when it is above the capacity", queueCosts),
		rule(inTurn, "queue-keys-apart", "every key has a queue of its own, whatever it is spelled like", queueKeysApart),
		rule(inTurn, "queue-waits", "nobody is let go before the stated turn, on the limiter's clock", queueWaits),
		rule(inTurn, "queue-gives-up", "who stops waiting gets no decision, and gets it at once", queueGivesUp),
		rule(inTurn, "queue-scripts-forgotten", "a server that forgets its scripts between calls changes nothing", queueScriptsForgotten),
		rule(anyhow, "closes-twice", "closing again is no mistake", closesTwice),
	}
}

func anyhow(rlbench.Algorithm) bool { return true }

func inTurn(a rlbench.Algorithm) bool { return a == rlbench.LeakyQueue }

// atOnce is an algorithm that answers when it has decided.
func atOnce(a rlbench.Algorithm) bool { return !inTurn(a) }

// rule wraps a judge that needs a trial: one open target at a time.
func rule(of func(rlbench.Algorithm) bool, name, says string, judge func(*trial) error) Rule {
	return Rule{Name: name, Says: says, Of: of, Judge: func(ctx context.Context, s Subject, anchor rlbench.Anchor) (err error) {
		tr := &trial{ctx: ctx, Subject: s, anchor: anchor}
		tr.Setup.Namespace += fmt.Sprintf("%s:%s:", name, anchor)
		defer func() { err = errors.Join(err, tr.close()) }()
		return judge(tr)
	}}
}
