package redis_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
	"github.com/rlbench/rlbench/targets/targettest"
)

// exactMax is up to where a script counts exactly.
const exactMax = 1<<53 - 1

// TestAnExpiryDecidesNothing under a script: a key that outlives what it counts,
// or loses its expiry, is as good as none all the same.
func TestAnExpiryDecidesNothing(t *testing.T) {
	m := miniredis.RunT(t)
	for _, d := range scriptDesigns() {
		for _, anchor := range targettest.Anchors(d) {
			now := time.Unix(1_700_000_000, 0)
			m.SetTime(now)
			target := open(t, d.Name, setup("redis://"+m.Addr(), 1, time.Minute, anchor))
			for window := range 3 {
				if a := ask(t, target, 1); a.Outcome != rlbench.Allowed {
					t.Errorf("%s %s, window %d: %s", d.Name, anchor, window, a.Outcome)
				}
				if a := ask(t, target, 1); a.Outcome != rlbench.Denied {
					t.Errorf("%s %s, window %d, full: %s", d.Name, anchor, window, a.Outcome)
				}
				now = now.Add(2 * time.Minute)
				m.SetTime(now) // time passes, and no expiry with it
			}
			_ = target.Close()
		}
	}
}

// TestAKeyLivesWhileItCounts: at least until its whole budget is there again, and
// by the client's clock for as long as a stamped request may still be on its way.
func TestAKeyLivesWhileItCounts(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		for clock, onItsWay := range map[string]time.Duration{"server": 0, "client": timeout} {
			for _, d := range scriptDesigns() {
				for _, anchor := range targettest.Anchors(d) {
					const count, per = 7, 10 * 365 * 24 * time.Hour // no window's edge is near
					s := setup(url, count, per, anchor)
					s.Policy.Params = map[string]string{"clock": clock}
					target := open(t, d.Name, s)
					ask(t, target, count)
					whole := ask(t, target, count)
					ttl := client.PTTL(t.Context(), keysOf(t, client, "rlbench:test:")[0]).Val()
					if whole.RetryAfter < time.Second || ttl < whole.RetryAfter+onItsWay {
						t.Errorf("%s %s, clock of the %s: its key is gone after %s, and its budget is whole again after %s",
							d.Name, anchor, clock, ttl, whole.RetryAfter)
					}
					_ = target.Close()
				}
			}
		}
	})
}

// TestAClockThatIsSetBack gives nothing away: it stands still for a key until it
// has passed what the key knows.
func TestAClockThatIsSetBack(t *testing.T) {
	m := miniredis.RunT(t)
	for _, d := range scriptDesigns() {
		for _, anchor := range targettest.Anchors(d) {
			start := time.Unix(1_700_000_020, 0)
			m.SetTime(start)
			target := open(t, d.Name, setup("redis://"+m.Addr(), 2, time.Minute, anchor))
			first := ask(t, target, 2)
			for _, back := range []time.Duration{time.Microsecond, time.Minute, time.Hour} {
				m.SetTime(start.Add(-back))
				a := ask(t, target, 1)
				if a.Outcome != rlbench.Denied {
					t.Errorf("%s %s: the clock is set back by %s, and a full budget lets more through", d.Name, anchor, back)
				}
				if a.DecidedAt < first.DecidedAt-int64(time.Minute) {
					t.Errorf("%s %s: set back by %s it decides at %d after %d", d.Name, anchor, back, a.DecidedAt, first.DecidedAt)
				}
			}
			m.SetTime(start.Add(2 * time.Minute))
			if a := ask(t, target, 2); a.Outcome != rlbench.Allowed {
				t.Errorf("%s %s: when the clock has passed all that, %s", d.Name, anchor, a.Outcome)
			}
			_ = target.Close()
		}
	}
}

