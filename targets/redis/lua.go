package redis

import (
	"context"
	"embed"
	"fmt"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

//go:embed *.lua
var scripts embed.FS

// exactMax is up to where a script's numbers, which are floating point, count
// exactly.
const exactMax = 1<<53 - 1

// clockParam chooses the clock that a script decides by.
const (
	clockParam  = "clock"
	clockServer = "server"
	clockClient = "client"
)

// luaDesigns decide in one script on the server, so that nothing comes between
// reading and charging. Their clock is TIME, read once, or with the parameter
// clock: client the client's own, in whole microseconds as well. When a decision
// ends is part of the state, and a key's expiry only frees memory. A clock that
// is set back stands still for a key until it has passed the moment of its last
// charge again: that refuses, and never admits too much.
//
// By the client's clock a request may arrive after one that was stamped later. If
// that one was charged, this one is decided at its moment as well. If it was
// refused, which writes nothing, its refusal is right in the order of moments too,
// but what it says is left may not have known of this one.
func luaDesigns() []targets.Design {
	all := []targets.Design{
		luaDesign(targets.Design{Algorithm: rlbench.FixedWindow, Accept: acceptWindows,
			Anchors: []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest},
			About:   "a counter a window"},
			luaScript{file: "fixed_window.lua", limit: fixedArgs, keyALimit: true}),
		luaDesign(targets.Design{Algorithm: rlbench.SlidingLog, Accept: acceptWindows,
			About: "a stamp for every microsecond in which something was charged"},
			luaScript{file: "sliding_log.lua", limit: windowArgs}),
		luaDesign(targets.Design{Algorithm: rlbench.SlidingCounter, Accept: acceptCounters,
			About: "two counters a key, in exact fractions"},
			luaScript{file: "sliding_counter.lua", limit: windowArgs}),
	}
	for _, a := range []rlbench.Algorithm{rlbench.TokenBucket, rlbench.GCRA, rlbench.LeakyMeter} {
		all = append(all, luaDesign(targets.Design{Algorithm: a, Accept: acceptBuckets,
			About: "the level of a bucket, at exact rates"},
			luaScript{file: "bucket.lua", limit: bucketArgs}))
	}
	return append(all, luaDesign(targets.Design{Algorithm: rlbench.LeakyQueue, Accept: acceptQueue,
		About: "a queue that lets go at an exact rate"},
		luaScript{file: "leaky_queue.lua", limit: bucketArgs}))
}

func luaDesign(d targets.Design, script luaScript) targets.Design {
	d.Name = "redis-lua-" + string(d.Algorithm)
	d.About += ", read and charged in one script by the server's clock; gives up nothing but the round trip"
	d.Resolution = func(rlbench.Anchor) time.Duration { return serverClock }
	d.Params = map[string][]string{clockParam: {clockServer, clockClient}}
	return completed(d, script.open)
}

// luaScript is one algorithm: its file, and what it is told of a limit.
type luaScript struct {
	file  string
	limit func(rlbench.Limit) []any
	// keyALimit: each limit has a key of its own, instead of one for all.
	keyALimit bool
}

func (s luaScript) open(ctx context.Context, st *store, setup targets.Setup) (rlbench.Target, error) {
	text, err := scripts.ReadFile(s.file)
	if err != nil {
		return nil, fmt.Errorf("reading its script: %w", err)
	}
	t := &luaTarget{store: st, script: goredis.NewScript(string(text)), clock: targets.SteadyClock(), suffixes: []string{":0"}}
	t.byClient = setup.Policy.Params[clockParam] == clockClient
	kept := keptAfter
	if t.byClient {
		// A request may be on its way for so long after it was stamped, and must
		// still find what counts at its stamp.
		kept += setup.Timeout
	}
	t.limits = []any{wholeMillis(kept).Milliseconds()}
	for i, l := range setup.Policy.Limits {
		t.limits = append(t.limits, s.limit(l)...)
		if s.keyALimit && i > 0 {
			t.suffixes = append(t.suffixes, ":"+strconv.Itoa(i))
		}
	}
	if err := t.script.Load(ctx, st.clients[0]).Err(); err != nil {
		return nil, fmt.Errorf("loading its script: %w", err)
	}
	return t, nil
}

type luaTarget struct {
	*store
	script *goredis.Script
	// clock is the client's own; byClient: decisions go by it.
	clock    targets.Clock
	byClient bool
	// limits are the script's arguments after the moment, suffixes the ends of its keys.
	limits   []any
	suffixes []string
}

// Ask runs the script by its hash. A server that has lost it says NOSCRIPT, and
// then certainly ran nothing: only so the script is sent once more, in full.
func (t *luaTarget) Ask(ctx context.Context, r rlbench.Request) rlbench.Answer {
	reply, err := t.run(ctx, r)
	if err != nil {
		return unanswered(err)
	}
	answer := luaAnswer(reply)
	if answer.Said&rlbench.SaidReleasedAt != 0 {
		// The server has read its clock already, so the turn is no further off. The
		// turn is what is stated: by how much a waiter wakes late is not the limiter's.
		turn := t.clock() + answer.ReleasedAt - answer.DecidedAt
		if err := t.clock.WaitUntil(ctx, turn); err != nil {
			// It was charged, and never let go.
			return rlbench.Answer{Outcome: rlbench.Unknown, Err: err}
		}
	}
	return answer
}

// The numbers of a script's reply, in order.
const (
	replyAdmitted = iota
	replyLimit
	replyRemaining
	replyWait
	replyNow
	replyTurn // of a queue, for who was let in
)

func (t *luaTarget) run(ctx context.Context, r rlbench.Request) ([]int64, error) {
	ctx, cancel := t.deadline(ctx)
	defer cancel()
	keys := make([]string, len(t.suffixes))
	for i, suffix := range t.suffixes {
		keys[i] = t.key(r.Key, suffix)
	}
	now := ""
	if t.byClient {
		now = strconv.FormatInt(t.micros(), 10)
	}
	args := append(append(make([]any, 0, 2+len(t.limits)), r.Cost, now), t.limits...)
	reply, err := t.script.Run(ctx, t.client(r.Instance), keys, args...).Int64Slice()
	if err == nil && len(reply) <= replyNow {
		err = fmt.Errorf("the script answered with %d numbers instead of %d", len(reply), replyNow+1)
	}
	return reply, err
}

func luaAnswer(reply []int64) rlbench.Answer {
	a := rlbench.Answer{
		Outcome: rlbench.Denied, Said: rlbench.SaidLimit | rlbench.SaidRemaining | rlbench.SaidDecidedAt,
		Limit: reply[replyLimit], Remaining: reply[replyRemaining], DecidedAt: reply[replyNow] * int64(serverClock),
	}
	switch wait := reply[replyWait]; {
	case reply[replyAdmitted] == 1:
		a.Outcome = rlbench.Allowed
	case wait >= 0:
		a.RetryAfter = time.Duration(wait) * serverClock
		a.Said |= rlbench.SaidRetryAfter
	}
	if len(reply) > replyTurn {
		a.ReleasedAt = reply[replyTurn] * int64(serverClock)
		a.Said |= rlbench.SaidReleasedAt
	}
	return a
}

// ReadClock reads the clock that decisions go by.
func (t *luaTarget) ReadClock(ctx context.Context) (int64, error) {
	if t.byClient {
		return t.micros() * int64(serverClock), nil
	}
	return t.readTime(ctx)
}

// micros reads the client's own clock as the script is told it.
func (t *luaTarget) micros() int64 { return t.clock() / int64(serverClock) }
