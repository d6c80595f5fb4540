package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/evidence"
)

// carried runs a scenario in an empty folder and returns its status, the folder
// of its evidence and the runs in it.
func carried(t *testing.T, scenario string, flags ...string) (int, string, []*rlbench.Run) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("scenario.yaml", []byte(scenario), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status := run(append([]string{"run", "scenario.yaml", "--backend", "embedded"}, flags...), &out, &errs)
	folders, err := filepath.Glob(".rlbench/*/2*")
	if err != nil || len(folders) != 1 {
		t.Fatalf("the evidence lies in %v, %v; printed: %s%s", folders, err, &out, &errs)
	}
	_, runs, err := evidence.Load(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	return status, folders[0], runs
}

// atTheEdge lets its limit through just before an edge and again just after it:
// lawful for windows that are aligned, and twice the limit for any other.
const atTheEdge = `
name: edge
why: Aligned windows let twice the limit through across an edge.
policy: {algorithm: fixed-window, limit: 20/1s, anchor: epoch}
instances: 2
start: {before_edge: 5ms}
traffic:
- {burst: 30}
- {burst: 30, at: 505ms}
targets:
- name: memory-fixed-window
- name: redis-lua-fixed-window
`

func TestPlacedAgainstTheEdge(t *testing.T) {
	status, _, runs := carried(t, atTheEdge)
	if status != 0 || len(runs) != 2 {
		t.Fatalf("exit status %d with %d runs", status, len(runs))
	}
	for _, run := range runs {
		into := floorMod(run.Clock.Origin, int64(time.Second))
		want := int64(time.Second - 5*time.Millisecond)
		if off := into - want; off > int64(run.Clock.Error) || -off > int64(run.Clock.Error) {
			t.Errorf("%s: instant 0 lies %v into the window, want 995ms ± %v", run.Target, time.Duration(into), run.Clock.Error)
		}
		if !run.Clock.Stated || run.Clock.Error > 2*time.Millisecond {
			t.Errorf("%s: its clock is known to %v only, which says little of a placement 5 ms before an edge", run.Target, run.Clock.Error)
		}
		if first := run.Ops.Planned[0]; first != 0 {
			t.Errorf("%s: the first request is planned at %v", run.Target, first)
		}
	}
}

func TestFilesKeepTheirSchemas(t *testing.T) {
	_, folder, _ := carried(t, atTheEdge, "--set", "policy.limit=10/1s", "--seed", "7")
	for name, file := range map[string]string{"summary": summaryFile, "run": evidence.RunFile} {
		var schema, errs bytes.Buffer
		if status := run([]string{"schema", name}, &schema, &errs); status != 0 {
			t.Fatalf("schema %s: %d %s", name, status, &errs)
		}
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(schema.Bytes(), text); err != nil {
			t.Errorf("%s breaks its schema: %v", file, err)
		}
		if err := validate(schema.Bytes(), bytes.Replace(text, []byte(`"schema_version"`), []byte(`"version"`), 1)); err == nil {
			t.Errorf("%s without its schema_version keeps the schema: it checks nothing", file)
		}
	}
	var file evidence.File
	text, err := os.ReadFile(filepath.Join(folder, evidence.RunFile))
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || file.Seed != 7 || len(file.Scenario.Overrides) != 2 {
		t.Errorf("run.json says seed %d and overrides %q, %v", file.Seed, file.Scenario.Overrides, err)
	}
}

func validate(schema, text []byte) error {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("schema.json", parsed); err != nil {
		return err
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return compiled.Validate(instance)
}
