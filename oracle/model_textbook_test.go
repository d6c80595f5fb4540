package oracle

import (
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// ask is one request of a worked example: when, and what the text says of it.
type ask struct {
	at    time.Duration
	cost  int64
	wants bool
	// wait is how long a queue holds it back.
	wait time.Duration
}

// burst asks n times at once.
func burst(at time.Duration, n int, wants bool) []ask {
	var asks []ask
	for range n {
		asks = append(asks, ask{at: at, cost: 1, wants: wants})
	}
	return asks
}

func inTurn(parts ...[]ask) []ask {
	var all []ask
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// tries asks a fresh model of the policy.
func tries(t *testing.T, p rlbench.Policy, asks []ask) {
	t.Helper()
	m, err := newModel(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range asks {
		allowed, wait := m.decide(int64(a.at), a.cost)
		if allowed != a.wants || wait != int64(a.wait) {
			t.Errorf("request %d at %s: let through %v after %s, the text says %v after %s", i+1, a.at, allowed, time.Duration(wait), a.wants, a.wait)
		}
	}
}

const second = time.Second

// Five a minute by the clock: five at 0:59 and five at 1:01 all pass, ten in two
// seconds.
func TestFixedWindowLetsTwiceTheLimitThroughAtTheEdge(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: 5, Per: time.Minute, Anchor: rlbench.Epoch}}}
	asks := inTurn(burst(59*second, 5, true), burst(59*second, 1, false), burst(61*second, 5, true), burst(61*second, 1, false))
	passed := 0
	for _, a := range asks {
		if a.wants {
			passed++
		}
	}
	if passed != 10 {
		t.Errorf("%d pass within 2 second, the text says 10", passed)
	}
	tries(t, p, asks)
}

// From the first request on, the same five at 0:59 close the window until 1:59.
func TestFirstRequestWindowHasNoSuchEdge(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: 5, Per: time.Minute, Anchor: rlbench.FirstRequest}}}
	tries(t, p, inTurn(burst(59*second, 5, true), burst(61*second, 1, false), burst(119*second-1, 1, false), burst(119*second, 5, true), burst(119*second, 1, false)))
}

// A log of 3 in 10 s: stamps of 0, 4 and 8 fill it until the first is ten seconds old.
func TestSlidingLogOfThreeInTenSeconds(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 3, Per: 10 * second}}}
	tries(t, p, []ask{
		{at: 0, cost: 1, wants: true}, {at: 4 * second, cost: 1, wants: true}, {at: 8 * second, cost: 1, wants: true},
		{at: 9 * second, cost: 1}, {at: 10*second - 1, cost: 1}, {at: 10 * second, cost: 1, wants: true},
		{at: 13 * second, cost: 1}, {at: 14 * second, cost: 1, wants: true}, {at: 17 * second, cost: 1}, {at: 18 * second, cost: 1, wants: true},
	})
}

// Eight in the minute before and three in this one, against ten: 8 · (1 - elapsed) + 3.
func TestSlidingCounterBlendsTwoWindows(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.SlidingCounter, Limits: []rlbench.Limit{{Count: 10, Per: time.Minute}}}
	before := inTurn(burst(30*second, 8, true), burst(60*second, 2, true), burst(60*second, 1, false))
	// 8 · (1 - 1/8) + 2 + 1 = 10 at 67.5 s: the third passes, and a fourth does not.
	third := inTurn(before, burst(67500*time.Millisecond-1, 1, false), burst(67500*time.Millisecond, 1, true), burst(67500*time.Millisecond, 1, false))
	// 8 · (1 - 1/4) + 3 + 1 = 10 at 75 s.
	tries(t, p, inTurn(third, burst(75*second-1, 1, false), burst(75*second, 1, true), burst(75*second, 1, false)))

	m, _ := newModel(p)
	c := m.limits[0].(*slidingCount)
	c.number, c.before, c.own = 1, 8, 3
	for _, row := range []struct{ elapsed, estimate int64 }{{0, 11}, {15, 9}, {30, 7}, {45, 5}} {
		if got := c.estimate(60*int64(second) + row.elapsed*int64(second)); got != row.estimate {
			t.Errorf("8 before and 3 now, %d second on: %d, the text says %d", row.elapsed, got, row.estimate)
		}
	}
}

