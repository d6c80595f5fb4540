package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/rlbench/rlbench"
)

// TestEveryFormat: the log of a saturated correct limiter passes, and one admission
// too many fails with a witness that holds it.
func TestEveryFormat(t *testing.T) {
	lawful := saturated(1)
	broken, extra := oneMore(1)
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			text, _ := f.write(lawful, -1)
			args := append([]string{"--limit", "20/10s", "--resolution", "0"}, f.flags...)
			kept := over(t, "lawful", rlbench.Pass, append([]string{file(t, "a.log", text)}, args...)...)
			if strings.Contains(kept.Because, "certainly") || !strings.Contains(kept.Because, "as far as the evidence reaches") {
				t.Errorf("a log is no fresh start, yet it says: %s", kept.Because)
			}
			text, line := f.write(broken, extra)
			failed := over(t, "one too many", rlbench.Fail, append([]string{file(t, "a.log", text)}, args...)...)
			if len(failed.Witness) != 21 {
				t.Errorf("the witness has %d ops, 21 are the fewest that break 20/10s", len(failed.Witness))
			}
			if !strings.Contains(failed.Because, "user-a") {
				t.Errorf("the broken key is user-a: %s", failed.Because)
			}
			if f.name == "nginx timed" && failed.Witness[0].Op > int64(line) {
				t.Errorf("ops are the lines' numbers: the witness begins behind line %d, which is the one too many: %+v", line, failed.Witness[0])
			}
		})
	}
}

// histories is how many random logs are judged a format.
func histories() int {
	if n, err := strconv.Atoi(os.Getenv("RLBENCH_HISTORIES")); err == nil {
		return n
	}
	return 2
}

// TestVerifyAccusesNoCorrectLimiter judges logs of correct limiters in every format, under
// limits so tight that most moments matter, also with --complete.
func TestVerifyAccusesNoCorrectLimiter(t *testing.T) {
	for seed := range uint64(histories()) {
		l := newLimiter(2, 400*time.Millisecond, seed)
		var all []asked
		at := time.Duration(0)
		for range 150 {
			at += time.Duration(l.random.Int64N(int64(120 * time.Millisecond)))
			took := time.Duration(1 + l.random.Int64N(int64(90*time.Millisecond)))
			all = append(all, asked{key: "user-" + string(rune('a'+l.random.IntN(2))), start: at, done: at + took})
		}
		all = l.ask(all)
		for _, f := range formats() {
			text, _ := f.write(all, -1)
			args := append([]string{file(t, "a.log", text), "--limit", "2/400ms", "--resolution", "0"}, f.flags...)
			if f.name == "nginx combined" {
				args = append(args, "--longest", "91ms")
			}
			over(t, f.name, rlbench.Pass, args...)
			status, s, errs := verified(t, append(args, "--complete")...)
			if status != int(statusMet) {
				t.Errorf("seed %d, %s, complete: exit status %d %s %+v", seed, f.name, status, errs, s.Targets)
			}
		}
	}
}

// TestWholeSeconds: a log in whole seconds is judged with the doubt of them, told.
func TestWholeSeconds(t *testing.T) {
	combined := formats()[slices.IndexFunc(formats(), func(f logged) bool { return f.name == "nginx combined" })]
	text, _ := combined.write(saturated(3), -1)
	path := file(t, "a.log", text)
	kept := over(t, "lawful, though 40 stand in 11 of its seconds", rlbench.Pass, path, "--limit", "20/10s", "--longest", "20ms")
	if kept.Doubt == 0 {
		t.Errorf("whole seconds leave no doubt: %s", kept.Because)
	}
	_, s, _ := verified(t, path, "--limit", "20/10s", "--longest", "20ms")
	if w := strings.Join(s.Targets[0].Warnings, "\n"); !strings.Contains(w, "cut off at 1s") || !strings.Contains(w, "up to 20ms") {
		t.Errorf("the doubt is not told: %s", w)
	}
	f := over(t, "no longest", rlbench.Inconclusive, path, "--limit", "10/10s")
	if !strings.Contains(f.Because, "--longest") || f.Doubt == 0 {
		t.Errorf("without a longest it must say what to do: %s", f.Because)
	}
	over(t, "the same with a longest", rlbench.Fail, path, "--limit", "10/10s", "--longest", "20ms")
	over(t, "a longest that could excuse everything", rlbench.Pass, path, "--limit", "10/10s", "--longest", "1h")
	over(t, "no more in all of it than the limit", rlbench.Pass, path, "--limit", "4000/10s")
	_, s, _ = verified(t, path, "--limit", "10/10s")
	if a := s.Targets[0].Accuracy; a.OverCertain != 0 || a.WorstWindow != 0 || a.RefusedWronglyCertain != 0 {
		t.Errorf("figures are called certain that are not: %+v", a)
	}
}

