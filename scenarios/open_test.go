package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inEmptyFolder goes to a folder of the test's own and writes files there.
func inEmptyFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOpen(t *testing.T) {
	for _, row := range []struct {
		reason string
		files  map[string]string
		name   string
		want   []string
	}{
		{"a shipped name", nil, "race", []string{"scenarios/race.yaml (embedded)"}},
		{"with its extension", nil, "race.yaml", []string{"scenarios/race.yaml (embedded)"}},
		{"as if the folder were here", nil, "scenarios/race.yaml", []string{"scenarios/race.yaml (embedded)"}},
		{"written from the folder that one is in", nil, "./scenarios/race", []string{"scenarios/race.yaml (embedded)"}},
		{"a file on the disk goes first", map[string]string{"scenarios/race.yaml": "mine"}, "scenarios/race.yaml", []string{"scenarios/race.yaml"}},
		{"whatever it is called", map[string]string{"race": "mine"}, "race", []string{"race"}},
		{"another file does not", map[string]string{"race.yaml": "mine"}, "scenarios/race.yaml", []string{"scenarios/race.yaml (embedded)"}},
		{"a folder's scenarios in order, and nothing else of it",
			map[string]string{"d/b.yaml": "b", "d/a.yaml": "a", "d/notes.txt": "", "d/sub/c.yaml": "c"}, "d",
			[]string{"d/a.yaml", "d/b.yaml"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			inEmptyFolder(t, row.files)
			sources, err := Open(row.name)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range sources {
				got = append(got, filepath.ToSlash(s.String()))
				if !s.Embedded && string(s.Text) != row.files[filepath.ToSlash(s.Name)] {
					t.Errorf("%s holds %q", s, s.Text)
				}
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("Open(%q) read %v, want %v", row.name, got, row.want)
			}
		})
	}
}

func TestOpenMistakes(t *testing.T) {
	huge := strings.Repeat("#", TextMax+1)
	for _, row := range []struct {
		reason string
		files  map[string]string
		name   string
		want   string
	}{
		{"a slip in a shipped name", nil, "rase", "rase: there is no such file, and no scenario of that name is shipped\nhint: did you mean race?"},
		{"with folder and extension too", nil, "scenarios/rcae.yaml", "hint: did you mean race?"},
		{"a slip in a file's name", map[string]string{"mine.yaml": "x"}, "mime.yaml", "hint: did you mean mine.yaml?"},
		{"a file in a folder", map[string]string{"d/mine.yaml": "x"}, "d/mien.yaml", "hint: did you mean d/mine.yaml?"},
		{"the extension left out", map[string]string{"d/mine.yaml": "x"}, "d/mine", "hint: did you mean d/mine.yaml?"},
		{"nothing like it", nil, "quite-another-thing", "hint: one of "},
		{"shipped scenarios lie in no other folder", nil, "other/race.yaml", "other/race.yaml: there is no such file"},
		{"nor above", nil, "../race.yaml", "there is no such file"},
		{"an empty name", nil, "", "there is no such file"},
		{"a folder that holds none", map[string]string{"d/notes.txt": ""}, "d", "d: the directory holds no scenario\nhint: scenarios are files that end in .yaml"},
		{"a file that is far too large", map[string]string{"big.yaml": huge}, "big.yaml", "big.yaml: the file is larger than the 65536 bytes"},
		{"among others in a folder", map[string]string{"d/a.yaml": "x", "d/big.yaml": huge}, "d", "d/big.yaml: the file is larger"},
		{"a path through a file", map[string]string{"f": "x"}, "f/race.yaml", "f/race.yaml: not a directory"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			inEmptyFolder(t, row.files)
			sources, err := Open(row.name)
			var mistakes Mistakes
			if !errors.As(err, &mistakes) || sources != nil {
				t.Fatalf("want mistakes, not %v and %v", sources, err)
			}
			if !strings.Contains(filepath.ToSlash(err.Error()), row.want) {
				t.Errorf("Open(%q) says\n%v\nwant %s", row.name, err, row.want)
			}
		})
	}
}

// TestShippedScenariosAreSound: every one parses and has a Plan, under the name
// of its file.
func TestShippedScenariosAreSound(t *testing.T) {
	names := Names()
	if !slices.Contains(names, "race") || !slices.IsSorted(names) {
		t.Fatalf("shipped are %v", names)
	}
	t.Chdir(t.TempDir())
	for _, name := range names {
		sources, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(sources[0].Name, sources[0].Text, testCatalogue(), nil)
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		if s.Name != name {
			t.Errorf("%s calls itself %s", sources[0], s.Name)
		}
		mustPlan(t, s)
	}
}
