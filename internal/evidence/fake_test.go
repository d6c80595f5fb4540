package evidence

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// noon is when every fake run began.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 123456789, time.UTC)

// traffic is a run of n ops as a driver leaves it: sent in order, answered a
// little later, some refused.
func traffic(target string, n int) *rlbench.Run {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	run := &rlbench.Run{
		Target: target, Backend: "none", BackendVersion: "1",
		Policy:    rlbench.Policy{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 100, Per: time.Minute}}},
		StartedAt: noon, Complete: true,
	}
	o := &run.Ops
	for k := range 1000 {
		o.Keys = append(o.Keys, fmt.Sprintf("user-%d", k))
	}
	for i := range n {
		sent := rlbench.Instant(i*1000 + random.IntN(2000))
		o.ID = append(o.ID, int64(i))
		o.Key = append(o.Key, uint32(random.IntN(len(o.Keys))))
		o.Cost = append(o.Cost, 1)
		o.Instance = append(o.Instance, int32(i%10))
		o.Worker = append(o.Worker, 0)
		o.Planned = append(o.Planned, rlbench.Instant(i*1000))
		o.Sent = append(o.Sent, sent)
		o.Done = append(o.Done, sent+rlbench.Instant(random.IntN(300_000)))
		o.Outcome = append(o.Outcome, rlbench.Outcome(1+random.IntN(2)))
		o.Remaining = append(o.Remaining, int64(random.IntN(100)))
		o.DecidedAt = append(o.DecidedAt, int64(sent)+100)
	}
	return run
}

// hostile are texts that formats and terminals trip over.
var hostile = []string{
	"", "user-1", "käyttäjä", "日本", "\x00", "\xff\xfe", "\x1b[31mred", "null", `"quoted"`, "a\nb", "\u2028",
	string(rune(byteRunes)), string(rune(byteRunes + 0xFF)), "\xf4\x8f\xbf", "�",
}

// anyRun is a run in which anything that its types can say may stand: it is
// made to be saved, not judged.
func anyRun(random *rand.Rand, target string, n int) *rlbench.Run {
	words := []string{"", "redis 8.2", "käyttäjä", "<&>", "\u2028"}
	run := &rlbench.Run{
		Target: target, Backend: pick(random, words), BackendVersion: pick(random, words),
		Policy:       anyPolicy(random),
		StartedAt:    noon.Add(time.Duration(random.Int64N(1 << 60))),
		StartedError: time.Duration(random.IntN(2) * random.IntN(1000)),
		Clock: rlbench.LimiterClock{
			Origin: anyNumber(random), Error: time.Duration(anyNumber(random)), Stated: random.IntN(2) == 0,
		},
		Complete: random.IntN(2) == 0, Interrupted: random.IntN(2) == 0,
	}
	for range random.IntN(3) {
		run.Events = append(run.Events, rlbench.Event{
			Kind: rlbench.ClockStep, At: anyInstant(random), Until: anyInstant(random), Note: pick(random, words),
		})
	}
	anyOps(random, &run.Ops, n)
	return run
}

func anyPolicy(random *rand.Rand) rlbench.Policy {
	p := rlbench.Policy{
		Algorithm:  pick(random, rlbench.Algorithms()),
		Resolution: time.Duration(anyNumber(random)), Drift: time.Duration(anyNumber(random)),
		ChargesRefusals: random.IntN(2) == 0,
		OnStoreError:    pick(random, []rlbench.StoreError{"", rlbench.Open, rlbench.Closed, rlbench.Local}),
	}
	for range random.IntN(3) {
		p.Limits = append(p.Limits, rlbench.Limit{
			Count: anyNumber(random), Per: time.Duration(anyNumber(random)), Burst: anyNumber(random),
			Anchor: pick(random, []rlbench.Anchor{"", rlbench.Epoch, rlbench.FirstRequest}),
		})
	}
	if random.IntN(2) == 0 {
		p.Params = map[string]string{"delay": "5", "": "ü"}
	}
	return p
}