// TestRefusals: without --complete they prove nothing, with it the first wrong one does.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		why      string
		text     string
		flags    []string
		verdict  rlbench.Verdict
		expected rlbench.Verdict
	}{
		{"a refusal right at the start: who knows what came before", "allowed 0 1\ndenied 10 11\n", nil, rlbench.Inconclusive, rlbench.Inconclusive},
		{"a refusal later on: another instance may have spent it", "allowed 0 1\ndenied 5000 5001\n", nil, rlbench.Inconclusive, rlbench.Inconclusive},
		{"nothing else can have: it was wrong", "allowed 0 1\ndenied 10 11\n", []string{"--complete"}, rlbench.Fail, rlbench.Pass},
		{"right after two", "allowed 0 1\nallowed 2 3\ndenied 10 11\n", []string{"--complete"}, rlbench.Pass, rlbench.Pass},
		{"a line is missing that may have spent it", "allowed 0 1\n?\nallowed 2 3\ndenied 5000 5001\n", []string{"--complete"}, rlbench.Inconclusive, rlbench.Pass},
	} {
		status, s, errs := verified(t, append([]string{own(t, c.text), "--limit", "2/1s"}, c.flags...)...)
		if status > int(statusInconclusive) {
			t.Fatalf("%s: exit status %d: %s", c.why, status, errs)
		}
		if f := finding(t, s, neverStarved); f.Verdict != c.verdict || f.Expected != c.expected {
			t.Errorf("%s: %s where %s is expected, want %s and %s: %s", c.why, f.Verdict, f.Expected, c.verdict, c.expected, f.Because)
		}
		wrong := int64(0)
		if c.verdict == rlbench.Fail {
			wrong = 1
		}
		if a := s.Targets[0].Accuracy; a.RefusedWronglyCertain != wrong || wrong == 0 && c.expected != c.verdict && a.CannotTell != 1 {
			t.Errorf("%s: %d refusals were certainly wrong, want %d; %v cannot be told", c.why, a.RefusedWronglyCertain, wrong, a.CannotTell)
		}
	}
}

// own writes "OUTCOME SENT DONE" in milliseconds, a line a request, as JSON Lines; ?
// is a line that cannot be read.
func own(t testing.TB, text string) string {
	t.Helper()
	return file(t, "own.jsonl", ownLines(text))
}

func ownLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		var outcome string
		var sent, done int64
		if n, _ := fmt.Sscan(line, &outcome, &sent, &done); n != 3 {
			b.WriteString("?\n")
			continue
		}
		fmt.Fprintf(&b, `{"outcome":%q,"sent_ns":%d,"done_ns":%d}`+"\n", outcome, sent*1e6, done*1e6)
	}
	return b.String()
}

// TestCompressed: gzip and zstd are judged like the plain log.
func TestCompressed(t *testing.T) {
	broken, _ := oneMore(2)
	text, _ := formats()[0].write(broken, -1)
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write([]byte(text)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"--limit", "20/10s", "--name", "same"}
	var plain []byte
	for _, body := range []string{text, zipped.String(), string(enc.EncodeAll([]byte(text), nil))} {
		var out, errs bytes.Buffer
		if status := run(append([]string{"verify", file(t, "a.log", body), "--json", "-"}, args...), &out, &errs); status != int(statusNotMet) {
			t.Fatalf("exit status %d: %s", status, &errs)
		}
		if plain == nil {
			plain = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), plain) {
			t.Errorf("compressed it is not the same:\n%s\n%s", plain, &out)
		}
	}
}

