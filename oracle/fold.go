package oracle

import (
	"errors"
	"fmt"

	"github.com/rlbench/rlbench"
)

// Fold judges evidence that comes in parts, such as a log that is read as it grows.
// A Run is one part: Judge and a Fold fed the same ops agree.
//
// The parts are kept until Close, so for now a Fold needs as much memory as the Run
// would. Nothing in its use rests on that: everything that judging needs to know
// beforehand is in the head, and no promise looks further back than its window or,
// for a bucket, the time in which it fills.
type Fold struct {
	run    rlbench.Run
	names  []string
	keys   map[string]uint32
	closed bool
}

// errClosed is returned by a Fold that was closed.
var errClosed = errors.New("the fold was closed before")

// Open begins a Fold for the named checks, or all that apply. The head is a Run
// without ops: policy, clock, whether it will be complete.
func Open(head *rlbench.Run, names ...string) (*Fold, error) {
	if _, err := choose(head.Policy, names); err != nil {
		return nil, err
	}
	f := &Fold{run: *head, names: names, keys: map[string]uint32{}}
	f.run.Ops = rlbench.Ops{Errors: []string{""}}
	if err := readable(&f.run); err != nil {
		return nil, err
	}
	return f, nil
}

// Feed adds a part of the evidence. Its ops may be in any order, also against those
// of other parts. The error says what is wrong with the form of an op.
func (f *Fold) Feed(part *rlbench.Ops) error {
	if f.closed {
		return errClosed
	}
	if err := readable(&rlbench.Run{Target: f.run.Target, Policy: f.run.Policy, Ops: *part}); err != nil {
		return err
	}
	ops := &f.run.Ops
	names := f.intern(part.Keys)
	errorsAt := uint32(len(ops.Errors))
	ops.Errors = append(ops.Errors, part.Errors...)
	have := ops.Len()
	for i := range part.Len() {
		ops.Key = append(ops.Key, names[part.Key[i]])
	}
	ops.ID = append(ops.ID, part.ID...)
	ops.Cost = append(ops.Cost, part.Cost...)
	ops.Instance = append(ops.Instance, part.Instance...)
	ops.Worker = append(ops.Worker, part.Worker...)
	ops.Planned = append(ops.Planned, part.Planned...)
	ops.Sent = append(ops.Sent, part.Sent...)
	ops.Done = append(ops.Done, part.Done...)
	ops.Outcome = append(ops.Outcome, part.Outcome...)
	ops.DecidedAt = extend(ops.DecidedAt, part.DecidedAt, have, part.Len())
	ops.ReleasedAt = extend(ops.ReleasedAt, part.ReleasedAt, have, part.Len())
	ops.Error = f.errors(part, errorsAt, have)
	return nil
}

// Close judges what was fed. The Fold takes no more afterwards.
func (f *Fold) Close() ([]rlbench.Finding, rlbench.Accuracy, error) {
	if f.closed {
		return nil, rlbench.Accuracy{}, errClosed
	}
	f.closed = true
	findings, err := Judge(&f.run, f.names...)
	if err != nil {
		return nil, rlbench.Accuracy{}, fmt.Errorf("closing the fold: %w", err)
	}
	return findings, Accuracy(&f.run), nil
}

// intern numbers the names of a part as the fold does.
func (f *Fold) intern(keys []string) []uint32 {
	numbers := make([]uint32, len(keys))
	for i, key := range keys {
		at, known := f.keys[key]
		if !known {
			at = uint32(len(f.run.Ops.Keys))
			f.keys[key] = at
			f.run.Ops.Keys = append(f.run.Ops.Keys, key)
		}
		numbers[i] = at
	}
	return numbers
}

// errors numbers the errors of a part behind those that are there.
func (f *Fold) errors(part *rlbench.Ops, base uint32, have int) []uint32 {
	column := f.run.Ops.Error
	if part.Error == nil && column == nil {
		return nil
	}
	for len(column) < have {
		column = append(column, 0)
	}
	for i := range part.Len() {
		at := uint32(0)
		if part.Error != nil && part.Error[i] != 0 {
			at = base + part.Error[i]
		}
		column = append(column, at)
	}
	return column
}

// extend appends an optional column that either side may lack.
func extend(column, part []int64, have, rows int) []int64 {
	if column == nil && part == nil {
		return nil
	}
	for len(column) < have {
		column = append(column, rlbench.None)
	}
	for i := range rows {
		if part == nil {
			column = append(column, rlbench.None)
		} else {
			column = append(column, part[i])
		}
	}
	return column
}
