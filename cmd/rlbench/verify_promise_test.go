package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// admitted writes an NGINX log in JSON of requests let through at the given
// milliseconds since the epoch, each in an instant of its own.
func admitted(t testing.TB, at ...int) string {
	t.Helper()
	var b strings.Builder
	for _, ms := range at {
		fmt.Fprintf(&b, `{"msec":%.3f,"request_time":0.000,"status":200,"remote_addr":"a"}`+"\n", float64(epoch.Add(time.Duration(ms)*time.Millisecond).UnixMilli())/1000)
	}
	return file(t, "a.log", b.String())
}

// times are n moments from the first on, a millisecond apart.
func times(first, n int) []int {
	var all []int
	for i := range n {
		all = append(all, first+i)
	}
	return all
}

func join(parts ...[]int) (all []int) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// TestPromises holds logs against the promise of each design: what is lawful for one
// is too much for another. The fake epoch is a whole number of 10 s.
func TestPromises(t *testing.T) {
	const pass, fail, unsure = rlbench.Pass, rlbench.Fail, rlbench.Inconclusive
	acrossEdge := join(times(9_900, 20), times(10_100, 20))
	first := join(times(0, 1), times(9_900, 19), times(10_100, 20))
	for _, c := range []struct {
		why   string
		at    []int
		flags string
		want  rlbench.Verdict
	}{
		{"twice the limit across an edge, any window", acrossEdge, "--limit 20/10s", fail},
		{"twice the limit across an edge, aligned windows", acrossEdge, "--limit 20/10s --algorithm fixed-window --anchor epoch", pass},
		{"in one aligned window", join(times(5_000, 20), times(6_000, 1)), "--limit 20/10s --algorithm fixed-window --anchor epoch", fail},
		{"in one aligned window, by a clock that may be off by more", join(times(9_000, 20), times(9_900, 1)), "--limit 20/10s --algorithm fixed-window --anchor epoch --clock-error 1s", pass},
		{"in one aligned window, wherever such a clock puts it", join(times(4_000, 20), times(6_000, 1)), "--limit 20/10s --algorithm fixed-window --anchor epoch --clock-error 1s", fail},
		{"opened by the first request, any window", first, "--limit 20/10s", fail},
		{"opened by the first request", first, "--limit 20/10s --algorithm fixed-window --anchor first-request", pass},
		{"one too many, unless a window was open when the log begins", times(5_000, 21), "--limit 20/10s --algorithm fixed-window --anchor first-request", unsure},
		{"one too many, and none was", times(5_000, 21), "--limit 20/10s --algorithm fixed-window --anchor first-request --complete", fail},
		{"the estimate falls in time", join(times(1_000, 20), times(15_500, 10)), "--limit 20/10s --algorithm sliding-counter", pass},
		{"the estimate is still above", join(times(1_000, 20), times(11_000, 10)), "--limit 20/10s --algorithm sliding-counter", fail},
		{"a burst as great as the bucket", join(times(0, 20), []int{110, 210}), "--rate 10/s --burst 20", pass},
		{"more than it gave back since", join(times(0, 20), []int{110, 120}), "--rate 10/s --burst 20", fail},
		{"by another name", join(times(0, 20), []int{110, 120}), "--rate 10/s --burst 20 --algorithm gcra", fail},
		{"NGINX holds one more than its burst", join(times(0, 21), []int{120}), "--nginx --rate 10r/s --burst 20", pass},
		{"and not two", join(times(0, 21), []int{40}), "--nginx --rate 10r/s --burst 20", fail},
		{"NGINX has 16 thousandths a second where 1r/m is written", []int{0, 61_500}, "--nginx --rate 1r/m", fail},
		{"which take 62.5 s to give one back", []int{0, 62_600}, "--nginx --rate 1r/m", pass},
		{"and 116 where 7r/m is written: one in 8.62 s, not in 8.57", []int{0, 8_600}, "--nginx --rate 7r/m", fail},
		{"both limits hold at once", join(times(0, 5), times(2_000, 5)), "--limit 5/1s --limit 20/10s", pass},
		{"the second limit", join(times(0, 5), times(2_000, 5), times(4_000, 5), times(6_000, 5), times(8_000, 1)), "--limit 5/1s --limit 20/10s", fail},
		{"a clock in steps of 1 ms is not accused of 0.5 ms", []int{0, 999}, "--limit 1/1s", pass},
		{"an exact clock is", []int{0, 998}, "--limit 1/1s --resolution 0", fail},
		{"a coarse clock is not", []int{0, 950}, "--limit 1/1s --resolution 100ms", pass},
	} {
		flags := strings.Fields(c.flags)
		if !strings.Contains(c.flags, "--clock-error") {
			flags = append(flags, "--clock-error", "0s")
		}
		over(t, c.why, c.want, append(flags, admitted(t, c.at...))...)
	}
}

