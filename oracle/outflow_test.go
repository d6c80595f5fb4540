package oracle

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// releases makes a run of a queue of which the ops on one key were let go at the given
// moments; -1 for one that does not say, and costs where they are not 1.
func releases(limit rlbench.Limit, at []int64, costs ...int64) *rlbench.Run {
	r := &rlbench.Run{Target: "queue", Complete: true, Clock: rlbench.LimiterClock{Stated: true},
		Policy: rlbench.Policy{Algorithm: rlbench.LeakyQueue, Limits: []rlbench.Limit{limit}}}
	for i, t := range at {
		cost := int64(1)
		if len(costs) > i {
			cost = costs[i]
		}
		addOp(&r.Ops, "k", rlbench.Allowed, cost, int64(i), max(t, int64(i))+50)
		if t < 0 {
			t = rlbench.None
		}
		r.Ops.ReleasedAt = append(r.Ops.ReleasedAt, t)
	}
	return r
}

func TestEvenOutflow(t *testing.T) {
	oneInFour, threeInTen := rlbench.Limit{Count: 1, Per: 4, Burst: 5}, rlbench.Limit{Count: 3, Per: 10, Burst: 5}
	nothing := func(*rlbench.Run) {}
	rows := []struct {
		why     string
		limit   rlbench.Limit
		at      []int64
		costs   []int64
		flaw    func(*rlbench.Run)
		want    rlbench.Verdict
		witness []int64
	}{
		{"just so", oneInFour, []int64{0, 4, 8}, nil, nothing, pass, nil},
		{"one too soon", oneInFour, []int64{0, 4, 7}, nil, nothing, fail, []int64{1, 2}},
		{"a pause gives no credit", oneInFour, []int64{0, 40, 43}, nil, nothing, fail, []int64{1, 2}},
		{"a pause is no breach", oneInFour, []int64{0, 8, 12}, nil, nothing, pass, nil},
		{"in whatever order they stand", oneInFour, []int64{8, 0, 4}, nil, nothing, pass, nil},
		{"two at once", oneInFour, []int64{5, 5}, nil, nothing, fail, []int64{0, 1}},
		{"three in ten: thirds of a tick are within a step", threeInTen, []int64{0, 3, 6, 9}, nil, func(r *rlbench.Run) { r.Policy.Resolution = 1 }, pass, nil},
		{"and add up", threeInTen, []int64{0, 3, 6, 9, 12}, nil, func(r *rlbench.Run) { r.Policy.Resolution = 1 }, fail, []int64{0, 1, 2, 3, 4}},
		{"and are not forgiven without", threeInTen, []int64{0, 4, 7, 11}, nil, nothing, fail, []int64{1, 2}},
		{"a step of the clock is forgiven once", oneInFour, []int64{0, 3}, nil, func(r *rlbench.Run) { r.Policy.Resolution = 1 }, pass, nil},
		{"but not at each release", oneInFour, []int64{0, 3, 6}, nil, func(r *rlbench.Run) { r.Policy.Resolution = 1 }, fail, []int64{0, 1, 2}},
		{"a clock that may stray leaves it open", oneInFour, []int64{0, 3}, nil, func(r *rlbench.Run) { r.Policy.Drift = 1 }, open, nil},
		{"by no more than it may", oneInFour, []int64{0, 1}, nil, func(r *rlbench.Run) { r.Policy.Drift = 1 }, fail, []int64{0, 1}},
		{"what costs two waits twice, before", oneInFour, []int64{0, 8, 12}, []int64{1, 2, 1}, nothing, pass, nil},
		{"or after", oneInFour, []int64{0, 4, 12}, []int64{1, 2, 1}, nothing, pass, nil},
		{"but not neither", oneInFour, []int64{0, 4, 8}, []int64{1, 2, 1}, nothing, fail, []int64{0, 1}},
		{"some do not say", oneInFour, []int64{0, 4, -1}, nil, nothing, open, nil},
		{"others are too close all the same", oneInFour, []int64{0, 3, -1}, nil, nothing, fail, []int64{0, 1}},
		{"nobody says", oneInFour, []int64{-1, -1}, nil, nothing, open, nil},
		{"no column", oneInFour, []int64{0, 4}, nil, func(r *rlbench.Run) { r.Ops.ReleasedAt = nil }, open, nil},
		{"half a column", oneInFour, []int64{0, 4}, nil, func(r *rlbench.Run) { r.Ops.ReleasedAt = r.Ops.ReleasedAt[:1] }, open, nil},
		{"one alone shows no spacing", oneInFour, []int64{3}, nil, nothing, open, nil},
		{"nor does one on each key", oneInFour, []int64{3, 4}, nil, func(r *rlbench.Run) { r.Ops.Keys, r.Ops.Key[1] = []string{"a", "b"}, 1 }, open, nil},
		{"the clock stepped", oneInFour, []int64{0, 3}, nil, func(r *rlbench.Run) { r.Events = []rlbench.Event{{Kind: rlbench.ClockStep}} }, open, []int64{0, 1}},
		{"not all is here", oneInFour, []int64{0, 4}, nil, func(r *rlbench.Run) { r.Complete = false }, open, nil},
		{"not all is here, but those are too close", oneInFour, []int64{0, 3}, nil, func(r *rlbench.Run) { r.Complete = false }, fail, []int64{0, 1}},
		{"of two limits the faster counts", oneInFour, []int64{0, 4, 8}, nil, func(r *rlbench.Run) {
			r.Policy.Limits = append(r.Policy.Limits, rlbench.Limit{Count: 1, Per: 9, Burst: 9})
		}, pass, nil},
		{"a burst that goes at once was never promised to be even", oneInFour, []int64{0, 0}, nil, func(r *rlbench.Run) {
			r.Policy.Params = map[string]string{paramModel: modelNginx, paramNodelay: "true"}
		}, open, nil},
		{"a refusal is not let go", oneInFour, []int64{0, 1}, nil, func(r *rlbench.Run) { r.Ops.Outcome[1] = rlbench.Denied }, open, nil},
		{"beyond arithmetic", oneInFour, []int64{0, 4}, nil, func(r *rlbench.Run) { r.Ops.ReleasedAt[1] = 1 << 62 }, open, nil},
	}
	for _, row := range rows {
		r := releases(row.limit, row.at, row.costs...)
		row.flaw(r)
		f := judgeOne(t, r, "even-outflow")
		var ids []int64
		for _, op := range f.Witness {
			ids = append(ids, op.ID)
		}
		if f.Verdict != row.want || !slices.Equal(ids, row.witness) {
			t.Errorf("%s: %s with witness %v, want %s with %v: %s", row.why, f.Verdict, ids, row.want, row.witness, f.Because)
		}
		if f.Verdict == fail {
			checkForm(t, row.why, f)
		}
	}
}

