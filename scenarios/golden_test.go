package scenarios

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMistakesRead holds, for each unsound scenario of testdata, everything that
// a person is told about it.
func TestMistakesRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios to read: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, wrong := Parse(filepath.Base(file), text, testCatalogue(), testEnv)
			if wrong == nil {
				t.Fatal("nothing was found wrong")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".err", wrong.Error()+"\n")
		})
	}
}

// golden compares got with what the file holds.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew)\n--- got\n%s--- want\n%s", file, got, want)
	}
}
