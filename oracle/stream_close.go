package oracle

import (
	"maps"
	"slices"
	"strings"

	"github.com/rlbench/rlbench"
)

// close judges what is left, and joins the rulings on all keys.
func (s *stream) close(names []string) ([]rlbench.Finding, rlbench.Accuracy, error) {
	s.run.Ops = s.ledger.ops
	if !s.swept {
		return s.judge(names)
	}
	s.unfit = s.turnout.fitness(&s.run)
	s.sweep(forever)
	ends := s.ends()
	var findings []rlbench.Finding
	for _, name := range names {
		var f rlbench.Finding
		switch {
		case !s.takes(name):
			continue
		case name == "never-over":
			f = s.over.close(ends)
		default:
			f = s.starved.close(ends)
		}
		f.Check, f.Promise = name, promiseOf(name, s.run.Policy)
		findings = append(findings, f)
	}
	return findings, s.accuracy.close(s.spells), nil
}

// judge judges a Run that came whole.
func (s *stream) judge(names []string) ([]rlbench.Finding, rlbench.Accuracy, error) {
	var taken []string
	for _, name := range names {
		if s.takes(name) {
			taken = append(taken, name)
		}
	}
	if len(taken) == 0 {
		return nil, Accuracy(&s.run), nil
	}
	findings, err := Judge(&s.run, taken...)
	return findings, Accuracy(&s.run), err
}

func promiseOf(name string, policy rlbench.Policy) string {
	for _, p := range promises() {
		if p.name == name {
			return p.words(policy)
		}
	}
	return ""
}

// ends are all keys as they stand at the end, those at rest included, in sorted order.
func (s *stream) ends() []*spell {
	var all []*spell
	for _, sp := range s.spells {
		if sp != nil {
			delete(s.rested, sp.name)
			all = append(all, sp)
		}
	}
	for name, r := range s.rested {
		all = append(all, &spell{name: name, past: r})
	}
	for _, kind := range slices.Sorted(maps.Keys(s.forgotten)) {
		f := s.forgotten[kind]
		all = append(all, &spell{name: f.name, past: f.rested})
	}
	slices.SortStableFunc(all, func(a, b *spell) int { return strings.Compare(a.name, b.name) })
	return all
}

// close rules on all keys in the first world that settles every one, else in the last.
func (o *overStream) close(ends []*spell) rlbench.Finding {
	for world := 0; ; world++ {
		o.reset()
		for _, sp := range ends {
			o.add(sp.name, o.ruling(sp, world))
		}
		if o.unsettled == 0 || o.broken > 0 || world+1 >= len(o.rules.strict) {
			return o.finding()
		}
	}
}

func (s *starvedStream) close(ends []*spell) rlbench.Finding {
	for s.world = 0; ; s.world++ {
		s.reset()
		s.dead = false
		for _, sp := range ends {
			s.add(sp.name, s.ruling(sp, s.world))
		}
		if !s.dead || s.broken > 0 || s.world+1 >= len(s.strict) {
			return s.finding()
		}
	}
}
