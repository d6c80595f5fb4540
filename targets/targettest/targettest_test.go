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

var errAgain = errors.New("closed already")

// faults are classes of defect that real limiters had; every rule must notice
// one at least.
var faults = []fault{
	{reason: "one too many", breaks: "exact-limit", limits: changed(func(l []rlbench.Limit) { l[0].Count++ })},
	{reason: "one too few", breaks: "exact-limit", limits: changed(func(l []rlbench.Limit) { l[0].Count = max(1, l[0].Count-1) })},
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
	{reason: "a forgotten script is an error", breaks: "scripts-forgotten",
		answer: func(_ *faulty, _ rlbench.Request, _ rlbench.Answer) rlbench.Answer {
			return rlbench.Answer{Err: errAgain}
		}},
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

// subject is the in-process limiter, on a virtual clock, with the fault.
func subject(f fault) targettest.Subject {
	clock := targettest.NewVirtualClock(1_700_000_000_123_456_789)
	design := memory.DesignsOn(clock.Read)[0]
	sound := design.Open
	design.Open = func(ctx context.Context, s targets.Setup) (rlbench.Target, error) {
		if f.limits != nil {
			s.Policy.Limits = f.limits(s.Policy.Limits)
		}
		target, err := sound(ctx, s)
		return &faulty{Target: target, fault: f, asked: map[string]int{}}, err
	}
	return targettest.Subject{
		Design: design, Pass: clock.Pass,
		ForgetScripts: func(context.Context) error { return nil },
	}
}

func TestEveryRuleNoticesAFault(t *testing.T) {
	noticed := map[string]bool{}
	for _, f := range faults {
		t.Run(f.breaks+"/"+f.reason, func(t *testing.T) {
			for _, rule := range targettest.Rules() {
				if rule.Name != f.breaks {
					continue
				}
				for _, anchor := range []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest} {
					err := rule.Judge(t.Context(), subject(f), anchor)
					if err == nil || errors.Is(err, targettest.ErrNotApplicable) {
						t.Errorf("under %s the rule did not notice: %v", anchor, err)
					} else {
						t.Logf("under %s: %v", anchor, err)
					}
				}
				noticed[rule.Name] = true
			}
		})
	}
	for _, rule := range targettest.Rules() {
		if !noticed[rule.Name] {
			t.Errorf("no fault is made for the rule %s", rule.Name)
		}
	}
}

// TestARefusalThatIsCharged: the design must say so, in both directions.
func TestARefusalThatIsCharged(t *testing.T) {
	silent := subject(fault{})
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
