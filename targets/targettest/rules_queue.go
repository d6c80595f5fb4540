package targettest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rlbench/rlbench"
)

// A queue answers whom it lets in only when it lets them go. So it is asked by
// many at once, and judged by what it states: whatever the machine does, each
// answer must be the definition's for the moment of its decision.

// queueGap is the time between two turns, and a third of a microsecond, so that
// turns do not fall on whole steps of any clock. queueCapacity is how many are let
// in at once, and queueCrowd how many ask for that together.
const queueGap, queueCapacity, queueCrowd = 25 * time.Millisecond, 4, 12

func (t *trial) openQueue(instances int, capacity int64) error {
	return t.open(instances, rlbench.Limit{Count: 3, Per: 3*queueGap + time.Microsecond, Burst: capacity})
}

// crowd asks all at once, through the instances in turn, and returns the answers
// when the last was let go.
func (t *trial) crowd(instances int, requests []rlbench.Request) ([]asked, error) {
	all := make([]asked, len(requests))
	failed := make([]error, len(requests))
	var waiting sync.WaitGroup
	start := make(chan struct{})
	for i, r := range requests {
		waiting.Go(func() {
			<-start
			answer, err := t.ask(r.Key, r.Cost, int32(i%instances))
			all[i], failed[i] = asked{key: r.Key, cost: r.Cost, answer: answer}, err
		})
	}
	close(start)
	waiting.Wait()
	return all, errors.Join(failed...)
}

// queued has crowds ask, one after the other, until one was large enough for the
// queue to be full and for somebody to wait. Each must be answered as the
// definition says.
func (t *trial) queued(instances int, crowds func(key string) [][]rlbench.Request) error {
	for range attempts {
		var all []asked
		for _, requests := range crowds(t.freshKey()) {
			answered, err := t.crowd(instances, requests)
			if err != nil {
				return err
			}
			all = append(all, answered...)
		}
		if err := t.replay(all); err != nil {
			return err
		}
		refused, waited := false, false
		for _, q := range all {
			refused = refused || q.answer.Outcome == denied && q.cost <= queueCapacity
			waited = waited || q.answer.Outcome == allowed && q.answer.ReleasedAt > q.answer.DecidedAt
		}
		if refused && waited {
			return nil
		}
	}
	return fmt.Errorf("%w: %d times nobody waited, or nobody was refused", errSlow, attempts)
}

// oneCrowd asks for the key as often.
func oneCrowd(key string) [][]rlbench.Request {
	return [][]rlbench.Request{alike(key, queueCrowd, 1)}
}

func alike(key string, n int, cost int64) []rlbench.Request {
	requests := make([]rlbench.Request, n)
	for i := range requests {
		requests[i] = rlbench.Request{Key: key, Cost: cost}
	}
	return requests
}

func queueExact(t *trial) error {
	for _, capacity := range []int64{2, queueCapacity} {
		if err := t.openQueue(togetherInstances, capacity); err != nil {
			return err
		}
		// The same key again and again, so that queues are met that have begun to drain.
		key := t.freshKey()
		var before []asked
		for range 3 {
			all, err := t.crowd(togetherInstances, alike(key, queueCrowd, 1))
			if err != nil {
				return err
			}
			before = append(before, all...)
			if err := t.replay(before); err != nil {
				return err
			}
		}
		if err := t.queued(togetherInstances, oneCrowd); err != nil {
			return err
		}
	}
	return nil
}

func queueCosts(t *trial) error {
	if err := t.openQueue(1, queueCapacity); err != nil {
		return err
	}
	// A limiter that goes by its clients' clocks may refuse before it lets in what
	// was stamped earlier: of unlike costs the order of both would show, so those of
	// one crowd are alike, or never fit.
	return t.queued(1, func(key string) [][]rlbench.Request {
		never := append(alike(key, 2, queueCapacity+1), alike(key, 2, 1<<62)...)
		return [][]rlbench.Request{
			never, alike(key, 4, 2), never, alike(key, 3, 3), alike(key, 2, queueCapacity), alike(key, queueCrowd, 1), never,
		}
	})
}

func queueKeysApart(t *trial) error {
	if err := t.openQueue(1, 2); err != nil {
		return err
	}
	return t.queued(1, func(key string) [][]rlbench.Request {
		var crowd []rlbench.Request
		for _, ending := range oddEndings {
			crowd = append(crowd, alike(key+ending, 3, 1)...)
		}
		return [][]rlbench.Request{crowd}
	})
}

// queueWaits reads the limiter's clock around every request.
func queueWaits(t *trial) error {
	if err := t.openQueue(1, queueCapacity); err != nil {
		return err
	}
	key := t.freshKey()
	var waiting sync.WaitGroup
	failed := make([]error, queueCapacity)
	for i := range failed {
		waiting.Go(func() { failed[i] = t.letGoInTurn(key) })
	}
	waiting.Wait()
	return errors.Join(failed...)
}

func (t *trial) letGoInTurn(key string) error {
	before, err := t.clock()
	if err != nil {
		return err
	}
	a, err := t.ask(key, 1, 0)
	if err != nil || a.Outcome != allowed {
		return errors.Join(err, fmt.Errorf("%s in a queue with room", a.Outcome))
	}
	after, err := t.clock()
	if err != nil {
		return err
	}
	if before > a.DecidedAt || a.DecidedAt > a.ReleasedAt || a.ReleasedAt > after {
		return fmt.Errorf("asked at %d, decided at %d, let go at %d, answered at %d", before, a.DecidedAt, a.ReleasedAt, after)
	}
	return nil
}

// queueGivesUp has three ask for two places, of which the second becomes free in
// an hour. When one is let go and one is refused, the third waits.
func queueGivesUp(t *trial) error {
	if err := t.open(1, rlbench.Limit{Count: 1, Per: long, Burst: 2}); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(t.ctx)
	defer stop()
	answers := make(chan rlbench.Answer, 3)
	key := t.freshKey()
	for range 3 {
		go func() { answers <- t.target.Ask(ctx, rlbench.Request{Key: key, Cost: 1}) }()
	}
	seen := map[rlbench.Outcome]int{}
	for range 2 {
		select {
		case a := <-answers:
			seen[a.Outcome]++
		case <-t.ctx.Done():
			return fmt.Errorf("of three that asked for two places one was let go and one refused: %v", seen)
		}
	}
	if seen[allowed] != 1 || seen[denied] != 1 {
		return fmt.Errorf("of three that asked for two places the first two answers were %v", seen)
	}
	stop()
	if a := <-answers; a.Outcome != rlbench.Unknown || !errors.Is(a.Err, context.Canceled) {
		return fmt.Errorf("who stopped waiting was told %s, error %v", a.Outcome, a.Err)
	}
	return nil
}

func queueScriptsForgotten(t *trial) error {
	if t.ForgetScripts == nil {
		return fmt.Errorf("%w: there are no scripts", ErrNotApplicable)
	}
	if err := t.openQueue(2, queueCapacity); err != nil {
		return err
	}
	for range 3 {
		if err := t.ForgetScripts(t.ctx); err != nil {
			return err
		}
		if err := t.queued(2, oneCrowd); err != nil {
			return err
		}
	}
	return nil
}
