package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"
)

// ANSI colours, and the code that ends them.
const (
	red    = "\x1b[1;31m"
	green  = "\x1b[32m"
	yellow = "\x1b[1;33m"
	plain  = "\x1b[0m"
)

// page collects lines that keep within width.
type page struct {
	text  strings.Builder
	width int
	color bool
}

func (p *page) line(text string) {
	p.text.WriteString(text)
	p.text.WriteByte('\n')
}

func (p *page) paint(word, paint string) string {
	if !p.color || paint == "" {
		return word
	}
	return paint + word + plain
}

// wrap writes text in lines of whole words, the first after first, the others
// after rest. A word wider than a line is broken.
func (p *page) wrap(first, rest, text string) {
	prefix, taken := first, visible(first)
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && taken+visible(line)+1+visible(word) > p.width {
			p.line(prefix + line)
			prefix, taken, line = rest, visible(rest), ""
		}
		for taken+visible(word) > p.width {
			head := string([]rune(word)[:p.width-taken])
			p.line(prefix + head)
			prefix, taken, word = rest, visible(rest), word[len(head):]
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	p.line(prefix + line)
}

// visible is how many columns a text takes: its characters without colours.
func visible(text string) int {
	for _, paint := range []string{red, green, yellow, plain} {
		text = strings.ReplaceAll(text, paint, "")
	}
	return utf8.RuneCountInString(text)
}

// table sets rows of cells in columns, and cuts rows that are too wide.
func (p *page) table(indent string, rows [][]string) {
	var set strings.Builder
	w := tabwriter.NewWriter(&set, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(set.String()) {
		p.line(clip(indent+strings.TrimRight(line, " \n"), p.width))
	}
}

// clip cuts a text to width characters, the last of them an ellipsis.
func clip(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:width-1]) + "…"
}

// clean escapes what would move a terminal's cursor, change its colours or
// reorder its text: everything that is not printable, and bytes that are no text.
func clean(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, unprintable) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// count is n things in words: 1 op, 2 ops.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// units are the units of durations, each with its length in nanoseconds.
var units = []struct {
	name string
	ns   float64
}{{"ns", 1}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}

// duration writes nanoseconds with three digits in the unit that suits them.
func duration(ns int64) string {
	for _, unit := range units {
		// 999.5 would be rounded to a fourth digit: the next unit has it as 1.00.
		if v := float64(ns) / unit.ns; math.Abs(v) < 999.5 || unit.name == "s" {
			return digits(v, unit.ns == 1) + " " + unit.name
		}
	}
	return ""
}

func digits(v float64, whole bool) string {
	decimals := 0
	switch {
	case whole:
	case math.Abs(v) < 9.995:
		decimals = 2
	case math.Abs(v) < 99.95:
		decimals = 1
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// instantUnit chooses one unit for all the instants of a table, so that they can
// be compared: microseconds while they are all within ten milliseconds.
func instantUnit(ops []Witness) (ns int64, name string) {
	for _, op := range ops {
		for _, at := range []*int64{op.Sent, op.Done} {
			if at != nil && (*at > 10_000_000 || *at < -10_000_000) {
				return 1_000_000, "(ms)"
			}
		}
	}
	return 1_000, "(µs)"
}

// instant writes an instant in the unit, "none" when there is none.
func instant(at *int64, unit int64) string {
	if at == nil {
		return "none"
	}
	return strconv.FormatFloat(float64(*at)/float64(unit), 'f', 3, 64)
}
