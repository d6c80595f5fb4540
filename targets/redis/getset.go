package redis

import (
	"context"
	"errors"
	"runtime"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// getsetDesign reads, decides and writes back, as three steps. It is wrong on
// purpose: requests that read the same count all take the same unit of budget,
// and a write that was held up gives back what others used since.
func getsetDesign() targets.Design {
	return clientFixedWindows(targets.Design{
		Name: "redis-getset-fixed-window",
		About: "GET, decide in the client, SET; gives up the limit itself: requests at once read the same count, " +
			"and a late write forgets the others",
	}, func(_ context.Context, s *store, setup targets.Setup) (rlbench.Target, error) {
		return &getsetTarget{newClientWindows(s, setup)}, nil
	})
}

type getsetTarget struct{ clientWindows }

// Ask charges nothing before its SET, and yet a GET that went wrong is Unknown
// like every other error after sending: that is always safe to say.
func (t *getsetTarget) Ask(ctx context.Context, r rlbench.Request) rlbench.Answer {
	ctx, cancel := t.deadline(ctx)
	defer cancel()
	client := t.client(r.Instance)
	n := t.counter(r)
	used, err := client.Get(ctx, n.key).Int64()
	fresh := errors.Is(err, goredis.Nil)
	if err != nil && !fresh {
		return unanswered(err)
	}
	if r.Cost > t.limit.Count-used {
		return t.decided(n, false, used, r.Cost)
	}
	used += r.Cost
	// A client that has anything else to do gives way between its steps. Where
	// client and server share one busy processor, each GET is answered before the
	// next is sent, and without this the race would hide there.
	runtime.Gosched()
	if err := t.write(ctx, client, n, used, r.Cost, fresh); err != nil {
		return unanswered(err)
	}
	return t.decided(n, true, used, r.Cost)
}

// write stores the count. Only the request that opens a window sets its end;
// later ones keep it. A window that ended since it was read is gone: to write
// its count with no end would refuse for ever, so the request opens a new one.
func (t *getsetTarget) write(ctx context.Context, client *goredis.Client, n counter, used, cost int64, fresh bool) error {
	if !fresh {
		err := client.SetArgs(ctx, n.key, used, goredis.SetArgs{Mode: "XX", KeepTTL: true}).Err()
		if !errors.Is(err, goredis.Nil) {
			return err
		}
		used = cost
	}
	return client.SetArgs(ctx, n.key, used, goredis.SetArgs{TTL: n.ttl}).Err()
}
