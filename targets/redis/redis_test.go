package redis_test

import (
	"context"
	"fmt"
	"testing"
	"time"

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

func TestDesignsKeepTheRules(t *testing.T) {
	// The two that decide in the client keep one limit, and do not know when a
	// window ends that the server's expiry ends.
	clientLacks := []string{"several-limits", "first-request/decided-at", "first-request/retry-after"}
	lacks := map[string][]string{incr: clientLacks, getset: append(clientLacks, "together")}
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		var subjects []targettest.Subject
		for _, d := range redis.Designs() {
			subjects = append(subjects, targettest.Subject{
				Design:        d,
				Setup:         targets.Setup{Address: url, Namespace: fmt.Sprintf("rlbench:%s:", d.Name), Timeout: timeout},
				ForgetScripts: func(ctx context.Context) error { return client.ScriptFlush(ctx).Err() },
				Racy:          d.Name == getset,
				Lacks:         lacks[d.Name],
			})
		}
		targettest.Run(t, subjects...)
	})
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

// open opens the design, and closes it with the test.
func open(t testing.TB, name string, s targets.Setup) rlbench.Target {
	t.Helper()
	target, err := design(t, name).Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	return target
}

func ask(t testing.TB, target rlbench.Target, cost int64) rlbench.Answer {
	return target.Ask(t.Context(), rlbench.Request{Key: "key", Cost: cost})
}