// TestScriptsCountExactlyToTheirBounds: the greatest policy that each accepts is
// decided to the unit and to the microsecond, again and again.
func TestScriptsCountExactlyToTheirBounds(t *testing.T) {
	const per = time.Second
	bucket := rlbench.Limit{Count: 3, Per: per, Burst: exactMax / 2 / 1_000_000}
	greatest := map[rlbench.Algorithm]rlbench.Limit{
		rlbench.FixedWindow:    {Count: exactMax, Per: per, Anchor: rlbench.FirstRequest},
		rlbench.SlidingLog:     {Count: exactMax, Per: per},
		rlbench.SlidingCounter: {Count: exactMax / 1_000_000, Per: per},
		rlbench.TokenBucket:    bucket, rlbench.GCRA: bucket, rlbench.LeakyMeter: bucket, rlbench.LeakyQueue: bucket,
	}
	m := miniredis.RunT(t)
	for _, d := range scriptDesigns() {
		now := time.Unix(1_700_000_000, 0)
		s := setup("redis://"+m.Addr(), 1, per, "")
		s.Policy.Algorithm, s.Policy.Limits = d.Algorithm, []rlbench.Limit{greatest[d.Algorithm]}
		target, err := d.Open(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		most := max(s.Policy.Limits[0].Burst, s.Policy.Limits[0].Count)
		for round := range 4 { // sums pass 2^53 several times
			m.SetTime(now)
			mostly := ask(t, target, most-1)
			if mostly.Outcome != rlbench.Allowed || mostly.Remaining != 1 || mostly.Limit != most {
				t.Fatalf("%s, round %d: %s with %d of %d remaining", d.Name, round, mostly.Outcome, mostly.Remaining, mostly.Limit)
			}
			refused := ask(t, target, 2)
			if refused.Outcome != rlbench.Denied || refused.RetryAfter <= 0 {
				t.Fatalf("%s, round %d: 2 where 1 is left: %+v", d.Name, round, refused)
			}
			m.SetTime(now.Add(refused.RetryAfter - time.Microsecond))
			if a := ask(t, target, 2); a.Outcome != rlbench.Denied {
				t.Errorf("%s, round %d: 1 µs before the stated moment: %s", d.Name, round, a.Outcome)
			}
			whole := ask(t, target, most)
			if whole.Outcome != rlbench.Denied {
				t.Errorf("%s, round %d: the whole of it: %s", d.Name, round, whole.Outcome)
			}
			now = now.Add(refused.RetryAfter - time.Microsecond + whole.RetryAfter)
		}
		_ = target.Close()
	}
}

// TestWhatIsBeyondAScriptIsRefused in words, one above each bound.
func TestWhatIsBeyondAScriptIsRefused(t *testing.T) {
	for _, row := range []struct {
		algorithm rlbench.Algorithm
		limit     rlbench.Limit
	}{
		{rlbench.FixedWindow, rlbench.Limit{Count: exactMax + 1, Per: time.Second, Anchor: rlbench.Epoch}},
		{rlbench.SlidingLog, rlbench.Limit{Count: exactMax + 1, Per: time.Second}},
		{rlbench.SlidingCounter, rlbench.Limit{Count: exactMax/1_000_000 + 1, Per: time.Second}},
		{rlbench.TokenBucket, rlbench.Limit{Count: 3, Per: time.Second, Burst: exactMax/2/1_000_000 + 1}},
		{rlbench.GCRA, rlbench.Limit{Count: exactMax + 2, Per: time.Microsecond, Burst: 1}},
		{rlbench.LeakyMeter, rlbench.Limit{Count: 1, Per: targets.WindowMax, Burst: 2}},
		{rlbench.LeakyQueue, rlbench.Limit{Count: 1, Per: time.Second + time.Nanosecond, Burst: 2}},
	} {
		d := design(t, "redis-lua-"+string(row.algorithm))
		s := setup("redis://127.0.0.1:1", 1, time.Second, "")
		s.Policy = rlbench.Policy{Algorithm: row.algorithm, Limits: []rlbench.Limit{row.limit}}
		if err := d.Check(s); err == nil {
			t.Errorf("%s accepts %s", d.Name, row.limit)
		}
	}
	s := setup("redis://127.0.0.1:1", 1, time.Second, rlbench.Epoch)
	s.Policy.Params = map[string]string{"clock": "moon"}
	if err := design(t, lua).Check(s); err == nil {
		t.Error("it accepts a clock that there is not")
	}
}
