// Tally reads the events of go test -json and says what a person wants to know:
// each package as it ends, all that a failed test wrote, every skipped test with
// its reason, and last how many passed, failed and were skipped. It fails if one
// failed or none ran, and with RLBENCH_NO_SKIP=1 if one was skipped.
//
//	go test -json ./... | go run .ci/tally.go
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	os.Exit(tally(os.Stdin, os.Stdout, os.Getenv("RLBENCH_NO_SKIP") == "1"))
}

// event is one line of go test -json; see go doc test2json.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

type counts struct {
	passed, failed, skipped int
	broken                  bool     // a package failed, perhaps without a failed test
	skips                   []string // with their reasons
	said                    map[string]string
}

func tally(in io.Reader, out io.Writer, noSkip bool) int {
	c := counts{said: map[string]string{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			c.add(e, out)
		} else if len(line) > 0 {
			fmt.Fprintf(out, "%s", line)
		}
		if err != nil {
			break
		}
	}
	for _, skip := range c.skips {
		fmt.Fprint(out, skip)
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", c.passed, c.failed, c.skipped)
	if c.broken || c.failed > 0 || c.passed == 0 || noSkip && c.skipped > 0 {
		return 1
	}
	return 0
}

func (c *counts) add(e event, out io.Writer) {
	name := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		c.said[name] += e.Output
		return
	case "build-output":
		fmt.Fprint(out, e.Output)
		return
	case "pass":
		c.passed += one(e)
	case "fail":
		c.failed += one(e)
		c.broken = c.broken || e.Test == ""
		fmt.Fprint(out, c.said[name])
	case "skip":
		c.skipped += one(e)
		if e.Test != "" {
			c.skips = append(c.skips, fmt.Sprintf("skipped: %s: %s\n", name, reason(c.said[name])))
		}
	default:
		return
	}
	if e.Test == "" && e.Action != "skip" {
		fmt.Fprintf(out, "%-4s  %s  %.1f s\n", e.Action, cmp.Or(e.Package, e.ImportPath), e.Elapsed)
	}
	delete(c.said, name)
}

// one counts tests: an event without a test's name is about a package.
func one(e event) int {
	return min(len(e.Test), 1)
}

// reason is what a skipped test wrote itself, in one line.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}
