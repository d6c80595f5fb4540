package evidence

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/rlbench/rlbench"
)

const (
	// batchRows is how many cells of one column are made at a time: enough to
	// spread the cost of a call, few enough to stay in the cache.
	batchRows = 1024
	// groupRowsMax bounds a row group, and with it what the writer holds in memory.
	groupRowsMax = 1 << 17
)

// opsSchema is the schema that every ops.parquet is written with.
func opsSchema() *parquet.Schema { return parquet.SchemaOf(row{}) }

// writeOps writes a whole ops.parquet to w: the row groups of before, if there
// is any, and then the run's ops. What stands in before was written by writeOps
// too, so its compressed bytes are copied as they are.
func writeOps(w io.Writer, before *parquet.File, run *rlbench.Run) error {
	columns := opsColumns(run.Target, &run.Ops)
	if err := sameLength(columns, run.Ops.Len()); err != nil {
		return err
	}
	out := parquet.NewGenericWriter[row](w, opsSchema(), parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}))
	if before != nil {
		for _, group := range before.RowGroups() {
			if _, err := out.WriteRowGroup(group); err != nil {
				return fmt.Errorf("copying the ops of earlier targets: %w", err)
			}
		}
	}
	for first := 0; first < run.Ops.Len(); first += groupRowsMax {
		if err := writeGroup(out, columns, first, min(first+groupRowsMax, run.Ops.Len())); err != nil {
			return err
		}
	}
	return out.Close()
}

// sameLength guards against a run whose columns do not fit together.
func sameLength(columns []column, length int) error {
	for _, c := range columns {
		if n := c.rows(); n >= 0 && n != length {
			return fmt.Errorf("column %s has %d rows of %d", c.name, n, length)
		}
	}
	return nil
}

// writeGroup writes ops first to end as one row group, column by column.
func writeGroup(out *parquet.GenericWriter[row], columns []column, first, end int) error {
	cells := make([]parquet.Value, batchRows)
	for i, writer := range out.ColumnWriters() {
		for at := first; at < end; at += batchRows {
			batch := cells[:min(batchRows, end-at)]
			columns[i].encode(at, batch)
			if _, err := writer.WriteRowValues(batch); err != nil {
				return fmt.Errorf("writing column %s: %w", columns[i].name, err)
			}
		}
	}
	return out.Flush()
}
