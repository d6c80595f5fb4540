// Package evidence keeps what a run left behind in a folder of its own and
// reads it back: run.json, ops.parquet and the latency files. It judges nothing.
package evidence

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
)

// The names of the files in a folder, and of the one beside the folders.
const (
	RunFile    = "run.json"
	OpsFile    = "ops.parquet"
	LatestFile = "latest"
)

const (
	// timeForm sorts as the times do, and holds no character that a file system
	// refuses.
	timeForm = "20060102T150405.000Z"
	// foldersMax is how many folders of one scenario may begin in one millisecond.
	foldersMax = 1000
	// nameBytesMax keeps file names well below what file systems allow.
	nameBytesMax = 80
)

// Folder is one run's evidence on disk. It is used by one goroutine.
type Folder struct {
	path string
	file File
}

// Create makes root/SCENARIO/TIME, where SCENARIO is the scenario's name with
// the characters replaced that a file system may refuse, and TIME is at in UTC
// to the millisecond, numbered when there is such a folder already. The file
// latest beside it then holds the folder's name.
func Create(root, scenario string, at time.Time) (*Folder, error) {
	parent := filepath.Join(root, fileName(scenario))
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder for runs of %s: %w", scenario, err)
	}
	path, err := makeNew(parent, at.UTC().Format(timeForm))
	if err != nil {
		return nil, fmt.Errorf("making the folder for a run of %s: %w", scenario, err)
	}
	folder := &Folder{path: path}
	if err := folder.Describe(Head{Scenario: Scenario{Name: scenario}}); err != nil {
		return nil, err
	}
	err = replace(filepath.Join(parent, LatestFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, filepath.Base(path))
		return err
	})
	return folder, err
}

// makeNew makes the folder name in parent, or the first of name-002, name-003…
// that nobody else has made.
func makeNew(parent, name string) (string, error) {
	path := filepath.Join(parent, name)
	err := os.Mkdir(path, 0o755)
	for n := 2; errors.Is(err, os.ErrExist) && n < foldersMax; n++ {
		path = filepath.Join(parent, fmt.Sprintf("%s-%03d", name, n))
		err = os.Mkdir(path, 0o755)
	}
	return path, err
}

// fileName turns a name into one that every file system takes. Names that
// differ stay apart: a changed one ends in a hash of the original.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, name)
	if len(safe) > nameBytesMax {
		safe = safe[:nameBytesMax]
	}
	if safe == name && name != "" && !device(name) {
		return name
	}
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, name) // a hash never fails
	return fmt.Sprintf("%s-%08x", safe, hash.Sum32())
}

// device reports whether Windows takes the name for a device.
func device(name string) bool {
	switch strings.ToLower(name) {
	case "con", "prn", "aux", "nul":
		return true
	}
	port, number := strings.ToLower(name[:min(3, len(name))]), name[min(3, len(name)):]
	return (port == "com" || port == "lpt") && len(number) == 1 && number >= "0" && number <= "9"
}

// Path is where the folder lies.
func (f *Folder) Path() string { return f.path }

// Describe says what the run's targets have in common. It is called before the
// first AddRun, so that a run that is killed still says what it was.
func (f *Folder) Describe(head Head) error {
	if head.Versions == nil {
		head.Versions = map[string]string{}
	}
	f.file.Head = head
	return f.saveFile(f.file.Targets)
}

// AddRun saves one target's run. When it returns, run.json and ops.parquet are
// on disk, complete and readable, and hold this run and all those before it;
// until then they hold those before. For that ops.parquet is written anew each
// time: the earlier targets' compressed bytes are copied, which costs about
// a tenth of what writing them first did.
func (f *Folder) AddRun(run *rlbench.Run) error {
	for _, t := range f.file.Targets {
		if t.Name == run.Target {
			return fmt.Errorf("saving the run of %s: the folder has a run of that name", run.Target)
		}
	}
	if err := f.saveOps(run); err != nil {
		return fmt.Errorf("saving the ops of %s: %w", run.Target, err)
	}
	return f.saveFile(append(f.file.Targets, targetOf(run)))
}

func (f *Folder) saveOps(run *rlbench.Run) error {
	path := filepath.Join(f.path, OpsFile)
	return replace(path, func(w io.Writer) error {
		if len(f.file.Targets) == 0 {
			return writeOps(w, nil, run)
		}
		before, closer, err := openOps(path)
		if err != nil {
			return err
		}
		defer closer.Close()
		return writeOps(w, before, run)
	})
}

// saveFile writes run.json after ops.parquet: a target that only the latter
// knows was never finished, and readers leave it out.
func (f *Folder) saveFile(targets []Target) error {
	if targets == nil {
		targets = []Target{}
	}
	f.file.SchemaVersion = SchemaVersion
	f.file.Targets = targets
	return f.Write(RunFile, func(w io.Writer) error { return writeFile(w, &f.file) })
}

// Write makes or replaces the file name in the folder with what content writes.
// The file appears whole or not at all.
func (f *Folder) Write(name string, content func(io.Writer) error) error {
	if err := replace(filepath.Join(f.path, name), content); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// replace writes a file under another name, makes sure that it is on disk, and
// only then gives it its name.
func replace(path string, content func(io.Writer) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = errors.Join(content(temp), temp.Chmod(0o644), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}
