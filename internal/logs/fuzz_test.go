package logs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// fuzzReader feeds any bytes to one format's reader, by itself and merged, and
// holds what must be true of every log: no panic, every line accounted for, no
// interval that ends before it begins, blocks whose columns fit together, ops in
// order.
func fuzzReader(f *testing.F, o Options, files ...string) {
	for _, file := range files {
		data := readFile(f, file)
		f.Add(data)
		f.Add(damage(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Open(bytes.NewReader(data), o)
		if err != nil {
			return
		}
		defer r.Close()
		var block rlbench.Ops
		total := int64(0)
		for {
			n, err := r.Next(&block)
			if err != nil {
				known := errors.Is(err, io.EOF) || errors.Is(err, ErrUnreadable) || errors.Is(err, ErrFormat)
				if !known && len(data) > 4 && data[0] != 0x1f && data[0] != 0x28 {
					t.Fatalf("an error of plain text: %v", err)
				}
				break
			}
			total += int64(n)
			checkBlock(t, &block)
		}
		if c := r.Count(); c.Lines != c.Ops+c.Skipped+c.Unkeyed+c.Unreadable || c.Ops != total {
			t.Fatalf("%+v does not add up; %d ops were given", c, total)
		}
		checkMerged(t, data, o, total)
	})
}

func checkBlock(t *testing.T, b *rlbench.Ops) {
	for i := range b.Len() {
		op := b.At(i) // panics when a column is short or a number is out of range
		if op.Sent.Known() && op.Done.Known() && op.Done < op.Sent {
			t.Fatalf("%+v ends before it begins", op)
		}
		if (op.Outcome == rlbench.Allowed || op.Outcome == rlbench.Denied) && !(op.Sent.Known() && op.Done.Known()) {
			t.Fatalf("%+v was answered but has no interval", op)
		}
		if op.Cost < 1 {
			t.Fatalf("%+v has no cost", op)
		}
	}
}

// checkMerged reads the log twice over, as two logs of one instant.
func checkMerged(t *testing.T, data []byte, o Options, each int64) {
	var readers []*Reader
	for range 2 {
		r, err := Open(bytes.NewReader(data), o)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		readers = append(readers, r)
	}
	m, err := Merge(readers, MergeOptions{ClockError: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var block rlbench.Ops
	last, total := rlbench.NoInstant, int64(0)
	for {
		n, err := m.Next(&block)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return
		}
		total += int64(n)
		checkBlock(t, &block)
		for _, sent := range block.Sent {
			if sent.Known() && sent < last {
				t.Fatalf("%d after %d", sent, last)
			} else if sent.Known() {
				last = sent
			}
		}
	}
	if c := m.Count(); total+c.Late+c.Doubled != 2*each {
		t.Fatalf("%d ops, %+v, of %d", total, c, 2*each)
	}
}

func FuzzNGINX(f *testing.F) {
	fuzzReader(f, Options{Format: NGINX, Longest: time.Second}, "nginx-combined.log")
}
func FuzzNGINXTemplate(f *testing.F) {
	fuzzReader(f, Options{Template: combined + ` $request_time $msec "$http_x_key"`, Key: "http_x_key"}, "nginx-timed.log")
}
func FuzzNGINXJSON(f *testing.F) {
	fuzzReader(f, Options{Format: NGINXJSON, Key: "key", Map: map[string]string{"limit_req_status": "limit"}}, "nginx.json")
}
func FuzzEnvoy(f *testing.F) { fuzzReader(f, Options{Format: Envoy}, "envoy.log") }
func FuzzEnvoyJSON(f *testing.F) {
	fuzzReader(f, Options{Format: EnvoyJSON, Key: "user"}, "envoy.json")
}
func FuzzVegetaCSV(f *testing.F) { fuzzReader(f, Options{Format: VegetaCSV, Key: "url"}, "vegeta.csv") }
func FuzzVegetaJSON(f *testing.F) {
	fuzzReader(f, Options{Format: VegetaJSON, Key: "X-Key"}, "vegeta.json")
}
func FuzzK6(f *testing.F)     { fuzzReader(f, Options{Format: K6, Key: "user"}, "k6.json") }
func FuzzJMeter(f *testing.F) { fuzzReader(f, Options{Format: JMeter, Key: "URL"}, "jmeter.jtl") }
func FuzzJSONLines(f *testing.F) {
	fuzzReader(f, Options{Format: JSONLines}, "ops.jsonl")
}
func FuzzCSV(f *testing.F) {
	fuzzReader(f, Options{Format: CSV, Moment: End, Map: map[string]string{"duration_ms": "took"}}, "ops.csv")
}

// FuzzRecognize lets the format be found out.
func FuzzRecognize(f *testing.F) {
	var all []string
	for _, g := range golden {
		all = append(all, g.file)
	}
	fuzzReader(f, Options{}, all...)
}

// FuzzObject: of every object that the standard library reads, the wanted
// members are the same.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"status":200,"key":"a\u00e9\"b","error":["x",{"y":"}"}],"time":null,"n":{"a":{},"b":[1,{}]}}`))
	f.Add([]byte(`{"data":{"tags":{"status":"429","x":{"status":1}},"time":"t"},"error":[],"key":""}`))
	var b binding
	b.field[slotStatus], b.field[slotKey], b.field[slotError], b.field[slotStamp] = "data.tags.status", "key", "error", "time"
	o := newObject(b)
	f.Fuzz(func(t *testing.T, line []byte) {
		var got fields
		problem := o.parse(line, &got)
		var want map[string]any
		if json.Unmarshal(line, &want) != nil || want == nil || bytes.ContainsAny(line, "\n") || repeated(line) || strings.Contains(string(line), `"data.tags.status"`) {
			return
		}
		if problem != "" {
			t.Fatalf("%q: %s", line, problem)
		}
		status := want["data"]
		for _, name := range []string{"tags", "status"} {
			inner, _ := status.(map[string]any)
			status = inner[name]
		}
		for s, value := range map[slot]any{slotKey: want["key"], slotStamp: want["time"], slotStatus: status} {
			if text, ok := value.(string); ok && string([]rune(string(got.text[s]))) != text {
				t.Fatalf("%q: slot %d is %q, want %q", line, s, got.text[s], text)
			}
			if value == nil && got.text[s] != nil {
				t.Fatalf("%q: slot %d is %q, want nothing", line, s, got.text[s])
			}
		}
	})
}

// repeated reports whether an object has a member twice, or one that differs
// only in its case or its escapes: then readers may differ.
func repeated(line []byte) bool {
	for _, name := range []string{"key", "time", "data", "tags", "status"} {
		if strings.Count(strings.ToLower(string(line)), name) > 1 || bytes.Contains(line, []byte(`\u`)) {
			return true
		}
	}
	return false
}

// FuzzColumn: of every line that the standard library reads as one record, the
// columns are the same.
func FuzzColumn(f *testing.F) {
	f.Add([]byte(`a,"b,""c""",,"",d`))
	f.Add([]byte(`"x`))
	f.Fuzz(func(t *testing.T, line []byte) {
		reader := csv.NewReader(bytes.NewReader(line))
		reader.LazyQuotes = false
		want, err := reader.Read()
		if err != nil || bytes.ContainsAny(line, "\r\n") {
			return
		}
		var got []string
		for rest, more := append([]byte(nil), line...), true; more; {
			var value []byte
			value, rest, more = column(rest, ',')
			if value == nil {
				t.Fatalf("%q: quotes", line)
			}
			got = append(got, string(value))
		}
		if strings.Join(got, "\x00") != strings.Join(want, "\x00") {
			t.Fatalf("%q: %q, want %q", line, got, want)
		}
	})
}

// FuzzStamp: what the standard library takes for RFC 3339 is the same moment.
func FuzzStamp(f *testing.F) {
	f.Add("2026-11-30T20:17:08.123456789+01:00")
	f.Add("30/Nov/2026:20:17:08 +0000")
	f.Add("1796069828.716e-3")
	f.Fuzz(func(t *testing.T, text string) {
		var k clock
		ns, step, ok := k.read([]byte(text))
		if ok && (ns < 0 || ns >= stampMax || step < 1 || step > second) {
			t.Fatalf("%q: %d step %d", text, ns, step)
		}
		want, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || want.UTC().Year() < 1971 || want.UTC().Year() > 2114 || text[10] != 'T' || len(text) < 20 || strings.Contains(text, ",") {
			return
		}
		if !ok || ns != want.UnixNano() {
			t.Fatalf("%q: %d %v, want %d", text, ns, ok, want.UnixNano())
		}
	})
}
