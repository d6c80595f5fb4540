package redis_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/redis"
	"github.com/rlbench/rlbench/targets/targettest"
)

const timeout = 5 * time.Second

func TestDesignsKeepTheRules(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		for _, d := range redis.Designs() {
			t.Run(d.Name, func(t *testing.T) {
				targettest.Run(t, targettest.Subject{
					Design:        d,
					Setup:         targets.Setup{Address: url, Namespace: fmt.Sprintf("rlbench:%s:", d.Name), Timeout: timeout},
					ForgetScripts: func(ctx context.Context) error { return client.ScriptFlush(ctx).Err() },
					Racy:          d.Name == "redis-getset-fixed-window",
				})
			})
		}
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
