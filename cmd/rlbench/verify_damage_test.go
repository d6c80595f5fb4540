package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rlbench/rlbench"
)

// damaged are logs that lost or doubled something on their way.
func TestDamagedLogs(t *testing.T) {
	plain := formats()[0]
	text, _ := plain.write(saturated(5), -1)
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	broken, _ := oneMore(5)
	bad, _ := plain.write(broken, -1)
	badLines := strings.SplitAfter(bad, "\n")
	for _, c := range []struct {
		why  string
		text string
		want rlbench.Verdict
		told string // in the warnings
	}{
		{"cut off within the last line: it reaches less far", text[:len(text)-30], rlbench.Pass, "cut off within its last line"},
		{"cut off within the first line, as tail -c does: it begins later", text[30:], rlbench.Pass, "1 of 2400 lines could not be read, the first at LOG:1: "},
		{"both at once", text[30 : len(text)-30], rlbench.Pass, "2 of 2400 lines"},
		{"a line in the middle is missing: it may have been one too many", strings.Join(lines[:99], "") + "garbage\n" + strings.Join(lines[99:], ""), rlbench.Inconclusive, "1 of 2401 lines could not be read, the first at LOG:100: "},
		{"but what is there is broken all the same", strings.Join(badLines[:9], "") + "garbage\n" + strings.Join(badLines[9:], ""), rlbench.Fail, "the first at LOG:10: "},
		{"the first line and one in the middle", text[30:] + "garbage\n" + lines[0], rlbench.Inconclusive, "2 of 2402 lines"},
		{"every line twice, with its number", doubled(lines), rlbench.Pass, "2400 lines left out that were there twice"},
		{"a line long after its time", strings.Join(lines[1:], "") + "\n" + lines[0], rlbench.Pass, ""},
	} {
		path := file(t, "a.log", c.text)
		f := over(t, c.why, c.want, path, "--limit", "20/10s", "--resolution", "0")
		_, s, _ := verified(t, path, "--limit", "20/10s", "--resolution", "0")
		if warnings := strings.Join(s.Targets[0].Warnings, "\n"); !strings.Contains(warnings, strings.ReplaceAll(c.told, "LOG", path)) {
			t.Errorf("%s: not told: %q: %s", c.why, warnings, f.Because)
		}
	}
	half := file(t, "b.log", strings.Join(lines[:1200], ""))
	cut := file(t, "c.log", strings.Join(lines[1200:], "")[:len(text)/3])
	over(t, "one of two instances is cut off", rlbench.Inconclusive, half, cut, "--limit", "20/10s", "--clock-error", "0s")
	over(t, "alone it only reaches less far", rlbench.Pass, cut, "--limit", "20/10s")
	var long strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&long, "denied %d %d\n", i, i)
	}
	late := own(t, long.String()+"denied 5 5\n")
	over(t, "late, within the window of order", rlbench.Pass, late, "--limit", "20/10s")
	if f := over(t, "too late for the window of order", rlbench.Inconclusive, late, "--limit", "20/10s", "--reorder", "1s"); !strings.Contains(f.Because, "too late") {
		t.Errorf("a line is missing, and the sentence does not say so: %s", f.Because)
	}
}

func doubled(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\n") + "\n"
		b.WriteString(line + line)
	}
	return b.String()
}

// TestOrderOfLinesIsNothing: shuffled lines give the same bytes.
func TestOrderOfLinesIsNothing(t *testing.T) {
	broken, _ := oneMore(6)
	text, _ := formats()[0].write(broken, -1)
	lines := strings.SplitAfter(text, "\n")[:2400]
	var first []byte
	for seed := range uint64(3) {
		var out, errs bytes.Buffer
		args := []string{"verify", file(t, "a.log", strings.Join(lines, "")), "--limit", "20/10s", "--json", "-", "--name", "same"}
		if status := run(args, &out, &errs); status != int(statusNotMet) {
			t.Fatalf("exit status %d: %s", status, &errs)
		}
		if first == nil {
			first = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), first) {
			t.Errorf("the order of the lines changes the answer:\n%s\n%s", first, &out)
		}
		head := lines[0] // what instants count from
		rest := append([]string{}, lines[1:]...)
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		lines = append([]string{head}, rest...)
	}
}

