package evidence

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	reflected "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rlbench/rlbench"
)

var update = flag.Bool("update", false, "write the schema anew")

// names are the types that run.json holds as one of a few words.
func names(t reflect.Type) *reflected.Schema {
	one := func(values ...any) *reflected.Schema { return &reflected.Schema{Type: "string", Enum: values} }
	switch t {
	case reflect.TypeFor[rlbench.Algorithm]():
		var all []any
		for _, a := range rlbench.Algorithms() {
			all = append(all, a)
		}
		return one(all...)
	case reflect.TypeFor[rlbench.Anchor]():
		return one(rlbench.Epoch, rlbench.FirstRequest)
	case reflect.TypeFor[rlbench.StoreError]():
		return one(rlbench.Open, rlbench.Closed, rlbench.Local)
	}
	return nil
}

// TestSchemaIsThatOfFile keeps the published schema and the type together; with
// -update it writes the schema from the type and its comments.
func TestSchemaIsThatOfFile(t *testing.T) {
	r := reflected.Reflector{Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true, Mapper: names}
	if err := r.AddGoComments("github.com/rlbench/rlbench/internal/evidence", ".", reflected.WithFullComment()); err != nil {
		t.Fatal(err)
	}
	s := r.Reflect(&File{})
	s.Version = "http://json-schema.org/draft-07/schema#"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	// Draft-07 has another word for what later ones call $defs.
	text = append(bytes.ReplaceAll(text, []byte("$defs"), []byte("definitions")), '\n')
	if *update {
		if err := os.WriteFile("run.schema.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(text, Schema()) {
		t.Errorf("run.schema.json is not that of File, which is\n%s", text)
	}
}

// validate judges a run.json by the published schema.
func validate(t *testing.T, document string) error {
	t.Helper()
	published, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("run.json", published); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("run.json")
	if err != nil {
		t.Fatal(err)
	}
	if compiled.DraftVersion != 7 {
		t.Fatalf("the schema is of draft %d, not 7", compiled.DraftVersion)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(value)
}

// runFile is the run.json of the given runs.
func runFile(t *testing.T, runs ...*rlbench.Run) string {
	t.Helper()
	written, err := os.ReadFile(filepath.Join(save(t, runs...).Path(), RunFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func TestEveryRunFileKeepsTheSchema(t *testing.T) {
	for seed := range uint64(15) {
		run := anyRun(rand.New(rand.NewPCG(seed, 2)), "a", 3)
		run.Backend = "none"
		if document := runFile(t, run, traffic("b", 1)); validate(t, document) != nil {
			t.Errorf("%v of\n%s", validate(t, document), document)
		}
	}
	if err := validate(t, runFile(t)); err != nil {
		t.Errorf("a folder that holds no run yet: %v", err)
	}
}

func TestSchemaRefusesWhatIsNoRunFile(t *testing.T) {
	good := runFile(t, bucketRun())
	if err := validate(t, good); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ why, old, new string }{
		{"an algorithm that there is not", `"gcra"`, `"gcrb"`},
		{"a clock's origin in quotes", `"origin_ns": 1782900000123456789`, `"origin_ns": "1782900000123456789"`},
		{"no statement about completeness", `"complete": true,`, ``},
		{"a wall clock that is none", `"started_at": "2026`, `"started_at": "yesterday 2026`},
		{"no list of events", `"events": [`, `"events": null, "was": [`},
		{"a limit in words alone", `"count": 10,`, ``},
		{"a moment in words", `"at_ns": 5`, `"at_ns": "5"`},
		{"another schema", `"schema_version": 1`, `"schema_version": 2`},
	} {
		bad := strings.Replace(good, row.old, row.new, 1)
		if bad == good {
			t.Fatalf("%s: %s is not in\n%s", row.why, row.old, good)
		}
		if validate(t, bad) == nil {
			t.Errorf("%s is valid", row.why)
		}
	}
}
