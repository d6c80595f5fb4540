package redis_test

import (
	"context"
	_ "embed"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/targettest"
)

//go:embed fixed_window.lua
var script string

// BenchmarkLuaAgainstPlain gives decisions a second of the script target, and
// of the same EVALSHA made through the client library alone with as many
// connections, in turns in one run, and their ratio.
func BenchmarkLuaAgainstPlain(b *testing.B) {
	const connections, turn = 50, 5_000
	url := targettest.RedisServer(b)
	s := setup(url, 100, time.Second, rlbench.Epoch)
	s.InFlight = connections
	target := open(b, lua, s)
	o, err := goredis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}
	o.PoolSize, o.MaxRetries = connections, -1
	client := goredis.NewClient(o)
	defer client.Close()
	sha := client.ScriptLoad(b.Context(), script).Val()
	plain := func(ctx context.Context) bool {
		return client.EvalSha(ctx, sha, []string{"rlbench:test:{=key}:0"}, 1, 100, 1_000_000, "epoch", 1000).Err() == nil
	}
	through := func(ctx context.Context) bool {
		return target.Ask(ctx, rlbench.Request{Key: "key", Cost: 1}).Err == nil
	}
	spend(b, connections, turn, plain) // dials what the target has dialled already
	var ours, bare time.Duration
	for b.Loop() {
		bare += spend(b, connections, turn, plain)
		ours += spend(b, connections, turn, through)
	}
	decisions := float64(b.N * turn)
	b.ReportMetric(decisions/ours.Seconds(), "target/s")
	b.ReportMetric(decisions/bare.Seconds(), "plain/s")
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "ratio")
	b.ReportMetric(0, "ns/op")
}

// spend makes n requests from as many goroutines as there are connections, and
// says how long that took.
func spend(b *testing.B, connections, n int, ask func(context.Context) bool) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	start := time.Now()
	for range connections {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if !ask(b.Context()) {
					b.Error("a request went wrong")
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start)
}
