package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse: whatever bytes come, there is a scenario or there are mistakes with
// words in them, and a scenario has one Plan that keeps its bounds.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, file := range append(files, "race.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "policy.limit=50/1m")
	}
	f.Add([]byte(everyKind), "traffic[2].rate=5/s")
	f.Add([]byte(minimal("why: ${KEY}")), "targets[0].expect={never-over: fail}")
	f.Add([]byte("\r0"), "0") // the line of a mistake is counted as the parser counts
	f.Fuzz(func(t *testing.T, text []byte, set string) {
		s, err := Parse("fuzz.yaml", text, testCatalogue(), testEnv, set)
		var mistakes Mistakes
		switch {
		case err == nil:
			plannedTwice(t, s)
		case !errors.As(err, &mistakes) || len(mistakes) == 0:
			t.Fatalf("an error that is no mistake: %v", err)
		}
		for _, m := range mistakes {
			if m.Text == "" || m.File == "" || (m.Line > 0) != (m.Excerpt != "") || strings.Count(m.Excerpt, "\n") > 1 {
				t.Fatalf("an incomplete mistake: %#v", m)
			}
		}
	})
}

// plannedTwice checks what holds of every scenario's Plan. Great ones are left
// out, for they tell no more.
func plannedTwice(t *testing.T, s *Scenario) {
	t.Helper()
	if s.Bounds.Ops > 2*OpsDefault {
		return
	}
	plan, err := s.Plan()
	if err != nil {
		t.Fatalf("a scenario that was parsed cannot be planned: %v", err)
	}
	again, err := s.Plan()
	if err != nil || !reflect.DeepEqual(plan, again) {
		t.Fatalf("one scenario has two Plans (%v)", err)
	}
	if int64(len(plan.Arrivals)+len(plan.Clients)) > s.Bounds.Ops || int64(plan.Span()) > int64(s.Bounds.Duration) {
		t.Fatalf("the Plan is beyond its bounds: %v", s.Shape(plan))
	}
	if len(plan.Arrivals)+len(plan.Clients) == 0 {
		t.Fatal("the Plan asks for nothing")
	}
	var counted int64
	for _, p := range s.Shape(plan).Parts {
		counted += p.Requests
	}
	if counted != int64(len(plan.Arrivals)) {
		t.Fatalf("the parts make %d requests, the Plan has %d", counted, len(plan.Arrivals))
	}
	for i, a := range plan.Arrivals {
		if a.Key == "" || a.Cost < 1 || a.Instance < 0 || int(a.Instance) >= s.Instances || i > 0 && a.At < plan.Arrivals[i-1].At {
			t.Fatalf("request %d is %+v", i, a)
		}
	}
}
