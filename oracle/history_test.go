package oracle

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rlbench/rlbench"
)

// The order must be that of a stable sort, however the values lie.
func TestOrderIsAStableSort(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	spreads := []struct {
		why  string
		draw func(i int) int64
	}{
		{"ties everywhere", func(int) int64 { return random.Int64N(3) }},
		{"nearly in order, as a driver records", func(i int) int64 { return int64(i)*1000 + random.Int64N(20_000) }},
		{"a crowd and one far away", func(i int) int64 {
			if i == 0 {
				return 1 << 60
			}
			return random.Int64N(50)
		}},
		{"the whole range", func(int) int64 { return int64(random.Uint64()) }},
		{"the extremes", func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64, 0}[i%3] }},
	}
	for _, s := range spreads {
		for _, n := range []int{0, 1, 7, 8, 100, 5000} {
			values := make([]int64, n)
			want := make([]uint32, n)
			for i := range values {
				values[i], want[i] = s.draw(i), uint32(i)
			}
			slices.SortStableFunc(want, func(x, y uint32) int { return cmp.Compare(values[x], values[y]) })
			if got := order(values); !slices.Equal(got, want) {
				t.Errorf("%s, %d values: order is not that of a stable sort", s.why, n)
			}
		}
	}
}

// Whatever the order of the rows, and however many keys there are, each key gets
// its own ops in order of Sent, then of op number.
func TestGroupDealsEveryRowToItsKey(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, keys := range []int{1, 3, 256, 257, 1000} {
		ops := randomOps(random, 3000, keys)
		g := group(ops)
		if !slices.IsSorted(g.keys) {
			t.Fatalf("%d keys: not in sorted order", keys)
		}
		var h history
		seen := 0
		for i, key := range g.keys {
			h.split(ops, key, g.of(i))
			for outcome, c := range map[rlbench.Outcome]*columns{rlbench.Allowed: &h.allowed, rlbench.Denied: &h.denied, rlbench.Unknown: &h.unknown} {
				seen += c.len()
				checkColumns(t, ops, key, outcome, c)
			}
		}
		sent := 0
		for _, o := range ops.Outcome {
			if o != rlbench.Unsent {
				sent++
			}
		}
		if seen != sent {
			t.Errorf("%d keys: %d ops were dealt of %d that were sent", keys, seen, sent)
		}
	}
}

func checkColumns(t *testing.T, ops *rlbench.Ops, key string, outcome rlbench.Outcome, c *columns) {
	t.Helper()
	for i, row := range c.row {
		op := ops.At(int(row))
		if op.Key != key || op.Outcome != outcome || int64(op.Sent) != c.sent[i] || op.Cost != c.cost[i] {
			t.Fatalf("key %s %s: row %d was dealt wrong", key, outcome, row)
		}
		if outcome != rlbench.Unknown && int64(op.Done) != c.done[i] {
			t.Fatalf("key %s: row %d has the wrong Done", key, row)
		}
		if i > 0 {
			before := ops.At(int(c.row[i-1]))
			if before.Sent > op.Sent || before.Sent == op.Sent && before.ID >= op.ID {
				t.Fatalf("key %s: op %d stands before op %d", key, before.ID, op.ID)
			}
		}
	}
}

func randomOps(random *rand.Rand, n, keys int) *rlbench.Ops {
	ops := &rlbench.Ops{}
	for k := range keys {
		ops.Keys = append(ops.Keys, fmt.Sprintf("k%d", (k*7919)%keys))
	}
	for i := range n {
		sent := rlbench.Instant(random.Int64N(500))
		ops.ID = append(ops.ID, int64(i*31%n))
		ops.Key = append(ops.Key, uint32(random.IntN(keys)))
		ops.Cost = append(ops.Cost, 1+random.Int64N(3))
		ops.Instance = append(ops.Instance, 0)
		ops.Worker = append(ops.Worker, 0)
		ops.Planned = append(ops.Planned, sent)
		ops.Sent = append(ops.Sent, sent)
		ops.Done = append(ops.Done, sent+rlbench.Instant(random.Int64N(5)))
		ops.Outcome = append(ops.Outcome, rlbench.Outcome(random.IntN(4)))
	}
	return ops
}