func TestUnreadable(t *testing.T) {
	text, _ := formats()[0].write(saturated(7), -1)
	for _, c := range []struct {
		why, text string
		flags     []string
		want      []string
	}{
		{"one line in fifty", strings.ReplaceAll(text, `0,"key"`, "0 noise"), nil, []string{"too much of the log cannot be read", "LOG:1: ", "hint: "}},
		{"no log at all", "nothing here\nis a log\n", nil, []string{"not a log that can be read", "docs/logs.md"}},
		{"an empty one", "", nil, []string{"it is empty"}},
		{"a key that no object has", text, []string{"--key", "nobody"}, []string{`"nobody"`, "its fields are done_ns, key, op, sent_ns, status"}},
		{"a key that no access log can have", "1 - - [30/Nov/2026:20:17:08 +0000] \"GET / HTTP/1.1\" 200 4 \"-\" \"curl\"\n", []string{"--key", "nobody"}, []string{`"nobody"`, "remote_addr"}},
		{"a key that no object of another's has", `{"start_time":"2026-11-30T20:00:00Z","duration":1,"response_code":200}` + "\n", []string{"--key", "nobody"}, []string{`"nobody"`, "its fields are duration, response_code, start_time"}},
		{"a field that cannot be mapped", text, []string{"--map", "stats=code"}, []string{`"stats"`}},
		{"a format that there is not", text, []string{"--format", "iis"}, []string{`"iis"`, "nginx-json"}},
		{"another format than stated", text, []string{"--format", "nginx"}, []string{"not a log that can be read"}},
		{"a longest below zero", text, []string{"--longest", "-1s"}, []string{"-1s"}},
		{"clocks apart by less than nothing", text, []string{"--clock-error", "-1s"}, []string{"-1s"}},
		{"a status that is none", text, []string{"--refused", "4290"}, []string{"4290"}},
	} {
		path := file(t, "a.log", c.text)
		status, _, errs := verified(t, append([]string{path, "--limit", "20/10s"}, c.flags...)...)
		if status != int(statusBadInput) {
			t.Errorf("%s: exit status %d: %s", c.why, status, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(errs, strings.ReplaceAll(want, "LOG", path)) {
				t.Errorf("%s: want %q in %s", c.why, want, errs)
			}
		}
	}
	if status, _, _ := verified(t, "no/such/file", "--limit", "20/10s"); status != int(statusBadInput) {
		t.Errorf("a file that is not there: exit status %d", status)
	}
}

// TestCutCompression: what came before the cut is judged.
func TestCutCompression(t *testing.T) {
	text, _ := formats()[0].write(saturated(8), -1)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	path := file(t, "a.log.gz", zipped.String()[:zipped.Len()-500])
	over(t, "a compressed log that is cut off reaches less far", rlbench.Pass, path, "--limit", "20/10s")
	_, s, _ := verified(t, path, "--limit", "20/10s")
	if w := strings.Join(s.Targets[0].Warnings, "\n"); !strings.Contains(w, "cut off") || s.Targets[0].Accuracy.Offered < 1000 {
		t.Errorf("%d requests were judged, and this was told: %s", s.Targets[0].Accuracy.Offered, w)
	}
}

// TestDoubtfulStatus: without a word of the user, 503 is nobody's guilt.
func TestDoubtfulStatus(t *testing.T) {
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, `{"msec":%d.%03d,"request_time":0.001,"status":%d,"remote_addr":"a"}`+"\n", 1796069828, i, []int{200, 503}[min(i/20, 1)])
	}
	path := file(t, "a.log", text.String())
	over(t, "it may be a refusal", rlbench.Pass, path, "--limit", "20/10s")
	over(t, "it is one", rlbench.Pass, path, "--limit", "20/10s", "--refused", "429,503")
	over(t, "it is none", rlbench.Fail, path, "--limit", "20/10s", "--refused", "429")
	over(t, "NGINX refuses so", rlbench.Pass, path, "--nginx", "--rate", "1r/m", "--burst", "19")
	over(t, "named as telling nothing", rlbench.Pass, path, "--limit", "20/10s", "--refused", "429", "--unknown", "503")
	_, s, _ := verified(t, path, "--limit", "20/10s")
	if w := strings.Join(s.Targets[0].Warnings, "\n"); !strings.Contains(w, "20 lines of status 503 counted as unknown") || s.Targets[0].Accuracy.Unknown != 20 {
		t.Errorf("the doubt is not told: %s", w)
	}
	_, s, _ = verified(t, path, "--nginx", "--rate", "1r/m", "--burst", "19")
	if s.Targets[0].Accuracy.Denied != 20 {
		t.Errorf("with --nginx %d of 20 are refusals", s.Targets[0].Accuracy.Denied)
	}
}
