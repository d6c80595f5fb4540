package redis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// incrDesign adds first and asks afterwards: INCRBY, then PEXPIRE, two commands
// that anything may come between. It never admits too much, because INCRBY
// gives every request a total of its own. What it gives up: refused requests
// stay added, so they use budget.
//
// Under the first-request anchor the usual form lets only the request that got
// the first total set the expiry. Two things are wrong with that. If its
// PEXPIRE is lost, the window never ends and everybody is refused for ever. And
// the window lasts W from the PEXPIRE, not from the INCRBY: a request that came
// between the two and was answered before the PEXPIRE has opened a window by
// the promise, which ends before the counter does, so what the counter admits
// afterwards falls into the next window and can make it more than the limit.
//
// Here every request sends PEXPIRE NX behind its INCRBY, and the first one that
// arrives sets the end, at a moment p. A request added before p has its own
// PEXPIRE, hence its answer, at p or later, so p lies between its sending and
// its answer. Take p as the moment at which each of them was decided, and their
// INCRBY for all others: one of those at p opened the window, none comes before
// it, and the counter ends when the window does, in (p+W, p+W+1 ms]. So at most
// L are admitted in each window opened by a request that found none open, W
// being exact to the 1 ms that is this design's resolution. A PEXPIRE that
// arrives after its own counter's end sets the end of the next one, and the
// same holds of that. A lost PEXPIRE is made good by the next request.
//
// A request that costs more than the limit is refused without asking the
// server, so that no refused request ever opens a window.
func incrDesign() targets.Design {
	return clientFixedWindows(targets.Design{
		Name:            "redis-incr-fixed-window",
		About:           "INCRBY, then PEXPIRE NX, decide from the total; gives up budget to refused requests, which stay counted",
		ChargesRefusals: true,
	}, openIncr)
}

type incrTarget struct{ clientWindows }

func openIncr(ctx context.Context, s *store, setup targets.Setup) (rlbench.Target, error) {
	t := &incrTarget{newClientWindows(s, setup)}
	if err := s.clients[0].Do(ctx, "PEXPIRE", s.namespace, 1, "NX").Err(); err != nil {
		return nil, fmt.Errorf("it needs PEXPIRE NX, which Redis has since 7.0: %w", err)
	}
	return t, nil
}

// Ask sends both commands in one write and decides from the first one's reply.
// An error of either is Unknown: the request may stand in the count.
func (t *incrTarget) Ask(ctx context.Context, r rlbench.Request) rlbench.Answer {
	n := t.counter(r)
	if r.Cost > t.limit.Count {
		return rlbench.Answer{Outcome: rlbench.Denied, Limit: t.limit.Count, Said: rlbench.SaidLimit}
	}
	ctx, cancel := t.deadline(ctx)
	defer cancel()
	var total *goredis.IntCmd
	_, err := t.client(r.Instance).Pipelined(ctx, func(p goredis.Pipeliner) error {
		total = p.IncrBy(ctx, n.key, r.Cost)
		p.Do(ctx, "PEXPIRE", n.key, n.ttl.Milliseconds(), "NX")
		return nil
	})
	if err != nil {
		return unanswered(err)
	}
	used := total.Val()
	return t.decided(n, used <= t.limit.Count, used, r.Cost)
}
