package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/rlbench/rlbench"
)

// rewritten replaces a file of a folder and reads the folder.
func rewritten(t *testing.T, folder *Folder, name string, content []byte) ([]*rlbench.Run, error) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder.Path(), name), content, 0o644); err != nil {
		t.Fatal(err)
	}
	_, runs, err := Load(folder.Path())
	return runs, err
}

func read(t testing.TB, folder *Folder, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder.Path(), name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestMissingFilesAreNamed(t *testing.T) {
	for _, name := range []string{RunFile, OpsFile} {
		folder := save(t, traffic("a", 5))
		if err := os.Remove(filepath.Join(folder.Path(), name)); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(folder.Path()); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s the error is %v", name, err)
		}
	}
}

func TestRunFilesThatCannotBeRead(t *testing.T) {
	for _, row := range []struct{ why, old, new, want string }{
		{"a newer one", `"schema_version": 1`, `"schema_version": 2`, "schema_version is 2 and this rlbench knows up to 1"},
		{"not ours", `"schema_version": 1,`, ``, "it is not a run.json"},
		{"cut", `"events"`, "", "invalid character"},
		{"ops that are not there", `"ops": 10`, `"ops": 11`, "it has 10 ops of redis-gcra, and run.json says 11"},
		{"another target's", `"name": "redis-gcra"`, `"name": "redis-gcrb"`, "it has 0 ops of redis-gcrb, and run.json says 10"},
		{"edited for people only", `"limit": "10/1s"`, `"limit": "10/1m"`, "the limit 10/1m contradicts its count 10 and per_ns 1000000000"},
		{"a number that no integer holds", `"origin_ns": 1782900000123456789`, `"origin_ns": 1.5`, "origin_ns"},
	} {
		folder := save(t, bucketRun())
		good := string(read(t, folder, RunFile))
		bad := strings.Replace(good, row.old, row.new, 1)
		if bad == good {
			t.Fatalf("%s: %s is not in\n%s", row.why, row.old, good)
		}
		if _, err := rewritten(t, folder, RunFile, []byte(bad)); err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), RunFile) {
			t.Errorf("%s: the error is %v, not %s", row.why, err, row.want)
		}
	}
}

func TestRunFileThatNamesATargetTwice(t *testing.T) {
	folder := save(t, traffic("a", 5), traffic("b", 5))
	twice := strings.Replace(string(read(t, folder, RunFile)), `"name": "b"`, `"name": "a"`, 1)
	if _, err := rewritten(t, folder, RunFile, []byte(twice)); err == nil || !strings.Contains(err.Error(), "names the target a twice") {
		t.Errorf("the error is %v", err)
	}
}

// bytesApart is how far apart the bytes are that are cut at or damaged: all of
// them when RLBENCH_HISTORIES asks for thoroughness, else as many as take a second.
func bytesApart() int {
	if os.Getenv("RLBENCH_HISTORIES") != "" {
		return 1
	}
	return 13
}

// However much of the file is missing, it is an error and never a shorter run.
func TestTruncatedOps(t *testing.T) {
	folder := save(t, traffic("a", 50))
	whole := read(t, folder, OpsFile)
	for n := 0; n < len(whole); n += bytesApart() {
		if _, err := rewritten(t, folder, OpsFile, whole[:n]); err == nil || !strings.Contains(err.Error(), OpsFile) {
			t.Fatalf("%d bytes of %d: the error is %v", n, len(whole), err)
		}
	}
}

// A damaged byte is an error, or it lies where nothing is read from and the run
// is the one that was saved. It is never another run.
func TestDamagedOps(t *testing.T) {
	want := traffic("a", 50)
	folder := save(t, want)
	whole := read(t, folder, OpsFile)
	noticed, tried := 0, 0
	for i := 0; i < len(whole); i += bytesApart() {
		tried++
		damaged := bytes.Clone(whole)
		damaged[i] ^= 0x55
		runs, err := rewritten(t, folder, OpsFile, damaged)
		if err != nil {
			noticed++
		} else if d := difference(want, runs[0]); d != "" {
			t.Errorf("byte %d of %d damaged: %s", i, len(whole), d)
		}
	}
	t.Logf("of %d damaged bytes %d were noticed", tried, noticed)
	if noticed < tried/2 {
		t.Errorf("of %d damaged bytes only %d were noticed", tried, noticed)
	}
}

type foreign struct {
	Target string  `parquet:"target"`
	Op     string  `parquet:"op"`
	Cost   []int64 `parquet:"cost"`
	Price  float64 `parquet:"price"`
}

func TestForeignParquetIsToldColumnByColumn(t *testing.T) {
	folder := save(t, traffic("a", 5))
	_, err := rewritten(t, folder, OpsFile, parquetOf(t, []foreign{{Target: "a"}}))
	for _, want := range []string{"does not hold ops", "column op is no single INT64", "column cost is no single INT64", "there is no column key", "there is no column error"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, not %s", err, want)
		}
	}
}

// The parquet reader's LZ4 ends the process on some damage, so the word LZ4 in a
// file, which may be the damage itself, must stop the reading.
func TestCompressionThatIsNotRead(t *testing.T) {
	for codec, want := range map[compress.Codec]string{
		&parquet.Lz4Raw: "compressed with LZ4_RAW, not zstd, snappy, gzip or nothing",
		&parquet.Snappy: "it has 6 ops of target-0", &parquet.Gzip: "it has 6 ops of target-0", &parquet.Uncompressed: "it has 6 ops of target-0",
	} {
		folder := save(t, traffic("target-0", 5), traffic("target-1", 5))
		content := parquetOf(t, looseRows(12), parquet.Compression(codec))
		if _, err := rewritten(t, folder, OpsFile, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, not %s", codec, err, want)
		}
	}
}

