package redis_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/redis"
	"github.com/rlbench/rlbench/targets/targettest"
)

const (
	timeout = 5 * time.Second

	lua    = "redis-lua-fixed-window"
	getset = "redis-getset-fixed-window"
	incr   = "redis-incr-fixed-window"
)

// TestMain sees that closed targets leave nothing running.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lacks are the rules that say nothing of a design. The two that decide in the
// client keep one limit, and do not know when a window ends that the server's
// expiry ends.
func lacks(name string) []string {
	client := []string{"several-limits", "first-request/decided-at", "first-request/retry-after", "first-request/exact"}
	switch name {
	case incr:
		return client
	case getset:
		return append(client, "together")
	}
	return nil
}

func subject(d targets.Design, url string, forget func(context.Context) error) targettest.Subject {
	return targettest.Subject{
		Design:        d,
		Setup:         targets.Setup{Address: url, Namespace: fmt.Sprintf("rlbench:%s:", d.Name), Timeout: timeout},
		ForgetScripts: forget,
		Racy:          d.Name == getset,
		Lacks:         lacks(d.Name),
	}
}

func TestDesignsKeepTheRules(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		forget := func(ctx context.Context) error { return client.ScriptFlush(ctx).Err() }
		var subjects []targettest.Subject
		for _, d := range redis.Designs() {
			if d.Algorithm == rlbench.TokenBucket || d.Algorithm == rlbench.LeakyMeter {
				continue // the script of redis-lua-gcra, in virtual time below
			}
			subjects = append(subjects, subject(d, url, forget))
		}
		targettest.Run(t, subjects...)
	})
}

// TestScriptsKeepTheRulesByTheClientsClock: the same, decided by a clock that is
// not the server's.
func TestScriptsKeepTheRulesByTheClientsClock(t *testing.T) {
	t.Parallel()
	url := targettest.Miniredis(t)
	client := dial(t, url)
	forget := func(ctx context.Context) error { return client.ScriptFlush(ctx).Err() }
	var subjects []targettest.Subject
	for _, d := range scriptDesigns() {
		if d.Algorithm == rlbench.TokenBucket || d.Algorithm == rlbench.LeakyMeter {
			continue // the script of redis-lua-gcra
		}
		s := subject(d, url, forget)
		s.Setup.Policy.Params = map[string]string{"clock": "client"}
		subjects = append(subjects, s)
	}
	targettest.Run(t, subjects...)
}

// TestScriptsKeepTheRulesToTheMicrosecond: on a server whose clock only moves
// when told to, every edge is asked at, and one step before and after.
func TestScriptsKeepTheRulesToTheMicrosecond(t *testing.T) {
	m := miniredis.RunT(t)
	m.ClockTTL(true)
	clock := targettest.NewVirtualClock(1_700_000_000_399_999_000)
	set := func() { m.SetTime(time.Unix(0, clock.Read())) }
	set()
	client := dial(t, "redis://"+m.Addr())
	forget := func(ctx context.Context) error { return client.ScriptFlush(ctx).Err() }
	for _, d := range scriptDesigns() {
		if d.Algorithm == rlbench.LeakyQueue {
			continue // who waits there waits by real timers
		}
		s := subject(d, "redis://"+m.Addr(), forget)
		s.Pass = func(d time.Duration) { clock.Pass(d); set() }
		targettest.Run(t, s)
	}
}

// scriptDesigns are the family's that decide on the server.
func scriptDesigns() []targets.Design {
	return slices.DeleteFunc(redis.Designs(), func(d targets.Design) bool { return !strings.HasPrefix(d.Name, "redis-lua-") })
}

// dial returns a client of the test's own.
func dial(t testing.TB, url string) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.Protocol = 2
	client := goredis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// design returns the family's design of that name.
func design(t testing.TB, name string) targets.Design {
	t.Helper()
	for _, d := range redis.Designs() {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no design %s", name)
	return targets.Design{}
}

// setup is for a limit of count in per.
func setup(url string, count int64, per time.Duration, anchor rlbench.Anchor) targets.Setup {
	return targets.Setup{
		Policy: rlbench.Policy{
			Algorithm: rlbench.FixedWindow,
			Limits:    []rlbench.Limit{{Count: count, Per: per, Anchor: anchor}},
		},
		Address: url, Namespace: "rlbench:test:", Timeout: timeout, Instances: 1, InFlight: 1,
	}
}

// suited is the setup with the policy of the design's own algorithm.
func suited(d targets.Design, s targets.Setup) targets.Setup {
	s.Policy.Algorithm = d.Algorithm
	s.Policy.Limits = slices.Clone(s.Policy.Limits)
	for i := range s.Policy.Limits {
		l := &s.Policy.Limits[i]
		if len(d.Anchors) == 0 {
			l.Anchor = ""
		}
		if d.Algorithm.Bucket() {
			l.Burst = l.Count
		}
	}
	return s
}

// open opens the design for a policy of its algorithm, and closes it with the test.
func open(t testing.TB, name string, s targets.Setup) rlbench.Target {
	t.Helper()
	d := design(t, name)
	target, err := d.Open(t.Context(), suited(d, s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	return target
}

func ask(t testing.TB, target rlbench.Target, cost int64) rlbench.Answer {
	return target.Ask(t.Context(), rlbench.Request{Key: "key", Cost: cost})
}
