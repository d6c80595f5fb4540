package broken

import (
	"strings"
	"time"

	"github.com/rlbench/rlbench"
)

// queues are leaky queues that let go or take in wrongly: 10 a second, room for 5.
func queues() []Mutant {
	const class = "stall"
	queue := policy(rlbench.LeakyQueue, rate(10, time.Second, 5))
	fill := []part{together(0, 4), apart(50*tick, 20, 90*tick)}
	return []Mutant{
		mutant("queue-in-pairs", class, evenOutflow,
			"looks every second turn, and lets two go at once",
			scene{policy: queue, traffic: fill, decide: queueing{room: 5, goes: func(slot, each int64) int64 { return (slot + each) / (2 * each) * 2 * each }}.decide}),
		mutant("queue-lets-go-at-once", class, evenOutflow,
			"counts what waits, and lets nobody wait",
			scene{policy: queue, traffic: fill, decide: queueing{room: 5, goes: func(slot, each int64) int64 { return 0 }}.decide}),
		mutant("queue-wakes-all", class, evenOutflow,
			"wakes everybody at the next whole second",
			scene{policy: queue, traffic: fill, decide: queueing{room: 5, goes: func(slot, each int64) int64 {
				return (slot + int64(time.Second) - 1) / int64(time.Second) * int64(time.Second)
			}}.decide}),
		mutant("queue-saves-up", "credit for idleness", evenOutflow,
			"turns that nobody took are made up for: after a pause ten go at once",
			scene{policy: queue, traffic: []part{together(0, 1), together(2*time.Second, 5)}, decide: queueing{room: 5, slack: 10}.decide}),
		mutant("queue-one-too-many", "off by one", ownModel,
			"does not count the one that is let go",
			scene{policy: queue, stamps: true, traffic: fill, decide: queueing{room: 6}.decide}),
		mutant("queue-one-too-few", "off by one", ownModel,
			"counts the place behind the last one as taken",
			scene{policy: queue, stamps: true, traffic: fill, decide: queueing{room: 4}.decide}),
	}
}

// queueing is a leaky queue with another room and another idea of when to let go.
type queueing struct {
	room int64
	// goes is when the one whose slot it is goes; nil: in its slot.
	goes func(slot, each int64) int64
	// slack is how many turns that nobody took are made up for.
	slack int64
}

func (q queueing) decide(c *call) rlbench.Outcome {
	c.trip()
	each := int64(c.limit().Per) / c.limit().Count
	now := c.read()
	slot := max(now-q.slack*each, c.shared.count(c.Key))
	if slot+c.Cost*each-now > q.room*each {
		c.trip()
		return rlbench.Denied
	}
	c.shared.set(c.Key, 0, slot+c.Cost*each)
	if q.goes != nil {
		slot = q.goes(slot, each)
	}
	c.queue(max(0, slot-now))
	c.trip()
	return rlbench.Allowed
}

// replicas are those that keep the letter of their promise, or nearly, but decide
// otherwise than their algorithm does, or say something false about it.
func replicas() []Mutant {
	return []Mutant{
		mutant("log-for-a-window", "under-admission", ownModel,
			"promises windows opened by the first request, and slides: two bursts that meet at an edge are refused",
			scene{policy: opened(), decide: slidingLog, traffic: []part{together(0, 1), together(900*tick, 9), together(1100*tick, 5)}}),
		mutant("window-renewed-when-full", "key that never expires", ownModel,
			"a refusal begins the window anew",
			scene{policy: opened(), decide: renewedWhenFull, traffic: []part{together(0, 5), together(600*tick, 10), together(1100*tick, 5)}}),
		mutant("stamp-from-a-cached-clock", "clock skew, clock going back", ownModel,
			"reads the time once in 200 ms, and says that it decided then",
			scene{policy: aligned(), stamps: true, decide: cachedClock, traffic: []part{apart(100*tick, 40, 10*tick)}}),
		mutant("keys-fold-case", "state corruption", keyIsolation,
			"takes Anna and anna for one: a store that ignores case",
			scene{policy: aligned(), decide: keyed(strings.ToLower), traffic: twoKeys("Anna", "anna")}),
		mutant("keys-joined", "state corruption", keyIsolation,
			"joins tenant and user without a mark between: ab+c and a+bc are one key",
			scene{policy: bucket(), decide: keyed(func(key string) string { return strings.ReplaceAll(key, "/", "") }), traffic: twoKeys("ab/c", "a/bc")}),
		mutant("keys-forgotten", "state corruption", keyIsolation,
			"leaves the key out of what it counts by: all share one budget",
			scene{policy: logged(), decide: keyed(func(string) string { return "" }), traffic: twoKeys("one", "two")}),
	}
}

// twoKeys fills one key and then asks for the other.
func twoKeys(first, second string) []part {
	return []part{{at: 100 * tick, n: 12, every: 2 * tick, key: first}, {at: 200 * tick, n: 12, every: 2 * tick, key: second}}
}

// keyed decides rightly under another key.
func keyed(fold func(string) string) decide {
	return func(c *call) rlbench.Outcome {
		c.Key = fold(c.Key)
		return rightly(c.policy)(c)
	}
}

func renewedWhenFull(c *call) rlbench.Outcome {
	outcome := openedWindow(c)
	if outcome == rlbench.Denied {
		c.ask(func(s *store) { s.set(c.part(c.limit().Per), 0, c.limit().Count, c.read()+int64(c.limit().Per)) })
	}
	return outcome
}

func cachedClock(c *call) rlbench.Outcome {
	outcome := fixedWindow(c)
	c.readAt -= c.readAt % int64(200*tick)
	return outcome
}
