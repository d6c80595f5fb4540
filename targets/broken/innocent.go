package broken

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlbench/rlbench"
)

// Correct returns a correct limiter of every algorithm. Their policies, clocks,
// networks and traffic are drawn from the seed, as widely as the promise allows.
func Correct() []Limiter {
	epoch := rlbench.Limit{Anchor: rlbench.Epoch}
	first := rlbench.Limit{Anchor: rlbench.FirstRequest}
	return []Limiter{
		correct("fixed-window", "windows aligned to the epoch", rlbench.FixedWindow, epoch, fixedWindow),
		correct("fixed-window-first-request", "windows opened by the first request", rlbench.FixedWindow, first, openedWindow),
		{
			Name: "fixed-window-counted-first", About: "count first, then decide: refusals are charged",
			scene: func(draw *rand.Rand) scene {
				s := drawn(draw, rlbench.FixedWindow, first, countedFirst)
				s.policy.Limits = s.policy.Limits[:1]
				s.policy.ChargesRefusals = true
				return s
			},
		},
		correct("sliding-log", "a stamp for each unit let through", rlbench.SlidingLog, rlbench.Limit{}, slidingLog),
		correct("sliding-counter", "two counts, the older one by its share", rlbench.SlidingCounter, rlbench.Limit{}, slidingCounter),
		correct("token-bucket", "tokens that come back at the rate", rlbench.TokenBucket, rlbench.Limit{Burst: 1}, tokenBucket),
		correct("gcra", "one moment: when the bucket will have drained", rlbench.GCRA, rlbench.Limit{Burst: 1}, gcra),
		{
			Name: "leaky-meter", About: "a level that drains at the rate",
			scene: func(draw *rand.Rand) scene {
				s := drawn(draw, rlbench.LeakyMeter, rlbench.Limit{Burst: 1}, leakyMeter)
				s.policy.Limits = s.policy.Limits[:1]
				return s
			},
		},
		{
			Name: "leaky-queue", About: "requests wait and go one by one",
			scene: func(draw *rand.Rand) scene {
				s := drawn(draw, rlbench.LeakyQueue, rlbench.Limit{Burst: 1}, leakyQueue)
				s.policy.Limits = s.policy.Limits[:1]
				s.policy.Resolution -= s.skew
				s.skew = 0 // A queue waits in one place, by one clock.
				return s
			},
		},
	}
}

func correct(name, about string, algorithm rlbench.Algorithm, shape rlbench.Limit, d decide) Limiter {
	return Limiter{Name: name, About: about, scene: func(draw *rand.Rand) scene { return drawn(draw, algorithm, shape, d) }}
}

// pick draws one of a few.
func pick[T any](draw *rand.Rand, from ...T) T { return from[draw.IntN(len(from))] }

// drawn draws a world: clocks that tick coarsely and disagree, a network that is
// slow against the window, answers that get lost, and traffic of every shape.
func drawn(draw *rand.Rand, algorithm rlbench.Algorithm, shape rlbench.Limit, d decide) scene {
	step := pick(draw, time.Nanosecond, time.Millisecond, 10*time.Millisecond)
	s := scene{
		decide: d, instances: 1 + draw.IntN(5), step: step,
		latency: pick(draw, time.Nanosecond, time.Millisecond, 10*time.Millisecond, 200*time.Millisecond),
		skew:    pick(draw, 0, 0, time.Duration(1+draw.Int64N(int64(20*time.Millisecond)))),
		lost:    pick(draw, 0, 0, 20, 200),
		phase:   time.Duration(draw.Int64N(int64(time.Hour))),
	}
	// Clocks that disagree do not put decisions in an order.
	s.stamps = s.skew == 0 && draw.IntN(2) == 0
	s.policy = rlbench.Policy{Algorithm: algorithm, Resolution: step}
	each := step * time.Duration(1+draw.Int64N(int64(40*time.Millisecond/step)))
	for range 1 + draw.IntN(2) {
		l := shape
		l.Count = 1 + draw.Int64N(8)
		l.Per = time.Duration(l.Count) * each
		if shape.Burst > 0 {
			l.Burst = 1 + draw.Int64N(8)
		}
		s.policy.Limits = append(s.policy.Limits, l)
		each *= time.Duration(2 + draw.IntN(9))
	}
	switch {
	case algorithm.Bucket():
		s.policy.Resolution = step + s.skew // A late clock misreads every stretch by so much.
	case shape.Anchor != rlbench.Epoch && algorithm != rlbench.SlidingCounter:
		s.policy.Drift = s.skew
	}
	s.fit()
	s.traffic = traffic(draw, s.policy)
	return s
}

// fit makes every window longer than what its clock may be wrong by.
func (s *scene) fit() {
	for i, l := range s.policy.Limits {
		for s.policy.Limits[i].Per <= 4*(s.policy.Resolution+s.policy.Drift+s.skew) {
			s.policy.Limits[i].Per += l.Per
		}
	}
	if len(s.policy.Limits) == 2 && s.policy.Limits[0].Per == s.policy.Limits[1].Per {
		s.policy.Limits = s.policy.Limits[:1] // One key for each length of window.
	}
}

// traffic draws bursts, saturation, trickles and pauses on up to three keys, in
// costs that now and then no budget has room for.
func traffic(draw *rand.Rand, p rlbench.Policy) []part {
	l := p.Limits[0]
	least := max(1, int(max(l.Count, l.Burst)))
	keys := 1 + draw.IntN(3)
	dear := pick(draw, 1, 1, 3, least+1)
	var parts []part
	at := time.Duration(0)
	for range 4 + draw.IntN(9) {
		parts = append(parts, part{
			at: at, n: 1 + draw.IntN(4*least), key: fmt.Sprint("user-", draw.IntN(keys)), cost: 1 + draw.Int64N(int64(dear)),
			every:  l.Per / time.Duration(l.Count) * time.Duration(pick(draw, 0, 0, 1, 3, 4, 5, 8)) / 4,
			spread: pick(draw, 0, l.Per/10, l.Per),
		})
		at += pick(draw, 0, 1, l.Per/3, l.Per-1, l.Per, l.Per+1, 2*l.Per, 7*l.Per)
	}
	return parts
}
