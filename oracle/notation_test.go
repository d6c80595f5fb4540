package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// run reads a history in the notation of the comments: limits, a colon, ops.
//
//	L=2 W=7            at most 2 in any 7 ticks; several limits one after the other
//	aligned L=2 W=7    the windows lie at the epoch; offset=3 error=1 of its clock
//	first L=2 W=7      the windows open with the first request
//	counter L=2 W=7    a sliding counter over such windows
//	r=3/4 b=2          a bucket; gcra before it: one that keeps its arrival time only
//	A2[1,5]            allowed, cost 2, sent at 1, done at 5; D denied, U unknown
//
// A tick is a nanosecond. The run is complete and its clock was read.
func run(t testing.TB, text string) *rlbench.Run {
	t.Helper()
	head, tail, found := strings.Cut(text, ":")
	if !found {
		t.Fatalf("%q: no colon", text)
	}
	r := &rlbench.Run{Target: "history", Complete: true, Clock: rlbench.LimiterClock{Stated: true}}
	r.Policy.Algorithm = rlbench.SlidingLog
	anchor, bucket := rlbench.Anchor(""), rlbench.TokenBucket
	for _, word := range strings.Fields(head) {
		name, value, _ := strings.Cut(word, "=")
		last := len(r.Policy.Limits) - 1
		switch name {
		case "aligned", "first":
			r.Policy.Algorithm = rlbench.FixedWindow
			anchor = map[string]rlbench.Anchor{"aligned": rlbench.Epoch, "first": rlbench.FirstRequest}[name]
		case "counter":
			r.Policy.Algorithm = rlbench.SlidingCounter
		case "gcra":
			bucket = rlbench.GCRA
		case "charges":
			r.Policy.ChargesRefusals = true
		case "L":
			r.Policy.Limits = append(r.Policy.Limits, rlbench.Limit{Count: number(t, value), Anchor: anchor})
		case "W":
			r.Policy.Limits[last].Per = time.Duration(number(t, value))
		case "r":
			count, per, _ := strings.Cut(value, "/")
			r.Policy.Algorithm = bucket
			r.Policy.Limits = append(r.Policy.Limits, rlbench.Limit{Count: number(t, count), Per: time.Duration(number(t, per))})
		case "b":
			r.Policy.Limits[last].Burst = number(t, value)
		case "res":
			r.Policy.Resolution = time.Duration(number(t, value))
		case "drift":
			r.Policy.Drift = time.Duration(number(t, value))
		case "offset":
			r.Clock.Origin = number(t, value)
		case "error":
			r.Clock.Error = time.Duration(number(t, value))
		default:
			t.Fatalf("%q: no such word as %q", text, word)
		}
	}
	for _, word := range strings.Fields(tail) {
		appendOp(t, &r.Ops, word)
	}
	return r
}

func appendOp(t testing.TB, ops *rlbench.Ops, word string) {
	t.Helper()
	outcome, ok := map[byte]rlbench.Outcome{'A': rlbench.Allowed, 'D': rlbench.Denied, 'U': rlbench.Unknown, 'N': rlbench.Unsent}[word[0]]
	cost, interval, found := strings.Cut(word[1:], "[")
	sent, done, comma := strings.Cut(strings.TrimSuffix(interval, "]"), ",")
	if !ok || !found || !comma {
		t.Fatalf("%q is not an op", word)
	}
	price := int64(1)
	if cost != "" {
		price = number(t, cost)
	}
	addOp(ops, "k", outcome, price, number(t, sent), number(t, done))
}

func addOp(ops *rlbench.Ops, key string, outcome rlbench.Outcome, cost, sent, done int64) {
	k := -1
	for i, name := range ops.Keys {
		if name == key {
			k = i
		}
	}
	if k < 0 {
		k = len(ops.Keys)
		ops.Keys = append(ops.Keys, key)
	}
	ops.ID = append(ops.ID, int64(ops.Len()))
	ops.Key = append(ops.Key, uint32(k))
	ops.Cost = append(ops.Cost, cost)
	ops.Instance = append(ops.Instance, 0)
	ops.Worker = append(ops.Worker, 0)
	ops.Planned = append(ops.Planned, rlbench.Instant(sent))
	ops.Sent = append(ops.Sent, rlbench.Instant(sent))
	ops.Done = append(ops.Done, rlbench.Instant(done))
	ops.Outcome = append(ops.Outcome, outcome)
}

func number(t testing.TB, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%q is not a number", text)
	}
	return n
}

// text writes a run in the same notation, to be pasted into a test.
func text(r *rlbench.Run) string {
	var words []string
	for _, l := range r.Policy.Limits {
		switch {
		case r.Policy.Algorithm == rlbench.SlidingCounter:
			words = append(words, fmt.Sprintf("counter L=%d W=%d", l.Count, int64(l.Per)))
		case r.Policy.Algorithm.Bucket():
			if r.Policy.Algorithm == rlbench.GCRA {
				words = append(words, "gcra")
			}
			words = append(words, fmt.Sprintf("r=%d/%d b=%d", l.Count, int64(l.Per), l.Burst))
		default:
			kind := map[rlbench.Anchor]string{rlbench.Epoch: "aligned ", rlbench.FirstRequest: "first "}[l.Anchor]
			words = append(words, fmt.Sprintf("%sL=%d W=%d", kind, l.Count, int64(l.Per)))
		}
	}
	if r.Policy.ChargesRefusals {
		words = append(words, "charges")
	}
	for name, n := range map[string]int64{"offset": r.Clock.Origin, "error": int64(r.Clock.Error), "res": int64(r.Policy.Resolution), "drift": int64(r.Policy.Drift)} {
		if n != 0 {
			words = append(words, fmt.Sprintf("%s=%d", name, n))
		}
	}
	out := strings.Join(words, " ") + ":"
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		cost := ""
		if op.Cost != 1 {
			cost = strconv.FormatInt(op.Cost, 10)
		}
		out += fmt.Sprintf(" %c%s[%d,%d]", "UADN"[op.Outcome], cost, int64(op.Sent), int64(op.Done))
	}
	return out
}
