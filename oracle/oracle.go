package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlbench/rlbench"
)

// judge sees the keys of a Run one after the other, in sorted order, and closes
// with a Finding.
type judge interface {
	// key sees one key's history. It may keep nothing of it.
	key(h *history)
	// again reports whether every key must be shown once more.
	again() bool
	finding() rlbench.Finding
}

// promise is a check before it meets a Run.
type promise struct {
	name, about string
	// words says the promise that a policy makes; empty when it makes none.
	words func(rlbench.Policy) string
	// open returns a judge, or why none can be had for this Run.
	open func(*evidence) (judge, string)
	// onRequest: it is judged only where it is named. A weaker design may keep what its
	// policy says and still not decide as the model does, and only traffic made for it
	// shows whether keys are apart.
	onRequest bool
}

// promises are all checks, in the order in which they are listed.
func promises() []promise {
	return []promise{
		{
			name: "never-over", about: "no more was let through than the promise allows",
			words: overWords, open: openOver,
		},
		{
			name: "never-starved", about: "no request was refused while the promise had room for it",
			words: starvedWords, open: openStarved,
		},
		{
			name: "own-model", about: "every decision is the one that the exact model of the algorithm makes",
			words: modelWords, open: openOwnModel, onRequest: true,
		},
		{
			name: "even-outflow", about: "what a leaky queue lets out keeps its spacing",
			words: outflowWords, open: openOutflow,
		},
		{
			name: "key-isolation", about: "one key's traffic changes nothing for another",
			words: isolationWords, open: openIsolation, onRequest: true,
		},
	}
}

// Checks returns every promise that the oracle can judge, in a fixed order.
func Checks() []rlbench.Check {
	var checks []rlbench.Check
	for _, p := range promises() {
		checks = append(checks, rlbench.Check{
			Name: p.name, About: p.about, Promise: p.words, OnRequest: p.onRequest,
			Judge: func(run *rlbench.Run) rlbench.Finding {
				findings, err := Judge(run, p.name)
				if err != nil {
					return rlbench.Finding{Check: p.name, Promise: p.words(run.Policy), Because: err.Error()}
				}
				return findings[0]
			},
		})
	}
	return checks
}

// Judge returns the Finding of each named check on the Run, in the order of the
// names; with no names, those of [Default]. It deals the
// Run to its keys once for all of them, and reads it only. The error names a check
// that does not exist, or what is wrong with the form of the Run.
func Judge(run *rlbench.Run, names ...string) ([]rlbench.Finding, error) {
	chosen, err := choose(run.Policy, names)
	if err != nil {
		return nil, err
	}
	e, err := newEvidence(run)
	if err != nil {
		return nil, err
	}
	findings := make([]rlbench.Finding, len(chosen))
	judges := make([]judge, len(chosen))
	for i, p := range chosen {
		findings[i] = rlbench.Finding{Check: p.name, Promise: p.words(run.Policy)}
		var why string
		if judges[i], why = p.open(e); judges[i] == nil {
			findings[i].Because = why
		}
	}
	e.show(judges)
	for i, j := range judges {
		if j == nil {
			continue
		}
		f := j.finding()
		f.Check, f.Promise = findings[i].Check, findings[i].Promise
		findings[i] = f
	}
	return findings, nil
}

// show shows every key to every judge, and again to those that ask for it.
func (e *evidence) show(judges []judge) {
	pending := slices.DeleteFunc(slices.Clone(judges), func(j judge) bool { return j == nil })
	var h history
	for len(pending) > 0 {
		for i, key := range e.groups.keys {
			rows := e.groups.of(i)
			if len(rows) == 0 {
				continue
			}
			h.split(&e.ops, key, rows)
			for _, j := range pending {
				j.key(&h)
			}
		}
		pending = slices.DeleteFunc(pending, func(j judge) bool { return !j.again() })
	}
}

// Default returns the names of the checks that apply to a policy without being asked
// for: it makes their promise, and they are not judged on request only. To judge one
// of the others beside them, as a scenario does that expects something of it, add its
// name.
func Default(policy rlbench.Policy) []string {
	var names []string
	for _, p := range promises() {
		if !p.onRequest && p.words(policy) != "" {
			names = append(names, p.name)
		}
	}
	return names
}

func choose(policy rlbench.Policy, names []string) ([]promise, error) {
	all := promises()
	if len(names) == 0 {
		names = Default(policy)
	}
	var chosen []promise
	for _, name := range names {
		i := slices.IndexFunc(all, func(p promise) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q is not a check; there are %s", name, listed(all))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func listed(all []promise) string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
