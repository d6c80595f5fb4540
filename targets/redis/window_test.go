package redis_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/targettest"
)

// TestHowLongAnExpiryLasts measures on a real server what expiryClock claims: a
// key given PX w lasts longer than w, and at most 1 ms longer.
func TestHowLongAnExpiryLasts(t *testing.T) {
	client := dial(t, targettest.RedisServer(t))
	const w = 20 * time.Millisecond
	var shortest, longest time.Duration = time.Hour, 0
	for i := range 20 {
		key := fmt.Sprint(i)
		before := time.Now()
		if err := client.Set(t.Context(), key, 1, w).Err(); err != nil {
			t.Fatal(err)
		}
		after := time.Now()
		for alive := true; alive; {
			sent := time.Now()
			n, err := client.Exists(t.Context(), key).Result()
			if err != nil {
				t.Fatal(err)
			}
			if alive = n == 1; alive {
				longest = max(longest, sent.Sub(after)) // it certainly lasted so long
			} else {
				shortest = min(shortest, time.Since(before)) // and certainly not longer than this
			}
		}
	}
	t.Logf("the longest lasted at least %s, the shortest at most %s", longest, shortest)
	if shortest <= w {
		t.Errorf("a key of %s was gone within %s", w, shortest)
	}
	if longest > w+time.Millisecond {
		t.Errorf("a key of %s lasted %s", w, longest)
	}
}

// TestALostExpiryIsMadeGood: the server has the INCRBY and never got the
// PEXPIRE. Whatever comes next, admitted or refused, ends the window.
func TestALostExpiryIsMadeGood(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		for _, count := range []int64{1, 5} {
			s := setup(url, count, time.Minute, rlbench.FirstRequest)
			s.Namespace = fmt.Sprintf("rlbench:lost-%d:", count)
			target := open(t, incr, s)
			ask(t, target, 1)
			key := keysOf(t, client, s.Namespace)[0]
			if !client.Persist(t.Context(), key).Val() {
				t.Fatal("there was no expiry to lose")
			}
			ask(t, target, 1)
			if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > time.Minute {
				t.Errorf("limit %d: after the next request the window ends in %s", count, ttl)
			}
		}
	})
}

// counted is a request to a counting design as it met the server: its INCRBY
// and its PEXPIRE in whole ticks, and what it was told.
type counted struct {
	incr, expire int
	admitted     bool
}

// count carries the requests' commands out one by one. With nx every request
// sends PEXPIRE NX, otherwise only one that got the first total sends PEXPIRE,
// and all others have their answer at once.
func count(requests []counted, limit, window int, nx bool) {
	type command struct{ at, request, step int }
	var commands []command
	for i, r := range requests {
		commands = append(commands, command{r.incr, i, 0}, command{r.expire, i, 1})
	}
	slices.SortFunc(commands, func(a, b command) int {
		return (a.at-b.at)*1000 + (a.step-b.step)*100 + a.request - b.request
	})
	const never = 1 << 30
	total, ends := 0, never
	opens := make([]bool, len(requests))
	for _, c := range commands {
		if c.at >= ends {
			total, ends = 0, never
		}
		switch {
		case c.step == 0:
			total++
			opens[c.request] = total == 1
			requests[c.request].admitted = total <= limit
			if !nx && !opens[c.request] {
				requests[c.request].expire = c.at
			}
		case total > 0 && (nx && ends == never || !nx && opens[c.request]):
			ends = c.at + window
		}
	}
}

// explained reports whether some choice of moments, each between a request's
// first command and its last, keeps the promise: at most limit in each window
// opened by a request that found none open. It tries every choice.
func explained(admitted []counted, limit, window int) bool {
	moments := make([]int, len(admitted))
	var try func(i int) bool
	try = func(i int) bool {
		if i == len(admitted) {
			return kept(moments, limit, window)
		}
		for moments[i] = admitted[i].incr; moments[i] <= admitted[i].expire; moments[i]++ {
			if try(i + 1) {
				return true
			}
		}
		return false
	}
	return try(0)
}

func kept(moments []int, limit, window int) bool {
	sorted := slices.Sorted(slices.Values(moments))
	ends, used := -1, 0
	for _, m := range sorted {
		if m >= ends {
			ends, used = m+window, 0
		}
		if used++; used > limit {
			return false
		}
	}
	return true
}

// TestWindowsOfACounterAreExact tries the argument at incrDesign on random
// interleavings: with PEXPIRE NX from everybody every history is explained,
// with the usual PEXPIRE from the opener some are not.
func TestWindowsOfACounterAreExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	broken := map[bool]int{}
	for range fullSize(200_000, 10_000) {
		const limit, window = 3, 4
		requests := make([]counted, 8)
		for i := range requests {
			requests[i].incr = random.IntN(12)
			requests[i].expire = requests[i].incr + random.IntN(5)
		}
		for _, nx := range []bool{true, false} {
			tried := slices.Clone(requests)
			count(tried, limit, window, nx)
			admitted := slices.DeleteFunc(tried, func(r counted) bool { return !r.admitted })
			if !explained(admitted, limit, window) {
				if broken[nx]++; nx {
					t.Fatalf("PEXPIRE NX from everybody, limit %d, window %d: no moments explain %+v", limit, window, admitted)
				}
			}
		}
	}
	t.Logf("with PEXPIRE from the opener alone %d histories had no explanation", broken[false])
	if broken[false] == 0 {
		t.Error("PEXPIRE from the opener alone was never seen to break the promise: the trial proves nothing")
	}
}