// TestWorkersOfNGINX: what one worker stamps may have come a little later than it says.
func TestWorkersOfNGINX(t *testing.T) {
	path := admitted(t, join(times(0, 20), times(9_950, 1))...)
	over(t, "within what a worker may lag", rlbench.Pass, path, "--limit", "20/10s")
	over(t, "one worker", rlbench.Fail, path, "--limit", "20/10s", "--clock-error", "0s")
	over(t, "beyond what it may lag", rlbench.Fail, admitted(t, join(times(0, 20), times(9_850, 1))...), "--limit", "20/10s")
	over(t, "clocks that may be off either way", rlbench.Pass, admitted(t, join(times(0, 20), times(9_850, 1))...), "--limit", "20/10s", "--clock-error", "90ms")
	text := `{"msec":1796069828.002,"request_time":0.000,"status":200,"remote_addr":"a"}
{"msec":1796069828.000,"request_time":0.000,"status":429,"remote_addr":"a"}
`
	status, s, errs := verified(t, file(t, "a.log", text), "--limit", "1/10s", "--complete")
	if status != int(statusMet) {
		t.Errorf("a worker that lags refuses what another has spent: exit status %d %s %+v", status, errs, s.Targets)
	}
	if w := strings.Join(s.Targets[0].Warnings, "\n"); !strings.Contains(w, "taken to lag by 100ms") {
		t.Errorf("what is assumed is not told: %s", w)
	}
}

// TestWhoseClock: aligned windows lie on the limiter's clock, which is that of its own
// log; of a client's it is so only by the user's word.
func TestWhoseClock(t *testing.T) {
	var client strings.Builder
	for i := range 21 {
		fmt.Fprintf(&client, "%d,200,1000,0,3,,,a,%d,GET,u,\n", epoch.Add(5*time.Second).UnixNano()+int64(i), i)
	}
	path := file(t, "results.csv", client.String())
	aligned := []string{"--limit", "20/10s", "--algorithm", "fixed-window", "--anchor", "epoch"}
	over(t, "a client's clock", rlbench.Inconclusive, append(aligned, path)...)
	over(t, "a client's clock, said to be near", rlbench.Fail, append(aligned, path, "--clock-error", "100ms")...)
	for _, c := range []struct {
		args []string
		told string
	}{
		{[]string{path}, "is not known: --clock-error says how far"},
		{[]string{path, "--clock-error", "100ms"}, "on the log's own clock, to within 100ms"},
		{[]string{admitted(t, 0)}, "on the log's own clock, to within 0s"},
		{[]string{own(t, "allowed 0 1\n"), "--clock-error", "0s"}, "is not known: the log has no wall clock's times"},
	} {
		_, s, errs := verified(t, append(c.args, aligned...)...)
		if len(s.Targets) != 1 {
			t.Fatal(errs)
		}
		if w := strings.Join(s.Targets[0].Warnings, "\n"); !strings.Contains(w, c.told) {
			t.Errorf("%q is not among the warnings: %s", c.told, w)
		}
	}
}

