package logs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/rlbench/rlbench"
)

const (
	// blockRows is how many ops a block has at most.
	blockRows = 8192
	// unreadableFew lines that cannot be read are borne in any log, beyond that
	// one in unreadableShare.
	unreadableFew   = 10
	unreadableShare = 100
	// checkEvery is how often, in lines, it is seen whether too many are unreadable.
	checkEvery = 4096
)

// parser takes one line apart; the answer is what is wrong with it, if anything.
type parser interface {
	parse(line []byte, f *fields) string
	// tail reports whether a line that was cut off in its last value would look whole.
	tail() bool
}

// Reader reads one log. It is not safe for concurrent use.
type Reader struct {
	name    string
	src     *source
	release func()
	parser  parser
	reading *reading
	fields  fields
	keys    texts
	faults  texts
	count   Count
	// origin is what instants count from, once begun.
	origin int64
	begun  bool
	stated bool // whether origin is a wall clock's
	err    error
}

// Open finds out how the log is compressed and written, and makes it ready to be
// read. It reads the beginning of r but no more, and never closes it. The error
// is an [ErrFormat] when the log is none that can be read.
func Open(r io.Reader, o Options) (*Reader, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("opening log %s: %w", o.Name, err)
	}
	plain, release, err := decompress(r)
	if err != nil {
		return nil, fmt.Errorf("opening log %s: %w", o.Name, err)
	}
	src := newSource(plain)
	d, b, p, err := recognize(src, o)
	if err != nil {
		release()
		return nil, fmt.Errorf("opening log %s: %w", o.Name, err)
	}
	reader := &Reader{name: o.Name, src: src, release: release, parser: p, reading: newReading(d, b, o)}
	reader.reading.doubt.Moment = reader.reading.moment
	if b.field[slotSent] != "" && b.field[slotStamp] == "" {
		reader.reading.doubt.Moment = ""
	}
	return reader, nil
}

// Close frees what decompressing took.
func (r *Reader) Close() { r.release() }

// Name is the log's name.
func (r *Reader) Name() string { return r.name }

// Format is what the log was found to be.
func (r *Reader) Format() Format { return r.reading.dialect.format }

// KeyField is the log's own name of the field that keys are read from; empty
// when the whole log is one budget.
func (r *Reader) KeyField() string { return r.reading.binding.field[slotKey] }

// Fields are the fields that the log has by its own names: those of its header or
// of its log format, else of the first line that has any.
func (r *Reader) Fields() []string { return slices.Clone(r.reading.binding.has) }

// StatesOps reports whether ops have the log's own numbers; else they are
// numbered by their lines.
func (r *Reader) StatesOps() bool { return r.reading.binding.field[slotOp] != "" }

// Origin is what instants count from, in nanoseconds since the Unix epoch: the
// first op's stamp. stated is false, and the origin 0, when the log has instants
// of its own that are no wall clock's. It is known from the first block on.
func (r *Reader) Origin() (ns int64, stated bool) { return r.origin, r.stated }

// Doubt is what the log has left open so far.
func (r *Reader) Doubt() Doubt { return r.reading.doubt }

// Count is how much of the log was read so far, and how much was not.
func (r *Reader) Count() Count {
	c := r.count
	c.Places = append([]Place(nil), c.Places...)
	return c
}

// Next replaces the block by the next ops, in the order of the log, and gives
// their number. At the end that is 0 with [io.EOF]. Numbers of keys and errors
// hold within the block alone. The error is an [ErrUnreadable] as soon as more
// lines are unreadable than can be borne; the ops before it have been given.
func (r *Reader) Next(block *rlbench.Ops) (int, error) {
	reset(block)
	r.keys.begin(block.Keys)
	r.faults.begin(block.Errors)
	for r.err == nil && len(block.Outcome) < blockRows {
		r.err = r.line(block)
	}
	block.Keys, block.Errors = r.keys.list, r.faults.list
	pad(block)
	if n := block.Len(); n > 0 {
		return n, nil
	}
	return 0, r.err
}

// line reads one line; what is left open at the end of the stream is settled here.
func (r *Reader) line(block *rlbench.Ops) error {
	rec, err := r.src.next()
	if err != nil {
		return r.ended(err)
	}
	r.count.Lines++
	problem := r.op(rec, block)
	if problem != "" {
		r.unreadable(problem)
	}
	if r.count.Lines%checkEvery == 0 {
		return r.tooMany()
	}
	return nil
}

