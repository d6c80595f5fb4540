package broken

import (
	"github.com/rlbench/rlbench"
)

// shared are those whose instances or keys share too little or too much.
func shared() []Mutant {
	fill := together(100*tick, 40)
	return []Mutant{
		mutant("instances-alone", "per-instance multiplication, stale replicas", neverOver,
			"each instance counts by itself: N instances let through N times the limit",
			scene{policy: aligned(), instances: 5, traffic: []part{fill}, decide: alone(1)}),
		mutant("instances-split-the-limit", "per-instance multiplication, stale replicas", neverStarved,
			"each instance has an equal part of the limit, and refuses when its own is used up",
			scene{policy: aligned(), instances: 5, traffic: []part{{at: 100 * tick, n: 8, every: 10 * tick, via: 1}}, decide: alone(5)}),
		mutant("instances-sync-late", "per-instance multiplication, stale replicas", neverOver,
			"counts by itself and tells the others every half second",
			scene{policy: aligned(), instances: 5, decide: syncLate, traffic: []part{apart(50*tick, 60, 10*tick)}}),
		mutant("reads-a-replica", "per-instance multiplication, stale replicas", neverOver,
			"reads from a replica that lags, and writes to the primary",
			scene{policy: aligned(), instances: 3, replicate: 100 * tick, decide: readsReplica, traffic: []part{apart(110*tick, 40, 5*tick)}}),
		mutant("keys-collide", "state corruption", neverStarved,
			"cuts keys to eight characters: customers with the same beginning share one budget",
			scene{policy: aligned(), decide: keysCollide,
				traffic: []part{{at: 100 * tick, n: 10, key: "customer-1"}, {at: 200 * tick, n: 3, key: "customer-2"}}}),
		mutant("key-evicted", "failover, eviction", neverOver,
			"a flood of other keys drives a count out of the store, and it begins anew",
			scene{policy: aligned(), keysMax: 8, decide: fixedWindow, traffic: evicting()}),
	}
}

// alone counts in each instance, against a share of the limit.
func alone(share int64) decide {
	return func(c *call) rlbench.Outcome {
		key := c.window(c.read(), c.limit().Per)
		if c.own.local.count(key)+c.Cost > c.limit().Count/share {
			return rlbench.Denied
		}
		c.own.local.incr(key, c.Cost)
		return rlbench.Allowed
	}
}

func syncLate(c *call) rlbench.Outcome {
	now := c.read()
	key, mine := c.window(now, c.limit().Per), c.window(now, c.limit().Per)+":mine"
	if now >= c.own.local.count("sync") {
		c.own.local.set("sync", 0, now+int64(500*tick))
		unsent := c.own.local.count(mine)
		c.own.local.set(mine, 0, 0)
		c.own.local.set(key, 0, c.incr(key, unsent))
	}
	if c.own.local.count(key)+c.own.local.count(mine)+c.Cost > c.limit().Count {
		return rlbench.Denied
	}
	c.own.local.incr(mine, c.Cost)
	return rlbench.Allowed
}

func readsReplica(c *call) rlbench.Outcome {
	key := c.window(c.read(), c.limit().Per)
	c.trip()
	used := c.replica.count(key)
	c.trip()
	if used+c.Cost > c.limit().Count {
		return rlbench.Denied
	}
	c.incr(key, c.Cost)
	return rlbench.Allowed
}

func keysCollide(c *call) rlbench.Outcome {
	c.Key = c.Key[:min(len(c.Key), 8)]
	return fixedWindow(c)
}

// evicting fills one key, floods the store with others, and comes back.
func evicting() []part {
	parts := []part{together(100*tick, 10), together(500*tick, 5)}
	for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"} {
		parts = append(parts, part{at: 300 * tick, n: 1, key: key})
	}
	return parts
}

// outages are those that a store which is away, or forgets, leads astray.
func outages() []Mutant {
	down := fault{at: 300 * tick, do: func(w *world) { w.shared.down = true }}
	up := fault{at: 400 * tick, do: func(w *world) { w.shared.down = false }}
	return []Mutant{
		mutant("store-away-allowed", "fail-open or fail-closed wrong", neverOver,
			"takes a call that failed for a yes, and tells nobody",
			scene{policy: aligned(), faults: []fault{down, up}, decide: withoutStore(rlbench.Allowed), traffic: []part{together(100*tick, 10), together(320*tick, 5)}}),
		mutant("store-away-refused", "fail-open or fail-closed wrong", neverStarved,
			"takes a call that failed for a no, and tells nobody",
			scene{policy: aligned(), faults: []fault{down, up}, decide: withoutStore(rlbench.Denied), traffic: []part{together(100*tick, 5), together(320*tick, 5)}}),
		mutant("store-call-retried", "atomicity race", neverStarved,
			"asks again when no answer came, though the first call may have been counted",
			scene{policy: aligned(), storeLost: 500, decide: retried, traffic: []part{apart(10*tick, 10, 80*tick)}}),
		mutant("failover-forgets", "failover, eviction", neverOver,
			"the replica that takes over has not yet heard of the last writes",
			scene{policy: aligned(), replicate: 250 * tick, decide: fixedWindow, traffic: []part{together(300*tick, 10), together(450*tick, 10)},
				faults: []fault{{at: 400 * tick, do: func(w *world) { w.shared.copy(w.replica) }}}}),
		mutant("script-flushed", "NOSCRIPT", neverOver,
			"when the server has forgotten the script, an instance decides by what it knows itself until the script is back",
			scene{policy: aligned(), instances: 5, decide: scriptFlushed, traffic: []part{together(100*tick, 15), together(400*tick, 15)},
				faults: []fault{{at: 300 * tick, do: func(w *world) { w.shared.set("script", 0, 0) }}}}),
	}
}

// withoutStore says the same to everybody when the store does not answer.
func withoutStore(say rlbench.Outcome) decide {
	return func(c *call) rlbench.Outcome {
		admitted := false
		if !c.try(func(s *store) { admitted = admit(s, c.window(c.read(), c.limit().Per), c) }) {
			return say
		}
		return allowedIf(admitted)
	}
}

// admit counts a request if it fits.
func admit(s *store, key string, c *call) bool {
	if s.count(key)+c.Cost > c.limit().Count {
		return false
	}
	s.incr(key, c.Cost)
	return true
}

func retried(c *call) rlbench.Outcome {
	admitted := false
	for !c.try(func(s *store) { admitted = admit(s, c.window(c.read(), c.limit().Per), c) }) {
	}
	return allowedIf(admitted)
}

func scriptFlushed(c *call) rlbench.Outcome {
	if c.own.local.count("started") == 0 {
		c.own.local.set("started", 0, 1)
		c.set("script", 0, 1)
	}
	known, admitted := false, false
	key := c.window(c.read(), c.limit().Per)
	c.ask(func(s *store) {
		if known = s.count("script") > 0; known {
			admitted = admit(s, key, c)
		}
	})
	if known {
		return allowedIf(admitted)
	}
	admitted = admit(c.own.local, key, c)
	c.set("script", 0, 1)
	return allowedIf(admitted)
}
