package memory

import (
	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// slidingLog is the stamps of a key and limit that still count.
type slidingLog = limiter[stamps, logRule]

func newSlidingLog(limits []rlbench.Limit, clock targets.Clock) *slidingLog {
	var rules []logRule
	for _, l := range limits {
		rules = append(rules, logRule{count: l.Count, length: int64(l.Per)})
	}
	return newLimiter(rules, clock)
}

// logRule lets count through in any stretch of a length, half open: a stamp of
// exactly length ago has left.
type logRule struct{ count, length int64 }

// stamps are a ring of charges, the oldest at first. What was charged at one
// moment is one stamp, so none is lost to another of the same moment.
type stamps struct {
	ring     []stamp // as long as a power of two
	first, n int
	held     int64
}

type stamp struct{ at, cost int64 }

func (s *stamps) at(i int) *stamp { return &s.ring[(s.first+i)&(len(s.ring)-1)] }

// trim takes out what has left. It changes no decision, only the memory used.
func (r logRule) trim(s *stamps, now int64) {
	for s.n > 0 && s.at(0).at <= now-r.length {
		s.held -= s.at(0).cost
		s.first, s.n = s.first+1, s.n-1
	}
}

func (r logRule) most() int64 { return r.count }

func (r logRule) left(s *stamps, now int64) int64 {
	r.trim(s, now)
	return r.count - s.held
}

// wait is until so many of the oldest have left that the cost fits. Each holds
// at least 1, so it looks at no more stamps than the cost.
func (r logRule) wait(s *stamps, now, cost int64) int64 {
	left := r.count - s.held
	for i := range s.n {
		if left += s.at(i).cost; left >= cost {
			return s.at(i).at + r.length - now
		}
	}
	return 0
}

func (r logRule) charge(s *stamps, now, cost int64) {
	s.held += cost
	if s.n > 0 && s.at(s.n-1).at == now {
		s.at(s.n - 1).cost += cost
		return
	}
	if s.n == len(s.ring) {
		s.grow()
	}
	s.n++
	*s.at(s.n - 1) = stamp{at: now, cost: cost}
}

// grow doubles the ring: a key that is asked for steadily soon allocates nothing.
func (s *stamps) grow() {
	ring := make([]stamp, max(4, 2*len(s.ring)))
	for i := range s.n {
		ring[i] = *s.at(i)
	}
	s.ring, s.first = ring, 0
}

func (r logRule) idle(s *stamps, now int64) bool {
	r.trim(s, now)
	return s.n == 0
}
