package reports

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	reflected "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rlbench/rlbench"
)

// words are the types that files hold as one of a few words.
func words(t reflect.Type) *reflected.Schema {
	switch t {
	case reflect.TypeFor[rlbench.Verdict]():
		return &reflected.Schema{Type: "string", Enum: []any{rlbench.Pass, rlbench.Fail, rlbench.Inconclusive}}
	case reflect.TypeFor[rlbench.Outcome]():
		return &reflected.Schema{Type: "string", Enum: []any{rlbench.Allowed, rlbench.Denied, rlbench.Unknown, rlbench.Unsent}}
	}
	return nil
}

// TestSchemaIsThatOfSummary keeps the published schema and the type together;
// with -update it writes the schema from the type and its comments.
func TestSchemaIsThatOfSummary(t *testing.T) {
	r := reflected.Reflector{Anonymous: true, AllowAdditionalProperties: true, ExpandedStruct: true, Mapper: words}
	for _, source := range []string{".", "../finding.go"} {
		if err := r.AddGoComments("github.com/rlbench/rlbench/reports", source, reflected.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	s := r.Reflect(&Summary{})
	s.Version = "http://json-schema.org/draft-07/schema#"
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	// Draft-07 has another word for what later ones call $defs.
	golden(t, "summary.schema.json", append(bytes.ReplaceAll(text, []byte("$defs"), []byte("definitions")), '\n'))
}

// validate judges a document by the published schema.
func validate(t *testing.T, document string) error {
	t.Helper()
	published, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("summary.json", published); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("summary.json")
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

func document(t *testing.T, s *Summary) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteJSON(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestEverySummaryKeepsTheSchema(t *testing.T) {
	for name, s := range summaries() {
		if err := validate(t, document(t, s)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaRefusesWhatIsNoSummary(t *testing.T) {
	for _, row := range []struct{ why, old, new string }{
		{"a verdict that is none of the three", `"verdict": "fail"`, `"verdict": "failed"`},
		{"an outcome that is none of the four", `"outcome": "allowed"`, `"outcome": "ok"`},
		{"a backend that there is not", `"backend": "embedded"`, `"backend": "cloud"`},
		{"an exit status that there is not", `"exit_status": 1`, `"exit_status": 7`},
		{"a missing seed", `"seed": 1,`, ``},
		{"a missing figure of the accuracy", `"over_certain": 80,`, ``},
		{"a missing promise", `"promise"`, `"promised"`},
		{"a count in quotes", `"offered": 500`, `"offered": "500"`},
		{"half an op", `"cost": 1,`, `"cost": 1.5,`},
		{"no list of witnesses", `"witness": []`, `"witness": null`},
		{"a moment in words", `"sent_ns": 1204000`, `"sent_ns": "none"`},
		{"another schema", `"schema_version": 1`, `"schema_version": 2`},
	} {
		good := document(t, failing())
		bad := strings.Replace(good, row.old, row.new, 1)
		if bad == good {
			t.Fatalf("%s: %s is not in the document", row.why, row.old)
		}
		if validate(t, bad) == nil {
			t.Errorf("%s is valid", row.why)
		}
	}
}

// Adding is compatible: a program made for today's schema reads tomorrow's file.
func TestSchemaAllowsMoreFields(t *testing.T) {
	more := strings.ReplaceAll(document(t, failing()), `"cost": 1,`, `"cost": 1, "later": true,`)
	if err := validate(t, more); err != nil {
		t.Error(err)
	}
}

func TestJSONIsStableAndHasNoNullLists(t *testing.T) {
	s := failing()
	s.Targets[0].Findings[0].Witness, s.Targets[1].Findings = nil, nil
	first := document(t, s)
	if again := document(t, s); again != first {
		t.Errorf("the same summary gave\n%s\nand then\n%s", first, again)
	}
	if strings.Contains(first, "null") || !strings.Contains(first, `"witness": []`) || !strings.Contains(first, `"findings": []`) {
		t.Errorf("a list is null:\n%s", first)
	}
	if s.Targets[0].Findings[0].Witness != nil {
		t.Error("writing a summary changed it")
	}
	if empty := document(t, &Summary{}); !strings.Contains(empty, `"targets": []`) || !strings.HasSuffix(empty, "}\n") {
		t.Errorf("a summary without targets is written\n%s", empty)
	}
	var back Summary
	if err := json.Unmarshal([]byte(document(t, hostileTexts())), &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Targets[0].Findings[0].Witness[1].Key; got != "\x1b[2J\x1b[31mgone" {
		t.Errorf("the key came back as %q", got)
	}
}
