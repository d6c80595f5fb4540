package reports

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rlbench/rlbench"
)

var update = flag.Bool("update", false, "write the golden files and schemas anew")

// golden compares with a file in testdata, or writes it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s holds\n%s\nand now it is\n%s", path, want, got)
	}
}

// summaries are one of each kind of thing that a run can come to.
func summaries() map[string]*Summary {
	return map[string]*Summary{
		"passing": passing(), "failing": failing(), "inconclusive": inconclusive(), "interrupted": interrupted(),
		"expected-failure": expectedFailure(), "skipped": skipped(), "unasked": unasked(), "hostile": hostileTexts(),
	}
}

func written(t *testing.T, s *Summary, options TextOptions) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteText(&out, s, options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTextLooksAsItDid(t *testing.T) {
	for name, s := range summaries() {
		golden(t, filepath.Join("testdata", name+".txt"), []byte(written(t, s, TextOptions{})))
		golden(t, filepath.Join("testdata", name+".quiet.txt"), []byte(written(t, s, TextOptions{Quiet: true})))
	}
	golden(t, filepath.Join("testdata", "failing.color.txt"), []byte(written(t, failing(), TextOptions{Color: true})))
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestTextKeepsWithinItsWidth(t *testing.T) {
	for name, s := range summaries() {
		for _, width := range []int{0, 80, 120} {
			text := written(t, s, TextOptions{Color: true, Width: width})
			for line := range strings.Lines(ansi.ReplaceAllString(text, "")) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > max(width, 80) {
					t.Errorf("%s at width %d: a line of %d: %s", name, width, n, line)
				}
			}
		}
	}
}

// Colours add nothing but colours, and without them no control character gets
// through, whatever the evidence holds.
func TestTextIsPlainWithoutColor(t *testing.T) {
	for name, s := range summaries() {
		text := written(t, s, TextOptions{})
		if i := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(text) {
			t.Errorf("%s: the text holds a character that is not printable, or is no text: %q", name, text)
		}
		if colored := written(t, s, TextOptions{Color: true}); ansi.ReplaceAllString(colored, "") != text || colored == text {
			t.Errorf("%s: with colours it does not say the same:\n%s", name, colored)
		}
	}
}

func TestUnmetExpectationStandsOut(t *testing.T) {
	text := written(t, failing(), TextOptions{})
	for _, want := range []string{
		"NOT MET  never-over     expected pass          found fail",
		"redis-getset-fixed-window (embedded, miniredis 2.40.0): 1 of 2 NOT as expected",
		"… and 97 more",
		"FAIL: 1 of 4 expectations not met (exit status 1)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if text := written(t, expectedFailure(), TextOptions{}); strings.Contains(text, "NOT") {
		t.Errorf("a failure that was expected is called unmet:\n%s", text)
	}
}

func TestQuietLeavesOutWhatWasMet(t *testing.T) {
	if text := written(t, passing(), TextOptions{Quiet: true}); strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "PASS: ") {
		t.Errorf("a quiet pass is not one line:\n%s", text)
	}
	text := written(t, failing(), TextOptions{Quiet: true})
	if !strings.Contains(text, "redis-getset-fixed-window") || strings.Contains(text, "redis-lua-fixed-window") {
		t.Errorf("quiet shows the wrong targets:\n%s", text)
	}
}

func TestLastLineSaysTheExitStatus(t *testing.T) {
	words := map[string]int{}
	for _, status := range []int{0, 1, 2, 3, 4, 5, 130} {
		s := passing()
		s.ExitStatus = status
		text := written(t, s, TextOptions{Quiet: true})
		if strings.Contains(text, "without a meaning") {
			t.Errorf("exit status %d has no words", status)
		}
		words[statusWords(s)]++
	}
	if len(words) != 7 {
		t.Errorf("two exit statuses share their words: %v", words)
	}
}

func TestDurationsHaveThreeDigits(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 999: "999 ns", 1000: "1.00 µs", 9_994: "9.99 µs", 9_996: "10.0 µs", 99_940: "99.9 µs", 99_960: "100 µs",
		999_499: "999 µs", 999_501: "1.00 ms", 1_500_000_000: "1.50 s", 7_200_000_000_000: "7200 s", -1500: "-1.50 µs",
	} {
		if got := duration(ns); got != want {
			t.Errorf("%d ns is written %q, not %q", ns, got, want)
		}
	}
}

// One unit for a whole table: instants that are to be compared must look alike.
func TestInstantsOfOneTableShareAUnit(t *testing.T) {
	near, far := int64(9_999_999), int64(10_000_001)
	for _, row := range []struct {
		ops  []Witness
		want string
	}{
		{[]Witness{{Sent: &near, Done: &near}}, "9999.999"},
		{[]Witness{{Sent: &near, Done: &far}}, "10.000"},
		{[]Witness{{Sent: &near}}, "9999.999"},
	} {
		unit, _ := instantUnit(row.ops)
		if got := instant(row.ops[0].Sent, unit); got != row.want {
			t.Errorf("%+v: sent is written %s, not %s", row.ops, got, row.want)
		}
	}
	if got := instant(nil, 1000); got != "none" {
		t.Errorf("no instant is written %q", got)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWritersReportTheirError(t *testing.T) {
	if err := WriteText(fullDisk{}, passing(), TextOptions{}); !errors.Is(err, errFull) {
		t.Errorf("WriteText on a full disk: %v", err)
	}
	if err := WriteJSON(fullDisk{}, passing()); !errors.Is(err, errFull) {
		t.Errorf("WriteJSON on a full disk: %v", err)
	}
}

// The text shows what stands in the Summary and nothing of its own.
func TestTextJudgesNothing(t *testing.T) {
	s := passing()
	s.Targets[0].Findings[0].Verdict = rlbench.Fail // AsExpected still says true
	if text := written(t, s, TextOptions{}); !strings.Contains(text, "ok       never-over     expected pass          found fail") {
		t.Errorf("the text overrules the Summary:\n%s", text)
	}
}
