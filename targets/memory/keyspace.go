package memory

import (
	"sync"

	"github.com/rlbench/rlbench/targets"
)

const (
	// shardCount spreads the locks that guard looking a key up.
	shardCount = 64
	// sweepMax bounds how many keys a new key's arrival looks at to free them.
	// Above 1 the sweep outruns the arrivals: a shard goes all round while it
	// grows by half, so that it never holds many more keys than are in use.
	sweepMax = 4
)

// keyspace finds the budget of a key. The zero value is empty and ready.
type keyspace struct{ shards [shardCount]shard }

// shard holds some of the keys, by name and, for the sweep, in a row.
type shard struct {
	sync.RWMutex
	byKey map[string]*budget
	row   []*budget
	next  int
	_     [64]byte // keeps neighbours' locks off one cache line
}

// budget returns the key's budget, a fresh one when it has none.
func (k *keyspace) budget(key string, limits int, clock targets.Clock) *budget {
	s := &k.shards[hash(key)%shardCount]
	s.RLock()
	b := s.byKey[key]
	s.RUnlock()
	if b != nil {
		return b
	}
	return s.add(key, limits, clock)
}

func (s *shard) add(key string, limits int, clock targets.Clock) *budget {
	s.Lock()
	defer s.Unlock()
	if b := s.byKey[key]; b != nil {
		return b
	}
	if s.byKey == nil {
		s.byKey = make(map[string]*budget)
	}
	s.sweep(clock)
	b := &budget{key: key, windows: make([]window, limits)}
	s.byKey[key] = b
	s.row = append(s.row, b)
	return b
}

// sweep frees those of the next few keys whose windows have all ended: such a
// key is as good as one never seen, so freeing it changes no decision.
func (s *shard) sweep(clock targets.Clock) {
	for range min(sweepMax, len(s.row)) {
		if s.next >= len(s.row) {
			s.next = 0
		}
		b := s.row[s.next]
		if !b.drop(clock) {
			s.next++
			continue
		}
		delete(s.byKey, b.key)
		last := len(s.row) - 1
		s.row[s.next], s.row[last] = s.row[last], nil
		s.row = s.row[:last]
	}
}

// drop marks the budget as gone, if nothing of it is in use or in force. A key
// that is being asked for this moment is in use: the sweep does not wait for it.
func (b *budget) drop(clock targets.Clock) bool {
	if !b.TryLock() {
		return false
	}
	defer b.Unlock()
	now := clock()
	for _, w := range b.windows {
		if w.inForce(now) {
			return false
		}
	}
	b.dropped = true
	return true
}

// hash is FNV-1a: the same in every process, and no allocation.
func hash(key string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(key); i++ {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return h
}
