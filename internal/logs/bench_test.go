package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// traffic writes an access log without end, line by line, never holding more of
// it than one piece: what it yields is bounded by lines.
type traffic struct {
	line   func(to []byte, i int) []byte
	lines  int
	at     int
	piece  []byte
	unread []byte
}

func (g *traffic) Read(p []byte) (int, error) {
	if len(g.unread) == 0 {
		g.piece = g.piece[:0]
		for ; g.at < g.lines && len(g.piece) < 1<<16; g.at++ {
			g.piece = g.line(g.piece, g.at)
		}
		if g.unread = g.piece; len(g.unread) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(p, g.unread)
	g.unread = g.unread[n:]
	return n, nil
}

var epoch = time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)

// combinedLine: 20,000 requests a second from 5,000 addresses, one in ten refused.
func combinedLine(to []byte, i int) []byte {
	at := epoch.Add(time.Duration(i) * 50 * time.Microsecond)
	to = fmt.Appendf(to, "10.%d.%d.%d - - ", i%5, i/5%10, i/50%100)
	to = at.AppendFormat(to, "[02/Jan/2006:15:04:05 -0700]")
	return fmt.Appendf(to, " \"GET /api/v1/items/%d?page=2 HTTP/1.1\" %d 1532 \"https://example.org/start\" \"Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/140.0\"\n", i%1000, status(i))
}

// jsonLine: the same with milliseconds and a duration of up to 200 ms, so that
// starts are out of order.
func jsonLine(to []byte, i int) []byte {
	ms := epoch.UnixMilli() + int64(i)/20
	return fmt.Appendf(to, `{"msec":%d.%03d,"remote_addr":"10.%d.%d.%d","request":"GET /api/v1/items/%d?page=2 HTTP/1.1","status":%d,"bytes":1532,"request_time":0.%03d,"agent":"Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"}`+"\n",
		ms/1000, ms%1000, i%5, i/5%10, i/50%100, i%1000, status(i), i*7919%200)
}

func status(i int) int {
	if i%10 == 9 {
		return 429
	}
	return 200
}

func logOf(line func([]byte, int) []byte, n int) []byte {
	var data []byte
	for i := range n {
		data = line(data, i)
	}
	return data
}

func benchmarkRead(b *testing.B, line func([]byte, int) []byte, merge bool) {
	const n = 200_000 // ten seconds of traffic
	data := logOf(line, n)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(bytes.NewReader(data), Options{Longest: time.Second})
		if err != nil {
			b.Fatal(err)
		}
		next := r.Next
		if merge {
			m, err := Merge([]*Reader{r}, MergeOptions{Reorder: 2 * time.Second})
			if err != nil {
				b.Fatal(err)
			}
			next = m.Next
		}
		if got := drain(b, next); got != n {
			b.Fatalf("%d ops of %d lines", got, n)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

func drain(tb testing.TB, next func(*rlbench.Ops) (int, error)) (total int) {
	tb.Helper()
	var block rlbench.Ops
	for {
		n, err := next(&block)
		total += n
		if errors.Is(err, io.EOF) {
			return total
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkCombined(b *testing.B)       { benchmarkRead(b, combinedLine, false) }
func BenchmarkCombinedMerged(b *testing.B) { benchmarkRead(b, combinedLine, true) }
func BenchmarkJSON(b *testing.B)           { benchmarkRead(b, jsonLine, false) }
func BenchmarkJSONMerged(b *testing.B)     { benchmarkRead(b, jsonLine, true) }

// TestMemoryBounded reads a log in which no key ever comes again, and sees that
// what is kept does not grow with it. RLBENCH_LOG_LINES=10000000 is the full size.
func TestMemoryBounded(t *testing.T) {
	total := 280_000
	if text := os.Getenv("RLBENCH_LOG_LINES"); text != "" {
		var err error
		if total, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	fresh := func(to []byte, i int) []byte {
		ms := epoch.UnixMilli() + int64(i)/20
		return fmt.Appendf(to, "%d.%03d client-%d 200 0.%03d\n", ms/1000, ms%1000, i, i*7919%200)
	}
	r, err := Open(&traffic{line: fresh, lines: total}, Options{Template: "$msec $client $status $request_time", Key: "client"})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Merge([]*Reader{r}, MergeOptions{Reorder: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var block rlbench.Ops
	var heap []uint64
	started := time.Now()
	for seen, eighth := 0, total/8; ; {
		n, err := m.Next(&block)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if seen += n; seen/eighth > len(heap) {
			heap = append(heap, liveHeap())
		}
	}
	t.Logf("%d lines in %s, live heap at each eighth in MiB: %v", total, time.Since(started).Round(time.Millisecond), mebibytes(heap))
	if c := m.Count(); c.Ops != int64(total) || c.Late != 0 {
		t.Fatalf("%+v: every op must come, in order", c)
	}
	// Two generations of the key cache are full from the third eighth on (of the
	// small size); from there on nothing may be added but noise.
	const noise = 8 << 20
	for _, h := range heap[4:] {
		if h > heap[3]+noise {
			t.Errorf("the heap grows with the log: %v MiB", mebibytes(heap))
		}
	}
}

func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func mebibytes(sizes []uint64) (in []uint64) {
	for _, s := range sizes {
		in = append(in, s>>20)
	}
	return in
}