func (r *Reader) op(rec record, block *rlbench.Ops) string {
	if rec.tooLong {
		return problemTooLong
	}
	f := &r.fields
	*f = fields{}
	problem := r.parser.parse(rec.text, f)
	if rec.open && (problem != "" || r.parser.tail()) {
		r.count.CutOff = true
		return problemCutOff
	}
	if problem != "" {
		return problem
	}
	d := r.reading.dialect
	if d.tells != nil && !d.tells(f) || r.unlimited(f) {
		r.count.Skipped++
		return ""
	}
	if r.reading.target != nil && string(f.text[slotTarget]) != string(r.reading.target) {
		r.count.Skipped++
		return ""
	}
	if !d.own && r.KeyField() != "" && nobody(f.text[slotKey]) {
		r.count.Unkeyed++
		return ""
	}
	op, problem := r.reading.row(f, r.src.line)
	if problem == "" {
		r.begin(&op)
		r.append(block, &op)
		r.count.Ops++
	}
	return problem
}

// unlimited reports whether NGINX says that it did not limit the request.
func (r *Reader) unlimited(f *fields) bool {
	return !r.reading.dialect.own && r.reading.binding.field[slotOutcome] != "" && f.has(slotOutcome) && nobody(f.text[slotOutcome])
}

// nobody reports whether a value is what access logs write for none. NGINX and
// Envoy do not limit a request that has no key.
func nobody(text []byte) bool { return len(text) == 0 || string(text) == "-" }

// begin sets the origin by the first op.
func (r *Reader) begin(op *row) {
	if r.begun {
		return
	}
	r.begun, r.origin, r.stated = true, op.origin, op.wall
}

func (r *Reader) append(to *rlbench.Ops, op *row) {
	i := len(to.Outcome)
	to.ID = append(to.ID, op.op)
	to.Key = append(to.Key, r.keys.number(op.key))
	to.Cost = append(to.Cost, op.cost)
	to.Instance = append(to.Instance, int32(op.instance))
	to.Worker = append(to.Worker, int32(op.worker))
	to.Planned = append(to.Planned, r.instant(op.planned))
	to.Sent = append(to.Sent, r.instant(op.sent))
	to.Done = append(to.Done, r.instant(op.done))
	to.Outcome = append(to.Outcome, op.outcome)
	to.Status = append(to.Status, int32(op.status))
	if len(op.fault) > 0 {
		to.Error = put(to.Error, i, r.faults.number(op.fault), 0)
	}
	if !r.reading.dialect.own {
		return
	}
	for s, column := range statedColumns(to) {
		if v := op.stated[s]; v != rlbench.None {
			if s >= firstMoment {
				v -= r.origin
			}
			*column = put(*column, i, v, rlbench.None)
		}
	}
}

func (r *Reader) instant(ns int64) rlbench.Instant {
	if ns == none {
		return rlbench.NoInstant
	}
	return rlbench.Instant(ns - r.origin)
}

// ended settles the end of the stream: a compressed stream that ends too early
// is a log that was cut off, any other error is one of reading.
func (r *Reader) ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		if !r.count.CutOff { // else the line that it cut says so already
			r.count.Lines++
			r.unreadable("the compressed stream is cut off")
		}
		r.count.CutOff = true
		err = io.EOF
	}
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading log %s behind line %d: %w", r.name, r.src.lines, err)
	}
	if few := r.tooMany(); few != nil {
		return few
	}
	if r.count.Ops > 0 {
		return io.EOF
	}
	switch c := r.count; {
	case c.Unreadable > 0:
		return r.tooManyError()
	case c.Unkeyed > 0:
		return fmt.Errorf("%w: no line of log %s has a value in %q", ErrFormat, r.name, r.KeyField())
	}
	return io.EOF
}

func (r *Reader) unreadable(what string) {
	r.count.Unreadable++
	if len(r.count.Places) < placesMax {
		r.count.Places = append(r.count.Places, Place{Name: r.name, Line: r.src.line, What: what})
	}
}

func (r *Reader) tooMany() error {
	c := r.count
	if c.Unreadable <= unreadableFew || c.Unreadable <= math.MaxInt64/unreadableShare && c.Unreadable*unreadableShare <= c.Lines {
		return nil
	}
	return r.tooManyError()
}

func (r *Reader) tooManyError() error {
	return fmt.Errorf("%w: %d of the first %d lines, the first at %s", ErrUnreadable, r.count.Unreadable, r.count.Lines, r.count.Places[0])
}
