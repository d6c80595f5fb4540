package oracle

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// fold feeds a run in blocks and closes.
func fold(t *testing.T, r *rlbench.Run, batch int, names ...string) ([]rlbench.Finding, rlbench.Accuracy) {
	t.Helper()
	head := *r
	head.Ops = rlbench.Ops{}
	f, err := Open(&head, names...)
	if err != nil {
		t.Fatal(err)
	}
	f.stream.batch = batch
	for at := 0; at < r.Ops.Len(); at += 1000 {
		if err := f.Feed(block(&r.Ops, at, min(r.Ops.Len(), at+1000))); err != nil {
			t.Fatal(err)
		}
	}
	found, accuracy, err := f.Close()
	if err != nil {
		t.Fatal(err)
	}
	return found, accuracy
}

var longPolicies = []rlbench.Policy{
	{Algorithm: rlbench.SlidingLog, Limits: []rlbench.Limit{{Count: 200, Per: time.Second}}},
	{Algorithm: rlbench.GCRA, Limits: []rlbench.Limit{{Count: 200, Per: time.Second, Burst: 40}}},
	{Algorithm: rlbench.FixedWindow, Limits: []rlbench.Limit{{Count: 200, Per: time.Second, Anchor: rlbench.Epoch}}},
}

// A long saturated run of a correct limiter is explained, whatever the parts; with a
// few requests let through that it refused, the Fold fails as the whole Run does, and
// shows the same ops if these are not too many.
func TestFoldOfLongRuns(t *testing.T) {
	for _, policy := range longPolicies {
		t.Run(string(policy.Algorithm), func(t *testing.T) {
			t.Parallel()
			r := saturated(30_000, 1, policy)
			compareLong(t, r, rlbench.Pass)
			hidden := 0
			for i := 9000; i < r.Ops.Len() && hidden < 12; i++ {
				if r.Ops.Outcome[i] == rlbench.Denied {
					r.Ops.Outcome[i] = rlbench.Allowed
					hidden++
				}
			}
			compareLong(t, r, rlbench.Fail)
		})
	}
}

func compareLong(t *testing.T, r *rlbench.Run, over rlbench.Verdict) {
	t.Helper()
	want, err := Judge(r)
	if err != nil {
		t.Fatal(err)
	}
	if want[0].Verdict != over {
		t.Fatalf("the whole run: %s: %s", want[0].Verdict, want[0].Because)
	}
	for _, batch := range []int{1, 3000} {
		found, accuracy := fold(t, r, batch)
		if shortened(found[0]) && r.Policy.Algorithm.Bucket() && len(want[0].Witness) > 1000 {
			// A bucket is broken by all since it was full last: too many to set aside.
			found[0].Witness, found[0].Proof = want[0].Witness, want[0].Proof
		}
		if !reflect.DeepEqual(found, want) {
			t.Errorf("judging each %d ops:\nfold: %.600s\nrun:  %.600s", batch, fmt.Sprintf("%+v", found), fmt.Sprintf("%+v", want))
		}
		if whole := Accuracy(r); accuracy != whole {
			t.Errorf("judging each %d ops: %+v, the whole run %+v", batch, accuracy, whole)
		}
	}
}

// Keys come and go, and ops with them: what is held does not grow with the run.
func TestFoldHoldsNoMoreThanItsWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	for _, policy := range longPolicies {
		policy.Limits[0].Per = 50 * time.Millisecond
		f, err := Open(&rlbench.Run{Target: "long", Complete: true, Policy: policy, Clock: rlbench.LimiterClock{Stated: true}})
		if err != nil {
			t.Fatal(err)
		}
		f.stream.batch = 2000
		most := [2]int{}
		for i := range 120 {
			part := &rlbench.Ops{}
			for k := range 1000 {
				at := int64(i*1000+k) * 10_000
				key := fmt.Sprintf("key %d", i/2%5+random.IntN(3))
				addOp(part, key, rlbench.Allowed, 1, at, at+random.Int64N(100_000))
			}
			if err := f.Feed(part); err != nil {
				t.Fatal(err)
			}
			most[i/60] = max(most[i/60], f.stream.ledger.ops.Len()+len(f.stream.ledger.keys))
		}
		if most[1] > most[0]*11/10 || most[0] > 20_000 {
			t.Errorf("%s: %d ops and keys were held in the first half, %d in the second", policy.Algorithm, most[0], most[1])
		}
		if _, _, err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The heap stays as small as what is held.
func TestFoldKeepsTheHeapSmall(t *testing.T) {
	r := saturated(200_000, 50, longPolicies[0])
	var before, after runtime.MemStats
	head := *r
	head.Ops = rlbench.Ops{}
	runtime.GC()
	runtime.ReadMemStats(&before)
	f, err := Open(&head)
	if err != nil {
		t.Fatal(err)
	}
	f.stream.batch = 5000
	for at := 0; at < r.Ops.Len(); at += 1000 {
		if err := f.Feed(block(&r.Ops, at, at+1000)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	const bytesAnOp = 30 // Kept whole, an op takes twice as much.
	if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > int64(r.Ops.Len())*bytesAnOp {
		t.Errorf("%d bytes are held of a run of %d ops", held, r.Ops.Len())
	}
	if _, _, err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A promise that looks back further than a window keeps all ops, and says so when they
// become too many; an op from before is an error, and a closed Fold takes nothing.
func TestFoldLimits(t *testing.T) {
	r := run(t, "first L=1 W=4: A[0,0] A[1,1] D[2,2] A[9,9]")
	want, err := Judge(r)
	if err != nil {
		t.Fatal(err)
	}
	found, accuracy := fold(t, r, 1)
	if !reflect.DeepEqual(found, want) || accuracy != Accuracy(r) {
		t.Errorf("fold: %+v %+v\nrun: %+v", found, accuracy, want)
	}
	head := *r
	head.Ops = rlbench.Ops{}
	f, err := Open(&head)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Feed(&r.Ops); err != nil {
		t.Fatal(err)
	}
	if err := f.Feed(block(&r.Ops, 0, 1)); !errors.Is(err, errOrder) {
		t.Errorf("an op from before: %v", err)
	}
	f.kept, f.over = nil, true
	if found, _, err = f.Close(); err != nil || found[0].Verdict != rlbench.Inconclusive || found[0].Promise != want[0].Promise {
		t.Errorf("%+v, %v", found, err)
	}
	if err := f.Feed(&rlbench.Ops{}); !errors.Is(err, errClosed) {
		t.Errorf("a closed fold: %v", err)
	}
}
