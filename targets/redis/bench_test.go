package redis_test

import (
	"context"
	"embed"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/targettest"
)

//go:embed *.lua
var scripts embed.FS

// script is one to be measured: as the target runs it, and its arguments as the
// target makes them.
type script struct {
	design, file string
	args         []any
}

// BenchmarkLuaAgainstPlain gives decisions a second of each script target, and of
// the same EVALSHA made through the client library alone with as many
// connections, in turns in one run, and their ratio.
func BenchmarkLuaAgainstPlain(b *testing.B) {
	for _, s := range []script{
		{lua, "fixed_window.lua", []any{1, "", 1000, 100, 1_000_000, "epoch"}},
		{"redis-lua-sliding-log", "sliding_log.lua", []any{1, "", 1000, 100, 1_000_000}},
		{"redis-lua-sliding-counter", "sliding_counter.lua", []any{1, "", 1000, 100, 1_000_000}},
		{"redis-lua-gcra", "bucket.lua", []any{1, "", 1000, 100, 10_000, 1}},
	} {
		b.Run(s.design, func(b *testing.B) { againstPlain(b, s) })
	}
}

func againstPlain(b *testing.B, s script) {
	const connections, turn = 50, 5_000
	url := targettest.RedisServer(b)
	with := setup(url, 100, time.Second, rlbench.Epoch)
	with.InFlight = connections
	target := open(b, s.design, with)
	o, err := goredis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}
	o.PoolSize, o.MaxRetries = connections, -1
	client := goredis.NewClient(o)
	defer client.Close()
	text, err := scripts.ReadFile(s.file)
	if err != nil {
		b.Fatal(err)
	}
	sha := client.ScriptLoad(b.Context(), string(text)).Val()
	plain := func(ctx context.Context) bool {
		return client.EvalSha(ctx, sha, []string{"rlbench:test:{=key}:0"}, s.args...).Err() == nil
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
