package logs

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden logs: real ones recorded on loopback from NGINX 1.22.1, Envoy 1.40.0,
// vegeta 12 and k6 1.8.1; the JTL and our own by hand. Each has one damaged twin.
var golden = []struct {
	file    string
	options Options
	format  Format
	why     string
}{
	{"nginx-combined.log", Options{Longest: time.Second}, NGINX, "only an end in whole seconds: a second of doubt and the longest request before it"},
	{"nginx-timed.log", Options{Key: "$http_x_key", Template: combined + ` $request_time $msec "$http_x_key"`}, NGINX, "a stated log_format: the start is $msec less $request_time, lines without the key limit nobody"},
	{"nginx.json", Options{Key: "key", Map: map[string]string{"limit_req_status": "limit"}}, NGINXJSON, "the limiter's own word goes before the status: a 499 that was DELAYED was charged"},
	{"envoy.log", Options{}, Envoy, "start in milliseconds and a duration cut off by itself; quotes in the agent"},
	{"envoy.json", Options{Key: "user"}, EnvoyJSON, "no user, nobody's budget"},
	{"vegeta.csv", Options{Key: "url"}, VegetaCSV, "start and latency in nanoseconds; code 0 is Unknown; an error beside a 429 is no lost store"},
	{"vegeta.json", Options{Key: "X-Key"}, VegetaJSON, "an answer's header as the key; a request without an answer has none"},
	{"k6.json", Options{Key: "user"}, K6, "one point of several a request, its time is the end, its value milliseconds"},
	{"jmeter.jtl", Options{Key: "URL"}, JMeter, "idle time is beyond elapsed, a transaction is no request, an exception is Unknown, a message of two lines"},
	{"ops.jsonl", Options{}, JSONLines, "our own columns, nulls where there is nothing"},
	{"ops.csv", Options{Moment: End, Key: "who", Map: map[string]string{"duration_ms": "took", "error": "note"}}, CSV, "renamed columns, semicolons, quotes, stamps without their trailing zeros"},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.file, func(t *testing.T) {
			data := readFile(t, g.file)
			got := dump(t, data, g.options, g.format)
			compare(t, g.file+".golden", got)
		})
	}
}

// TestGoldenDamaged cuts the first line's head off (CSV: keeps the header), puts
// noise in the middle, and cuts the last line.
func TestGoldenDamaged(t *testing.T) {
	for _, g := range golden {
		t.Run(g.file, func(t *testing.T) {
			data := damage(readFile(t, g.file))
			got := dump(t, data, g.options, g.format)
			if !strings.Contains(got, "unreadable 2") && !strings.Contains(got, "unreadable 3") {
				t.Errorf("noise and a cut line must both be seen:\n%s", got)
			}
			compare(t, g.file+".damaged.golden", got)
		})
	}
}

func damage(data []byte) []byte {
	all := bytes.SplitAfter(data, []byte("\n"))
	middle := len(all) / 2
	noise := [][]byte{[]byte("\x00\xff noise \"{[\n")}
	damaged := bytes.Join(append(append(append([][]byte{}, all[:middle]...), noise...), all[middle:]...), nil)
	damaged = damaged[:len(damaged)-len(all[len(all)-2])*2/3]
	if all[0][0] == '{' || all[0][0] == '[' {
		return damaged[5:]
	}
	return damaged
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := string(readFile(t, file)); got != want {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", file, got, want)
	}
}

// dump reads a whole log and writes down all that the Reader says of it.
func dump(t *testing.T, data []byte, o Options, format Format) string {
	t.Helper()
	o.Name = "log"
	r, err := Open(bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Format() != format {
		t.Errorf("format %q, want %q", r.Format(), format)
	}
	var out strings.Builder
	var block rlbench.Ops
	for {
		n, err := r.Next(&block)
		for i := range n {
			fmt.Fprintln(&out, opLine(block.At(i)))
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				fmt.Fprintln(&out, "error:", err)
			}
			break
		}
	}
	origin, stated := r.Origin()
	c := r.Count()
	fmt.Fprintf(&out, "format %s, key field %q, origin %d stated %v\n", r.Format(), r.KeyField(), origin, stated)
	fmt.Fprintf(&out, "lines %d ops %d skipped %d unkeyed %d unreadable %d cut off %v\n", c.Lines, c.Ops, c.Skipped, c.Unkeyed, c.Unreadable, c.CutOff)
	for _, p := range c.Places {
		fmt.Fprintln(&out, p)
	}
	fmt.Fprintf(&out, "doubt %+v\n", r.Doubt())
	for _, s := range r.Doubt().Sentences() {
		fmt.Fprintln(&out, s)
	}
	return out.String()
}

func opLine(op rlbench.Op) string {
	instant := func(i rlbench.Instant) string {
		if !i.Known() {
			return "none"
		}
		return fmt.Sprint(int64(i))
	}
	line := fmt.Sprintf("op %d key %q cost %d via %d [%s %s] planned %s %s %d", op.ID, op.Key, op.Cost, op.Instance,
		instant(op.Sent), instant(op.Done), instant(op.Planned), op.Outcome, op.Status)
	for i, v := range []int64{op.Limit, op.Remaining, op.RetryAfter, op.Reset, op.DecidedAt, op.ReleasedAt} {
		if v != rlbench.None {
			line += fmt.Sprintf(" %s=%d", []string{"limit", "remaining", "retry_after", "reset", "decided_at", "released_at"}[i], v)
		}
	}
	if op.Error != "" {
		line += fmt.Sprintf(" error %q", op.Error)
	}
	return line
}
