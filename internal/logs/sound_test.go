package logs

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// truth is one request as it really was, in nanoseconds since the Unix epoch.
type truth struct{ start, decision, end int64 }

func cut(ns, step int64) int64 { return ns - ns%step }

func at(ns int64, layout string) string { return time.Unix(0, ns).UTC().Format(layout) }

const millis = "2006-01-02T15:04:05.000Z07:00"

// writing is one way to write requests down.
type writing struct {
	name    string
	header  string
	options Options
	doubt   int64 // beyond the request itself
	line    func(truth) string
}

func writings(t *testing.T, longest time.Duration) []writing {
	return []writing{
		{"combined", "", Options{Longest: longest}, second + int64(longest), func(r truth) string {
			return at(r.end, `10.0.0.1 - - [02/Jan/2006:15:04:05 -0700]`) + ` "GET / HTTP/1.1" 200 43 "-" "-"`
		}},
		{"nginx msec", "", Options{Template: "$msec $status $request_time"}, 2 * milli, func(r truth) string {
			took := cut(r.end, milli) - cut(r.start, milli)
			return fmt.Sprintf("%d.%03d 200 %d.%03d", r.end/second, r.end/milli%1000, took/second, took/milli%1000)
		}},
		{"nginx iso", "", Options{}, second + milli, func(r truth) string {
			took := cut(r.end, milli) - cut(r.start, milli)
			return fmt.Sprintf(`{"time_iso8601":%q,"status":200,"request_time":%d.%03d}`, at(r.end, time.RFC3339), took/second, took/milli%1000)
		}},
		{"envoy", "", Options{}, 3 * milli, func(r truth) string {
			return fmt.Sprintf(`[%s] "GET / HTTP/1.1" 200 - 0 3 %d - "-" "-" "-" "-" "-"`, at(r.start, millis), (r.end-r.start)/milli)
		}},
		{"vegeta", "", Options{}, 0, func(r truth) string {
			return fmt.Sprintf(`{"attack":"a","seq":1,"code":200,"timestamp":%q,"latency":%d}`, at(r.start, time.RFC3339Nano), r.end-r.start)
		}},
		{"k6", "", Options{}, 1000, func(r truth) string {
			value, err := json.Marshal(float64(r.end-r.start) / 1e6)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf(`{"metric":"http_req_duration","type":"Point","data":{"time":%q,"value":%s,"tags":{"status":"200"}}}`, at(r.end, time.RFC3339Nano), value)
		}},
		{"jmeter", "timeStamp,elapsed,responseCode,IdleTime", Options{}, 2 * milli, func(r truth) string {
			took := cut(r.end, milli)/milli - cut(r.start, milli)/milli
			idle := took / 3
			return fmt.Sprintf("%d,%d,200,%d", r.start/milli, took-idle, idle)
		}},
		{"own", "time,status,duration_us", Options{Moment: End}, milli + 2*micro, func(r truth) string {
			return fmt.Sprintf("%s,200,%d", at(r.end, "2006-01-02T15:04:05.000Z"), (r.end-r.start)/micro)
		}},
		{"rounded", "time,status", Options{Rounded: true, Moment: Decision}, 2 * milli, func(r truth) string {
			return time.Unix(0, r.decision).UTC().Round(time.Millisecond).Format(millis) + ",200"
		}},
	}
}

// TestIntervalHoldsTheDecision writes requests down as each format's writer
// does, with all that it cuts off, and reads them back: the decision must lie in
// the interval, or a lawful limiter could be accused, and the interval must be
// no wider than the request and the stated doubt, or nobody ever could.
func TestIntervalHoldsTheDecision(t *testing.T) {
	const longest = 300 * time.Millisecond
	for _, c := range writings(t, longest) {
		random := rand.New(rand.NewPCG(5, 6))
		var requests []truth
		var text strings.Builder
		if c.header != "" {
			text.WriteString(c.header + "\n")
		}
		for range 5000 {
			start := epoch.UnixNano() + random.Int64N(100*second)
			took := random.Int64N(int64(longest))
			r := truth{start, start + random.Int64N(took+1), start + took}
			requests = append(requests, r)
			text.WriteString(c.line(r) + "\n")
		}
		ops, reader := readAll(t, text.String(), c.options)
		origin, _ := reader.Origin()
		if len(ops) != len(requests) {
			t.Fatalf("%s: %d ops, %+v", c.name, len(ops), reader.Count())
		}
		for i, r := range requests {
			sent, done := int64(ops[i].Sent)+origin, int64(ops[i].Done)+origin
			if r.decision < sent || r.decision > done {
				t.Fatalf("%s: decided at %d, but read as [%d, %d]: %+v", c.name, r.decision, sent, done, r)
			}
			// The first few stamps may look coarser than they are.
			if wide := done - sent - (r.end - r.start); wide > c.doubt && i > 100 {
				t.Fatalf("%s: [%d, %d] is %d ns wider than the request", c.name, sent, done, wide)
			}
		}
	}
}
