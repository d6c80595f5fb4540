package service

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
)

// BenchmarkEmbedded shows what the exact clock costs: every command brings the
// time that every key has left up to date.
func BenchmarkEmbedded(b *testing.B) {
	for _, keys := range []int{1, 100, 1000, 10000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			service, err := Start(b.Context(), Choice{Backend: Embedded})
			if err != nil {
				b.Fatal(err)
			}
			defer service.Close()
			benchmarkScript(b, service, keys)
		})
	}
}

// BenchmarkProcess is the same against a real server, to compare with.
func BenchmarkProcess(b *testing.B) {
	service := startOrSkip(b, Process, "redis")
	benchmarkScript(b, service, 100)
}

func benchmarkScript(b *testing.B, service *Service, keys int) {
	ctx := context.Background()
	client := clientOf(b, service)
	for i := range keys {
		if err := client.Set(ctx, fmt.Sprintf("rlbench:key-%d", i), 1, 3600e9).Err(); err != nil {
			b.Fatal(err)
		}
	}
	script := redis.NewScript(`local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], 1000) end return n`)
	for i := 0; b.Loop(); i++ {
		if err := script.Run(ctx, client, []string{fmt.Sprintf("rlbench:key-%d", i%keys)}).Err(); err != nil {
			b.Fatal(err)
		}
	}
}
