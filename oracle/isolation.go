package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlbench/rlbench"
)

// key-isolation: one key's traffic changes nothing for another.
//
// What a Run can tell of that: the decisions on each key follow from its own requests,
// by the exact model (own-model), whatever was asked of other keys. Two hypotheses are
// held against each other, each by replay.
//
// Pass: each key alone is explained by the model, and the evidence would have shown the
// opposite: the same decisions are not explained if all keys share one budget. Where
// they are, the traffic was too light to tell: Inconclusive.
// Fail: some key is not explained by its own requests, but it and certain other keys are,
// every decision on all of them, if they share one budget: all keys, those that begin or
// end alike, those that differ only in case, or the key and one other. The Finding names
// them. A key that is not explained either way is wrong in some other way, which is for
// never-over, never-starved and own-model to say; here it is Inconclusive.
// So no limiter is accused whose keys are explained, and none that is wrong on every key
// in its own right, unless it happens to be wrong exactly as sharing would make it.
//
// Smallest history that breaks it, at 1 in any 10: A on key "a" at 0, D on "b" at 1.

// partnersMax bounds the other keys that are tried one by one, suspectsMax the keys that
// are not explained and looked into, sharedOpsMax the ops of a group.
const (
	partnersMax  = 64
	suspectsMax  = 4
	sharedOpsMax = 1 << 20
)

// isolation judges keys apart, and then together.
type isolation struct {
	own *ownModel
	// wrong are the keys that their own requests do not explain, keys all that have ops.
	wrong []int
	keys  []int
}

func openIsolation(e *evidence) (judge, string) {
	own, why := newOwnModel(e)
	if own == nil {
		return nil, why
	}
	return &isolation{own: own}, ""
}

// isolationWords says the promise in words. Every algorithm that has a model makes it.
func isolationWords(p rlbench.Policy) string {
	if overWords(p) == "" {
		return ""
	}
	return "what is decided on a key follows from the requests of that key alone"
}

func (s *isolation) again() bool {
	if !s.own.again() {
		return false
	}
	s.wrong, s.keys = nil, nil
	return true
}

func (s *isolation) key(h *history) {
	i, _ := slices.BinarySearch(s.own.groups.keys, h.key)
	s.keys = append(s.keys, i)
	r := s.own.rule(h)
	if r.verdict == rlbench.Fail {
		s.wrong = append(s.wrong, i)
	}
	s.own.add(h.key, r)
}

// sharing is a set of keys that may have one budget.
type sharing struct {
	keys []int
	// how says what they have in common.
	how string
}

func (s *isolation) finding() rlbench.Finding {
	o := s.own
	if len(s.wrong) > 0 {
		return s.suspect()
	}
	f := o.tally.finding()
	if f.Verdict != rlbench.Pass {
		return f
	}
	if len(s.keys) < 2 {
		return rlbench.Finding{Because: "there is traffic on one key only, so nothing can be said of others"}
	}
	switch found := s.shared(s.keys); found {
	case unexplained:
		f.Because = fmt.Sprintf("each of %s is explained by its own requests alone, which one budget for all of them would not explain", count(len(s.keys), "key"))
		return f
	case explained:
		return rlbench.Finding{Because: fmt.Sprintf("the traffic on %s is too light to tell: one budget for all of them explains it as well", count(len(s.keys), "key"))}
	}
	return rlbench.Finding{Because: "each key is explained by its own requests, but whether one budget for all would explain them too was not settled"}
}

// suspect looks for keys that share a budget with one that its own requests do not
// explain.
func (s *isolation) suspect() rlbench.Finding {
	o := s.own
	for _, key := range s.wrong[:min(len(s.wrong), suspectsMax)] {
		for _, g := range s.sharings(key) {
			if s.shared(g.keys) == explained {
				return s.convict(key, g)
			}
		}
	}
	name := o.groups.keys[s.wrong[0]]
	f := rlbench.Finding{Because: fmt.Sprintf("key %q is not explained by its own requests, nor by a budget that it shares with keys that might be taken for it", name)}
	if len(s.wrong) > 1 {
		f.Because += fmt.Sprintf(" (one of %d such keys of %d)", len(s.wrong), len(s.keys))
	}
	return f
}

// shared tells whether one budget for the keys explains every decision on them.
func (s *isolation) shared(keys []int) answer {
	h, ok := s.merged(keys)
	if !ok {
		return undecided
	}
	// Its own tallies are not to count this.
	probe := *s.own
	switch r := probe.rule(h); r.verdict {
	case rlbench.Pass:
		return explained
	case rlbench.Fail:
		return unexplained
	}
	return undecided
}

