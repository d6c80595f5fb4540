package service

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// life is what can be known from outside of how long a key lived.
type life struct{ atLeast, atMost time.Duration }

// measureLife sets a key with an expiry and asks for it until it is gone. The
// set and each look happened at some moment between being sent and being done.
func measureLife(t *testing.T, client *redis.Client, ttl time.Duration) life {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var l life
	setSent := time.Now()
	if err := client.Set(ctx, "rlbench:life", 1, ttl).Err(); err != nil {
		t.Fatal(err)
	}
	setDone := time.Now()
	for {
		sent := time.Now()
		err := client.Get(ctx, "rlbench:life").Err()
		done := time.Now()
		switch {
		case errors.Is(err, redis.Nil):
			l.atMost = done.Sub(setSent)
			return l
		case err != nil:
			t.Fatal(err)
		}
		l.atLeast = max(l.atLeast, sent.Sub(setDone))
	}
}

// An expiry is driven by the time that really passes: the key is there until
// its time is over, and gone right after. No slack of the scheduler can break
// this test: each bound holds however late a look was.
func TestExpiryIsExact(t *testing.T) {
	const ttl = 200 * time.Millisecond
	for _, backend := range []struct {
		backend Backend
		// late is how much longer than its TTL a key may live: Redis counts whole
		// milliseconds, and lets a key live to the end of its last one.
		late time.Duration
	}{{Embedded, 0}, {Process, time.Millisecond}} {
		t.Run(string(backend.backend), func(t *testing.T) {
			client := clientOf(t, startOrSkip(t, backend.backend, "redis"))
			l := measureLife(t, client, ttl)
			t.Logf("a key of %v lived between %v and %v", ttl, l.atLeast, l.atMost)
			if l.atMost < ttl {
				t.Errorf("gone after at most %v, before its %v were over", l.atMost, ttl)
			}
			if l.atLeast > ttl+backend.late {
				t.Errorf("still there after at least %v, its %v were over", l.atLeast, ttl)
			}
		})
	}
}

// Redis reads its clock once for a whole script. A key that expired between two
// calls would be counted from anew, without an expiry: a limiter that is right
// would be accused.
func TestClockStandsStillInAScript(t *testing.T) {
	const looks = 20000
	script := redis.NewScript(`
		redis.call('SET', KEYS[1], 1, 'PX', 1)
		local there, first, last = 0, redis.call('TIME'), nil
		for i = 1, tonumber(ARGV[1]) do there = there + redis.call('EXISTS', KEYS[1]) end
		last = redis.call('TIME')
		return {there, (last[1] - first[1]) * 1000000 + last[2] - first[2]}`)
	for _, backend := range []Backend{Embedded, Process} {
		t.Run(string(backend), func(t *testing.T) {
			client := clientOf(t, startOrSkip(t, backend, "redis"))
			began := time.Now()
			got, err := script.Run(t.Context(), client, []string{"rlbench:still"}, looks).Int64Slice()
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took < 2*time.Millisecond {
				t.Fatalf("%d looks took %v: too short to outlive a key of 1 ms", looks, took)
			}
			if got[0] != looks {
				t.Errorf("of %d looks %d found the key", looks, got[0])
			}
			// Redis before 7.2 lets TIME alone go on in a script, its expiries never.
			if backend == Embedded && got[1] != 0 {
				t.Errorf("TIME went on by %d µs", got[1])
			}
			if n, err := client.Exists(t.Context(), "rlbench:still").Result(); err != nil || n != 0 {
				t.Errorf("after the script: EXISTS = %d, %v, want 0", n, err)
			}
		})
	}
}

// The server's clock is this host's, to the microsecond that TIME has.
func TestEmbeddedTimeIsNow(t *testing.T) {
	client := clientOf(t, startOrSkip(t, Embedded, ""))
	for range 100 {
		sent := time.Now().Truncate(time.Microsecond)
		said, err := client.Time(t.Context()).Result()
		done := time.Now()
		if err != nil {
			t.Fatal(err)
		}
		if said.Before(sent) || said.After(done) {
			t.Fatalf("TIME says %v, asked between %v and %v", said, sent, done)
		}
	}
}

func TestEmbeddedServesManyAtOnce(t *testing.T) {
	const clients, calls = 20, 50
	service := startOrSkip(t, Embedded, "")
	script := redis.NewScript(`redis.call('PEXPIRE', KEYS[1], 60000) return redis.call('INCR', KEYS[1])`)
	var all sync.WaitGroup
	for range clients {
		client := clientOf(t, service)
		all.Go(func() {
			for range calls {
				if err := script.Run(t.Context(), client, []string{"rlbench:many"}).Err(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	n, err := clientOf(t, service).Get(t.Context(), "rlbench:many").Int()
	if err != nil || n != clients*calls {
		t.Errorf("counted %d, %v, want %d", n, err, clients*calls)
	}
}

// A command that waits for another client must not keep that one waiting.
func TestEmbeddedBlockingCommand(t *testing.T) {
	service := startOrSkip(t, Embedded, "")
	waiting, pushing := clientOf(t, service), clientOf(t, service)
	popped := make(chan error, 1)
	go func() { popped <- waiting.BLPop(t.Context(), 10*time.Second, "rlbench:queue").Err() }()
	if err := pushing.LPush(t.Context(), "rlbench:queue", 1).Err(); err != nil {
		t.Fatal(err)
	}
	if err := <-popped; err != nil {
		t.Error(err)
	}
}

func TestEmbeddedTransaction(t *testing.T) {
	client := clientOf(t, startOrSkip(t, Embedded, ""))
	var n *redis.IntCmd
	_, err := client.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
		p.Set(t.Context(), "rlbench:tx", 1, time.Minute)
		n = p.Incr(t.Context(), "rlbench:tx")
		return nil
	})
	if err != nil || n.Val() != 2 {
		t.Errorf("transaction = %d, %v, want 2", n.Val(), err)
	}
}

// A server that nobody asks frees its memory, and forgets who has gone.
func TestEmbeddedForgets(t *testing.T) {
	e, err := embed()
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	db := e.store.DB(0) // held directly it does not look at the clock
	client := redis.NewClient(&redis.Options{Addr: e.store.Addr()})
	if err := client.Set(t.Context(), "rlbench:idle", 1, time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	connections := func() (n int) {
		e.connections.Range(func(any, any) bool { n++; return true })
		return n
	}
	for began := time.Now(); db.Exists("rlbench:idle") || connections() > 0; e.free() {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("after 10 s: key there %v, connections %d", db.Exists("rlbench:idle"), connections())
		}
	}
}

func TestEmbeddedVersion(t *testing.T) {
	module := func(replace *debug.Module) *debug.BuildInfo {
		return &debug.BuildInfo{Deps: []*debug.Module{
			{Path: "example.com/other", Version: "v1.0.0"},
			{Path: embeddedModule, Version: "v2.40.0", Replace: replace},
		}}
	}
	for _, c := range []struct {
		why, want string
		build     *debug.BuildInfo
	}{
		{"a built binary", "miniredis v2.40.0", module(nil)},
		{"a replaced module is what was built", "miniredis v2.41.0", module(&debug.Module{Version: "v2.41.0"})},
		{"a test binary lists no modules", "miniredis, version unknown", &debug.BuildInfo{}},
		{"no build information", "miniredis, version unknown", nil},
	} {
		if got := embeddedVersion(c.build, c.build != nil); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}