func parquetOf[T any](t *testing.T, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := parquet.Write(&out, rows, options...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// loose is a row as other writers have it: in another order, everything
// optional, and a column of their own.
type loose struct {
	Extra        *string `parquet:"extra,optional"`
	Error        *string `parquet:"error,optional"`
	ReleasedAtNS *int64  `parquet:"released_at_ns,optional"`
	DecidedAtNS  *int64  `parquet:"decided_at_ns,optional"`
	ResetNS      *int64  `parquet:"reset_ns,optional"`
	RetryAfterNS *int64  `parquet:"retry_after_ns,optional"`
	Remaining    *int64  `parquet:"remaining,optional"`
	Limit        *int64  `parquet:"limit,optional"`
	Status       *int32  `parquet:"status,optional"`
	DoneNS       *int64  `parquet:"done_ns,optional"`
	SentNS       *int64  `parquet:"sent_ns,optional"`
	Outcome      *string `parquet:"outcome,optional"`
	PlannedNS    *int64  `parquet:"planned_ns,optional"`
	Worker       *int32  `parquet:"worker,optional"`
	Instance     *int32  `parquet:"instance,optional"`
	Cost         *int64  `parquet:"cost,optional"`
	Key          *string `parquet:"key,optional"`
	Op           *int64  `parquet:"op,optional"`
	Target       *string `parquet:"target,optional"`
}

// looseRows are the rows of two targets, one of each in turn.
func looseRows(n int) []loose {
	var rows []loose
	for i := range n {
		rows = append(rows, loose{
			Extra: new("x"), Target: new(fmt.Sprint("target-", i%2)), Op: new(int64(i)), Key: new(fmt.Sprint("user-", i%3)),
			Cost: new(int64(1)), Instance: new(int32(2)), Worker: new(int32(3)), PlannedNS: new(int64(i)),
			Outcome: new("denied"), SentNS: new(int64(i)), DoneNS: new(int64(i + 5)), Limit: new(int64(100)),
		})
	}
	return rows
}

func TestRowsThatAnotherProgramWrote(t *testing.T) {
	const n = 3 * batchRows
	folder := save(t, traffic("target-0", n/2), traffic("target-1", n/2))
	runs, err := rewritten(t, folder, OpsFile, parquetOf(t, looseRows(n)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		op := runs[i%2].Ops.At(i / 2)
		want := rlbench.Op{
			ID: int64(i), Key: fmt.Sprint("user-", i%3), Cost: 1, Instance: 2, Worker: 3,
			Planned: rlbench.Instant(i), Sent: rlbench.Instant(i), Done: rlbench.Instant(i + 5), Outcome: rlbench.Denied, Limit: 100,
			Remaining: rlbench.None, RetryAfter: rlbench.None, Reset: rlbench.None, DecidedAt: rlbench.None, ReleasedAt: rlbench.None,
		}
		if op != want {
			t.Fatalf("row %d was read as %+v, not %+v", i, op, want)
		}
	}
}

func TestCellsThatCannotBe(t *testing.T) {
	for want, spoil := range map[string]func(*loose){
		"column outcome: \"maybe\" is not an outcome":   func(r *loose) { r.Outcome = new("maybe") },
		"column outcome: null where a value is needed":  func(r *loose) { r.Outcome = nil },
		"column key: null where a value is needed":      func(r *loose) { r.Key = nil },
		"column cost: null where a value is needed":     func(r *loose) { r.Cost = nil },
		"column instance: null where a value is needed": func(r *loose) { r.Instance = nil },
		"row 7, column target: null":                    func(r *loose) { r.Target = nil },
	} {
		folder := save(t, traffic("target-0", 5), traffic("target-1", 5))
		rows := looseRows(10)
		spoil(&rows[7])
		if _, err := rewritten(t, folder, OpsFile, parquetOf(t, rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, not %s", err, want)
		}
	}
}

func FuzzOps(f *testing.F) {
	folder := save(f, traffic("a", 20), traffic("b", 3))
	f.Add(read(f, folder, OpsFile))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(t.TempDir(), OpsFile)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		a := &rlbench.Run{Target: "a"}
		if err := loadOps(path, &opsReader{runs: map[string]*rlbench.Run{"a": a}}); err != nil {
			return
		}
		for i := range a.Ops.Len() { // what is read has all its columns
			_ = a.Ops.At(i)
		}
	})
}

func FuzzRunFile(f *testing.F) {
	f.Add(string(read(f, save(f, bucketRun()), RunFile)))
	f.Add(`{"schema_version":1,"targets":[{}]}`)
	f.Fuzz(func(t *testing.T, content string) {
		file, err := readFile(strings.NewReader(content))
		if err != nil {
			return
		}
		var first, again bytes.Buffer
		if err := writeFile(&first, file); err != nil {
			t.Fatal(err)
		}
		back, err := readFile(io.TeeReader(&first, &again))
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		var second bytes.Buffer
		if err := writeFile(&second, back); err != nil || second.String() != again.String() {
			t.Errorf("%q is written as\n%s and then as\n%s", content, again.String(), second.String())
		}
	})
}
