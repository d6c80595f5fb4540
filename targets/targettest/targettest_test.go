package targettest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/memory"
	"github.com/rlbench/rlbench/targets/targettest"
)

// fault changes what a correct limiter is asked or says.
type fault struct {
	reason  string
	breaks  string // the rule that must notice
	request func(*faulty, rlbench.Request) rlbench.Request
	answer  func(*faulty, rlbench.Request, rlbench.Answer) rlbench.Answer
	close   func(*faulty) error
	limits  func([]rlbench.Limit) []rlbench.Limit
}

// faulty is a limiter with a fault.
type faulty struct {
	rlbench.Target
	fault
	mu    sync.Mutex
	asked map[string]int
}

func (f *faulty) Ask(ctx context.Context, r rlbench.Request) rlbench.Answer {
	f.mu.Lock()
	f.asked[r.Key]++
	f.mu.Unlock()
	if f.request != nil {
		r = f.request(f, r)
	}
	a := f.Target.Ask(ctx, r)
	if f.answer != nil {
		a = f.answer(f, r, a)
	}
	return a
}

func (f *faulty) Close() error {
	if f.close != nil {
		return f.close(f)
	}
	return f.Target.Close()
}

func (f *faulty) ReadClock(ctx context.Context) (int64, error) {
	return f.Target.(rlbench.Clocked).ReadClock(ctx)
}

func (f *faulty) times(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[key]
}

func changed(change func([]rlbench.Limit)) func([]rlbench.Limit) []rlbench.Limit {
	return func(limits []rlbench.Limit) []rlbench.Limit {
		own := append([]rlbench.Limit(nil), limits...)
		change(own)
		return own
	}
}

// most is the field that says how much fits at once.
func most(l []rlbench.Limit) *int64 {
	if l[0].Burst > 0 {
		return &l[0].Burst
	}
	return &l[0].Count
}

var errAgain = errors.New("closed already")

func failing(*faulty, rlbench.Request, rlbench.Answer) rlbench.Answer {
	return rlbench.Answer{Err: errAgain}
}

// lateExtra gives one more of the budget than there is, now and then.
func lateExtra(f *faulty, r rlbench.Request, a rlbench.Answer) rlbench.Answer {
	if f.times(r.Key)%20 == 19 {
		a.Outcome = rlbench.Allowed
	}
	return a
}

// faults are classes of defect that real limiters had; every rule must notice
// one at least.
var faults = []fault{
	{reason: "one too many", breaks: "exact-limit", limits: changed(func(l []rlbench.Limit) { *most(l)++ })},
	{reason: "one too few", breaks: "exact-limit", limits: changed(func(l []rlbench.Limit) { *most(l) = max(1, *most(l)-1) })},
	{reason: "every cost is 1", breaks: "costs", request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Cost = 1; return r }},
	{reason: "what is left is given to who asks for more", breaks: "costs",
		request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Cost = min(r.Cost, 3); return r }},
	{reason: "all keys are one", breaks: "keys-apart", request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Key = "k"; return r }},
	{reason: "keys end at a brace", breaks: "keys-apart",
		request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Key, _, _ = strings.Cut(r.Key, "}"); return r }},
	{reason: "every instance counts for itself", breaks: "instances-share",
		request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Key += string(rune('0' + r.Instance)); return r }},
	{reason: "requests of one instance at once lose their count", breaks: "together",
		request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Key += string(rune('0' + r.Instance)); return r }},
	{reason: "remaining from before the decision", breaks: "remaining",
		answer: func(_ *faulty, r rlbench.Request, a rlbench.Answer) rlbench.Answer { a.Remaining += r.Cost; return a }},
	{reason: "the limit stated is another", breaks: "remaining",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer { a.Limit *= 2; return a }},
	{reason: "milliseconds stated as nanoseconds", breaks: "decided-at",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer { a.DecidedAt /= 1e6; return a }},
	{reason: "told to come back too early", breaks: "retry-after",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer { a.RetryAfter--; return a }},
	{reason: "told to come back too late", breaks: "retry-after",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer { a.RetryAfter++; return a }},
	{reason: "who can never be admitted is told to come back", breaks: "retry-after",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer {
			if a.Outcome == rlbench.Denied {
				a.Said |= rlbench.SaidRetryAfter
			}
			return a
		}},
	{reason: "a window that never ends", breaks: "renews", limits: changed(func(l []rlbench.Limit) { l[0].Per *= 1000 })},
	{reason: "a window that ends early", breaks: "renews", limits: changed(func(l []rlbench.Limit) { l[0].Per /= 2 })},
	{reason: "a new window has half its budget", breaks: "renews",
		request: func(f *faulty, r rlbench.Request) rlbench.Request {
			if f.times(r.Key) > 6 {
				r.Cost *= 2
			}
			return r
		}},
	{reason: "the limiter gives in under load", breaks: "load-without-pause",
		answer: func(f *faulty, r rlbench.Request, a rlbench.Answer) rlbench.Answer {
			if f.times(r.Key) == 70 {
				a.Outcome = rlbench.Allowed
			}
			return a
		}},
	{reason: "refusals lengthen the window", breaks: "load-without-pause", limits: changed(func(l []rlbench.Limit) { l[0].Per += l[0].Per / 4 })},
	{reason: "a period that is a nanosecond too long", breaks: "exact", limits: changed(func(l []rlbench.Limit) { l[0].Per++ })},
	{reason: "a period that is a nanosecond too short", breaks: "exact", limits: changed(func(l []rlbench.Limit) { l[0].Per-- })},
	{reason: "what comes back is one more", breaks: "exact", answer: lateExtra},
	{reason: "one place too many", breaks: "queue-exact", limits: changed(func(l []rlbench.Limit) { l[0].Burst++ })},
	{reason: "every instance has a queue", breaks: "queue-exact",
		request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Key += string(rune('0' + r.Instance)); return r }},
	{reason: "turns at a rate that was rounded", breaks: "queue-exact", limits: changed(func(l []rlbench.Limit) { l[0].Per += 2 })},
	{reason: "every cost is 1", breaks: "queue-costs", request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Cost = 1; return r }},
	{reason: "all keys are one", breaks: "queue-keys-apart", request: func(_ *faulty, r rlbench.Request) rlbench.Request { r.Key = "k"; return r }},
	{reason: "let go an hour before its turn", breaks: "queue-waits",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer {
			a.ReleasedAt += int64(time.Hour)
			return a
		}},
	{reason: "a decision after the turn", breaks: "queue-waits",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer {
			a.ReleasedAt = a.DecidedAt - 1
			return a
		}},
	{reason: "who stops waiting was let through", breaks: "queue-gives-up",
		answer: func(_ *faulty, _ rlbench.Request, a rlbench.Answer) rlbench.Answer {
			if a.Err != nil {
				a = rlbench.Answer{Outcome: rlbench.Allowed}
			}
			return a
		}},
	{reason: "a forgotten script is an error", breaks: "queue-scripts-forgotten", answer: failing},
	{reason: "a forgotten script is an error", breaks: "scripts-forgotten", answer: failing},
	{reason: "only the first limit holds", breaks: "several-limits", limits: func(l []rlbench.Limit) []rlbench.Limit { return l[:1] }},
	{reason: "only the last limit holds", breaks: "several-limits", limits: func(l []rlbench.Limit) []rlbench.Limit { return l[len(l)-1:] }},
	{reason: "closing again fails", breaks: "closes-twice",
		close: func(f *faulty) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.asked["closed"]++
			if f.asked["closed"] > 1 {
				return errAgain
			}
			return nil
		}},
}

