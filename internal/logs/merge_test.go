package logs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// TestMergeOrder: logs written when requests end, as all are, come out in the
// order in which they were sent, every op with its own key, however few may wait.
func TestMergeOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		logs, ops, rowsMax int
		gap                int64 // between ops, in ns
	}{{1, 30_000, 0, milli}, {3, 60_000, 0, milli}, {5, 60_000, 0, 10 * micro}, {2, 60_000, 20_000, milli}, {4, 100, 0, milli}} {
		want := make([]rlbench.Op, c.ops)
		texts := make([]strings.Builder, c.logs)
		for i := range want {
			sent := rlbench.Instant(int64(i) * c.gap)
			want[i] = rlbench.Op{ID: int64(i), Key: fmt.Sprint("k", random.IntN(50)), Instance: int32(random.IntN(c.logs)),
				Sent: sent, Done: sent + rlbench.Instant(random.Int64N(second)), Outcome: rlbench.Allowed, Limit: rlbench.None}
			if random.IntN(20) == 0 {
				want[i].Outcome, want[i].Error, want[i].Limit = rlbench.Unknown, fmt.Sprint("e", random.IntN(3)), int64(i)
			}
		}
		ended := slices.Clone(want)
		slices.SortFunc(ended, func(a, b rlbench.Op) int { return cmp.Compare(a.Done, b.Done) })
		for _, op := range ended {
			limit, fault := "null", "null"
			if op.Error != "" {
				limit, fault = fmt.Sprint(op.Limit), `"`+op.Error+`"`
			}
			fmt.Fprintf(&texts[op.Instance], `{"op":%d,"key":"%s","instance":%d,"sent_ns":%d,"done_ns":%d,"outcome":"%s","limit":%s,"error":%s}`+"\n",
				op.ID, op.Key, op.Instance, op.Sent, op.Done, op.Outcome, limit, fault)
		}
		var all []string
		for i := range texts {
			all = append(all, texts[i].String())
		}
		got, m := merge(t, all, Options{}, MergeOptions{Reorder: time.Second, RowsMax: c.rowsMax})
		if len(got) != len(want) || m.Count().Late != 0 {
			t.Fatalf("%+v: %d ops, %+v", c, len(got), m.Count())
		}
		for i, op := range got {
			w := want[i]
			if op.ID != w.ID || op.Key != w.Key || op.Sent != w.Sent || op.Done != w.Done || op.Error != w.Error || op.Limit != w.Limit || op.Instance != w.Instance {
				t.Fatalf("%+v: op %d is %+v, want %+v", c, i, op, w)
			}
		}
	}
}

// numbered writes n ops a millisecond apart, of which change may alter some.
func numbered(n int, change func(i int, sent int64) int64) string {
	var text strings.Builder
	for i := range n {
		sent := change(i, int64(i)*milli)
		fmt.Fprintf(&text, `{"op":%d,"outcome":"allowed","sent_ns":%d,"done_ns":%d}`+"\n", i, sent, sent+1)
	}
	return text.String()
}

func TestMergeLate(t *testing.T) {
	late := func(which func(i int) bool, by time.Duration) func(int, int64) int64 {
		return func(i int, sent int64) int64 {
			if which(i) {
				return sent - int64(by)
			}
			return sent
		}
	}
	for _, c := range []struct {
		text  string
		late  int64
		fails bool
		why   string
	}{
		{numbered(30_000, late(func(i int) bool { return i == 29_000 }, 500*time.Millisecond)), 0, false, "within the window"},
		{numbered(30_000, late(func(i int) bool { return i == 29_000 }, 15*time.Second)), 1, false, "long after what was given"},
		{numbered(30_000, late(func(i int) bool { return i%10 == 0 && i > 20_000 }, 15*time.Second)), 900, true, "too many to judge the rest"},
		{numbered(30_000, late(func(i int) bool { return i == 5 }, -90*365*24*time.Hour)), 0, false, "one stamp from far ahead makes nobody late"},
	} {
		m := merged(t, []string{c.text}, Options{Name: "a.log"}, MergeOptions{Reorder: time.Second})
		var block rlbench.Ops
		var err error
		last := rlbench.NoInstant
		for err == nil {
			var n int
			n, err = m.Next(&block)
			for _, sent := range block.Sent[:n] {
				if sent < last {
					t.Fatalf("%s: %s after %s", c.why, sent, last)
				}
				last = sent
			}
		}
		if errors.Is(err, ErrLate) != c.fails || !c.fails && m.Count().Late != c.late {
			t.Errorf("%v, %+v, want %d late: %s", err, m.Count(), c.late, c.why)
		}
		if !c.fails && c.late == 1 && !strings.HasPrefix(m.Count().Places[0].String(), "a.log: op 29000: it was sent ") {
			t.Errorf("%v: the place of the late op is wanted", m.Count().Places)
		}
	}
}