// merged is the history of several keys as if they were one.
func (s *isolation) merged(keys []int) (*history, bool) {
	var rows []uint32
	for _, i := range keys {
		rows = append(rows, s.own.groups.of(i)...)
	}
	if len(rows) > sharedOpsMax {
		return nil, false
	}
	slices.Sort(rows)
	var h history
	h.split(&s.own.run.Ops, s.own.groups.keys[keys[0]], rows)
	return &h, true
}

// sharings lists the sets of keys that may share a budget with one: all, those that are
// taken for it, and each other key, the busiest first.
func (s *isolation) sharings(key int) []sharing {
	name := s.own.groups.keys[key]
	var found []sharing
	add := func(how string, alike func(other string) bool) {
		var keys []int
		for _, i := range s.keys {
			if i == key || alike(s.own.groups.keys[i]) {
				keys = append(keys, i)
			}
		}
		if len(keys) < 2 || slices.ContainsFunc(found, func(g sharing) bool { return slices.Equal(g.keys, keys) }) {
			return
		}
		found = append(found, sharing{keys, how})
	}
	add("differ only in case or space", func(other string) bool {
		return strings.EqualFold(strings.TrimSpace(other), strings.TrimSpace(name))
	})
	for n := len(name); n > 0; n-- {
		add(fmt.Sprintf("begin with the same %d bytes", n), func(other string) bool { return strings.HasPrefix(other, name[:n]) })
	}
	for n := len(name); n > 0; n-- {
		add(fmt.Sprintf("end with the same %d bytes", n), func(other string) bool { return strings.HasSuffix(other, name[len(name)-n:]) })
	}
	add("are all there are", func(string) bool { return true })
	for _, i := range s.busiest(key) {
		add("are one pair of them", func(other string) bool { return other == s.own.groups.keys[i] })
	}
	return found
}

// busiest returns the other keys with most ops.
func (s *isolation) busiest(key int) []int {
	others := slices.DeleteFunc(slices.Clone(s.keys), func(i int) bool { return i == key })
	slices.SortStableFunc(others, func(x, y int) int { return len(s.own.groups.of(y)) - len(s.own.groups.of(x)) })
	return others[:min(len(others), partnersMax)]
}

// namesMax bounds the keys that a sentence names.
const namesMax = 4

// convict says whose traffic it is that a key suffered from: the witness is the decision
// that the key's own requests do not explain, and the charges on the others that do.
func (s *isolation) convict(key int, g sharing) rlbench.Finding {
	o := s.own
	name := o.groups.keys[key]
	var others []string
	for _, i := range g.keys {
		if i != key && len(others) < namesMax {
			others = append(others, fmt.Sprintf("%q", o.groups.keys[i]))
		}
	}
	list := strings.Join(others, ", ")
	if more := len(g.keys) - 1 - len(others); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	var h history
	h.split(&o.run.Ops, name, o.groups.of(key))
	probe := *o
	alone := probe.rule(&h)
	r := alone
	r.because = fmt.Sprintf("its own requests do not explain it (%s), but every decision on it and on %s is explained if they share one budget; they %s", alone.because, list, g.how)
	r.proof = append(slices.Clone(alone.proof), fmt.Sprintf("one model for the %d keys together makes each of their decisions", len(g.keys)))
	r.witness = s.spread(key, alone.witness, g)
	probe.broken, probe.guilty.key, probe.guilty.ruling = 1, name, r
	var f rlbench.Finding
	probe.failed(&f)
	return f
}

// spread adds to the witness of one key the charges on the others that were made just
// before it, as many as bear on it.
func (s *isolation) spread(key int, witness []uint32, g sharing) []uint32 {
	ops := &s.own.run.Ops
	last := witness[len(witness)-1]
	reach := int64(ops.Sent[last]) - s.own.horizon()
	rows := slices.Clone(witness)
	for _, i := range g.keys {
		if i == key {
			continue
		}
		for _, row := range s.own.groups.of(i) {
			charged := ops.Outcome[row] == rlbench.Allowed || s.own.charges() && ops.Outcome[row] == rlbench.Denied
			if charged && int64(ops.Done[row]) >= reach && ops.Sent[row] <= ops.Done[last] {
				rows = append(rows, row)
			}
		}
	}
	sortBySent(ops, rows)
	return rows
}
