package evidence

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFoldersSortByTheirTimeAndNeverCollide(t *testing.T) {
	root := t.TempDir()
	zone := time.FixedZone("east", 5*3600)
	var names []string
	for _, at := range []time.Time{noon, noon, noon.In(zone), noon.Add(time.Millisecond), noon.Add(time.Hour)} {
		folder, err := Create(root, "race", at)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(folder.Path())
		names = append(names, name)
		latest, err := os.ReadFile(filepath.Join(root, "race", LatestFile))
		if err != nil || string(latest) != name+"\n" {
			t.Errorf("latest holds %q, not %s: %v", latest, name, err)
		}
		if file, runs, err := Load(folder.Path()); err != nil || len(runs) != 0 || file.Scenario.Name != "race" {
			t.Errorf("a new folder reads as %+v %v: %v", file, runs, err)
		}
	}
	want := []string{"20260701T120000.123Z", "20260701T120000.123Z-002", "20260701T120000.123Z-003", "20260701T120000.124Z", "20260701T130000.123Z"}
	if !slices.Equal(names, want) {
		t.Errorf("the folders are %v, not %v", names, want)
	}
}

func TestScenarioNamesBecomeFileNames(t *testing.T) {
	seen := map[string]string{}
	for name, want := range map[string]string{
		"race": "race", "Edge_2": "Edge_2",
		"":          "-811c9dc5",
		"../../etc": "------etc-",
		"a/b":       "a-b-", `a\b`: "a-b-", "a:b": "a-b-", "a b": "a-b-", "..": "---", ".": "--",
		"con": "con-", "COM1": "COM1-", "nul": "nul-", "lpt9": "lpt9-", "com": "com", "com10": "com10",
		"käse": "k-se-", "x\x00": "x--", strings.Repeat("n", 300): strings.Repeat("n", nameBytesMax) + "-",
	} {
		got := fileName(name)
		if !strings.HasPrefix(got, want) || strings.Trim(got, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			t.Errorf("%q becomes %q, not %q…", name, got, want)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%q and %q become one file name", name, other)
		}
		seen[got] = name
	}
}

func TestEachRunIsOnDiskBeforeTheNext(t *testing.T) {
	folder := save(t)
	for n := 1; n <= 4; n++ {
		if err := folder.AddRun(traffic(fmt.Sprint("target-", n), n*700)); err != nil {
			t.Fatal(err)
		}
		_, runs, err := Load(folder.Path())
		if err != nil || len(runs) != n {
			t.Fatalf("after target %d there are %d runs: %v", n, len(runs), err)
		}
		for i, run := range runs {
			if d := difference(traffic(run.Target, (i+1)*700), run); d != "" {
				t.Errorf("after target %d, %s: %s", n, run.Target, d)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(folder.Path(), ".*")); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

// The ops of a target may be on disk when the process dies, and run.json still
// of the time before: then the target was never finished.
func TestDeathBetweenTheTwoFiles(t *testing.T) {
	folder := save(t, traffic("a", 10), traffic("b", 2000))
	if err := folder.saveOps(traffic("c", 3000)); err != nil {
		t.Fatal(err)
	}
	_, runs, err := Load(folder.Path())
	if err != nil || len(runs) != 2 || difference(runs[1], traffic("b", 2000)) != "" {
		t.Errorf("it reads as %d runs: %v", len(runs), err)
	}
}

// killedWriter makes the test binary a process that saves runs until it is killed.
const killedWriter = "EVIDENCE_WRITE_UNTIL_KILLED"

func TestKilledProcessKeepsWhatItSaved(t *testing.T) {
	if root := os.Getenv(killedWriter); root != "" {
		writeUntilKilled(root)
		return
	}
	root := t.TempDir()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledProcessKeepsWhatItSaved$")
	command.Env = append(os.Environ(), killedWriter+"="+root)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	path, readErr := bufio.NewReader(out).ReadString('\n') // it has saved two, and is at the third
	killErr := command.Process.Kill()
	_ = command.Wait() // it was killed, so it is an error
	if readErr != nil || killErr != nil {
		t.Fatal(readErr, killErr)
	}
	_, runs, err := Load(strings.TrimSuffix(path, "\n"))
	if err != nil || len(runs) < 2 {
		t.Fatalf("a killed process left %d runs: %v", len(runs), err)
	}
	for _, run := range runs {
		if d := difference(traffic(run.Target, 20_000), run); d != "" {
			t.Errorf("%s: %s", run.Target, d)
		}
	}
}

// writeUntilKilled says where the folder is when two runs are saved.
func writeUntilKilled(root string) {
	folder, err := Create(root, "race", noon)
	for n := 0; err == nil && n < 200; n++ {
		if n == 2 {
			fmt.Println(folder.Path())
		}
		err = folder.AddRun(traffic(fmt.Sprint("target-", n), 20_000))
	}
	fmt.Println("not killed:", err)
	os.Exit(1)
}

func TestRunsThatCannotBeSaved(t *testing.T) {
	folder := save(t, traffic("a", 5))
	short := traffic("b", 5)
	short.Ops.Done = short.Ops.Done[:4]
	for want, err := range map[string]error{
		"the folder has a run of that name": folder.AddRun(traffic("a", 5)),
		"column done_ns has 4 rows of 5":    folder.AddRun(short),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, not %s", err, want)
		}
	}
	if _, runs, err := Load(folder.Path()); err != nil || len(runs) != 1 {
		t.Errorf("after errors it reads as %d runs: %v", len(runs), err)
	}
}

func TestFilesAppearWholeOrNotAtAll(t *testing.T) {
	folder := save(t)
	boom := errors.New("boom")
	write := func(fail error) error {
		return folder.Write("summary.json", func(w io.Writer) error {
			_, err := io.WriteString(w, "{}\n")
			return errors.Join(err, fail)
		})
	}
	if err := write(boom); !errors.Is(err, boom) || !strings.Contains(err.Error(), "summary.json") {
		t.Errorf("the error is %v", err)
	}
	entries, err := os.ReadDir(folder.Path())
	if err != nil || len(entries) != 1 || entries[0].Name() != RunFile {
		t.Errorf("a file that was not finished left %v: %v", entries, err)
	}
	if err := write(nil); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(folder.Path(), "summary.json")); err != nil || string(text) != "{}\n" {
		t.Errorf("it holds %q: %v", text, err)
	}
}

func TestCreateSaysWhatItCouldNotMake(t *testing.T) {
	file := filepath.Join(t.TempDir(), "occupied")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, "race", noon); err == nil || !strings.Contains(err.Error(), "race") {
		t.Errorf("the error is %v", err)
	}
}