// subjects are the in-process limiters with the fault: on a virtual clock, but
// for the queue, whose waiting is real.
func subjects(f fault) []targettest.Subject {
	clock := targettest.NewVirtualClock(1_700_000_000_123_456_789)
	var all []targettest.Subject
	for _, design := range memory.DesignsOn(clock.Read) {
		if design.Algorithm != rlbench.LeakyQueue {
			all = append(all, targettest.Subject{Design: withFault(design, f), Pass: clock.Pass, ForgetScripts: forgets})
		}
	}
	for _, design := range memory.Designs() {
		if design.Algorithm == rlbench.LeakyQueue {
			all = append(all, targettest.Subject{Design: withFault(design, f), ForgetScripts: forgets})
		}
	}
	return all
}

func forgets(context.Context) error { return nil }

func withFault(design targets.Design, f fault) targets.Design {
	sound := design.Open
	design.Open = func(ctx context.Context, s targets.Setup) (rlbench.Target, error) {
		if f.limits != nil {
			s.Policy.Limits = f.limits(s.Policy.Limits)
		}
		target, err := sound(ctx, s)
		return &faulty{Target: target, fault: f, asked: map[string]int{}}, err
	}
	return design
}

func TestEveryRuleNoticesAFault(t *testing.T) {
	noticed := map[string]bool{}
	for _, f := range faults {
		t.Run(f.breaks+"/"+f.reason, func(t *testing.T) {
			for _, rule := range targettest.Rules() {
				if rule.Name == f.breaks {
					noticed[rule.Name] = true
					mustNotice(t, rule, f)
				}
			}
		})
	}
	for _, rule := range targettest.Rules() {
		if !noticed[rule.Name] {
			t.Errorf("no fault is made for the rule %s", rule.Name)
		}
	}
}

// mustNotice holds every algorithm with the fault to the rule.
func mustNotice(t *testing.T, rule targettest.Rule, f fault) {
	for _, s := range subjects(f) {
		for _, anchor := range targettest.Anchors(s.Design) {
			if !rule.Of(s.Design.Algorithm) {
				continue
			}
			err := rule.Judge(t.Context(), s, anchor)
			if err == nil || errors.Is(err, targettest.ErrNotApplicable) {
				t.Errorf("the rule did not notice it in %s %s: %v", s.Design.Name, anchor, err)
			} else {
				t.Logf("%s %s: %v", s.Design.Name, anchor, err)
			}
		}
	}
}

// TestARefusalThatIsCharged: the design must say so, in both directions.
func TestARefusalThatIsCharged(t *testing.T) {
	silent := subjects(fault{})[0]
	silent.Design.ChargesRefusals = true
	for _, rule := range targettest.Rules() {
		if rule.Name == "costs" {
			if err := rule.Judge(t.Context(), silent, rlbench.Epoch); err == nil {
				t.Error("a design that says that refusals are charged, and does not charge them, went unnoticed")
			}
		}
	}
}

func TestVirtualClock(t *testing.T) {
	clock := targettest.NewVirtualClock(5)
	clock.Pass(2 * time.Nanosecond)
	if got := clock.Read(); got != 7 {
		t.Errorf("5 and 2 ns later it reads %d", got)
	}
}