func anyOps(random *rand.Rand, o *rlbench.Ops, n int) {
	o.Keys, o.Errors = hostile, hostile
	number := func() int64 { return anyNumber(random) }
	o.ID = many(n, number)
	o.Key = many(n, func() uint32 { return uint32(random.IntN(len(o.Keys))) })
	o.Cost = many(n, number)
	o.Instance = many(n, func() int32 { return int32(number()) })
	o.Worker = many(n, func() int32 { return int32(number()) })
	o.Planned = many(n, func() rlbench.Instant { return rlbench.Instant(number()) })
	o.Sent = many(n, func() rlbench.Instant { return anyInstant(random) })
	o.Done = many(n, func() rlbench.Instant { return anyInstant(random) })
	o.Outcome = many(n, func() rlbench.Outcome { return rlbench.Outcome(random.IntN(4)) })
	stated := func() int64 {
		if random.IntN(3) == 0 {
			return rlbench.None
		}
		return number()
	}
	for _, column := range []*[]int64{&o.Limit, &o.Remaining, &o.RetryAfter, &o.Reset, &o.DecidedAt, &o.ReleasedAt} {
		if random.IntN(2) == 0 {
			*column = many(n, stated)
		}
	}
	if random.IntN(2) == 0 {
		o.Status = many(n, func() int32 { return int32(random.IntN(2) * 429) })
	}
	if random.IntN(2) == 0 {
		o.Error = many(n, func() uint32 { return uint32(random.IntN(len(o.Errors))) })
	}
}

func many[T any](n int, next func() T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = next()
	}
	return values
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func anyInstant(random *rand.Rand) rlbench.Instant {
	if random.IntN(4) == 0 {
		return rlbench.NoInstant
	}
	return rlbench.Instant(anyNumber(random))
}

// anyNumber is often one of those that do not survive a float64.
func anyNumber(random *rand.Rand) int64 {
	return pick(random, []int64{0, 1, -1, 1<<53 + 1, math.MaxInt64, math.MinInt64 + 1, random.Int64(), random.Int64N(1000)})
}

// difference says where two runs differ; empty when they say the same. Which
// numbers the keys have is not part of what a run says.
func difference(a, b *rlbench.Run) string {
	if d := headDifference(*a, *b); d != "" {
		return d
	}
	if a.Ops.Len() != b.Ops.Len() {
		return fmt.Sprintf("%d ops and %d", a.Ops.Len(), b.Ops.Len())
	}
	for i := range a.Ops.Len() {
		if x, y := a.Ops.At(i), b.Ops.At(i); x != y {
			return fmt.Sprintf("op in row %d: %+v and %+v", i, x, y)
		}
	}
	return ""
}

func headDifference(a, b rlbench.Run) string {
	if !a.StartedAt.Equal(b.StartedAt) {
		return fmt.Sprintf("started at %v and %v", a.StartedAt, b.StartedAt)
	}
	if !maps.Equal(a.Policy.Params, b.Policy.Params) || !slices.Equal(a.Policy.Limits, b.Policy.Limits) || !slices.Equal(a.Events, b.Events) {
		return fmt.Sprintf("policy or events: %+v and %+v", a, b)
	}
	for _, r := range []*rlbench.Run{&a, &b} {
		r.StartedAt, r.Policy.Params, r.Policy.Limits, r.Events, r.Ops = time.Time{}, nil, nil, nil, rlbench.Ops{}
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Sprintf("heads: %+v and %+v", a, b)
	}
	return ""
}

// save keeps the runs in a new folder of a test's own.
func save(t testing.TB, runs ...*rlbench.Run) *Folder {
	t.Helper()
	folder, err := Create(t.TempDir(), "race", noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if err := folder.AddRun(run); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// bucketRun is a run that has something in every field of run.json.
func bucketRun() *rlbench.Run {
	run := traffic("redis-gcra", 10)
	run.Policy = rlbench.Policy{
		Algorithm: rlbench.GCRA, Limits: []rlbench.Limit{{Count: 10, Per: time.Second, Burst: 20}},
		Resolution: time.Microsecond, Drift: time.Millisecond, ChargesRefusals: true, OnStoreError: rlbench.Closed,
		Params: map[string]string{"period": "1s"},
	}
	run.StartedError = 40 * time.Microsecond
	run.Clock = rlbench.LimiterClock{Origin: 1782900000123456789, Error: 70 * time.Microsecond, Stated: true}
	run.Events = []rlbench.Event{{Kind: rlbench.ClockStep, At: 5, Until: rlbench.NoInstant, Note: "2.1s forward"}}
	return run
}
