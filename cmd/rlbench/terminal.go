package main

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/rlbench/rlbench/reports"
)

// terminalWidth is the width of the terminal behind w in columns, 0 when there
// is none.
func terminalWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width == 0 {
		return 80 // a terminal that does not say how wide it is
	}
	return width
}

// textOptions chooses how the report is drawn: colour on a terminal alone, and
// not where NO_COLOR asks for none.
func textOptions(w io.Writer, quiet bool) reports.TextOptions {
	width := terminalWidth(w)
	return reports.TextOptions{
		Color: width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Width: width,
		Quiet: quiet,
	}
}

// progress is one line on stderr that is written over and over; it shows only on
// a terminal, and not with -q.
type progress struct {
	to io.Writer
}

func newProgress(stderr io.Writer, o runOptions) progress {
	if o.quiet || terminalWidth(stderr) == 0 {
		return progress{to: io.Discard}
	}
	return progress{to: stderr}
}

func (p progress) show(target string, done, planned int64) {
	if planned > 0 {
		fmt.Fprintf(p.to, "\r\x1b[K%s: %d of %d requests", target, done, planned)
		return
	}
	fmt.Fprintf(p.to, "\r\x1b[K%s: %d requests", target, done)
}

func (p progress) say(line string) { fmt.Fprintf(p.to, "\r\x1b[K%s", line) }

func (p progress) clear() { fmt.Fprint(p.to, "\r\x1b[K") }
