package logs

import "github.com/rlbench/rlbench"

// firstMoment is where among the stated columns those begin that hold moments: they
// count from the origin, as the instants do.
const firstMoment = 4

// statedColumns are the optional columns in the order of [row.stated].
func statedColumns(o *rlbench.Ops) [statedCount]*[]int64 {
	return [...]*[]int64{&o.Limit, &o.Remaining, &o.RetryAfter, &o.Reset, &o.DecidedAt, &o.ReleasedAt}
}

// reset empties a block and keeps its room.
func reset(o *rlbench.Ops) {
	clear(o.Keys) // so that no text is kept alive by room alone
	o.Keys = o.Keys[:0]
	o.Errors = append(o.Errors[:0], "")
	o.ID, o.Key, o.Cost = o.ID[:0], o.Key[:0], o.Cost[:0]
	o.Instance, o.Worker = o.Instance[:0], o.Worker[:0]
	o.Planned, o.Sent, o.Done = o.Planned[:0], o.Sent[:0], o.Done[:0]
	o.Outcome, o.Status = o.Outcome[:0], o.Status[:0]
	for _, column := range statedColumns(o) {
		*column = (*column)[:0]
	}
	o.Error = o.Error[:0]
}

// pad makes the optional columns that have a value as long as the others, and
// nil those that have none.
func pad(o *rlbench.Ops) {
	n := o.Len()
	for _, column := range statedColumns(o) {
		if len(*column) == 0 {
			*column = nil
		}
		if k := len(*column); k > 0 && k < n {
			*column = put(*column, n-1, rlbench.None, rlbench.None)
		}
	}
	if len(o.Error) == 0 {
		o.Error = nil
	}
	if k := len(o.Error); k > 0 && k < n {
		o.Error = put(o.Error, n-1, 0, 0)
	}
}

// put appends the value of row i to an optional column, filling up the rows
// before it that have none.
func put[T any](column []T, i int, value, absent T) []T {
	for len(column) < i {
		column = append(column, absent)
	}
	return append(column, value)
}
