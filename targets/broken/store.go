package broken

import (
	"maps"
	"slices"
	"time"
)

// store holds lists of numbers by key, some until an end. It does one thing at a time.
type store struct {
	clock  func() int64
	values map[string]value
	// order is in which order keys came, oldest first; the oldest makes room.
	order   []string
	keysMax int
	down    bool
}

type value struct {
	numbers []int64
	// ends is when it is gone; 0: it stays.
	ends int64
}

func (w *world) newStore() *store {
	return &store{clock: func() int64 { return w.now }, values: map[string]value{}}
}

// copy makes s hold what other holds.
func (s *store) copy(other *store) { s.values = maps.Clone(other.values) }

// get returns the numbers of a key, nil when there is none.
func (s *store) get(key string) []int64 {
	v, there := s.values[key]
	if !there || v.ends != 0 && s.clock() >= v.ends {
		delete(s.values, key)
		return nil
	}
	return slices.Clone(v.numbers)
}

// count returns the first number of a key, 0 when there is none.
func (s *store) count(key string) int64 {
	if numbers := s.get(key); len(numbers) > 0 {
		return numbers[0]
	}
	return 0
}

// set replaces a key's numbers; they are gone after ttl, or stay when it is 0.
func (s *store) set(key string, ttl time.Duration, numbers ...int64) {
	s.put(key, value{numbers: slices.Clone(numbers)})
	s.expire(key, ttl)
}

// incr adds to a key's number and returns it. What time it has left stays as it is.
func (s *store) incr(key string, by int64) int64 {
	n := s.count(key) + by
	s.put(key, value{numbers: []int64{n}, ends: s.values[key].ends})
	return n
}

// expire gives a key a new time to live.
func (s *store) expire(key string, ttl time.Duration) {
	v, there := s.values[key]
	if !there {
		return
	}
	v.ends = 0
	if ttl > 0 {
		v.ends = s.clock() + int64(ttl)
	}
	s.values[key] = v
}

func (s *store) put(key string, v value) {
	if _, there := s.values[key]; !there && s.keysMax > 0 {
		s.order = append(s.order, key)
		if len(s.order) > s.keysMax {
			delete(s.values, s.order[0])
			s.order = s.order[1:]
		}
	}
	s.values[key] = v
}
