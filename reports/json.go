package reports

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSON writes the summary as summary.json holds it: indented, a newline at
// the end, lists that are empty as [], and the same bytes for the same Summary.
// The error is w's, or names a number that JSON cannot hold.
func WriteJSON(w io.Writer, s *Summary) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false) // a person reads "> 100", a browser never reads this
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(withoutNils(s)); err != nil {
		return fmt.Errorf("writing the summary: %w", err)
	}
	return nil
}

// withoutNils returns a copy whose required lists are never null: readers loop
// over them without asking.
func withoutNils(s *Summary) *Summary {
	out := *s
	out.Targets = append([]Target{}, s.Targets...)
	for i := range out.Targets {
		t := &out.Targets[i]
		t.Findings = append([]Finding{}, t.Findings...)
		for j := range t.Findings {
			if t.Findings[j].Witness == nil {
				t.Findings[j].Witness = []Witness{}
			}
		}
	}
	return &out
}
