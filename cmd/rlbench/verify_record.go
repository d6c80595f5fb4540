package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/logs"
)

// record is one history as it is read: blocks of ops, what they count from, and
// what was met on the way.
type record struct {
	name, format string
	readers      []*logs.Reader
	merged       *logs.Merged
	next         func(*rlbench.Ops) (int, error)
	origin       func() (ns int64, stated bool)
	// atServer: each log was written by the server that limits, not by its client.
	atServer bool
	closers  []func()
	seen     seen
}

// seen is what is counted of the ops on their way to the oracle.
type seen struct {
	ops  int64
	keys bool // some key is not empty
	// charged is the cost of all ops that were or may have been let through.
	charged int64
	// doubtful is a status that some limiters refuse with, 0 when it is known what
	// it means; doubts counts it.
	doubtful int32
	doubts   int64
}

// opsRecord is a record of ops that are there already.
func opsRecord(name string, ops *rlbench.Ops) *record {
	given := false
	return &record{
		name: name, format: "ops.parquet",
		origin: func() (int64, bool) { return 0, false },
		next: func(block *rlbench.Ops) (int, error) {
			if given || ops.Len() == 0 {
				return 0, io.EOF
			}
			given = true
			*block = *ops
			return ops.Len(), nil
		},
	}
}

// add takes in a log that was opened.
func (r *record) add(reader *logs.Reader) {
	r.readers = append(r.readers, reader)
	format := reader.Format()
	switch format {
	case logs.NGINX, logs.NGINXJSON, logs.Envoy, logs.EnvoyJSON:
	default:
		r.atServer = false
	}
	if !slices.Contains(strings.Split(r.format, ", "), string(format)) {
		r.format = strings.TrimPrefix(r.format+", "+string(format), ", ")
	}
}

// nginxLag is how far the stamps of an NGINX log are taken to lag at most. Each worker
// reads the clock once a turn of its event loop and stamps by that reading whatever
// the turn does, however long it had to wait for a processor: of two requests through
// different workers the one that is stamped earlier may have come later.
const nginxLag = 100 * time.Millisecond

func (r *record) byNGINX() bool {
	format := r.readers[0].Format()
	return format == logs.NGINX || format == logs.NGINXJSON
}

// widen makes every interval longer, at its beginning and at its end.
func (r *record) widen(early, late time.Duration) {
	next := r.next
	r.next = func(block *rlbench.Ops) (int, error) {
		n, err := next(block)
		for i := range n {
			if block.Sent[i].Known() {
				block.Sent[i] -= rlbench.Instant(early)
			}
			if block.Done[i].Known() {
				block.Done[i] += rlbench.Instant(late)
			}
		}
		return n, err
	}
}

func (r *record) close() {
	for _, c := range slices.Backward(r.closers) {
		c()
	}
}

// count notes what is asked of the ops later.
func (r *record) count(block *rlbench.Ops) {
	s := &r.seen
	s.ops += int64(block.Len())
	s.keys = s.keys || slices.ContainsFunc(block.Keys, func(key string) bool { return key != "" })
	for i, outcome := range block.Outcome {
		if outcome == rlbench.Allowed || outcome == rlbench.Unknown {
			s.charged += block.Cost[i]
		}
		if s.doubtful != 0 && outcome == rlbench.Unknown && block.Status != nil && block.Status[i] == s.doubtful {
			s.doubts++
		}
	}
}

// unreadable is the error of a log that cannot be judged, with what helps.
func (r *record) unreadable(err error) error {
	hint := ""
	switch {
	case errors.Is(err, logs.ErrLate):
		hint = "--reorder 10m where requests take that long, or sort the log"
	case errors.Is(err, logs.ErrUnreadable):
		hint = "--format, --log-format, --map or --time say how it is written; or leave what is no request out of it"
	case errors.Is(err, logs.ErrFormat):
		hint = r.fieldsHint()
	}
	return badInput(hint, "%w", err)
}

// keyed demands that some op has the key that was asked for: in our own formats a
// line without it would be a budget without a name.
func (r *record) keyed(field string) error {
	if field == "" || r.seen.keys || r.seen.ops == 0 || r.merged == nil {
		return nil
	}
	return badInput(r.fieldsHint(), "no line of %s has a value in %q", r.name, field)
}

func (r *record) fieldsHint() string {
	var fields []string
	for _, reader := range r.readers {
		for _, f := range reader.Fields() {
			if !slices.Contains(fields, f) {
				fields = append(fields, f)
			}
		}
	}
	return "its fields are " + strings.Join(fields, ", ")
}

// inWords says in a line what was read.
func (r *record) inWords() string {
	words := fmt.Sprintf("%s, read as %s: %d requests", r.name, r.format, r.seen.ops)
	if ns, stated := r.origin(); stated {
		words += ", instants count from " + time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
	}
	if r.merged == nil {
		return words
	}
	numbered := "OP is the line's number"
	if slices.ContainsFunc(r.readers, (*logs.Reader).StatesOps) {
		numbered = "OP is the log's own number where it has one, else the line's"
	}
	if key := r.readers[0].KeyField(); key != "" {
		words += ", each " + key + " a budget"
	}
	if len(r.readers) > 1 {
		numbered += ", INSTANCE that of the log"
	}
	return words + "; " + numbered
}

// places are where the logs could not be read, or not be put in order.
func (r *record) places() []logs.Place {
	var all []logs.Place
	for _, reader := range r.readers {
		all = append(all, reader.Count().Places...)
	}
	if r.merged != nil {
		all = append(all, r.merged.Count().Places...)
	}
	return all
}
