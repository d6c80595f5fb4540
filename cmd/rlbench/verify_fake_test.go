package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/reports"
)

// asked is a request as the limiter's own books would have it: when it came, when
// it was answered, and what was said.
type asked struct {
	key         string
	start, done time.Duration
	allowed     bool
}

// epoch is the wall clock at the start of every fake log.
var epoch = time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)

// limiter is an exact sliding log that decides somewhere between start and done.
type limiter struct {
	count  int
	per    time.Duration
	random *rand.Rand
	taken  map[string][]time.Duration
}

func newLimiter(count int, per time.Duration, seed uint64) *limiter {
	return &limiter{count: count, per: per, random: rand.New(rand.NewPCG(seed, 7)), taken: map[string][]time.Duration{}}
}

// ask decides requests in the order of their moments.
func (l *limiter) ask(all []asked) []asked {
	at := make([]time.Duration, len(all))
	order := make([]int, len(all))
	for i, a := range all {
		at[i] = a.start + time.Duration(l.random.Int64N(int64(a.done-a.start)+1))
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(at[i] - at[j]) })
	for _, i := range order {
		taken := l.taken[all[i].key]
		for len(taken) > 0 && taken[0] <= at[i]-l.per {
			taken = taken[1:]
		}
		if all[i].allowed = len(taken) < l.count; all[i].allowed {
			taken = append(taken, at[i])
		}
		l.taken[all[i].key] = taken
	}
	return all
}

// saturated is traffic of two keys that a limiter of 20 in 10 s is too tight for:
// one that was let through about every 20 ms until the limit is spent.
func saturated(seed uint64) []asked {
	l := newLimiter(20, 10*time.Second, seed)
	var all []asked
	for i := range 2400 {
		start := time.Duration(i)*20*time.Millisecond + time.Duration(l.random.Int64N(int64(19*time.Millisecond)))
		took := time.Duration(1 + l.random.Int64N(int64(15*time.Millisecond)))
		all = append(all, asked{key: "user-" + string(rune('a'+i%2)), start: start, done: start + took})
	}
	return l.ask(all)
}

// oneMore is the same with a single refusal, in the thick of it, let through.
func oneMore(seed uint64) (all []asked, line int) {
	all = saturated(seed)
	allowed := 0
	for i := range all {
		if all[i].key != "user-a" {
			continue
		}
		if all[i].allowed {
			allowed++
		} else if allowed == 20 {
			all[i].allowed = true
			return all, i
		}
	}
	panic("the limiter refused nothing")
}

func (a asked) status() int {
	if a.allowed {
		return 200
	}
	return 429
}

// logged is a format in which fake logs are written, and what verify must be told.
type logged struct {
	name  string
	head  string
	line  func(i int, a asked) string
	flags []string
	// byEnd: lines are written when a request ends.
	byEnd bool
}

func millis(d time.Duration) int64 { return int64(d / time.Millisecond) }

// timed is an access log_format that says all there is to say.
const timed = `$remote_addr - - [$time_local] "$request" $status $request_time $msec "$http_x_api_key"`