func TestMergeDoubled(t *testing.T) {
	const a = `{"op":7,"key":"k","outcome":"allowed","sent_ns":1,"done_ns":2}` + "\n"
	const b = `{"op":7,"key":"j","outcome":"allowed","sent_ns":1,"done_ns":2}` + "\n"
	const mute = `{"key":"k","outcome":"allowed","sent_ns":1,"done_ns":2}` + "\n"
	for _, c := range []struct {
		logs    []string
		ops     int
		doubled int64
		why     string
	}{
		{[]string{a + a}, 1, 1, "a line written twice"},
		{[]string{a, a + b}, 2, 1, "the same op in two logs; another op of the same number stays"},
		{[]string{b + a + b}, 2, 1, "with another between them"},
		{[]string{mute + mute}, 2, 0, "nobody can tell: two requests at one instant are possible"},
	} {
		ops, m := merge(t, c.logs, Options{}, MergeOptions{})
		if len(ops) != c.ops || m.Count().Doubled != c.doubled {
			t.Errorf("%d ops, %+v, want %d and %d: %s", len(ops), m.Count(), c.ops, c.doubled, c.why)
		}
	}
}

func TestMergeClocks(t *testing.T) {
	early := `{"time":"2026-11-30T20:00:00.000Z","status":200}` + "\n"
	later := `{"time":"2026-11-30T20:00:02.000Z","status":200}` + "\n"
	ops, m := merge(t, []string{later, early}, Options{Moment: Decision}, MergeOptions{ClockError: 5 * time.Millisecond})
	origin, stated := m.Origin()
	if !stated || origin != epoch.UnixNano() {
		t.Errorf("origin %d %v, want that of the earliest log", origin, stated)
	}
	for i, want := range [][2]rlbench.Instant{{-5e6, 5_999_999}, {1_995_000_000, 2_005_999_999}} {
		if ops[i].Sent != want[0] || ops[i].Done != want[1] {
			t.Errorf("op %d in [%d, %d], want %v: each clock may be 5 ms off", i, ops[i].Sent, ops[i].Done, want)
		}
	}
	alone, _ := merge(t, []string{early}, Options{Moment: Decision}, MergeOptions{ClockError: 5 * time.Millisecond})
	if alone[0].Sent != 0 || alone[0].Done != 999_999 {
		t.Errorf("[%d, %d]: one log has one clock", alone[0].Sent, alone[0].Done)
	}
	mixed := merged(t, []string{early, `{"outcome":"allowed","sent_ns":1,"done_ns":2}` + "\n"}, Options{}, MergeOptions{})
	if _, err := mixed.Next(&rlbench.Ops{}); err == nil || !strings.Contains(err.Error(), "do not share a clock") {
		t.Errorf("%v: a run's own clock and a wall clock cannot be merged", err)
	}
	for _, o := range []MergeOptions{{ClockError: -1}, {Reorder: -1}, {RowsMax: -1}} {
		if _, err := Merge([]*Reader{nil}, o); err == nil {
			t.Errorf("%+v must be refused", o)
		}
	}
	if _, err := Merge(nil, MergeOptions{}); err == nil {
		t.Error("no log is no history")
	}
}

// TestMergeUnsent: an op that was never sent stands where it was planned.
func TestMergeUnsent(t *testing.T) {
	text := `{"op":1,"outcome":"allowed","sent_ns":10,"done_ns":20}
{"op":2,"outcome":"allowed","sent_ns":40,"done_ns":50}
{"op":3,"outcome":"unsent","planned_ns":30}
{"op":4,"outcome":"unsent"}
`
	ops, _ := merge(t, []string{text}, Options{}, MergeOptions{})
	var order []int64
	for _, op := range ops {
		order = append(order, op.ID)
	}
	if fmt.Sprint(order) != "[1 3 4 2]" {
		t.Errorf("%v, want 3 before 2, and 4, of which nothing is known, behind 3", order)
	}
	if ops[1].Sent.Known() || ops[1].Outcome != rlbench.Unsent {
		t.Errorf("%+v: it was never sent", ops[1])
	}
}

func merged(t *testing.T, texts []string, o Options, mo MergeOptions) *Merged {
	t.Helper()
	var readers []*Reader
	for _, text := range texts {
		r, err := Open(strings.NewReader(text), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		readers = append(readers, r)
	}
	m, err := Merge(readers, mo)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func merge(t *testing.T, texts []string, o Options, mo MergeOptions) (ops []rlbench.Op, m *Merged) {
	t.Helper()
	m = merged(t, texts, o, mo)
	var block rlbench.Ops
	for {
		n, err := m.Next(&block)
		if errors.Is(err, io.EOF) {
			return ops, m
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			ops = append(ops, block.At(i))
		}
	}
}
