package scenarios

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mistake is one thing wrong with a scenario, and where.
type Mistake struct {
	// File is the scenario's name as it was given to [Parse]; "--set" when the
	// mistake lies in an override.
	File string
	// Line and Column count from 1, columns in characters; both are 0 when the
	// mistake is about the file as a whole.
	Line, Column int
	// Text says what is wrong, Hint what to write instead (it may be empty).
	Text, Hint string
	// Excerpt is the line of the scenario and, on a second line, a caret under
	// the place; empty where there is none.
	Excerpt string
}

// String gives the mistake over several lines: file:line:col: text, the
// excerpt, the hint.
func (m Mistake) String() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", m.Line, m.Column)
	}
	fmt.Fprintf(&b, ": %s", m.Text)
	if m.Excerpt != "" {
		b.WriteString("\n    " + strings.ReplaceAll(m.Excerpt, "\n", "\n    "))
	}
	if m.Hint != "" {
		b.WriteString("\nhint: " + m.Hint)
	}
	return b.String()
}

// Mistakes is everything wrong with a scenario, in the order of the text: the
// error that [Parse] and [Open] return.
type Mistakes []Mistake

// Error prints every mistake, one after the other.
func (m Mistakes) Error() string {
	texts := make([]string, len(m))
	for i, one := range m {
		texts[i] = one.String()
	}
	return strings.Join(texts, "\n")
}

// source is a text that mistakes point into.
type source struct {
	name  string
	order int // among the sources of one scenario: the file, then each override
	lines [][]rune
}

func newSource(name string, order int, text string) *source {
	// A carriage return alone ends a line too, to YAML.
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	src := &source{name: name, order: order}
	for line := range strings.SplitSeq(text, "\n") {
		src.lines = append(src.lines, []rune(line))
	}
	return src
}

// place is a spot in a source; line 0 is the source as a whole.
type place struct {
	src          *source
	line, column int
}

// The excerpt shows at most this much of a line before and after the caret.
const (
	excerptBefore = 80
	excerptAfter  = 80
)

// excerpt draws the line with a caret below. Whatever a terminal could obey or
// set wider than one column is drawn as a space.
func (p place) excerpt() string {
	if p.line < 1 || p.line > len(p.src.lines) {
		return ""
	}
	line := p.src.lines[p.line-1]
	caret := min(max(p.column-1, 0), len(line))
	begin, end := max(caret-excerptBefore, 0), min(caret+excerptAfter, len(line))
	before, after := "", ""
	if begin > 0 {
		before = "…"
	}
	if end < len(line) {
		after = "…"
	}
	shown := strings.Map(printable, string(line[begin:end]))
	indent := strings.Repeat(" ", caret-begin+utf8.RuneCountInString(before))
	return strings.TrimRight(before+shown+after, " ") + "\n" + indent + "^"
}

func printable(c rune) rune {
	if unicode.IsPrint(c) {
		return c
	}
	return ' '
}

// mistake makes the Mistake that stands at p.
func (p place) mistake(text, hint string) Mistake {
	return Mistake{File: p.src.name, Line: p.line, Column: p.column, Text: text, Hint: hint, Excerpt: p.excerpt()}
}
