package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed *.yaml
var shipped embed.FS

// folder is the name under which the shipped scenarios are known, as if it lay
// beside the person who asks.
const folder = "scenarios"

// Source is the text of a scenario, and where it was found.
type Source struct {
	// Name is the path of the file, for a shipped one scenarios/NAME.yaml.
	Name string
	Text []byte
	// Embedded: it is shipped with rlbench, not read from the disk.
	Embedded bool
}

// String says which scenario was read.
func (s Source) String() string {
	if s.Embedded {
		return s.Name + " (embedded)"
	}
	return s.Name
}

// Names lists the shipped scenarios in order, without folder and extension.
func Names() []string {
	paths, _ := fs.Glob(shipped, "*.yaml") // the only error is a bad pattern
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = strings.TrimSuffix(p, ".yaml")
	}
	return names
}

// Open finds the scenario, or scenarios, that a person names: a file, every
// *.yaml file of a directory in order of name, or a shipped scenario as NAME,
// NAME.yaml or scenarios/NAME.yaml. What is on the disk goes before what is
// shipped, also under a bare NAME. The error is [Mistakes].
func Open(name string) ([]Source, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir() && !hides(name):
		return openAll(name)
	case err == nil && info.IsDir(): // what is shipped under that name is meant
	case err == nil:
		return openFile(name)
	case err != nil && bare(name):
		for _, path := range []string{name + ".yaml", filepath.Join(folder, name+".yaml")} {
			if info, err := os.Stat(path); err == nil && !info.IsDir() {
				return openFile(path)
			}
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, unopened(name, "", "%v", reason(err))
	}
	if shippedName, ok := shippedAs(name); ok {
		text, err := shipped.ReadFile(shippedName + ".yaml")
		if err == nil {
			return []Source{{Name: path.Join(folder, shippedName+".yaml"), Text: text, Embedded: true}}, nil
		}
	}
	return nil, unopened(name, nearest(name), "there is no such file, and no scenario of that name is shipped")
}

// bare reports whether the name is that of a scenario rather than of a file.
func bare(name string) bool { return !strings.ContainsAny(name, `./\`) && name != "" }

// hides reports whether the directory stands where a shipped scenario is meant: a
// bare name that one is shipped under, and no scenario inside.
func hides(name string) bool {
	if !slices.Contains(Names(), name) {
		return false
	}
	inside, err := filepath.Glob(filepath.Join(name, "*.yaml"))
	return err == nil && len(inside) == 0
}

// shippedAs gives the name of the shipped scenario that a person may mean.
func shippedAs(name string) (string, bool) {
	clean := path.Clean(filepath.ToSlash(name))
	clean = strings.TrimSuffix(strings.TrimPrefix(clean, folder+"/"), ".yaml")
	return clean, clean != "" && !strings.Contains(clean, "/")
}

// openAll reads every scenario of a directory.
func openAll(dir string) ([]Source, error) {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return nil, unopened(dir, "", "%v", reason(err))
	}
	var all []Source
	var wrong Mistakes
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".yaml" {
			continue
		}
		one, err := openFile(filepath.Join(dir, e.Name()))
		var mistakes Mistakes
		if errors.As(err, &mistakes) {
			wrong = append(wrong, mistakes...)
		}
		all = append(all, one...)
	}
	if len(all) == 0 && wrong == nil {
		wrong = unopened(dir, "scenarios are files that end in .yaml", "the directory holds no scenario")
	}
	if wrong != nil {
		return nil, wrong
	}
	return all, nil
}

// openFile reads one file, and no more of it than a scenario may have.
func openFile(name string) ([]Source, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, unopened(name, "", "%v", reason(err))
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, TextMax+1))
	if err != nil {
		return nil, unopened(name, "", "%v", reason(err))
	}
	if len(text) > TextMax {
		return nil, unopened(name, "a scenario is a text of a few lines", "the file is larger than the %d bytes that a scenario may have", TextMax)
	}
	return []Source{{Name: name, Text: text}}, nil
}

// reason is what went wrong with a file, without its name, which stands before it.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

func unopened(name, hint, format string, args ...any) Mistakes {
	return Mistakes{{File: name, Text: fmt.Sprintf(format, args...), Hint: hint}}
}

// nearest suggests a shipped scenario, or a file beside the one asked for.
func nearest(name string) string {
	dir, base := filepath.Split(name)
	var files []string
	if found, err := filepath.Glob(filepath.Join(dir, "*.yaml")); err == nil {
		files = found
	}
	if hint := suggest(name, files); strings.HasPrefix(hint, "did") {
		return hint
	}
	return suggest(strings.TrimSuffix(base, ".yaml"), Names())
}