// TestInstances: the same traffic through three instances, whose clocks are apart.
func TestInstances(t *testing.T) {
	broken, _ := oneMore(4)
	for _, c := range []struct {
		why    string
		all    []asked
		apart  time.Duration
		bounds string
		want   rlbench.Verdict
	}{
		{"lawful", saturated(4), 0, "0s", rlbench.Pass},
		{"one too many", broken, 0, "0s", rlbench.Fail},
		{"lawful, clocks apart and known to be", saturated(4), 40 * time.Millisecond, "40ms", rlbench.Pass},
		{"one too many, clocks apart and known to be", broken, 40 * time.Millisecond, "40ms", rlbench.Fail},
		{"lawful, clocks apart, but said not to be: the row above rests on its bound", saturated(4), 40 * time.Millisecond, "0s", rlbench.Fail},
		{"one too many, but the clocks may be anywhere", broken, 0, "1m", rlbench.Pass},
	} {
		var shares [3][]asked
		for i, a := range c.all {
			n := i / 2 % 3
			off := c.apart * time.Duration(n) / 2
			a.start, a.done = a.start+off, a.done+off
			shares[n] = append(shares[n], a)
		}
		args := []string{"--limit", "20/10s", "--resolution", "0", "--clock-error", c.bounds}
		for _, share := range shares {
			text, _ := formats()[0].write(share, -1)
			args = append(args, file(t, "a.log", text))
		}
		f := over(t, c.why, c.want, args...)
		if !strings.HasPrefix(c.why, "one too many") || c.want != rlbench.Fail {
			continue
		}
		seen := map[int32]bool{}
		for _, w := range f.Witness {
			seen[w.Instance] = true
		}
		if len(seen) != 3 {
			t.Errorf("%s: the witness knows instances %v, want all three", c.why, seen)
		}
	}
	alone := append([]string{}, "--limit", "20/10s", own(t, "allowed 0 1\n"), own(t, "allowed 0 1\n"))
	if status, _, errs := verified(t, alone...); status != int(statusBadInput) || !strings.Contains(errs, "--clock-error") {
		t.Errorf("several clocks of which nothing is said: exit status %d %s", status, errs)
	}
}

// TestInterrupted: standard input that never ends does not keep verify from ending.
func TestInterrupted(t *testing.T) {
	reader, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := io.WriteString(writer, ownLines("allowed 0 1\nallowed 2 3\n"))
		if err != nil {
			t.Error(err)
		}
		cancel() // after both lines were taken, while more could come
	}()
	o := verifyOptions{promised: promised{limits: []string{"1/1s"}}}
	err := verify(ctx, []string{"-"}, o, reader, io.Discard, io.Discard)
	var f *failure
	if !errors.As(err, &f) || f.status != statusInterrupted {
		t.Errorf("want status %d, got %v", statusInterrupted, err)
	}
}

// TestVerifyKeepsTheSchema: logs are told of in the form that runs are.
func TestVerifyKeepsTheSchema(t *testing.T) {
	var schema, out, errs bytes.Buffer
	if status := run([]string{"schema", "summary"}, &schema, &errs); status != 0 {
		t.Fatal(&errs)
	}
	broken, _ := oneMore(9)
	text, _ := formats()[0].write(broken, -1)
	if status := run([]string{"verify", file(t, "a.log", text), "--limit", "20/10s", "--json", "-"}, &out, &errs); status != int(statusNotMet) {
		t.Fatalf("exit status %d: %s", status, &errs)
	}
	if err := validate(schema.Bytes(), out.Bytes()); err != nil {
		t.Error(err)
	}
}