// Rounded down, and to the nearest, the same blend lets through sooner.
func TestSlidingCounterRoundsAsItsDesignDoes(t *testing.T) {
	for rounding, first := range map[string]time.Duration{
		"":           60*second + 15*second,  // 8 · 3/4 = 6
		roundFloor:   60*second + 7500000001, // below 8 · 7/8 = 7
		roundNearest: 60*second + 11250000001,
	} {
		p := rlbench.Policy{Algorithm: rlbench.SlidingCounter, Limits: []rlbench.Limit{{Count: 10, Per: time.Minute}}, Params: map[string]string{paramRounding: rounding}}
		if rounding == "" {
			p.Params = nil
		}
		tries(t, p, inTurn(burst(30*second, 8, true), burst(60*second, 2, true)))
		m, err := newModel(p)
		if err != nil {
			t.Fatal(err)
		}
		c := m.limits[0].(*slidingCount)
		c.number, c.before, c.own = 1, 8, 3
		if c.fits(int64(first)-1, 1) || !c.fits(int64(first), 1) {
			t.Errorf("rounding %q: with 8 before and 3 now the fourth does not begin to pass at %s", rounding, first)
		}
	}
}

// A bucket of ten that gains one a second, in its three texts: ten at once, then one a
// second; after a long rest ten again, not more.
func TestBucketOfTenRefilledAtOneASecond(t *testing.T) {
	for _, a := range []rlbench.Algorithm{rlbench.TokenBucket, rlbench.GCRA, rlbench.LeakyMeter} {
		p := rlbench.Policy{Algorithm: a, Limits: []rlbench.Limit{{Count: 1, Per: second, Burst: 10}}}
		tries(t, p, inTurn(
			burst(0, 10, true), burst(0, 1, false), burst(second-1, 1, false), burst(second, 1, true), burst(second, 1, false),
			burst(4*second, 3, true), burst(4*second, 1, false), burst(time.Hour, 10, true), burst(time.Hour, 1, false)))
		tries(t, p, []ask{{at: 0, cost: 11}, {at: 0, cost: 7, wants: true}, {at: 0, cost: 4}, {at: 0, cost: 3, wants: true}, {at: 5 * second, cost: 6}, {at: 5 * second, cost: 5, wants: true}})
	}
}

// A queue of capacity three that leaks one a second: of four at once the fourth is
// refused, and the others leave at 0, 1 and 2 s.
func TestLeakyQueueOfCapacityThree(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.LeakyQueue, Limits: []rlbench.Limit{{Count: 1, Per: second, Burst: 3}}}
	tries(t, p, []ask{
		{at: 0, cost: 1, wants: true}, {at: 0, cost: 1, wants: true, wait: second}, {at: 0, cost: 1, wants: true, wait: 2 * second}, {at: 0, cost: 1},
		{at: second / 2, cost: 1}, {at: second, cost: 1, wants: true, wait: 2 * second}, {at: second, cost: 1},
		{at: 10 * second, cost: 1, wants: true},
	})
}

// NGINX at 10 a second with a burst of 3: six at once wait 0, 100, 199 and 298 ms when
// a millisecond passes after the second and after the third, and two are refused.
func TestNginxDelaysWithinItsBurst(t *testing.T) {
	const ms = time.Millisecond
	limit := []rlbench.Limit{{Count: 10, Per: second, Burst: 4}}
	p := rlbench.Policy{Algorithm: rlbench.LeakyQueue, Limits: limit, Params: map[string]string{paramModel: modelNginx}}
	tries(t, p, []ask{{at: 0, cost: 1, wants: true}, {at: 0, cost: 1, wants: true, wait: 100 * ms},
		{at: ms, cost: 1, wants: true, wait: 199 * ms}, {at: 2 * ms, cost: 1, wants: true, wait: 298 * ms}, {at: 2 * ms, cost: 1}, {at: 2 * ms, cost: 1}})
	// delay=2 lets three go at once; the rest of a burst of 5 waits from there.
	p.Limits = []rlbench.Limit{{Count: 10, Per: second, Burst: 6}}
	p.Params = map[string]string{paramModel: modelNginx, paramDelay: "2"}
	tries(t, p, []ask{{at: 0, cost: 1, wants: true}, {at: 0, cost: 1, wants: true}, {at: 0, cost: 1, wants: true},
		{at: 0, cost: 1, wants: true, wait: 100 * ms}, {at: 0, cost: 1, wants: true, wait: 200 * ms}, {at: 0, cost: 1, wants: true, wait: 300 * ms}, {at: 0, cost: 1}})
	p.Params = map[string]string{paramModel: modelNginx, paramNodelay: "true"}
	tries(t, p, inTurn(burst(0, 6, true), burst(0, 1, false)))
}

// Without a burst NGINX keeps whole milliseconds between requests: 300 a second are 250.
func TestNginxWithoutBurstIsSlowerThanItsRate(t *testing.T) {
	for _, row := range []struct {
		limit rlbench.Limit
		least int64
	}{{rlbench.Limit{Count: 300, Per: second, Burst: 1}, 4}, {rlbench.Limit{Count: 700, Per: second, Burst: 1}, 2}, {rlbench.Limit{Count: 1, Per: time.Minute, Burst: 1}, 62500}} {
		p := rlbench.Policy{Algorithm: rlbench.LeakyMeter, Limits: []rlbench.Limit{row.limit}, Params: map[string]string{paramModel: modelNginx}}
		gap := time.Duration(row.least) * time.Millisecond
		tries(t, p, inTurn(burst(0, 1, true), burst(gap-time.Millisecond, 1, false), burst(gap, 1, true)))
	}
}

