package redis_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/targettest"
)

const (
	raceInstances = 10
	racePer       = 50
	raceLimit     = 100
	// raceRounds in a row must all end alike; fewer, unless RLBENCH_HISTORIES
	// asks for a full-size run.
	raceRounds, raceRoundsSmall = 30, 3
)

// TestOnlyGetSetRaces: ten instances with fifty requests each, released
// together, get more than the limit out of GET and SET every time, and the
// limit exactly out of the others.
func TestOnlyGetSetRaces(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		for _, row := range []struct {
			design string
			wrong  func(admitted int64) bool
			want   string
		}{
			{getset, func(n int64) bool { return n <= raceLimit }, "more than"},
			{lua, func(n int64) bool { return n != raceLimit }, "exactly"},
			{incr, func(n int64) bool { return n != raceLimit }, "exactly"},
		} {
			t.Run(row.design, func(t *testing.T) {
				s := setup(url, raceLimit, time.Hour, rlbench.FirstRequest)
				s.Instances, s.InFlight, s.Timeout = raceInstances, raceInstances*racePer, 30*time.Second
				target := open(t, row.design, s)
				rounds := fullSize(raceRounds, raceRoundsSmall)
				for round := range rounds {
					admitted := release(t, target, fmt.Sprintf("round-%d", round))
					if row.wrong(admitted) {
						t.Errorf("round %d of %d: %d admitted, not %s %d", round+1, rounds, admitted, row.want, raceLimit)
					}
				}
			})
		}
	})
}

// fullSize is full when RLBENCH_HISTORIES is set, small otherwise.
func fullSize(full, small int) int {
	if os.Getenv("RLBENCH_HISTORIES") != "" {
		return full
	}
	return small
}

// release makes every request at once, and counts the admitted.
func release(t *testing.T, target rlbench.Target, key string) int64 {
	var admitted atomic.Int64
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range raceInstances * racePer {
		all.Go(func() {
			<-start
			switch a := target.Ask(t.Context(), rlbench.Request{Key: key, Cost: 1, Instance: int32(i % raceInstances)}); a.Outcome {
			case rlbench.Allowed:
				admitted.Add(1)
			case rlbench.Denied:
			default:
				t.Errorf("%s: %v", a.Outcome, a.Err)
			}
		})
	}
	close(start)
	all.Wait()
	return admitted.Load()
}

// TestForgettingScriptsUnderLoad: the server forgets the script again and again
// while requests arrive; none fails, none is lost, none is charged twice.
func TestForgettingScriptsUnderLoad(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		const workers, each, count = 8, 40, 8 * 40 / 2
		s := setup(url, count, time.Hour, rlbench.Epoch)
		s.Instances, s.InFlight = 2, workers
		target := open(t, lua, s)
		stop := flushing(t, url)
		var outcomes [4]atomic.Int64
		var all sync.WaitGroup
		key := "at-" + strconv.FormatInt(time.Now().UnixNano(), 10)
		for w := range workers {
			all.Go(func() {
				for range each {
					a := target.Ask(t.Context(), rlbench.Request{Key: key, Cost: 1, Instance: int32(w % 2)})
					outcomes[a.Outcome].Add(1)
				}
			})
		}
		all.Wait()
		if flushes := stop(); flushes == 0 {
			t.Error("the scripts were never forgotten")
		}
		if a, d := outcomes[rlbench.Allowed].Load(), outcomes[rlbench.Denied].Load(); a != count || d != workers*each-count {
			t.Errorf("%d allowed and %d denied, instead of %d and %d", a, d, count, workers*each-count)
		}
	})
}

// flushing forgets scripts without pause until stop, which says how often.
func flushing(t *testing.T, url string) (stop func() int) {
	client := dial(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		flushes := 0
		for ctx.Err() == nil {
			if client.ScriptFlush(ctx).Err() == nil {
				flushes++
			}
		}
		done <- flushes
	}()
	return func() int { cancel(); return <-done }
}
