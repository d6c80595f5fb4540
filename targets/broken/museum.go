// Package broken is a museum of limiters that are wrong on purpose, each in one way
// that real limiters have been wrong in, and each with the check that must catch it.
// Beside them stand correct limiters of every algorithm, which no check may accuse.
//
// All of them live in a virtual world: a clock that moves only when everything waits,
// a store that does one thing at a time, a network that takes its time, and a
// scheduler that interleaves the decisions in flight. Everything random comes from a
// seed, so that a seed gives the same Run on every machine, at once.
package broken

import (
	"math/rand/v2"

	"github.com/rlbench/rlbench"
)

// Limiter is a limiter in its virtual world, with the traffic that shows what it does.
type Limiter struct {
	// Name is what it is called on the command line.
	Name string
	// About is one sentence: what it is or, of a Mutant, what is wrong with it.
	About string
	// scene sets the world up from the seed's randomness.
	scene func(*rand.Rand) scene
}

// Run asks the limiter and returns the evidence. The same seed gives the same Run.
func (l Limiter) Run(seed int64) *rlbench.Run {
	draw := rand.New(rand.NewPCG(uint64(seed), 0x5eed))
	run := newWorld(l.scene(draw), draw).run()
	run.Target = l.Name
	return run
}

// Mutant is a limiter that is wrong in one way.
type Mutant struct {
	Limiter
	// Class is the kind of mistake, as the reports on real limiters tell it.
	Class string
	// Check is the check that must fail it.
	Check string
}

// The checks that mutants name.
const (
	neverOver    = "never-over"
	neverStarved = "never-starved"
	ownModel     = "own-model"
	evenOutflow  = "even-outflow"
	keyIsolation = "key-isolation"
)

// Mutants returns the wrong limiters, kind by kind.
func Mutants() []Mutant {
	var all []Mutant
	for _, room := range [][]Mutant{racy(), windows(), costs(), shared(), outages(), logs(), counters(), buckets(), rates(), queues(), replicas()} {
		all = append(all, room...)
	}
	return all
}

// answersLost is how many answers in a thousand mutants' clients wait for in vain.
const answersLost = 10

// mutant is one entry of a room. Its traffic and its world are the same for every
// seed; the seed decides the network and the order of things.
func mutant(name, class, check, about string, s scene) Mutant {
	s.lost = answersLost
	return Mutant{
		Limiter: Limiter{Name: name, About: about, scene: func(*rand.Rand) scene { return s }},
		Class:   class, Check: check,
	}
}

// Twin returns the correct limiter that makes the mutant's promise, on a sound store
// and clock, asked by the same traffic: no check may accuse it.
func (m Mutant) Twin() Limiter {
	return Limiter{
		Name: m.Name + "-twin", About: "keeps the promise that " + m.Name + " makes",
		scene: func(draw *rand.Rand) scene {
			s := m.scene(draw)
			return scene{
				policy: s.policy, decide: rightly(s.policy), traffic: s.traffic,
				instances: s.instances, latency: s.latency, phase: s.phase, lost: s.lost, stamps: s.stamps,
			}
		},
	}
}
