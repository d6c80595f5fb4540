package memory

import "sync"

const (
	// shardCount spreads the locks that guard looking a key up.
	shardCount = 64
	// sweepMax bounds how many keys a new key's arrival looks at to free them.
	// Above 1 the sweep outruns the arrivals: a shard goes all round while it
	// grows by half, so that it never holds many more keys than are in use.
	sweepMax = 4
)

// keyspace finds what is held of a key.
type keyspace[A any] struct {
	// rules is how many accounts a key has.
	rules int
	// idle reports whether accounts are as good as those of a key never seen.
	idle   func([]A) bool
	shards [shardCount]shard[A]
}

// shard holds some of the keys, by name and, for the sweep, in a row.
type shard[A any] struct {
	sync.RWMutex
	byKey map[string]*holding[A]
	row   []*holding[A]
	next  int
	_     [64]byte // keeps neighbours' locks off one cache line
}

// holding is what is known of one key: an account for each limit. The lock is
// the key's own.
type holding[A any] struct {
	sync.Mutex
	key      string
	accounts []A
	// dropped: swept from the keyspace; who still holds it looks the key up again.
	dropped bool
}

// holding returns what is held of the key, fresh accounts when it has none.
func (k *keyspace[A]) holding(key string) *holding[A] {
	s := &k.shards[hash(key)%shardCount]
	s.RLock()
	h := s.byKey[key]
	s.RUnlock()
	if h != nil {
		return h
	}
	return k.add(s, key)
}

func (k *keyspace[A]) add(s *shard[A], key string) *holding[A] {
	s.Lock()
	defer s.Unlock()
	if h := s.byKey[key]; h != nil {
		return h
	}
	if s.byKey == nil {
		s.byKey = make(map[string]*holding[A])
	}
	k.sweep(s)
	h := &holding[A]{key: key, accounts: make([]A, k.rules)}
	s.byKey[key] = h
	s.row = append(s.row, h)
	return h
}

// sweep frees those of the next few keys that are idle: such a key is as good as
// one never seen, so freeing it changes no decision.
func (k *keyspace[A]) sweep(s *shard[A]) {
	for range min(sweepMax, len(s.row)) {
		if s.next >= len(s.row) {
			s.next = 0
		}
		h := s.row[s.next]
		if !k.drop(h) {
			s.next++
			continue
		}
		delete(s.byKey, h.key)
		last := len(s.row) - 1
		s.row[s.next], s.row[last] = s.row[last], nil
		s.row = s.row[:last]
	}
}

// drop marks the holding as gone if it is idle. A key that is being asked for
// this moment is in use: the sweep does not wait for it.
func (k *keyspace[A]) drop(h *holding[A]) bool {
	if !h.TryLock() {
		return false
	}
	defer h.Unlock()
	h.dropped = k.idle(h.accounts)
	return h.dropped
}

// hash is FNV-1a: the same in every process, and no allocation.
func hash(key string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(key); i++ {
		h = (h ^ uint32(key[i])) * 16777619
	}
	return h
}
