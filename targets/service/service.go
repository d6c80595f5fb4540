// Package service starts the server that a limiter keeps its state in, or finds
// the one that somebody else started: a Redis in a container, as a process, in
// this process (embedded), or at an address (external).
package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Backend is a way to have a server.
type Backend string

// The backends, under the names by which scenarios and reports know them.
const (
	// Auto takes the first of Container, Process and Embedded that works here.
	Auto Backend = "auto"
	// Container runs an image in the container engine that answers here.
	Container Backend = "container"
	// Process runs a server's binary.
	Process Backend = "process"
	// Embedded runs a work-alike inside this process, behind a real socket.
	Embedded Backend = "embedded"
	// External uses a server that is already there, and leaves it as it is.
	External Backend = "external"
)

// Choice says which server to start or to use. The zero value is Auto.
type Choice struct {
	Backend Backend
	// Image overrides the container image; empty takes $RLBENCH_REDIS_IMAGE,
	// else [DefaultImage].
	Image string
	// Binary is the server's binary, a path or a name on PATH; empty takes redis-server.
	Binary string
	// Address is where an External server listens: host:port, or a URL that may
	// name TLS (rediss://), user, password and database; empty takes
	// $RLBENCH_REDIS_ADDR.
	Address string
	// AllowRemote are the hosts that are not of this machine and may all the
	// same be used, as they stand in Address without the port.
	AllowRemote []string
}

// Service is a server that answered, and what is known of it.
type Service struct {
	// Backend is the way it was had, never Auto.
	Backend Backend
	// Version is the server's kind and its own version, such as "redis 7.0.15",
	// or "redis, version unknown" where it does not say.
	Version string
	// Source is what it was started from: the image, the binary, the library or,
	// if it was not started here, its address without any password.
	Source string
	// Address is a URL that clients take, such as redis://127.0.0.1:6379/0. It
	// carries the password of an External server: never print it.
	Address string
	// Owned tells that it was started here, for this use alone: it may be
	// flushed, paused and killed. Anything else is only used.
	Owned bool
	// Passed says, a line each, why the backends that Auto tries earlier were
	// passed over.
	Passed []string

	log  func() []byte
	stop func() error
}

// starter starts one backend, or says with a *[Missing] why it cannot be had here.
type starter func(context.Context, Choice) (*Service, error)

// Start returns a Redis that answers. The context bounds the starting alone: the
// server runs until Close. A *[Missing] says what is not there, a *[Mistake] what
// is wrong with the Choice.
func Start(ctx context.Context, choice Choice) (*Service, error) {
	switch choice.Backend {
	case "", Auto:
		return startFirst(ctx, choice, []candidate{
			{Container, startContainer}, {Process, startProcess}, {Embedded, startEmbedded},
		})
	case Container:
		return startContainer(ctx, choice)
	case Process:
		return startProcess(ctx, choice)
	case Embedded:
		return startEmbedded(ctx, choice)
	case External:
		return useExternal(ctx, choice)
	}
	return nil, &Mistake{
		What: fmt.Sprintf("backend %q", string(choice.Backend)), Why: "there is no such backend",
		Hint: "choose auto, container, process, embedded or external",
	}
}

type candidate struct {
	backend Backend
	start   starter
}

// startFirst starts the first candidate that can be had. Only what is missing is
// passed over: a person's mistake or an ended context is not worked around.
func startFirst(ctx context.Context, choice Choice, candidates []candidate) (*Service, error) {
	var passed []string
	for _, c := range candidates {
		service, err := c.start(ctx, choice)
		if err == nil {
			service.Passed = passed
			return service, nil
		}
		var missing *Missing
		if !errors.As(err, &missing) || ctx.Err() != nil {
			return nil, err
		}
		passed = append(passed, fmt.Sprintf("%s: %v", c.backend, missing))
	}
	return nil, &Missing{
		What: "redis", Why: fmt.Sprintf("no backend works here: %q", passed),
		Hint: "see what each backend needs with: rlbench doctor",
	}
}

// newService makes Close idempotent: it may be both deferred and called.
func newService(s Service, log func() []byte, stop func() error) *Service {
	s.log, s.stop = log, sync.OnceValue(stop)
	return &s
}

// Close ends the server if it was started here, and removes all that it left.
// It needs no live context, waits a bounded time, and may be called again.
func (s *Service) Close() error { return s.stop() }

// Log is the newest of the server's own log, [LogMax] bytes at most; nil where
// it cannot be had. It may be read before and after Close.
func (s *Service) Log() []byte { return s.log() }

// String names the server for people, without its address: no password can
// come out with it.
func (s *Service) String() string {
	return fmt.Sprintf("%s (%s, %s)", s.Version, s.Backend, s.Source)
}
