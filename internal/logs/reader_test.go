package logs

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rlbench/rlbench"
)

// TestInterval holds what each kind of stamp leaves open.
func TestInterval(t *testing.T) {
	const at = "2026-11-30T20:00:00.000Z"
	for _, c := range []struct {
		line      string
		options   Options
		sent, end int64 // from the stamp, in ns
		unbounded bool
		why       string
	}{
		{`{"status":200,"time":"` + at + `"}`, Options{}, 0, milli - 1, true, "an end and no longest: the start is nowhere"},
		{`{"status":200,"time":"` + at + `"}`, Options{Longest: time.Second}, -second, milli - 1, false, "[end - longest, end]"},
		{`{"status":200,"time":"` + at + `"}`, Options{Moment: Decision}, 0, milli - 1, false, "a decision's stamp is [t, t + digit)"},
		{`{"status":200,"time":"` + at + `"}`, Options{Moment: Decision, Rounded: true}, -milli / 2, milli / 2, false, "a rounded one is half a digit either way"},
		{`{"status":200,"time":"` + at + `"}`, Options{Moment: Start, Longest: time.Second}, 0, second + milli - 1, false, "[start, start + longest]"},
		{`{"status":200,"time":"` + at + `","duration_ms":20}`, Options{Moment: End}, -21*milli + 1, milli - 1, false, "an end and a duration, both cut off"},
		{`{"status":200,"time":"` + at + `","duration_ms":20}`, Options{Moment: Start}, 0, 22*milli - 2, false, "a start and a duration, both cut off"},
		{`{"status":200,"time":"` + at + `","duration_ns":20}`, Options{Moment: Start}, 0, milli + 19, false, "nanoseconds are not cut off"},
		{`{"status":200,"time_iso8601":"2026-11-30T20:00:00+00:00","request_time":0.020}`, Options{}, -20 * milli, second - 1, false, "NGINX: the difference of two cut off readings is exact, the end is not"},
		{`{"response_code":200,"start_time":"` + at + `","duration":20}`, Options{}, 0, 22*milli - 2, false, "Envoy: the duration is cut off by itself"},
		{`{"response_code":0,"start_time":"` + at + `","duration":"-"}`, Options{Longest: time.Second}, 0, second + milli - 1, false, "Envoy: no duration, so the longest"},
	} {
		ops, r := readAll(t, c.line+"\n", c.options)
		origin, _ := r.Origin()
		stamp := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC).UnixNano()
		if len(ops) != 1 {
			t.Fatalf("%s: %d ops, %v", c.line, len(ops), r.Count())
		}
		sent, done := int64(ops[0].Sent)+origin-stamp, int64(ops[0].Done)+origin-stamp
		if sent != c.sent || done != c.end || r.Doubt().Unbounded != c.unbounded {
			t.Errorf("%s %+v: [%d, %d] unbounded %v, want [%d, %d] %v: %s", c.line, c.options, sent, done, r.Doubt().Unbounded, c.sent, c.end, c.unbounded, c.why)
		}
	}
}

// TestTimeBesideDuration: many writers stamp the start, many the end. Taking one for
// the other would accuse the innocent, so one's word is asked for.
func TestTimeBesideDuration(t *testing.T) {
	line := `{"status":200,"time":"2026-11-30T20:00:00.000Z","duration_ms":20}` + "\n"
	r, err := Open(strings.NewReader(line), Options{})
	for err == nil {
		var block rlbench.Ops
		_, err = r.Next(&block)
	}
	if !errors.Is(err, ErrUnreadable) || !strings.Contains(err.Error(), "--moment start, or --moment end") {
		t.Errorf("nothing says which moment the time is, and the log is read: %v", err)
	}
}

