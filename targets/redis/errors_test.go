package redis_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/redis"
	"github.com/rlbench/rlbench/targets/targettest"
)

// impatient is a timeout for tests that let it pass.
const impatient = 300 * time.Millisecond

// TestAnAnswerThatIsLost: the server did as asked, the client cannot know. The
// outcome is Unknown, and the request was charged once and not again.
func TestAnAnswerThatIsLost(t *testing.T) {
	for _, name := range []string{lua, incr} {
		for mode, what := range map[int32]string{swallow: "no answer in time", cut: "connection lost"} {
			t.Run(name+"/"+what, func(t *testing.T) {
				t.Parallel()
				url := targettest.Miniredis(t)
				g, gated := newGate(t, url)
				s := setup(gated, 3, time.Hour, rlbench.FirstRequest)
				s.Timeout = impatient
				target := open(t, name, s)
				if a := ask(t, target, 1); a.Outcome != rlbench.Allowed || a.Remaining != 2 {
					t.Fatalf("with the gate open: %+v", a)
				}
				g.mode.Store(mode)
				if a := ask(t, target, 1); a.Outcome != rlbench.Unknown || a.Err == nil || a.Said != 0 {
					t.Errorf("%s: %s, error %v, said %b", what, a.Outcome, a.Err, a.Said)
				}
				s.Address = url
				direct := open(t, name, s)
				if a := ask(t, direct, 1); a.Outcome != rlbench.Allowed || a.Remaining != 0 {
					t.Errorf("two requests of three were made, and the third found %s with %d remaining", a.Outcome, a.Remaining)
				}
			})
		}
	}
}

// TestNoConnectionToBeHad: the only connection waits for an answer, so the
// second request never leaves.
func TestNoConnectionToBeHad(t *testing.T) {
	t.Parallel()
	// All scripts go one way.
	for _, name := range []string{lua, getset, incr} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, gated := newGate(t, targettest.Miniredis(t))
			s := setup(gated, 3, time.Hour, rlbench.FirstRequest)
			// The second gives up after half of it, while the first still waits.
			s.Timeout = 2 * time.Second
			target := open(t, name, s)
			g.mode.Store(swallow)
			first := make(chan rlbench.Answer)
			go func() { first <- ask(t, target, 1) }()
			<-g.arrived
			if a := ask(t, target, 1); a.Outcome != rlbench.Unsent || !errors.Is(a.Err, goredis.ErrPoolTimeout) {
				t.Errorf("the second request: %s, %v", a.Outcome, a.Err)
			}
			if a := <-first; a.Outcome != rlbench.Unknown {
				t.Errorf("the first request: %s, %v", a.Outcome, a.Err)
			}
			g.mode.Store(pass) // closing need not wait for answers that are kept back
		})
	}
}

// TestAServerThatIsGone: what was connected may be lost on the way; as soon as
// it must be dialled anew and is refused, the request certainly was not sent.
func TestAServerThatIsGone(t *testing.T) {
	for _, d := range redis.Designs() {
		t.Run(d.Name, func(t *testing.T) {
			m := miniredis.RunT(t)
			s := setup("redis://"+m.Addr(), 3, time.Hour, rlbench.FirstRequest)
			s.InFlight = 4
			target := open(t, d.Name, s)
			m.Close()
			var last rlbench.Answer
			for range s.InFlight + 1 {
				last = ask(t, target, 1)
				if last.Outcome != rlbench.Unknown && last.Outcome != rlbench.Unsent {
					t.Fatalf("without a server: %+v", last)
				}
			}
			var dial *net.OpError
			if last.Outcome != rlbench.Unsent || !errors.As(last.Err, &dial) {
				t.Errorf("refused to connect: %s, %v", last.Outcome, last.Err)
			}
			if _, err := target.(rlbench.Clocked).ReadClock(t.Context()); err == nil {
				t.Error("the clock of a server that is gone was read")
			}
			if err := target.Close(); err == nil || !strings.Contains(err.Error(), s.Namespace) {
				t.Errorf("closing says nothing of the keys left behind: %v", err)
			}
		})
	}
}

