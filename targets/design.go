// Package targets says what a limiter design is, so that every family of
// limiters (memory, redis, …) can be listed, chosen by name and opened alike.
package targets

import (
	"context"
	"time"

	"github.com/rlbench/rlbench"
)

// Server names a server that a design needs.
type Server string

const (
	// NoServer: the design runs in this process alone.
	NoServer Server = ""
	// Redis: the design keeps its state in a Redis or a work-alike.
	Redis Server = "redis"
)

// Design is one limiter design, under the name by which scenarios choose it.
type Design struct {
	// Name is FAMILY-WAY-ALGORITHM, such as redis-lua-fixed-window.
	Name string
	// About is one line: what it is, and what it gives up.
	About string
	// Needs is the server that it cannot do without.
	Needs Server
	// Algorithm is the algorithm it implements.
	Algorithm rlbench.Algorithm
	// Anchors are the window anchors it implements; nil where the algorithm has none.
	Anchors []rlbench.Anchor
	// Resolution is the step of the clock that its decisions go by under the
	// given anchor: part of what it promises.
	Resolution func(rlbench.Anchor) time.Duration
	// Accept says which limits it can keep, beyond what Check asks of all; nil
	// accepts any. The error says what to use instead.
	Accept func([]rlbench.Limit) error
	// ChargesRefusals: a request that it refuses uses budget too; its Policy
	// must say so as well.
	ChargesRefusals bool
	// Open makes the limiter ready to be asked. The error names what is wrong
	// with the Setup or which server did not answer.
	Open func(context.Context, Setup) (rlbench.Target, error)
}

// Setup is what a design is opened with.
type Setup struct {
	// Policy is what the limiter shall promise.
	Policy rlbench.Policy
	// Instances is how many instances of the limiter there are, each with
	// clients and connections of its own; at least 1.
	Instances int
	// Address is the URL of the server that the design needs, such as
	// redis://user:secret@127.0.0.1:6379/0 or rediss:// for TLS; empty for NoServer.
	Address string
	// Namespace begins every key that the limiter makes, so that runs on one
	// server never meet. The target adds it and removes its keys on Close.
	Namespace string
	// Timeout bounds one decision; an op that exceeds it is Unknown.
	Timeout time.Duration
	// InFlight is how many requests may be asked at once, over all instances.
	InFlight int
}