// The plainest twin: every stretch of releases is added up.
func TestEvenOutflowAgreesWithTheTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 9))
	var count [3]int
	for range histories(t, 20000) {
		limit := rlbench.Limit{Count: 1 + random.Int64N(3), Per: time.Duration(1 + random.Int64N(7)), Burst: 9}
		at, costs := []int64{}, []int64{}
		now := int64(0)
		for range 2 + random.IntN(6) {
			at, costs = append(at, now), append(costs, 1+random.Int64N(2)*random.Int64N(2))
			now += random.Int64N(3) + int64(limit.Per)/limit.Count
		}
		r := releases(limit, at, costs...)
		r.Policy.Resolution = time.Duration(random.Int64N(min(3, int64(limit.Per))))
		want := pass
		if uneven(limit, at, costs, int64(r.Policy.Resolution), 1) && uneven(limit, at, costs, int64(r.Policy.Resolution), 0) {
			want = fail
		}
		f := judgeOne(t, r, "even-outflow")
		if f.Verdict != want {
			t.Fatalf("%s released at %v costs %v, step %d: %s, the twin says %s: %s", limit, at, costs, r.Policy.Resolution, f.Verdict, want, f.Because)
		}
		count[f.Verdict]++
	}
	t.Logf("%d pass, %d fail", count[pass], count[fail])
	if count[pass] == 0 || count[fail] == 0 {
		t.Error("one of the answers was never given")
	}
}

// uneven adds up every stretch of releases: its cost but for the first op's (skip 1) or
// the last one's (skip 0) takes count ticks a unit.
func uneven(l rlbench.Limit, at, costs []int64, step int64, skip int) bool {
	for i := range at {
		held := int64(0)
		for j := i + 1; j < len(at); j++ {
			held += costs[j-1+skip]
			if held*int64(l.Per) > l.Count*(at[j]-at[i]+step) {
				return true
			}
		}
	}
	return false
}

// A queue by its model lets out evenly, to the tick that its waits are rounded up to.
func TestQueueOfTheModelIsEven(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	for range 200 {
		p := rlbench.Policy{Algorithm: rlbench.LeakyQueue, Limits: []rlbench.Limit{{Count: 1 + random.Int64N(9), Per: time.Duration(10 + random.Int64N(90)), Burst: 1 + random.Int64N(8)}}}
		m, err := newModel(p)
		if err != nil {
			t.Fatal(err)
		}
		r := &rlbench.Run{Target: "queue", Complete: true, Policy: p}
		r.Policy.Resolution = 1
		now := int64(0)
		for range 60 {
			now += random.Int64N(2 * int64(p.Limits[0].Per) / p.Limits[0].Count)
			allowed, wait := m.decide(now, 1)
			outcome, at := rlbench.Denied, rlbench.None
			if allowed {
				outcome, at = rlbench.Allowed, now+wait
			}
			addOp(&r.Ops, "k", outcome, 1, now, now+wait)
			r.Ops.ReleasedAt = append(r.Ops.ReleasedAt, at)
		}
		if f := judgeOne(t, r, "even-outflow"); f.Verdict != pass {
			t.Fatalf("%s: %s: %s", p.Limits[0], f.Verdict, f.Because)
		}
	}
}