// TestAReplyThatIsAnError is Unknown whatever it says.
func TestAReplyThatIsAnError(t *testing.T) {
	for _, d := range redis.Designs() {
		for _, reply := range []string{"LOADING Redis is loading the dataset in memory", "READONLY You can't write against a read only replica.",
			"OOM command not allowed when used memory > 'maxmemory'.", "ERR something else"} {
			m := miniredis.RunT(t)
			target := open(t, d.Name, setup("redis://"+m.Addr(), 3, time.Hour, rlbench.Epoch))
			m.SetError(reply)
			if a := ask(t, target, 1); a.Outcome != rlbench.Unknown || a.Err == nil || a.Said != 0 {
				t.Errorf("%s, %q: %s, error %v, said %b", d.Name, reply, a.Outcome, a.Err, a.Said)
			}
			m.SetError("")
		}
	}
}

// TestAContextThatEnded decides nothing.
func TestAContextThatEnded(t *testing.T) {
	url := targettest.Miniredis(t)
	for _, d := range redis.Designs() {
		target := open(t, d.Name, setup(url, 3, time.Hour, rlbench.Epoch))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		a := target.Ask(ctx, rlbench.Request{Key: "k", Cost: 1})
		if a.Outcome == rlbench.Allowed || a.Outcome == rlbench.Denied || !errors.Is(a.Err, context.Canceled) {
			t.Errorf("%s: %s, %v", d.Name, a.Outcome, a.Err)
		}
		_ = target.Close()
	}
}

// TestClosingNeverHangs: the server takes requests and answers none.
func TestClosingNeverHangs(t *testing.T) {
	t.Parallel()
	g, gated := newGate(t, targettest.Miniredis(t))
	s := setup(gated, 3, time.Hour, rlbench.Epoch)
	s.Timeout = impatient
	target := open(t, lua, s)
	g.mode.Store(swallow)
	start := time.Now()
	if err := target.Close(); err == nil {
		t.Error("no key could be removed, and closing says nothing")
	}
	if took := time.Since(start); took > timeout {
		t.Errorf("closing took %s", took)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	sound := setup(targettest.Miniredis(t), 3, time.Hour, rlbench.FirstRequest)
	two := append(sound.Policy.Limits[:1:1], sound.Policy.Limits...)
	odd := func(per time.Duration, anchor rlbench.Anchor) []rlbench.Limit {
		return []rlbench.Limit{{Count: 3, Per: per, Anchor: anchor}}
	}
	for _, row := range []struct {
		design, says string
		address      string
		limits       []rlbench.Limit
	}{
		{design: getset, limits: two, says: "one limit, not 2"},
		{design: incr, limits: two, says: "one limit, not 2"},
		{design: incr, limits: odd(time.Second+time.Microsecond, rlbench.FirstRequest), says: "whole number of milliseconds"},
		{design: getset, limits: odd(time.Second+time.Microsecond, rlbench.FirstRequest), says: "whole number of milliseconds"},
		{design: lua, limits: odd(time.Second+time.Nanosecond, rlbench.Epoch), says: "whole number of microseconds"},
		{design: lua, limits: []rlbench.Limit{{Count: 1 << 53, Per: time.Second, Anchor: rlbench.Epoch}}, says: "counts exactly"},
		{design: lua, address: "127.0.0.1:6379", says: "address"},
		{design: lua, address: "http://127.0.0.1:6379", says: "address"},
		{design: lua, address: "redis://127.0.0.1:1", says: "connecting to redis at 127.0.0.1:1"},
	} {
		t.Run(fmt.Sprintf("%s/%s", row.design, row.says), func(t *testing.T) {
			s := sound
			if row.limits != nil {
				s.Policy.Limits = row.limits
			}
			if row.address != "" {
				s.Address = row.address
			}
			target, err := design(t, row.design).Open(t.Context(), s)
			if err == nil {
				_ = target.Close()
			}
			if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), row.design) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestIncrNeedsPExpireNX: an older server is refused when opening, in words.
func TestIncrNeedsPExpireNX(t *testing.T) {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(olderThanSeven)
	_, err := design(t, incr).Open(t.Context(), setup("redis://"+m.Addr(), 3, time.Hour, rlbench.FirstRequest))
	if err == nil || !strings.Contains(err.Error(), "Redis has since 7.0") {
		t.Errorf("%v", err)
	}
}
