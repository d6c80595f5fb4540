package evidence

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"github.com/rlbench/rlbench"
)

// row is the shape of ops.parquet: the names, types and nullability of its
// columns, in order. No value of it is ever made: ops are columns already.
type row struct {
	Target       string  `parquet:"target,dict"`
	Op           int64   `parquet:"op"`
	Key          string  `parquet:"key,dict"`
	Cost         int64   `parquet:"cost"`
	Instance     int32   `parquet:"instance"`
	Worker       int32   `parquet:"worker"`
	PlannedNS    int64   `parquet:"planned_ns"`
	Outcome      string  `parquet:"outcome,dict"`
	SentNS       *int64  `parquet:"sent_ns,optional"`
	DoneNS       *int64  `parquet:"done_ns,optional"`
	Status       *int32  `parquet:"status,optional"`
	Limit        *int64  `parquet:"limit,optional"`
	Remaining    *int64  `parquet:"remaining,optional"`
	RetryAfterNS *int64  `parquet:"retry_after_ns,optional"`
	ResetNS      *int64  `parquet:"reset_ns,optional"`
	DecidedAtNS  *int64  `parquet:"decided_at_ns,optional"`
	ReleasedAtNS *int64  `parquet:"released_at_ns,optional"`
	Error        *string `parquet:"error,optional,dict"`
}

// column ties one column of ops.parquet to the ops of one target that it is
// written from or read into.
type column struct {
	name string
	// rows is how many ops the column holds now; -1 when it is left out
	// altogether.
	rows func() int
	// encode fills cells with the values of the ops from row first on.
	encode func(first int, cells []parquet.Value)
	// decode appends the cells to the ops.
	decode func(cells []parquet.Value) error
}

var errNull = errors.New("null where a value is needed")

// opsColumns are all the columns of ops.parquet, in the order of [row]; the
// outcome comes before all that is nullable, because it counts the ops.
func opsColumns(target string, ops *rlbench.Ops) []column {
	return []column{
		targetColumn(target, ops),
		required("op", &ops.ID),
		keyColumn(ops),
		required("cost", &ops.Cost),
		required("instance", &ops.Instance),
		required("worker", &ops.Worker),
		required("planned_ns", &ops.Planned),
		outcomeColumn(ops),
		instants("sent_ns", &ops.Sent),
		instants("done_ns", &ops.Done),
		stated("status", &ops.Status, 0, ops),
		stated("limit", &ops.Limit, rlbench.None, ops),
		stated("remaining", &ops.Remaining, rlbench.None, ops),
		stated("retry_after_ns", &ops.RetryAfter, rlbench.None, ops),
		stated("reset_ns", &ops.Reset, rlbench.None, ops),
		stated("decided_at_ns", &ops.DecidedAt, rlbench.None, ops),
		stated("released_at_ns", &ops.ReleasedAt, rlbench.None, ops),
		errorColumn(ops),
	}
}

// integer is what the numbers of an op are made of; its size is the column's.
type integer interface {
	~int32 | ~int64
}

func cell[T integer](n T) parquet.Value {
	if unsafe.Sizeof(n) == 4 {
		return parquet.Int32Value(int32(n))
	}
	return parquet.Int64Value(int64(n))
}

func number[T integer](v *parquet.Value) T {
	if unsafe.Sizeof(T(0)) == 4 {
		return T(v.Int32())
	}
	return T(v.Int64())
}

// required is a column of numbers that every op has.
func required[T integer](name string, values *[]T) column {
	return column{
		name: name,
		rows: func() int { return len(*values) },
		encode: func(first int, cells []parquet.Value) {
			for i, n := range (*values)[first : first+len(cells)] {
				cells[i] = cell(n)
			}
		},
		decode: func(cells []parquet.Value) error {
			for i := range cells {
				if cells[i].IsNull() {
					return errNull
				}
				*values = append(*values, number[T](&cells[i]))
			}
			return nil
		},
	}
}

// instants is a column of moments that may be missing, but not all together.
func instants(name string, values *[]rlbench.Instant) column {
	return column{
		name: name,
		rows: func() int { return len(*values) },
		encode: func(first int, cells []parquet.Value) {
			fill(cells, (*values)[first:], rlbench.NoInstant)
		},
		decode: func(cells []parquet.Value) error {
			*values = appendCells(*values, cells, rlbench.NoInstant)
			return nil
		},
	}
}

// stated is a column of what the limiter said, nil when it never said it.
func stated[T integer](name string, values *[]T, absent T, ops *rlbench.Ops) column {
	return column{
		name: name,
		rows: func() int { return rowsOf(*values) },
		encode: func(first int, cells []parquet.Value) {
			if *values == nil {
				clear(cells)
				return
			}
			fill(cells, (*values)[first:], absent)
		},
		decode: func(cells []parquet.Value) error {
			if *values == nil && allNull(cells) {
				return nil
			}
			for len(*values) < ops.Len()-len(cells) {
				*values = append(*values, absent)
			}
			*values = appendCells(*values, cells, absent)
			return nil
		},
	}
}