func formats() []logged {
	end := func(a asked) time.Time { return epoch.Add(a.done) }
	start := func(a asked) time.Time { return epoch.Add(a.start) }
	took := func(a asked) time.Duration { return a.done - a.start }
	common := func(a asked) string {
		return fmt.Sprintf(`%s - - [%s] "GET / HTTP/1.1" %d`, a.key, end(a).Format("02/Jan/2006:15:04:05 -0700"), a.status())
	}
	// A server that keeps one clock in whole milliseconds stamps the difference.
	request := func(a asked) string { return fmt.Sprintf("%.3f", float64(millis(a.done)-millis(a.start))/1000) }
	msec := func(t time.Time) string { return fmt.Sprintf("%.3f", float64(t.UnixMilli())/1000) }
	return []logged{
		{"jsonl", "", func(i int, a asked) string {
			return fmt.Sprintf(`{"op":%d,"key":%q,"sent_ns":%d,"done_ns":%d,"status":%d}`, i, a.key, start(a).UnixNano(), end(a).UnixNano(), a.status())
		}, nil, false},
		{"jsonl with time", "", func(_ int, a asked) string {
			return fmt.Sprintf(`{"key":%q,"time":%q,"duration_ms":%d,"code":%d}`, a.key, end(a).Format("2006-01-02T15:04:05.000Z"), millis(took(a)), a.status())
		}, []string{"--moment", "end"}, true},
		{"csv", "who,outcome,sent_ns,done_ns", func(_ int, a asked) string {
			return fmt.Sprintf("%s,%s,%d,%d", a.key, map[bool]string{true: "allowed", false: "denied"}[a.allowed], start(a).UnixNano(), end(a).UnixNano())
		}, []string{"--key", "who"}, false},
		{"nginx combined", "", func(_ int, a asked) string { return common(a) + ` 43 "-" "curl"` }, []string{"--longest", "20ms"}, true},
		{"nginx timed", "", func(_ int, a asked) string {
			return fmt.Sprintf(`%s %s %s "%s"`, common(a), request(a), msec(end(a)), a.key)
		}, []string{"--log-format", timed, "--key", "$http_x_api_key"}, true},
		{"nginx json", "", func(_ int, a asked) string {
			return fmt.Sprintf(`{"msec":%s,"request_time":%s,"status":%d,"remote_addr":%q}`, msec(end(a)), request(a), a.status(), a.key)
		}, nil, true},
		{"envoy", "", func(_ int, a asked) string {
			flag := map[bool]string{true: "-", false: "RL"}[a.allowed]
			return fmt.Sprintf(`[%s] "GET / HTTP/1.1" %d %s 0 3 %d - "-" "curl" "%s" "host" "-"`, start(a).Format("2006-01-02T15:04:05.000Z"), a.status(), flag, millis(took(a)), a.key)
		}, []string{"--key", "REQ(X-REQUEST-ID)"}, true},
		{"envoy json", "", func(_ int, a asked) string {
			return fmt.Sprintf(`{"start_time":%q,"duration":%d,"response_code":%d,"response_flags":"-","user":%q}`, start(a).Format("2006-01-02T15:04:05.000Z"), millis(took(a)), a.status(), a.key)
		}, []string{"--key", "user"}, true},
		{"vegeta csv", "", func(i int, a asked) string {
			headers := base64.StdEncoding.EncodeToString([]byte("X-Key: " + a.key + "\r\n"))
			return fmt.Sprintf("%d,%d,%d,0,3,,,a,%d,GET,http://localhost/?user=%s,%s", start(a).UnixNano(), a.status(), took(a), i, a.key, headers)
		}, []string{"--key", "url"}, true},
		{"vegeta json", "", func(i int, a asked) string {
			return fmt.Sprintf(`{"attack":"a","seq":%d,"code":%d,"timestamp":%q,"latency":%d,"error":"","method":"GET","url":"u","headers":{"X-Key":[%q]}}`,
				i, a.status(), start(a).Format(time.RFC3339Nano), took(a), a.key)
		}, []string{"--key", "X-Key"}, true},
		{"k6", `{"type":"Metric","data":{"name":"http_req_duration","type":"trend"},"metric":"http_req_duration"}`, func(_ int, a asked) string {
			return fmt.Sprintf(`{"metric":"http_req_duration","type":"Point","data":{"time":%q,"value":%.6f,"tags":{"status":"%d","user":%q}}}`,
				end(a).Format(time.RFC3339Nano), float64(took(a))/1e6, a.status(), a.key)
		}, []string{"--key", "user"}, true},
		{"jmeter", "timeStamp,elapsed,label,responseCode,responseMessage,URL,IdleTime", func(_ int, a asked) string {
			return fmt.Sprintf("%d,%d,Buy,%d,OK,http://localhost/%s,0", start(a).UnixMilli(), millis(a.done)-millis(a.start), a.status(), a.key)
		}, []string{"--key", "URL"}, true},
	}
}

// write writes the log as its writer would have, and tells on which line request
// watched stands.
func (f logged) write(all []asked, watched int) (text string, line int) {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	if f.byEnd {
		slices.SortStableFunc(order, func(i, j int) int { return int(all[i].done - all[j].done) })
	}
	var b strings.Builder
	n := 0
	if f.head != "" {
		b.WriteString(f.head + "\n")
		n++
	}
	for _, i := range order {
		b.WriteString(f.line(i, all[i]) + "\n")
		if n++; i == watched {
			line = n
		}
	}
	return b.String(), line
}

// file puts a text into a file of its own.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// verified runs rlbench verify with the arguments and reads its summary.
func verified(t testing.TB, args ...string) (int, *reports.Summary, string) {
	t.Helper()
	var out, errs bytes.Buffer
	status := run(append([]string{"verify", "--json", "-"}, args...), &out, &errs)
	var s reports.Summary
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatalf("verify %v printed what is no summary: %v\n%s%s", args, err, &out, &errs)
		}
		if s.ExitStatus != status {
			t.Errorf("verify %v: exit status %d, and the summary says %d", args, status, s.ExitStatus)
		}
	}
	return status, &s, errs.String()
}

// finding is that of a check on the only target.
func finding(t testing.TB, s *reports.Summary, check string) reports.Finding {
	t.Helper()
	if len(s.Targets) != 1 {
		t.Fatalf("%d targets", len(s.Targets))
	}
	for _, f := range s.Targets[0].Findings {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("nothing was found of %s: %+v", check, s.Targets[0].Findings)
	return reports.Finding{}
}

// over demands a verdict of never-over and its exit status.
func over(t testing.TB, what string, want rlbench.Verdict, args ...string) reports.Finding {
	t.Helper()
	status, s, errs := verified(t, args...)
	if status > int(statusInconclusive) {
		t.Fatalf("%s: exit status %d: %s", what, status, errs)
	}
	f := finding(t, s, neverOver)
	if f.Verdict != want || status != int(statusOf(want)) {
		t.Errorf("%s: %s with exit status %d, want %s: %s", what, f.Verdict, status, want, f.Because)
	}
	return f
}
