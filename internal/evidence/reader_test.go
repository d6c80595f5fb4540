package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rlbench/rlbench"
)

// python is an interpreter that can read Parquet: RLBENCH_PYTHON, or else
// python3. The test is skipped where there is none, unless RLBENCH_REQUIRE names
// parquet.
func python(t *testing.T) string {
	t.Helper()
	interpreter := os.Getenv("RLBENCH_PYTHON")
	if interpreter == "" {
		interpreter = "python3"
	}
	importing := "try:\n import pyarrow.parquet\nexcept ImportError:\n import duckdb"
	out, err := exec.CommandContext(t.Context(), interpreter, "-c", importing).CombinedOutput()
	if err == nil {
		return interpreter
	}
	message := fmt.Sprintf("%s can import neither pyarrow nor duckdb (RLBENCH_PYTHON chooses another): %v %s", interpreter, err, out)
	if slices.Contains(strings.Split(os.Getenv("RLBENCH_REQUIRE"), ","), "parquet") {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// contract are the columns of ops.parquet as other programs rely on them.
var contract = [][]any{
	{"target", "string", false}, {"op", "int64", false}, {"key", "string", false}, {"cost", "int64", false},
	{"instance", "int32", false}, {"worker", "int32", false}, {"planned_ns", "int64", false}, {"outcome", "string", false},
	{"sent_ns", "int64", true}, {"done_ns", "int64", true}, {"status", "int32", true}, {"limit", "int64", true},
	{"remaining", "int64", true}, {"retry_after_ns", "int64", true}, {"reset_ns", "int64", true},
	{"decided_at_ns", "int64", true}, {"released_at_ns", "int64", true}, {"error", "string", true},
}

func TestAnotherReaderSeesTheSameRows(t *testing.T) {
	interpreter := python(t)
	random := rand.New(rand.NewPCG(3, 3))
	runs := []*rlbench.Run{anyRun(random, "first-ü", 1500), traffic("second", 5000), anyRun(random, "third", 700)}
	path := filepath.Join(save(t, runs...).Path(), OpsFile)
	out, err := exec.CommandContext(t.Context(), interpreter, "testdata/rows.py", path).Output()
	if err != nil {
		t.Fatalf("reading with %s: %v", interpreter, err)
	}
	lines := json.NewDecoder(bytes.NewReader(out))
	lines.UseNumber()
	var reader string
	var columns [][]any
	for _, into := range []any{&reader, &columns} {
		if err := lines.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(columns, contract) {
		t.Errorf("%s sees the columns\n%v, not\n%v", reader, columns, contract)
	}
	rows := 0
	for _, run := range runs {
		for i := range run.Ops.Len() {
			var row []any
			if err := lines.Decode(&row); err != nil {
				t.Fatalf("row %d: %v", rows, err)
			}
			if got, want := fmt.Sprintf("%q", row), fmt.Sprintf("%q", cells(run, i)); got != want {
				t.Fatalf("%s sees row %d of %s as\n%s, not\n%s", reader, i, run.Target, got, want)
			}
			rows++
		}
	}
	if lines.More() {
		t.Errorf("%s sees more than the %d rows that were saved", reader, rows)
	}
	t.Logf("%s saw %d rows of %d targets, %d columns each, as they were saved", reader, rows, len(runs), len(columns))
}

// cells is row i as another reader shall see it: numbers, texts and nil.
func cells(run *rlbench.Run, i int) []any {
	op := run.Ops.At(i)
	number := func(n int64) any { return json.Number(fmt.Sprint(n)) }
	stated := func(n int64) any {
		if n == rlbench.None {
			return nil
		}
		return number(n)
	}
	row := []any{
		run.Target, number(op.ID), escape(op.Key), number(op.Cost), number(int64(op.Instance)), number(int64(op.Worker)),
		number(int64(op.Planned)), op.Outcome.String(), stated(int64(op.Sent)), stated(int64(op.Done)),
		nil, stated(op.Limit), stated(op.Remaining), stated(op.RetryAfter), stated(op.Reset), stated(op.DecidedAt), stated(op.ReleasedAt), nil,
	}
	if op.Status != 0 {
		row[10] = number(int64(op.Status))
	}
	if op.Error != "" {
		row[17] = escape(op.Error)
	}
	return row
}

// TestOpsAlone reads an ops.parquet whose run.json is gone: names and ops remain.
func TestOpsAlone(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	runs := []*rlbench.Run{anyRun(random, "first-ü", 1500), traffic("second", 3*batchRows+1), anyRun(random, "third", 7)}
	dir := save(t, runs...).Path()
	_, whole, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, RunFile)); err != nil {
		t.Fatal(err)
	}
	alone, err := LoadOps(filepath.Join(dir, OpsFile))
	if err != nil || len(alone) != len(runs) {
		t.Fatalf("%d runs, %v", len(alone), err)
	}
	for i, run := range alone {
		if want := (&rlbench.Run{Target: whole[i].Target, Ops: whole[i].Ops}); !reflect.DeepEqual(run, want) {
			t.Errorf("run %d of %s is not what it is beside its run.json", i, run.Target)
		}
	}
	if _, err := LoadOps(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there was read")
	}
}