// TestStatedMomentsCountFromTheOrigin, as the instants beside them do, in one log and
// where several share an origin.
func TestStatedMomentsCountFromTheOrigin(t *testing.T) {
	const first, second = 1796069828000000000, 1796069829000000000
	open := func(at int64) *Reader {
		line := fmt.Sprintf(`{"status":200,"sent_ns":%d,"done_ns":%d,"decided_at_ns":%d,"released_at_ns":%d}`+"\n", at, at+9, at+3, at+7)
		r, err := Open(strings.NewReader(line), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	merged, err := Merge([]*Reader{open(second), open(first)}, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var ops rlbench.Ops
	if n, err := merged.Next(&ops); n != 2 || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%d ops, %v", n, err)
	}
	for i := range 2 {
		if op := ops.At(i); op.DecidedAt != int64(op.Sent)+3 || op.ReleasedAt != int64(op.Sent)+7 {
			t.Errorf("sent at %d, decided at %d, released at %d", op.Sent, op.DecidedAt, op.ReleasedAt)
		}
	}
	if apart := ops.Sent[1].Since(ops.Sent[0]); apart != time.Second {
		t.Errorf("the two lie %s apart", apart)
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		line    string
		options Options
		outcome rlbench.Outcome
		fault   string
		why     string
	}{
		{`{"time":1,"status":429}`, Options{}, rlbench.Denied, "", "429 is a refusal"},
		{`{"time":1,"status":503}`, Options{}, rlbench.Allowed, "", "503 is the answer of what stands behind"},
		{`{"time":1,"status":503}`, Options{Refused: []int{429, 503}}, rlbench.Denied, "", "unless it is named"},
		{`{"time":1,"status":429}`, Options{Refused: []int{503}}, rlbench.Allowed, "", "naming others unnames 429"},
		{`{"time":1,"status":404}`, Options{}, rlbench.Allowed, "", "it was let through to find nothing"},
		{`{"time":1,"status":"500"}`, Options{}, rlbench.Allowed, "", "a quoted number is one"},
		{`{"time":1,"status":0}`, Options{}, rlbench.Unknown, "", "no answer"},
		{`{"time":1,"status":499}`, Options{}, rlbench.Unknown, "", "the client went away"},
		{`{"time":1,"status":502}`, Options{Unknown: []int{502}}, rlbench.Unknown, "", "named as telling nothing"},
		{`{"time":1,"status":200,"outcome":"denied"}`, Options{}, rlbench.Denied, "", "an outcome goes before a status"},
		{`{"time":1,"outcome":"allowed","error":"store down"}`, Options{}, rlbench.Allowed, "store down", "our own format means its errors: failed open"},
		{`{"msec":1,"status":200,"limit_req_status":"REJECTED_DRY_RUN"}`, Options{}, rlbench.Denied, "", "a dry run decides"},
		{`{"msec":1,"status":499,"limit_req_status":"DELAYED"}`, Options{}, rlbench.Allowed, "", "charged when it came, whoever left since"},
		{`{"start_time":1,"duration":1,"response_code":200,"response_flags":"RL"}`, Options{}, rlbench.Denied, "", "a gRPC refusal answers 200"},
		{`{"start_time":1,"duration":1,"response_code":500,"response_flags":"UF,RLSE"}`, Options{}, rlbench.Denied, "RLSE", "refused for want of the service"},
		{`{"start_time":1,"duration":1,"response_code":503,"response_flags":"UF"}`, Options{}, rlbench.Allowed, "", "let through, then the upstream failed"},
		{`{"timestamp":1,"latency":1,"seq":1,"code":429,"error":"429 Too Many Requests"}`, Options{}, rlbench.Denied, "", "a generator's error is only its status"},
		{`{"timestamp":1,"latency":1,"seq":1,"code":0,"error":"EOF"}`, Options{}, rlbench.Unknown, "EOF", "but says why there was no answer"},
	} {
		ops, r := readAll(t, c.line+"\n", c.options)
		if len(ops) != 1 {
			t.Fatalf("%s: %d ops, %v", c.line, len(ops), r.Count())
		}
		if ops[0].Outcome != c.outcome || ops[0].Error != c.fault {
			t.Errorf("%s %+v: %s %q, want %s %q: %s", c.line, c.options, ops[0].Outcome, ops[0].Error, c.outcome, c.fault, c.why)
		}
	}
}

func TestUnreadableLine(t *testing.T) {
	const good = `{"op":1,"outcome":"allowed","sent_ns":1,"done_ns":2}` + "\n"
	for _, c := range []struct{ line, what string }{
		{`{"op":1,"outcome":"maybe","sent_ns":1,"done_ns":2}`, problemOutcome},
		{`{"op":1,"status":1000,"sent_ns":1,"done_ns":2}`, problemStatus},
		{`{"op":1,"status":"OK","sent_ns":1,"done_ns":2}`, problemStatus},
		{`{"op":1,"sent_ns":1,"done_ns":2}`, problemMute},
		{`{"op":1,"outcome":"allowed","sent_ns":1}`, problemNoTime},
		{`{"op":1,"outcome":"allowed"}`, problemNoTime},
		{`{"op":1,"outcome":"allowed","sent_ns":3,"done_ns":2}`, problemOrder},
		{`{"op":1,"outcome":"allowed","sent_ns":1.5,"done_ns":2}`, problemTime},
		{`{"op":"x","outcome":"allowed","sent_ns":1,"done_ns":2}`, problemNumber},
		{`{"op":1,"cost":0,"outcome":"allowed","sent_ns":1,"done_ns":2}`, problemCost},
		{`{"op":1,"limit":"many","outcome":"allowed","sent_ns":1,"done_ns":2}`, problemNumber},
		{`{"op":1,"key":"` + strings.Repeat("k", keyMax+1) + `","outcome":"allowed","sent_ns":1,"done_ns":2}`, problemKey},
		{`{"op":1,"outcome":"allowed","sent_ns":1,"done_ns":2`, problemJSON},
		{`{"op":1,"outcome":"allowed","sent_ns":1,"done_ns":2} {}`, problemJSON},
		{`["op"]`, problemJSON},
		{`{"x":"` + strings.Repeat("y", lineMax+1) + `"}`, problemTooLong},
	} {
		ops, r := readAll(t, good+c.line+"\n\n"+good, Options{Name: "a.log"})
		count := r.Count()
		if len(ops) != 2 || count.Unreadable != 1 || count.Lines != 3 {
			t.Fatalf("%.60s: %d ops, %+v", c.line, len(ops), count)
		}
		if want := "a.log:2: " + c.what; count.Places[0].String() != want {
			t.Errorf("%.60s: %q, want %q", c.line, count.Places[0], want)
		}
	}
}

func TestTooManyUnreadable(t *testing.T) {
	good := "10.0.0.1 - - [30/Nov/2026:20:17:08 +0000] \"GET / HTTP/1.1\" 200 43\n"
	for _, c := range []struct {
		text  string
		fails bool
		why   string
	}{
		{strings.Repeat(good, 100) + strings.Repeat("?\n", 10), false, "a few are borne in any log"},
		{strings.Repeat(good, 100) + strings.Repeat("?\n", 11), true, "more than one in a hundred"},
		{strings.Repeat(good, 2000) + strings.Repeat("?\n", 11), false, "less than one in a hundred"},
		{good + strings.Repeat("?\n", 100_000), true, "seen long before the end"},
	} {
		r, err := Open(strings.NewReader(c.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var block rlbench.Ops
		for err == nil {
			_, err = r.Next(&block)
		}
		if errors.Is(err, ErrUnreadable) != c.fails {
			t.Errorf("%v, want too many: %v: %s", err, c.fails, c.why)
		}
		if r.Count().Unreadable > 2*checkEvery {
			t.Errorf("%d lines were read in vain", r.Count().Unreadable)
		}
	}
}

func TestCompressed(t *testing.T) {
	var plain bytes.Buffer
	for i := range 20_000 {
		plain.Write(combinedLine(nil, i))
	}
	var zipped, zstandard bytes.Buffer
	for part := range 2 { // rotated logs are put together by cat
		w := gzip.NewWriter(&zipped)
		half := plain.Len() / 2
		if _, err := w.Write(plain.Bytes()[part*half : (part+1)*half]); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	w, err := zstd.NewWriter(&zstandard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(plain.Bytes()); err != nil {
		t.Fatal(err)
	}
	w.Close()
	for name, data := range map[string][]byte{"plain": plain.Bytes(), "gzip": zipped.Bytes(), "zstd": zstandard.Bytes()} {
		ops, r := readAll(t, string(data), Options{Longest: time.Second})
		if len(ops) != 20_000 || r.Count().CutOff {
			t.Errorf("%s: %d ops, %+v", name, len(ops), r.Count())
		}
		cut, r := readAll(t, string(data[:len(data)*2/3]), Options{Longest: time.Second})
		if c := r.Count(); len(cut) == 0 || len(cut) >= 20_000 || !c.CutOff || c.Unreadable != 1 {
			t.Errorf("%s cut off: %d ops, %+v", name, len(cut), c)
		}
	}
}

// TestCutOffValue: a value that the end of the log may have cut short is not taken.
func TestCutOffValue(t *testing.T) {
	for _, c := range []struct {
		text string
		ops  int
		why  string
	}{
		{"outcome,sent_ns,done_ns\nallowed,1,25\nallowed,1,2", 1, "25 or only its beginning?"},
		{"sent_ns,done_ns,outcome,note\n1,25,allowed,x\n1,25,allowed,x", 2, "only the note may be cut, and nobody reads it"},
		{`{"outcome":"allowed","sent_ns":1,"done_ns":25}`, 1, "the brace says that it is whole"},
	} {
		ops, r := readAll(t, c.text, Options{})
		if len(ops) != c.ops || r.Count().CutOff != (c.ops == 1 && strings.HasPrefix(c.text, "outcome")) {
			t.Errorf("%q: %d ops, %+v: %s", c.text, len(ops), r.Count(), c.why)
		}
	}
}

func TestSlowStream(t *testing.T) {
	text := string(readFile(t, "jmeter.jtl"))
	want, _ := readAll(t, text, Options{Key: "URL"})
	for name, stream := range map[string]io.Reader{
		"a byte at a time":       iotest.OneByteReader(strings.NewReader(text)),
		"half of what is wanted": iotest.HalfReader(strings.NewReader(text)),
		"data with the end":      iotest.DataErrReader(strings.NewReader(text)),
	} {
		if got, _ := read(t, stream, Options{Key: "URL"}); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got, _ := readAll(t, "\xef\xbb\xbf"+text, Options{Key: "URL"}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("a byte order mark is no part of the first column's name: %v, want %v", got, want)
	}
	broken := errors.New("the disk is gone")
	if _, err := Open(iotest.ErrReader(broken), Options{}); !errors.Is(err, broken) {
		t.Errorf("%v, want the stream's own error", err)
	}
	r, err := Open(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var block rlbench.Ops
	if n, err := r.Next(&block); n != len(want) || err != nil {
		t.Errorf("%d ops, %v: what was read before is given first", n, err)
	}
	if _, err := r.Next(&block); !errors.Is(err, broken) {
		t.Errorf("%v, want the stream's own error", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	access := "10.0.0.1 - - [30/Nov/2026:20:17:08 +0000] \"GET / HTTP/1.1\" 200 43 \"-\" \"-\"\n"
	for _, c := range []struct {
		text    string
		options Options
		says    string
	}{
		{"", Options{}, "it is empty"},
		{"\n\n", Options{}, "it is empty"},
		{"hello there\n", Options{}, "state its format"},
		{"<?xml version=\"1.0\"?>\n", Options{}, "output_format=csv"},
		{"PAR1....", Options{}, "Parquet"},
		{"\x1f\x8b", Options{}, "gzip"},
		{access, Options{Format: "apache"}, "is not a log format"},
		{access, Options{Key: "http_x_key"}, `no field "http_x_key", only [remote_addr`},
		{access, Options{Key: "status"}, "cannot be the key"},
		{access, Options{Format: Envoy}, "state its log format"},
		{access, Options{Template: "no variable"}, "no variable"},
		{access, Options{Template: "$a$b"}, "nothing stands between"},
		{access, Options{Template: "$remote_addr - $status"}, "no time"},
		{access, Options{Map: map[string]string{"colour": "red"}}, "no field that can be mapped"},
		{"a,b\n1,2\n", Options{Format: CSV}, "neither a status nor an outcome"},
		{"status,b\n1,2\n", Options{}, "no time"},
		{"status,time\n1,2\n", Options{Map: map[string]string{"time": "when"}}, `no field "when"`},
		{access, Options{Longest: -1}, "out of bounds"},
		{access, Options{Moment: "middle"}, "not a moment"},
		{access, Options{Form: "julian"}, "not a form of time"},
		{access, Options{Refused: []int{4290}}, "not a status"},
		{access, Options{Format: JSONLines}, "no line of it is a JSON object"},
		{access, Options{Format: K6, Template: "$status"}, "goes with"},
	} {
		c.options.Name = "x.log"
		_, err := Open(strings.NewReader(c.text), c.options)
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "x.log") {
			t.Errorf("%q %+v: %v, want it to say %q", c.text, c.options, err, c.says)
		}
	}
}

func TestTarget(t *testing.T) {
	text := `{"target":"a","outcome":"allowed","sent_ns":1,"done_ns":2}` + "\n" + `{"target":"b","outcome":"denied","sent_ns":1,"done_ns":2}` + "\n"
	ops, r := readAll(t, text, Options{Target: "b"})
	if len(ops) != 1 || ops[0].Outcome != rlbench.Denied || r.Count().Skipped != 1 {
		t.Errorf("%v %+v: only target b was wanted", ops, r.Count())
	}
}

func readAll(t *testing.T, text string, o Options) ([]rlbench.Op, *Reader) {
	t.Helper()
	return read(t, strings.NewReader(text), o)
}

// read takes a whole log, which may hold unreadable lines but not too many.
func read(t *testing.T, stream io.Reader, o Options) (ops []rlbench.Op, r *Reader) {
	t.Helper()
	r, err := Open(stream, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	var block rlbench.Ops
	for {
		n, err := r.Next(&block)
		if errors.Is(err, io.EOF) {
			return ops, r
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			ops = append(ops, block.At(i))
		}
	}
}

// TestFields are what a person is told who asked for a field that is not there.
func TestFields(t *testing.T) {
	for _, c := range []struct{ text, want, why string }{
		{"op,user,time,status\n1,a,2026-11-30T20:00:00Z,200\n", "op user time status", "the header's"},
		{`{"time":1,"status":200,"request":{"user":"a"}}` + "\n", "request request.user status time", "those of the first object, nested ones with dots"},
		{`127.0.0.1 - - [30/Nov/2026:20:17:08 +0000] "GET / HTTP/1.1" 200 43 "-" "curl"` + "\n",
			"remote_addr remote_user time_local request status body_bytes_sent http_referer http_user_agent", "those of the log format"},
	} {
		r, err := Open(strings.NewReader(c.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Fields(), " "); got != c.want {
			t.Errorf("%q, want %q: %s", got, c.want, c.why)
		}
		r.Close()
	}
}
