package oracle

import "github.com/rlbench/rlbench"

// ledger holds ops that came in parts, under one numbering of keys and errors.
type ledger struct {
	ops    rlbench.Ops
	keys   map[string]uint32
	errors map[string]uint32
	// numbers is how the keys of the part before were numbered, for parts that share
	// a list of names; scratch is room for renumbering.
	numbers, scratch []uint32
}

func newLedger() *ledger {
	return &ledger{ops: rlbench.Ops{Errors: []string{""}}, keys: map[string]uint32{}, errors: map[string]uint32{"": 0}}
}

// add takes in a part, which was found readable.
func (l *ledger) add(part *rlbench.Ops) {
	o := &l.ops
	have, n := o.Len(), part.Len()
	l.addKeys(part)
	l.addErrors(part, have)
	o.ID = append(o.ID, part.ID...)
	o.Cost = append(o.Cost, part.Cost...)
	o.Instance = append(o.Instance, part.Instance...)
	o.Worker = append(o.Worker, part.Worker...)
	o.Planned = append(o.Planned, part.Planned...)
	o.Sent = append(o.Sent, part.Sent...)
	o.Done = append(o.Done, part.Done...)
	o.Outcome = append(o.Outcome, part.Outcome...)
	o.Status = extend(o.Status, part.Status, 0, have, n)
	from, to := stated(part), stated(o)
	for i := range to {
		*to[i] = extend(*to[i], *from[i], rlbench.None, have, n)
	}
}

// stated returns the columns of what the limiter said.
func stated(o *rlbench.Ops) [6]*[]int64 {
	return [...]*[]int64{&o.Limit, &o.Remaining, &o.RetryAfter, &o.Reset, &o.DecidedAt, &o.ReleasedAt}
}

// addKeys numbers the keys that the part's rows name. A part may list many more names
// than it has rows, and mostly lists those of the part before.
func (l *ledger) addKeys(part *rlbench.Ops) {
	o := &l.ops
	for len(l.numbers) < len(part.Keys) {
		l.numbers = append(l.numbers, 0)
	}
	for _, k := range part.Key {
		name := part.Keys[k]
		at := l.numbers[k]
		if int(at) >= len(o.Keys) || o.Keys[at] != name {
			at = l.number(name)
			l.numbers[k] = at
		}
		o.Key = append(o.Key, at)
	}
}

func (l *ledger) number(name string) uint32 {
	return intern(l.keys, &l.ops.Keys, name)
}

// intern returns the number of the text, a new one when it has none.
func intern(numbers map[string]uint32, texts *[]string, text string) uint32 {
	at, known := numbers[text]
	if !known {
		at = uint32(len(*texts))
		numbers[text] = at
		*texts = append(*texts, text)
	}
	return at
}

// addErrors numbers the errors of a part.
func (l *ledger) addErrors(part *rlbench.Ops, have int) {
	o := &l.ops
	if part.Error == nil && o.Error == nil {
		return
	}
	for len(o.Error) < have {
		o.Error = append(o.Error, 0)
	}
	for i := range part.Len() {
		at := uint32(0)
		if part.Error != nil {
			at = l.errorNumber(part.Errors[part.Error[i]])
		}
		o.Error = append(o.Error, at)
	}
}

// extend appends an optional column that either side may lack.
func extend[T any](column, part []T, absent T, have, rows int) []T {
	if column == nil && part == nil {
		return nil
	}
	for len(column) < have {
		column = append(column, absent)
	}
	if part != nil {
		return append(column, part...)
	}
	for range rows {
		column = append(column, absent)
	}
	return column
}

// keep drops all rows but those that live, and all keys but those that are named, and
// returns the new numbers of rows and keys.
func (l *ledger) keep(live []bool, named []bool) (rows, keys []uint32) {
	o := &l.ops
	l.scratch = l.scratch[:0]
	n := uint32(0)
	for _, is := range live {
		l.scratch = append(l.scratch, n)
		if is {
			n++
		}
	}
	keys = l.keepKeys(named)
	for row, is := range live {
		if is {
			o.Key[row] = keys[o.Key[row]]
		}
	}
	o.ID, o.Key, o.Cost = compact(o.ID, live), compact(o.Key, live), compact(o.Cost, live)
	o.Instance, o.Worker = compact(o.Instance, live), compact(o.Worker, live)
	o.Planned, o.Sent, o.Done = compact(o.Planned, live), compact(o.Sent, live), compact(o.Done, live)
	o.Outcome, o.Status, o.Error = compact(o.Outcome, live), compact(o.Status, live), compact(o.Error, live)
	for _, column := range stated(o) {
		*column = compact(*column, live)
	}
	if len(o.Errors) > errorsKept {
		l.keepErrors()
	}
	return l.scratch, keys
}

// errorsKept is how many errors are listed before those are dropped that no op has.
const errorsKept = 1024

func (l *ledger) keepErrors() {
	o := &l.ops
	was := o.Errors
	o.Errors, l.errors = []string{""}, map[string]uint32{"": 0}
	for row, at := range o.Error {
		o.Error[row] = l.errorNumber(was[at])
	}
}

func (l *ledger) errorNumber(text string) uint32 {
	return intern(l.errors, &l.ops.Errors, text)
}

// keepKeys drops the names that are not named any more.
func (l *ledger) keepKeys(named []bool) []uint32 {
	names := l.ops.Keys[:0]
	keys := make([]uint32, len(named))
	for k, is := range named {
		name := l.ops.Keys[k]
		if !is {
			delete(l.keys, name)
			continue
		}
		keys[k] = uint32(len(names))
		l.keys[name] = keys[k]
		names = append(names, name)
	}
	clear(l.ops.Keys[len(names):])
	l.ops.Keys = names
	return keys
}

// compact moves what lives to the front.
func compact[T any](column []T, live []bool) []T {
	if column == nil {
		return nil
	}
	n := 0
	for i, is := range live {
		if is {
			column[n] = column[i]
			n++
		}
	}
	return column[:n]
}

// sort puts the rows from start on in order of sent.
func (l *ledger) sort(start int) {
	o := &l.ops
	sents := make([]int64, 0, o.Len()-start)
	for _, t := range o.Sent[start:] {
		sents = append(sents, int64(t))
	}
	by := order(sents)
	reorder(o.ID, start, by)
	reorder(o.Key, start, by)
	reorder(o.Cost, start, by)
	reorder(o.Instance, start, by)
	reorder(o.Worker, start, by)
	reorder(o.Planned, start, by)
	reorder(o.Sent, start, by)
	reorder(o.Done, start, by)
	reorder(o.Outcome, start, by)
	reorder(o.Status, start, by)
	reorder(o.Error, start, by)
	for _, column := range stated(o) {
		reorder(*column, start, by)
	}
}

// reorder puts the values from start on in the given order.
func reorder[T any](column []T, start int, by []uint32) {
	if column == nil {
		return
	}
	tail := column[start:]
	was := append([]T(nil), tail...)
	for i, from := range by {
		tail[i] = was[from]
	}
}
