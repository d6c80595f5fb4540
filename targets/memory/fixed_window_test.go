package memory

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

func limit(count int64, per time.Duration, anchor rlbench.Anchor) rlbench.Limit {
	return rlbench.Limit{Count: count, Per: per, Anchor: anchor}
}

func allowedAt(f *fixedWindow, key string) bool {
	return f.Ask(context.Background(), rlbench.Request{Key: key, Cost: 1}).Outcome == rlbench.Allowed
}

// TestWindowsToTheNanosecond asks one nanosecond before and at each edge.
func TestWindowsToTheNanosecond(t *testing.T) {
	for _, row := range []struct {
		reason     string
		anchor     rlbench.Anchor
		open       int64 // when the window opens
		last, next int64 // the last moment in it, and the first after it
	}{
		{"an aligned window ends at the multiple of its length", rlbench.Epoch, 2_345, 2_999, 3_000},
		{"a request on the edge opens the later window", rlbench.Epoch, 3_000, 3_999, 4_000},
		{"the first window of the epoch", rlbench.Epoch, 0, 999, 1_000},
		{"before the epoch windows are aligned as well", rlbench.Epoch, -1_500, -1_001, -1_000},
		{"the first request's window lasts its length", rlbench.FirstRequest, 2_345, 3_344, 3_345},
		{"also across the epoch", rlbench.FirstRequest, -500, 499, 500},
	} {
		now := row.open
		f := newFixedWindow([]rlbench.Limit{limit(1, 1_000, row.anchor)}, func() int64 { return now })
		if !allowedAt(f, "k") {
			t.Errorf("%s: the first request was refused", row.reason)
		}
		if now = row.last; allowedAt(f, "k") {
			t.Errorf("%s: full, and admitted at %d", row.reason, now)
		}
		if now = row.next; !allowedAt(f, "k") {
			t.Errorf("%s: renewed, and refused at %d", row.reason, now)
		}
	}
}

// TestNumbersAtTheirEnds: no sum overflows with the largest limit, cost, window.
func TestNumbersAtTheirEnds(t *testing.T) {
	for _, anchor := range []rlbench.Anchor{rlbench.Epoch, rlbench.FirstRequest} {
		f := newFixedWindow([]rlbench.Limit{limit(math.MaxInt64, targets.WindowMax, anchor)}, targets.SteadyClock())
		for i, want := range []rlbench.Outcome{rlbench.Allowed, rlbench.Denied} {
			a := f.Ask(t.Context(), rlbench.Request{Key: "k", Cost: math.MaxInt64 - int64(1-i)})
			if a.Outcome != want || a.Remaining != 1 {
				t.Errorf("%s, request %d: %s with %d remaining", anchor, i+1, a.Outcome, a.Remaining)
			}
			if a.RetryAfter < 0 || a.RetryAfter > targets.WindowMax {
				t.Errorf("%s: told to come back after %s", anchor, a.RetryAfter)
			}
		}
	}
}

// TestOldKeysAreFreed: keys that come once each must not stay, and a key in
// force must never go.
func TestOldKeysAreFreed(t *testing.T) {
	const perWindow, windows = 5_000, 20
	var now int64
	f := newFixedWindow([]rlbench.Limit{limit(1, time.Second, rlbench.FirstRequest)}, func() int64 { return now })
	for w := range windows {
		now = int64(w) * int64(time.Second)
		if !allowedAt(f, "steady") {
			t.Fatalf("window %d: the steady key was refused its one request", w)
		}
		for i := range perWindow {
			allowedAt(f, fmt.Sprintf("%d-%d", w, i))
			if i%100 == 0 && allowedAt(f, "steady") {
				t.Fatalf("window %d: the sweep freed a key that was in force", w)
			}
		}
	}
	held := 0
	for i := range f.keys.shards {
		s := &f.keys.shards[i]
		if held += len(s.row); len(s.row) != len(s.byKey) {
			t.Errorf("shard %d holds %d keys in its row and %d by name", i, len(s.row), len(s.byKey))
		}
	}
	if held > 2*perWindow {
		t.Errorf("%d keys are held of %d in force and %d in all", held, perWindow, perWindow*windows)
	}
}

// TestSweepLosesNothing: while many goroutines bring and drop keys, no unit of
// budget is given twice or lost. The clock stands still, so every key has
// exactly its limit; half of the keys had an earlier window that may be swept.
func TestSweepLosesNothing(t *testing.T) {
	const keys, workers, count = 400, 8, 3
	var now atomic.Int64
	f := newFixedWindow([]rlbench.Limit{limit(count, time.Second, rlbench.Epoch)}, now.Load)
	for i := range keys / 2 {
		allowedAt(f, fmt.Sprint(i))
	}
	now.Store(int64(time.Second))
	var admitted [keys]atomic.Int64
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := range keys * count {
				key := (i + w*7) % keys
				if allowedAt(f, fmt.Sprint(key)) {
					admitted[key].Add(1)
				}
			}
		})
	}
	all.Wait()
	for key := range admitted {
		if got := admitted[key].Load(); got != count {
			t.Errorf("key %d was admitted %d times instead of %d", key, got, count)
		}
	}
}

// TestDecisionsOfAKeyStandInOrder: the clock is read under the key's lock, so an
// exact model can replay the decisions by the moments stated.
func TestDecisionsOfAKeyStandInOrder(t *testing.T) {
	const workers, each = 8, 500
	f := newFixedWindow([]rlbench.Limit{limit(workers*each, time.Hour, rlbench.FirstRequest)}, targets.SteadyClock())
	var moments [workers * each]int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				a := f.Ask(t.Context(), rlbench.Request{Key: "k", Cost: 1})
				moments[a.Remaining] = a.DecidedAt
			}
		})
	}
	all.Wait()
	for left := range len(moments) - 1 {
		if moments[left] < moments[left+1] {
			t.Fatalf("with %d remaining it was %d, before that %d", left, moments[left], moments[left+1])
		}
	}
}