// TestRateAMinute: NGINX rounds what such a rate gives back, so a refusal that the
// rate itself does not excuse is no wrong one.
func TestRateAMinute(t *testing.T) {
	text := `{"msec":1796069828.000,"request_time":0,"status":200,"remote_addr":"a"}
{"msec":1796069892.000,"request_time":0,"status":429,"remote_addr":"a"}
`
	for _, c := range []struct {
		rate string
		want rlbench.Verdict
	}{{"1r/m", rlbench.Inconclusive}, {"1r/s", rlbench.Fail}} {
		status, s, errs := verified(t, file(t, "a.log", text), "--nginx", "--rate", c.rate, "--complete")
		if status > int(statusInconclusive) {
			t.Fatal(errs)
		}
		if f := finding(t, s, neverStarved); f.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.rate, f.Verdict, c.want, f.Because)
		}
	}
}

func TestWhatWasPromisedMustBeSaid(t *testing.T) {
	good := file(t, "p.yaml", "policy: {algorithm: gcra, limit: 10/s, burst: 20}\n")
	bad := file(t, "q.yaml", "policy:\n  algorithm: gcra\n  limt: 10/s\n")
	log := admitted(t, times(0, 21)...)
	for _, c := range []struct{ why, flags, want string }{
		{"nothing is said", "", "--limit 100/1m"},
		{"two designs", "--limit 1/s --rate 1/s", "judge the log twice"},
		{"two designs, one by its burst", "--limit 1/s --burst 3", "judge the log twice"},
		{"a rate alone", "--rate 1/s", "--burst 20"},
		{"a bucket of nothing", "--rate 1/s --burst 0", "needs a burst of at least 1"},
		{"a limit that is none", "--limit 100", `"100" is not COUNT/DURATION`},
		{"a rate that is none", "--rate fast --burst 1", `"fast" is not COUNT/DURATION`},
		{"a design that there is not", "--limit 1/s --algorithm log", `"log" is not an algorithm`},
		{"a bucket by a limit", "--limit 1/s --algorithm gcra", "--rate 10/s --burst 20"},
		{"windows by a rate", "--rate 1/s --burst 2 --algorithm sliding-log", "--limit 100/1m"},
		{"windows that begin nowhere", "--limit 1/s --algorithm fixed-window", "--anchor first-request"},
		{"windows that begin somewhere else", "--limit 1/s --algorithm fixed-window --anchor noon", "epoch or first-request"},
		{"an anchor where there is none", "--limit 1/s --anchor epoch", "has no anchor"},
		{"a bucket's anchor", "--rate 1/s --burst 1 --anchor epoch", "has no anchor"},
		{"a clock as coarse as the window", "--limit 1/ms", "--resolution 0"},
		{"a clock below nothing", "--limit 1/s --resolution -1ms", "at least 0"},
		{"a file and flags", "--policy " + good + " --limit 1/s", "says all of what was promised"},
		{"no such file", "--policy no.yaml", "no.yaml"},
		{"a mistake in the file has its place", "--policy " + bad, "q.yaml:3:3: "},
		{"NGINX without a rate", "--nginx", "--rate 10/s --burst 20"},
		{"NGINX by a limit", "--nginx --limit 1/s", "--rate 10/s"},
		{"NGINX by the hour", "--nginx --rate 5/h", "a second and a minute"},
		{"NGINX by another design", "--nginx --rate 5r/s --algorithm gcra", "leave --algorithm"},
		{"NGINX with a burst below nothing", "--nginx --rate 5r/s --burst -1", "at least 0"},
	} {
		status, _, errs := verified(t, append(strings.Fields(c.flags), log)...)
		if status != int(statusBadInput) || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit status %d, want 3 and %q in %s", c.why, status, c.want, errs)
		}
	}
	over(t, "a policy in a file", rlbench.Fail, log, "--policy", good, "--clock-error", "0s")
	over(t, "its clock is taken to be coarse", rlbench.Pass, log, "--policy", good, "--clock-error", "0s", "--resolution", "90ms")
}