// present marks a nullable column's cell as one that holds a value.
func present(v parquet.Value) parquet.Value { return v.Level(0, 1, 0) }

func fill[T integer](cells []parquet.Value, values []T, absent T) {
	for i := range cells {
		if values[i] == absent {
			cells[i] = parquet.Value{}
		} else {
			cells[i] = present(cell(values[i]))
		}
	}
}

func appendCells[T integer](values []T, cells []parquet.Value, absent T) []T {
	for i := range cells {
		if cells[i].IsNull() {
			values = append(values, absent)
		} else {
			values = append(values, number[T](&cells[i]))
		}
	}
	return values
}

func allNull(cells []parquet.Value) bool {
	for i := range cells {
		if !cells[i].IsNull() {
			return false
		}
	}
	return true
}

// rowsOf is the length of a column that may be left out.
func rowsOf[T any](values []T) int {
	if values == nil {
		return -1
	}
	return len(values)
}

// targetColumn says whose op it is. What it reads has been used to choose the
// ops that the other columns go to, so there is nothing left to decode.
func targetColumn(target string, ops *rlbench.Ops) column {
	name := parquet.ByteArrayValue([]byte(escape(target)))
	return column{
		name: "target",
		rows: ops.Len,
		encode: func(_ int, cells []parquet.Value) {
			for i := range cells {
				cells[i] = name
			}
		},
		decode: func([]parquet.Value) error { return nil },
	}
}

func keyColumn(ops *rlbench.Ops) column {
	names := textCells(ops.Keys)
	numbers := map[string]uint32{}
	return column{
		name: "key",
		rows: func() int { return len(ops.Key) },
		encode: func(first int, cells []parquet.Value) {
			for i, k := range ops.Key[first : first+len(cells)] {
				cells[i] = names[k]
			}
		},
		decode: func(cells []parquet.Value) error {
			for i := range cells {
				if cells[i].IsNull() {
					return errNull
				}
				ops.Key = append(ops.Key, intern(&ops.Keys, numbers, cells[i].ByteArray()))
			}
			return nil
		},
	}
}

func outcomeColumn(ops *rlbench.Ops) column {
	var names [rlbench.Unsent + 1]parquet.Value
	for o := range names {
		names[o] = parquet.ByteArrayValue([]byte(rlbench.Outcome(o).String()))
	}
	return column{
		name: "outcome",
		rows: func() int { return len(ops.Outcome) },
		encode: func(first int, cells []parquet.Value) {
			for i, o := range ops.Outcome[first : first+len(cells)] {
				cells[i] = names[o]
			}
		},
		decode: func(cells []parquet.Value) error {
			for i := range cells {
				if cells[i].IsNull() {
					return errNull
				}
				o, ok := rlbench.ParseOutcome(string(cells[i].ByteArray()))
				if !ok {
					return fmt.Errorf("%q is not an outcome", cells[i].ByteArray())
				}
				ops.Outcome = append(ops.Outcome, o)
			}
			return nil
		},
	}
}

func errorColumn(ops *rlbench.Ops) column {
	texts := textCells(ops.Errors)
	for i := range texts {
		texts[i] = present(texts[i])
	}
	numbers := map[string]uint32{}
	return column{
		name: "error",
		rows: func() int { return rowsOf(ops.Error) },
		encode: func(first int, cells []parquet.Value) {
			clear(cells)
			if ops.Error == nil {
				return
			}
			for i, e := range ops.Error[first : first+len(cells)] {
				if ops.Errors[e] != "" {
					cells[i] = texts[e]
				}
			}
		},
		decode: func(cells []parquet.Value) error {
			if ops.Error == nil && allNull(cells) {
				return nil
			}
			if ops.Errors == nil {
				ops.Errors = []string{""}
				numbers[""] = 0
			}
			for len(ops.Error) < ops.Len()-len(cells) {
				ops.Error = append(ops.Error, 0)
			}
			for i := range cells {
				ops.Error = append(ops.Error, intern(&ops.Errors, numbers, cells[i].ByteArray()))
			}
			return nil
		},
	}
}

// textCells makes each text's parquet value once, however many ops it stands in.
func textCells(texts []string) []parquet.Value {
	cells := make([]parquet.Value, len(texts))
	for i, text := range texts {
		cells[i] = parquet.ByteArrayValue([]byte(escape(text)))
	}
	return cells
}

// intern returns the number of a text, adding it to texts when it is new.
func intern(texts *[]string, numbers map[string]uint32, escaped []byte) uint32 {
	n, seen := numbers[string(escaped)]
	if !seen {
		n = uint32(len(*texts))
		*texts = append(*texts, unescape(string(escaped)))
		numbers[string(escaped)] = n
	}
	return n
}
