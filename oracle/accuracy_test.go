package oracle

import (
	"math/rand/v2"
	"testing"

	"github.com/rlbench/rlbench"
)

// Figures that a person can count.
func TestAccuracy(t *testing.T) {
	rows := []struct {
		why     string
		history string
		want    rlbench.Accuracy
	}{
		{
			"five at once where two fit",
			"L=2 W=10: A[0,1] A[0,1] A[0,1] A[0,1] D[0,1] U[0,1] N[0,1]",
			rlbench.Accuracy{
				Offered: 7, Allowed: 4, Denied: 1, Unknown: 1, Unsent: 1, IdealAllowed: 2,
				OverCertain: 2, OverEstimate: 2, RefusedWronglyCertain: 0, RefusedWronglyEstimate: 0, CannotTell: 1,
				WorstWindow: 4, WorstWindowRatio: 2,
			},
		},
		{
			"a refusal with room, one without, one at the edge",
			"L=1 W=4: D[0,0] A[1,1] D[2,2] D[3,7] A[20,20]",
			rlbench.Accuracy{
				Offered: 5, Allowed: 2, Denied: 3, IdealAllowed: 2,
				RefusedWronglyCertain: 1, RefusedWronglyEstimate: 2, CannotTell: 1.0 / 3,
				WorstWindow: 1, WorstWindowRatio: 1,
			},
		},
		{
			"twice the limit at the edge of an aligned window, as it promises",
			"aligned L=2 W=10: A[9,9] A[9,9] A[10,10] A[10,10]",
			rlbench.Accuracy{Offered: 4, Allowed: 4, IdealAllowed: 2, OverCertain: 2, OverEstimate: 2, WorstWindow: 4, WorstWindowRatio: 2},
		},
		{
			"disjoint windows add up, overlapping ones do not",
			"L=1 W=4: A[0,0] A[1,1] A[3,3] A[4,4] A[5,5]",
			rlbench.Accuracy{Offered: 5, Allowed: 5, IdealAllowed: 2, OverCertain: 3, OverEstimate: 3, WorstWindow: 3, WorstWindowRatio: 3},
		},
		{
			"a bucket is measured by the time in which it fills: 2 in any 6",
			"r=1/3 b=2: A[0,0] A[0,0] A[3,3] A[6,6]",
			rlbench.Accuracy{Offered: 4, Allowed: 4, IdealAllowed: 3, OverCertain: 1, OverEstimate: 1, WorstWindow: 3, WorstWindowRatio: 1.5},
		},
		{
			"of several limits the worst ratio counts",
			"L=1 W=2 L=3 W=9: A[0,0] A[1,1] A[5,5] A[7,7]",
			rlbench.Accuracy{Offered: 4, Allowed: 4, IdealAllowed: 3, OverCertain: 1, OverEstimate: 1, WorstWindow: 2, WorstWindowRatio: 2},
		},
	}
	for _, row := range rows {
		if got := Accuracy(run(t, row.history)); got != row.want {
			t.Errorf("%s: %s:\n got %+v\nwant %+v", row.why, row.history, got, row.want)
		}
	}
}

// A limiter's own clock says better than the middle when it decided, but never
// outside of what the driver saw.
func TestAccuracyTakesTheStatedMoment(t *testing.T) {
	r := run(t, "L=1 W=10: A[0,0] A[4,8]")
	if got := Accuracy(r).OverEstimate; got != 1 {
		t.Errorf("%d over at the middle, want 1", got)
	}
	r = run(t, "L=1 W=6: A[0,0] A[4,7]")
	r.Ops.DecidedAt = []int64{0, 99}
	if got := Accuracy(r).OverEstimate; got != 0 {
		t.Errorf("%d over at the stated moment, want 0", got)
	}
	r.Clock.Stated = false
	if got := Accuracy(r).OverEstimate; got != 1 {
		t.Errorf("%d over when the limiter's clock was not read, want 1", got)
	}
}

// What is certain is never more than what is estimated, on any history, and the
// figures of refusals are those of the twin.
func TestAccuracyAgreesWithTheTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range histories(t, 4000) {
		r := draw(random, windowPolicy(1)(random), 1, 7)
		r.Policy.ChargesRefusals = false
		w, a := newTwin(r), Accuracy(r)
		wrong, right := int64(0), 0
		for q := range w.denied {
			if w.starves(q) {
				wrong++
			}
			if w.full(q) {
				right++
			}
		}
		if a.RefusedWronglyCertain != wrong || a.RefusedWronglyEstimate < wrong {
			t.Fatalf("%s: %d refused wrongly for certain, an estimate of %d; the twin finds %d", text(r), a.RefusedWronglyCertain, a.RefusedWronglyEstimate, wrong)
		}
		if told := a.Denied - wrong - int64(right); a.Denied > 0 && a.CannotTell != float64(told)/float64(a.Denied) {
			t.Fatalf("%s: cannot tell %v, the twin %d of %d", text(r), a.CannotTell, told, a.Denied)
		}
		if a.OverCertain > a.OverEstimate {
			t.Fatalf("%s: %d over for certain, an estimate of %d", text(r), a.OverCertain, a.OverEstimate)
		}
		if a.IdealAllowed > a.Offered || (a.WorstWindow > r.Policy.Limits[0].Count) != (a.OverCertain > 0) {
			t.Fatalf("%s: figures that contradict each other: %+v", text(r), a)
		}
	}
}

// Rows in any order give the same findings, byte for byte.
func TestOrderOfRowsDecidesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for range 300 {
		r := draw(random, windowPolicy(1)(random), 2, 7)
		shuffled := &rlbench.Run{Target: r.Target, Complete: true, Clock: r.Clock, Policy: r.Policy}
		for _, i := range random.Perm(r.Ops.Len()) {
			op := r.Ops.At(i)
			addOp(&shuffled.Ops, op.Key, op.Outcome, op.Cost, int64(op.Sent), int64(op.Done))
			shuffled.Ops.ID[shuffled.Ops.Len()-1] = op.ID
		}
		a, _ := Judge(r)
		b, _ := Judge(shuffled)
		for i := range a {
			if a[i].Because != b[i].Because || a[i].Verdict != b[i].Verdict || len(a[i].Witness) != len(b[i].Witness) {
				t.Fatalf("%s: %s; shuffled %s", text(r), a[i].Because, b[i].Because)
			}
			for k := range a[i].Witness {
				if a[i].Witness[k] != b[i].Witness[k] {
					t.Fatalf("%s: another witness when shuffled", text(r))
				}
			}
		}
	}
}
