// Package scenarios reads the stories that rlbench runs: what a limiter
// promised, what is asked of it, and which targets are expected to keep the
// promise. [Open] finds a scenario's text (on disk, or among those shipped),
// [Parse] judges it and reports every mistake at once with its place, and
// [Scenario.Plan] works out each request from the scenario and its seed alone.
//
// # The file
//
// A scenario is one YAML document of at most [TextMax] bytes. Unknown and
// repeated fields are mistakes; anchors, aliases, merge keys and tags are
// refused, because a reader should see each value where it counts.
//
//	name: race                  # letters, digits, '-', '_' and '.'
//	why: one sentence on what it is worth running for
//	policy: {algorithm, limit: 100/1m, burst, anchor, resolution, drift,
//	         charges_refusals, on_store_error, params}
//	                            # or limits: [10/s, {limit: 100/1m, burst, anchor}]
//	instances: 1
//	traffic:                    # at least one part; each has exactly one of the first three
//	- {burst: 500}              # released together
//	- {rate: 200/s, for: 5s, arrivals: constant}       # or poisson
//	- {clients: 8, for: 5s, think: 10ms}               # each asks, waits, thinks
//	                            # and may have at: 1s, cost: 2, and key: user-1 or
//	                            # keys: {count: 100, spread: uniform}, or zipf
//	targets:                    # at least one
//	- {name, as, policy, params, expect: {never-over: fail}}
//	seed: 1
//	bounds: {duration: 1m, ops: 100000, in_flight: 1000}
//	start: {after_edge: 10ms}   # or before_edge; aligned windows only
//
// ${NAME} in a value is replaced by that environment variable, $${ stands for
// ${ itself. The replaced text is read as if it stood there, but never as YAML.
//
// # What the seed decides
//
// Each traffic part draws from streams of its own, so that a part added at the
// end changes nothing before it. Drawing uses integers alone: one scenario and
// seed give one Plan on every machine.
package scenarios

import "time"

// The bounds of a scenario file.
const (
	// TextMax is the greatest size of a scenario, in bytes.
	TextMax = 64 << 10
	// NestingMax is how deep lists and mappings may stand in each other.
	NestingMax = 32
	// NameMax is the greatest length of a scenario's or target's name, in bytes.
	NameMax = 64
)

// What bounds are when a scenario does not say.
const (
	DurationDefault = time.Minute
	OpsDefault      = 100_000
	InFlightDefault = 1000
)

// The greatest values that a scenario may ask for.
const (
	DurationMax  = 24 * time.Hour
	OpsMax       = 10_000_000
	InFlightMax  = 100_000
	InstancesMax = 1000
	KeysMax      = 1_000_000
	CostMax      = 1_000_000_000
	// KeyMax is the greatest length of a key, in bytes.
	KeyMax = 1024
)

// KeyDefault is the key of a traffic part that names none. It is also the first
// key of a part that has several.
const KeyDefault = "key-1"

// ClientCycleMax is how many requests of a client are drawn before it begins
// again with the first. A client that has one key needs only one.
const ClientCycleMax = 1024