// Two zones of 5 a second, burst 4, and 2 a second, burst 2: of eight at once three
// pass, and 1.2 s later two; the first zone is not charged for what the second refused.
func TestNginxZonesChargeAllOrNone(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.LeakyMeter, Params: map[string]string{paramModel: modelNginx, paramNodelay: "true"},
		Limits: []rlbench.Limit{{Count: 5, Per: second, Burst: 5}, {Count: 2, Per: second, Burst: 3}}}
	tries(t, p, inTurn(burst(0, 3, true), burst(0, 5, false), burst(1200*time.Millisecond, 2, true), burst(1200*time.Millisecond, 1, false)))
}

// Envoy gives nothing back: 3 in 3 min and 1 a second, two refused by the faster bucket
// have emptied the slower one.
func TestEnvoyKeepsWhatItTookBeforeARefusal(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.TokenBucket, Params: map[string]string{paramModel: modelEnvoy},
		Limits: []rlbench.Limit{{Count: 1, Per: second, Burst: 1}, {Count: 3, Per: 3 * time.Minute, Burst: 3}}}
	tries(t, p, inTurn(burst(0, 1, true), burst(0, 2, false), burst(2*second, 1, false)))
	p.Params = nil
	tries(t, p, inTurn(burst(0, 1, true), burst(0, 2, false), burst(2*second, 1, true)))
}

// Envoy fills without steps: at 10 a second one passes each 100 ms, not ten each second.
func TestEnvoyFillsWithoutSteps(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.TokenBucket, Params: map[string]string{paramModel: modelEnvoy}, Limits: []rlbench.Limit{{Count: 10, Per: second, Burst: 10}}}
	tries(t, p, inTurn(burst(0, 10, true), burst(second/10-1, 1, false), burst(second/10, 1, true), burst(second/2, 4, true), burst(second/2, 1, false)))
}

// The rate limit service counts what it refuses: against 10, 8 pass, 8 more do not, and
// then not even 1; the next window is free.
func TestServiceCountsWhatItRefuses(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.FixedWindow, Params: map[string]string{paramModel: modelService}, ChargesRefusals: true,
		Limits: []rlbench.Limit{{Count: 10, Per: 24 * time.Hour, Anchor: rlbench.Epoch}}}
	tries(t, p, []ask{{at: 0, cost: 8, wants: true}, {at: 0, cost: 8}, {at: 0, cost: 1}, {at: 24 * time.Hour, cost: 10, wants: true}})
}

// What no model can do is said.
func TestNoModel(t *testing.T) {
	limit := []rlbench.Limit{{Count: 1, Per: second, Burst: 1}}
	for _, p := range []rlbench.Policy{
		{Algorithm: "guess", Limits: limit},
		{Algorithm: rlbench.TokenBucket, Limits: limit, Params: map[string]string{paramModel: "other"}},
		{Algorithm: rlbench.SlidingLog, Limits: limit, Params: map[string]string{paramModel: modelNginx}},
		{Algorithm: rlbench.LeakyQueue, Limits: limit, Params: map[string]string{paramModel: modelNginx, paramDelay: "0"}},
		{Algorithm: rlbench.LeakyQueue, Limits: limit, Params: map[string]string{paramModel: modelNginx, paramNodelay: "yes"}},
		{Algorithm: rlbench.SlidingCounter, Limits: limit, Params: map[string]string{paramRounding: "up"}},
		{Algorithm: rlbench.TokenBucket, Limits: []rlbench.Limit{{Count: 1, Per: 365 * 24 * time.Hour, Burst: 1 << 50}}},
		{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: 1, Per: second / 2, Anchor: rlbench.Epoch}}, Params: map[string]string{paramModel: modelService}},
	} {
		if m, err := newModel(p); err == nil {
			t.Errorf("%v has a model: %v", p, m)
		}
	}
}

// NGINX forgives a clock that is set back by more than a minute, as if a millisecond had
// passed; by less it counts as no time at all.
func TestNginxWhenItsClockIsSetBack(t *testing.T) {
	p := rlbench.Policy{Algorithm: rlbench.LeakyMeter, Limits: []rlbench.Limit{{Count: 1000, Per: second, Burst: 1}}, Params: map[string]string{paramModel: modelNginx}}
	tries(t, p, inTurn(burst(200*second, 1, true), burst(140*second, 1, false), burst(140*second-time.Millisecond, 1, true), burst(140*second-time.Millisecond, 1, false)))
}
