package evidence

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/rlbench/rlbench"
)

// Load reads a folder back: run.json, and a Run for each of its targets, in its
// order, with the ops in the order in which they were saved. Ops of a target
// that run.json does not name are left out: they were never finished. An error
// names the file and what is wrong with it.
func Load(dir string) (*File, []*rlbench.Run, error) {
	file, err := loadFile(filepath.Join(dir, RunFile))
	if err != nil {
		return nil, nil, err
	}
	if len(file.Targets) == 0 {
		return file, nil, nil
	}
	runs, err := loadRuns(file, filepath.Join(dir, OpsFile))
	if err != nil {
		return nil, nil, err
	}
	return file, runs, nil
}

// LoadOps reads an ops.parquet alone: a Run for each target in it, in the order in
// which they are met, of which nothing but the name and the ops is known.
func LoadOps(path string) ([]*rlbench.Run, error) {
	var found []*rlbench.Run
	reader := &opsReader{runs: map[string]*rlbench.Run{}, meet: func(target string) *rlbench.Run {
		found = append(found, &rlbench.Run{Target: target})
		return found[len(found)-1]
	}}
	if err := loadOps(path, reader); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return found, nil
}

func loadFile(path string) (*File, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	file, err := readFile(in)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return file, nil
}

func loadRuns(file *File, path string) ([]*rlbench.Run, error) {
	runs := make([]*rlbench.Run, len(file.Targets))
	byName := map[string]*rlbench.Run{}
	for i := range file.Targets {
		run, err := file.Targets[i].run()
		if err != nil {
			return nil, fmt.Errorf("reading %s: target %s: %w", RunFile, file.Targets[i].Name, err)
		}
		if byName[run.Target] != nil {
			return nil, fmt.Errorf("reading %s: it names the target %s twice", RunFile, run.Target)
		}
		runs[i], byName[run.Target] = run, run
	}
	if err := loadOps(path, &opsReader{runs: byName}); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	for i, run := range runs {
		if want := file.Targets[i].Ops; int64(run.Ops.Len()) != want {
			return nil, fmt.Errorf("reading %s: it has %d ops of %s, and %s says %d", path, run.Ops.Len(), run.Target, RunFile, want)
		}
	}
	return runs, nil
}

// loadOps reads every row into the run of its target. The parquet reader trusts
// lengths that stand in the file and panics on some that damage makes up; a file
// is outside data, so that too is an error.
func loadOps(path string, reader *opsReader) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is damaged: %v", r)
		}
	}()
	file, closer, err := openOps(path)
	if err != nil {
		return err
	}
	defer closer.Close()
	return reader.read(file)
}

func (r *opsReader) read(file *parquet.File) error {
	places, err := columnPlaces(file.Root())
	if err != nil {
		return err
	}
	if err := knownCodecs(file.Metadata()); err != nil {
		return err
	}
	r.columns = map[string][]column{}
	for _, group := range file.RowGroups() {
		if err := r.readGroup(group, places); err != nil {
			return err
		}
	}
	return nil
}

// columnPlaces finds each column of ops.parquet in the file, in the order of
// [row]. Columns that it does not know are left alone; whether a column may hold
// null is for its cells to show, because other writers call every column optional.
func columnPlaces(root *parquet.Column) ([]int, error) {
	var places []int
	var wrong []string
	for _, want := range opsSchema().Fields() {
		found := root.Column(want.Name())
		switch {
		case found == nil:
			wrong = append(wrong, "there is no column "+want.Name())
		case !found.Leaf() || found.Repeated() || found.Type().Kind() != want.Type().Kind():
			wrong = append(wrong, fmt.Sprintf("column %s is no single %s", want.Name(), want.Type().Kind()))
		default:
			places = append(places, found.Index())
		}
	}
	if len(wrong) > 0 {
		return nil, fmt.Errorf("it does not hold ops: %s", strings.Join(wrong, "; "))
	}
	return places, nil
}

// knownCodecs lets pass what this package writes with and the usual choices of
// other writers. The parquet reader has an LZ4 that doubles its memory until
// damaged data fits, which ends the process: one wrong bit may name it.
func knownCodecs(metadata *format.FileMetaData) error {
	for _, group := range metadata.RowGroups {
		for _, chunk := range group.Columns {
			switch codec := chunk.MetaData.Codec; codec {
			case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd:
			default:
				return fmt.Errorf("column %s is compressed with %s, not zstd, snappy, gzip or nothing", chunk.MetaData.PathInSchema, codec)
			}
		}
	}
	return nil
}

// opsReader hands the rows of a file out to the runs that they belong to.
type opsReader struct {
	runs map[string]*rlbench.Run
	// meet makes the run of a target that is not among them; nil leaves it out.
	meet func(target string) *rlbench.Run
	// columns are those of each run that rows were seen of; nil for a target
	// that is left out.
	columns map[string][]column
	row     int64
}

// readGroup reads one row group: as many rows at a time as every column has at
// hand, because cells are good only until their column reads on.
func (r *opsReader) readGroup(group parquet.RowGroup, places []int) error {
	chunks := group.ColumnChunks()
	streams := make([]stream, len(places))
	for i, place := range places {
		streams[i] = stream{values: parquet.NewColumnChunkValueReader(chunks[place]), buffer: make([]parquet.Value, batchRows)}
		defer streams[i].values.Close()
	}
	for left := group.NumRows(); left > 0; {
		n := min(left, batchRows)
		for i := range streams {
			if err := streams[i].refill(); err != nil {
				return fmt.Errorf("row %d, column %s: %w", r.row, opsSchema().Fields()[i].Name(), err)
			}
			n = min(n, int64(len(streams[i].ready)))
		}
		if err := r.hand(streams, int(n)); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// hand gives the next n rows to their runs, those of one target together.
func (r *opsReader) hand(streams []stream, n int) error {
	for n > 0 {
		targets := streams[0].ready[:n]
		if targets[0].IsNull() {
			return fmt.Errorf("row %d, column target: %w", r.row, errNull)
		}
		name := targets[0].ByteArray()
		same := 1
		for same < n && string(targets[same].ByteArray()) == string(name) {
			same++
		}
		columns := r.columnsOf(string(name))
		for i := range streams {
			cells := streams[i].take(same)
			if columns == nil {
				continue
			}
			if err := columns[i].decode(cells); err != nil {
				return fmt.Errorf("rows %d to %d, column %s: %w", r.row, r.row+int64(same)-1, columns[i].name, err)
			}
		}
		r.row += int64(same)
		n -= same
	}
	return nil
}

func (r *opsReader) columnsOf(escaped string) []column {
	columns, seen := r.columns[escaped]
	if !seen {
		run := r.runs[unescape(escaped)]
		if run == nil && r.meet != nil {
			run = r.meet(unescape(escaped))
		}
		if run != nil {
			columns = opsColumns(run.Target, &run.Ops)
		}
		r.columns[escaped] = columns
	}
	return columns
}

// stream reads the cells of one column chunk.
type stream struct {
	values parquet.ColumnChunkValueReader
	buffer []parquet.Value
	// ready are the cells read and not yet taken.
	ready []parquet.Value
}

// refill reads more cells when none are ready.
func (s *stream) refill() error {
	if len(s.ready) > 0 {
		return nil
	}
	n, err := s.values.ReadValues(s.buffer)
	if n > 0 {
		s.ready = s.buffer[:n]
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return errors.New("the column ends too early")
	}
	return err
}

func (s *stream) take(n int) []parquet.Value {
	taken := s.ready[:n]
	s.ready = s.ready[n:]
	return taken
}
