package redis

import (
	"errors"
	"net"

	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
)

// unanswered says what became of a request that met the error: Unsent where it
// certainly never left, Unknown in every other case.
//
// A reply that is an error is Unknown as well, although a server that is still
// loading or read only will have charged nothing: a script may have got half
// way, and Unknown accuses nobody.
func unanswered(err error) rlbench.Answer {
	a := rlbench.Answer{Outcome: rlbench.Unknown, Err: err}
	if neverSent(err) {
		a.Outcome = rlbench.Unsent
	}
	return a
}

// neverSent: no connection came about, or none was free in time.
func neverSent(err error) bool {
	if errors.Is(err, goredis.ErrPoolTimeout) || errors.Is(err, goredis.ErrPoolExhausted) || errors.Is(err, goredis.ErrClosed) {
		return true
	}
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
