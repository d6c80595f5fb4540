package broken

import (
	"slices"
	"testing"
	"time"
)

// TestStore: what it keeps, for how long, and what makes room for what.
func TestStore(t *testing.T) {
	w := &world{}
	s := w.newStore()
	s.set("a", 10, 1, 2)
	s.set("b", 0, 5)
	if s.incr("a", 2) != 3 || s.incr("new", 4) != 4 {
		t.Error("incr does not add to the first number, or to none")
	}
	if got := s.get("a"); !slices.Equal(got, []int64{3}) {
		t.Errorf("a holds %v", got)
	}
	w.now = 9
	if s.count("a") != 3 {
		t.Error("a went before its time to live was over, or incr took it away")
	}
	w.now = 10
	if s.get("a") != nil || s.count("a") != 0 {
		t.Error("a stayed when its time to live was over")
	}
	if s.incr("a", 1) != 1 {
		t.Error("a came back with what it had held")
	}
	w.now = int64(time.Hour)
	if s.count("a") != 1 || s.count("b") != 5 {
		t.Error("what has no time to live went")
	}
	s.expire("b", 1)
	s.expire("none", 1)
	w.now++
	if s.get("b") != nil {
		t.Error("b stayed beyond its new time to live")
	}
}

func TestStoreThatIsFullForgetsTheOldest(t *testing.T) {
	s := (&world{}).newStore()
	s.keysMax = 2
	for i, key := range []string{"a", "b", "a", "c"} {
		s.incr(key, int64(i+1))
	}
	if s.get("a") != nil || s.count("b") != 2 || s.count("c") != 4 {
		t.Errorf("it holds %v", s.values)
	}
}

// TestReplicaIsACopy: what the primary hears later does not reach it.
func TestReplicaIsACopy(t *testing.T) {
	w := &world{}
	primary, replica := w.newStore(), w.newStore()
	primary.incr("a", 1)
	replica.copy(primary)
	primary.incr("a", 1)
	if replica.count("a") != 1 || primary.count("a") != 2 {
		t.Errorf("replica %d, primary %d", replica.count("a"), primary.count("a"))
	}
	// What is read belongs to the reader.
	primary.get("a")[0] = 9
	if primary.count("a") != 2 {
		t.Error("a reader changed the store")
	}
}
