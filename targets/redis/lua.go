package redis

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

//go:embed fixed_window.lua
var fixedWindowScript string

// countMax bounds a limit's count: the script's numbers are exact up to here.
const countMax = 1<<53 - 1

// luaDesign decides in one script on the server, so that nothing comes between
// reading and charging. Its clock is TIME under both anchors: the end of a
// window is part of its state, and a key's expiry only frees memory. When the
// server's clock is set back, an open window stays open until the clock passes
// its end again: that refuses, and never admits too much.
func luaDesign() targets.Design {
	return fixedWindows(targets.Design{
		Name:       "redis-lua-fixed-window",
		About:      "a counter a window, read and charged in one script by the server's clock; gives up nothing but the round trip",
		Resolution: func(rlbench.Anchor) time.Duration { return serverClock },
	}, acceptLua, openLua)
}

func acceptLua(limits []rlbench.Limit) error {
	for _, l := range limits {
		if l.Per%serverClock != 0 {
			return fmt.Errorf("a window of %s is not a whole number of microseconds, which the server's clock counts", l.Per)
		}
		if l.Count > countMax {
			return fmt.Errorf("a limit of %d is above %d, up to which a script counts exactly", l.Count, int64(countMax))
		}
	}
	return nil
}

type luaTarget struct {
	*store
	script *goredis.Script
	// limits are the script's arguments after the cost, suffixes the ends of its keys.
	limits   []any
	suffixes []string
}

func openLua(ctx context.Context, s *store, setup targets.Setup) (rlbench.Target, error) {
	t := &luaTarget{store: s, script: goredis.NewScript(fixedWindowScript)}
	for i, l := range setup.Policy.Limits {
		t.limits = append(t.limits, l.Count, int64(l.Per/serverClock), string(l.Anchor))
		t.suffixes = append(t.suffixes, ":"+strconv.Itoa(i))
	}
	t.limits = append(t.limits, keptAfter.Milliseconds())
	if err := t.script.Load(ctx, s.clients[0]).Err(); err != nil {
		return nil, fmt.Errorf("loading its script: %w", err)
	}
	return t, nil
}

// Ask runs the script by its hash. A server that has lost it says NOSCRIPT, and
// then certainly ran nothing: only so the script is sent once more, in full.
func (t *luaTarget) Ask(ctx context.Context, r rlbench.Request) rlbench.Answer {
	ctx, cancel := t.deadline(ctx)
	defer cancel()
	keys := make([]string, len(t.suffixes))
	for i, suffix := range t.suffixes {
		keys[i] = t.key(r.Key, suffix)
	}
	args := make([]any, 0, 1+len(t.limits))
	args = append(append(args, r.Cost), t.limits...)
	reply, err := t.script.Run(ctx, t.client(r.Instance), keys, args...).Int64Slice()
	if err == nil && len(reply) != 5 {
		err = fmt.Errorf("the script answered with %d numbers instead of 5", len(reply))
	}
	if err != nil {
		return unanswered(err)
	}
	return luaAnswer(reply)
}

func luaAnswer(reply []int64) rlbench.Answer {
	a := rlbench.Answer{
		Outcome: rlbench.Denied, Said: rlbench.SaidLimit | rlbench.SaidRemaining | rlbench.SaidDecidedAt,
		Limit: reply[1], Remaining: reply[2], DecidedAt: reply[4] * int64(serverClock),
	}
	switch wait := reply[3]; {
	case reply[0] == 1:
		a.Outcome = rlbench.Allowed
	case wait >= 0:
		a.RetryAfter = time.Duration(wait) * serverClock
		a.Said |= rlbench.SaidRetryAfter
	}
	return a
}

// ReadClock reads TIME, the clock that decisions go by.
func (t *luaTarget) ReadClock(ctx context.Context) (int64, error) { return t.readTime(ctx) }
