package oracle

import (
	"strings"
	"testing"

	"github.com/rlbench/rlbench"
)

const (
	pass = rlbench.Pass
	fail = rlbench.Fail
	open = rlbench.Inconclusive
)

// The smallest histories that tell one reading of a promise from another.
var overRows = []struct {
	why     string
	history string
	want    rlbench.Verdict
}{
	{"two in one window", "L=1 W=2: A[1,1] A[2,2]", fail},
	{"exactly a window apart: half open", "L=1 W=1: A[5,5] A[6,6]", pass},
	{"no single window holds two for certain, yet two windows do", "L=1 W=1: A[2,3] A[3,3] A[2,2]", fail},
	{"a window misses the wide one", "L=1 W=2: A[2,2] A[1,3]", fail},
	{"no chain of equal windows shows it", "L=2 W=7: A[0,7] A[0,8] A[0,3] A[2,2]", fail},
	{"earliest done first fails: it must wait", "L=1 W=2: A[4,7] A[5,5]", pass},
	{"earliest done first fails in both directions of time", "L=2 W=3: A[3,3] A[2,5] A[1,4]", pass},
	{"two promises jointly broken, each alone explained", "L=1 W=2 L=2 W=6: A[8,8] A[2,6] A[3,3]", fail},
	{"the first of the two alone", "L=1 W=2: A[8,8] A[2,6] A[3,3]", pass},
	{"the second of the two alone", "L=2 W=6: A[8,8] A[2,6] A[3,3]", pass},
	{"a lone cost above the limit, however long it took", "L=2 W=1: A3[0,9]", fail},
	{"an unknown op never accuses", "L=1 W=2: A[1,1] U[1,1] U[2,2]", pass},
	{"a refusal never accuses", "L=1 W=2: A[1,1] D[1,1] D[2,2]", pass},
	{"unit pieces fit where the whole does not, and nobody can pack faster: not settled", "L=2 W=3: A[6,6] A2[5,8]", open},

	{"a resolution is part of the promise: just over W-res apart", "res=2 L=1 W=4: A[1,1] A[3,3]", pass},
	{"closer than W-res", "res=2 L=1 W=4: A[1,1] A[2,2]", fail},
	{"W rounded up to the resolution", "res=3 L=1 W=7: A[0,0] A[5,5]", fail},
	{"W rounded up, less the resolution", "res=3 L=1 W=7: A[0,0] A[6,6]", pass},
	{"explained only with the drift", "drift=1 L=1 W=3: A[0,0] A[2,2]", open},
	{"broken even with the drift", "drift=1 L=1 W=3: A[0,0] A[1,1]", fail},

	{"two in one aligned window", "aligned L=1 W=4: A[0,1] A[2,3]", fail},
	{"a sliding window would accuse", "aligned L=1 W=2: A[1,1] A[2,2]", pass},
	{"three whole in two windows of one", "aligned L=1 W=1: A[1,1] A[1,2] A[2,2]", fail},
	{"windows before instant 0 are as long as those after", "aligned L=1 W=4: A[-4,-3] A[-2,-1]", fail},
	{"an edge at instant 0", "aligned L=1 W=4: A[-1,-1] A[0,0]", pass},
	{"the limiter's clock says where the edge is", "aligned offset=1 L=1 W=2: A[0,0] A[1,1]", pass},
	{"and where it is not", "aligned offset=1 L=1 W=2: A[1,1] A[2,2]", fail},
	{"the edge may lie between them, if the clock is off", "aligned error=16 L=1 W=32: A[8,8] A[11,11]", pass},
	{"or the clock is off by more than it may", "aligned error=7 L=1 W=32: A[8,8] A[11,11]", fail},
	{"no one setting of the clock explains both", "aligned error=8 L=1 W=32: A[6,6] A[9,9] A[55,55] A[57,57]", open},
	{"aligned windows do not yield to a resolution that divides them", "aligned res=2 L=1 W=4: A[1,1] A[3,3]", fail},

	{"a bucket: two where one token had come back half", "r=1/2 b=1: A[4,4] A[5,5]", fail},
	{"a bucket: the token had come back", "r=1/2 b=1: A[4,4] A[6,6]", pass},
	{"a bucket: in no one stretch, but tokens are whole", "r=1/2 b=1: A[4,4] A[3,5]", fail},
	{"a bucket: between two, the wide one has no room", "r=1/1 b=1: A[4,4] A[2,6] A[4,4]", fail},
	{"a bucket: earliest done first fails, it must wait", "r=1/2 b=1: A[5,8] A[6,6]", pass},
	{"a bucket: moments between ticks count, for three in four ticks", "r=3/4 b=1: A[0,1] A[1,2] A[3,3]", pass},
	{"a bucket: its whole burst at once", "r=1/9 b=3: A[4,4] A[4,4] A[4,4]", pass},
	{"a bucket: a lone cost above the burst", "r=1/1 b=2: A3[0,9]", fail},
	{"a bucket: the clock's resolution gives back as much more", "res=1 r=1/2 b=1: A[4,4] A[5,5]", pass},
	{"a bucket: and no more", "res=1 r=1/3 b=1: A[4,4] A[5,5]", fail},
	{"a bucket: explained only with the drift", "drift=1 r=1/3 b=1: A[4,4] A[6,6]", open},
	{"two buckets: the small one for long", "r=1/1 b=1 r=1/4 b=2: A[0,0] A[1,1] A[2,2]", fail},

	{"first request: two in the window that the first opened", "first L=1 W=2: A[0,0] A[1,1]", fail},
	{"first request: an unknown op may have opened an earlier one", "first L=2 W=2: U[0,0] A[3,4] A[4,4] A[3,3]", pass},
}

func TestNeverOver(t *testing.T) {
	for _, row := range overRows {
		f := judgeOne(t, run(t, row.history), "never-over")
		if f.Verdict != row.want {
			t.Errorf("%s: %s: %s, want %s: %s", row.why, row.history, f.Verdict, row.want, f.Because)
		}
		checkForm(t, row.history, f)
	}
}

var starvedRows = []struct {
	why     string
	history string
	want    rlbench.Verdict
}{
	{"nothing was there", "L=1 W=2: D[0,0]", fail},
	{"at one instant the order is unknown", "L=1 W=1: A[0,1] D[1,1]", pass},
	{"one look at both ends of the interval misses it", "L=2 W=1: D[3,4] A[3,3] A[4,5]", fail},
	{"what was done exactly W before has left", "L=1 W=2: A[0,0] D[2,2]", fail},
	{"what was done less than W before has not", "L=1 W=2: A[0,0] D[1,1]", pass},
	{"an unknown op may still be charged", "L=1 W=2: U[0,0] D[9,9]", pass},
	{"a cost that never fits is refused rightly", "L=2 W=2: D3[0,0]", pass},
	{"refusals are not charged", "L=1 W=9: D[5,5] D[6,6]", fail},
	{"refusals are charged: the second may be right, the first is not", "charges L=1 W=9: D[5,5] D[6,6]", fail},
	{"refusals are charged: each may have been the second", "charges L=1 W=9: D[5,6] D[5,6]", pass},
	{"a later moment had no room", "L=1 W=2: A[3,3] D[2,3]", pass},
	{"one of two limits had no room", "L=1 W=2 L=3 W=9: A[3,3] D[4,4]", pass},
	{"neither limit was full", "L=2 W=2 L=3 W=9: A[3,3] D[4,4]", fail},
	{"one or the other limit was full, at different moments", "L=1 W=1 L=2 W=3: A[4,4] A[5,5] D[5,6]", pass},
	{"rounded up to the resolution it has not left", "res=3 L=1 W=7: A[0,0] D[8,8]", pass},
	{"rounded up to the resolution it has", "res=3 L=1 W=7: A[0,0] D[9,9]", fail},
	{"wrong unless the clock strayed", "drift=1 L=1 W=3: A[0,0] D[3,3]", open},
	{"wrong even so", "drift=1 L=1 W=3: A[0,0] D[4,4]", fail},
	{"aligned: the last window's charges have gone", "aligned L=1 W=4: A[3,3] D[4,4]", fail},
	{"aligned: unless the clock is off", "aligned error=1 L=1 W=4: A[3,3] D[4,4]", pass},
	{"aligned: no one setting of the clock excuses both", "aligned error=1 L=1 W=4: A[3,3] D[4,4] A[8,8] D[7,7]", open},
	{"aligned: the interval touches a full window", "aligned L=1 W=4: A[5,5] D[2,6]", pass},
	{"aligned: a full window between the ends", "aligned L=1 W=2: A[5,5] D[2,9]", pass},
	{"a bucket: it was full", "r=1/4 b=2: A[0,0] D[1,1]", fail},
	{"a bucket: the token had not come back", "r=1/4 b=1: A[0,0] D[3,3]", pass},
	{"a bucket: it had", "r=1/4 b=1: A[0,0] D[4,4]", fail},
	{"a bucket: even the whole burst can be found wrong", "res=1 r=1/4 b=2: D2[9,9]", fail},
	{"a bucket: a clock that may read early and late gives back less", "res=1 r=1/4 b=1: A[0,0] D[5,5]", pass},
	{"a bucket: but no less", "res=1 r=1/4 b=1: A[0,0] D[6,6]", fail},
	{"a bucket: a clock that goes back takes nothing again", "res=1 r=1/3 b=2: A[1,1] D[1,1]", fail},
	{"gcra: it takes again what it has given", "gcra res=1 r=1/3 b=2: A[1,1] D[1,1]", pass},
	{"gcra: but no more than the clock can go back", "gcra res=1 r=1/3 b=2: A[1,1] D[4,4]", fail},
	{"gcra: and not from nobody", "gcra res=1 r=1/3 b=2: D2[1,1]", fail},
	{"gcra: a clock without steps does not go back", "gcra r=1/3 b=2: A[1,1] D[1,1]", fail},
	{"a bucket: at one instant the order is unknown", "r=1/4 b=1: A[9,9] D[9,9]", pass},
	{"first request: what ends a window may come a step late", "first res=1 L=1 W=4: A[0,0] D[4,4]", pass},
	{"first request: but no later", "first res=1 L=1 W=4: A[0,0] D[5,5]", fail},
}

func TestNeverStarved(t *testing.T) {
	for _, row := range starvedRows {
		f := judgeOne(t, run(t, row.history), "never-starved")
		if f.Verdict != row.want {
			t.Errorf("%s: %s: %s, want %s: %s", row.why, row.history, f.Verdict, row.want, f.Because)
		}
		checkForm(t, row.history, f)
	}
}

// checkForm demands what every Finding owes: a sentence, and for a Fail a witness
// in order and a proof.
func checkForm(t *testing.T, history string, f rlbench.Finding) {
	t.Helper()
	if f.Because == "" || f.Promise == "" || f.Check == "" {
		t.Errorf("%s: a finding without words: %+v", history, f)
	}
	if f.Verdict == rlbench.Fail && (len(f.Witness) == 0 || len(f.Proof) == 0) {
		t.Errorf("%s: a fail without witness or proof: %+v", history, f)
	}
	for i := 1; i < len(f.Witness); i++ {
		if f.Witness[i].Sent < f.Witness[i-1].Sent {
			t.Errorf("%s: the witness is not in order of sent: %v", history, f.Witness)
		}
	}
}

// The witness of a burst is the tightest set of one more than the limit.
func TestWitnessIsTheTightest(t *testing.T) {
	f := judgeOne(t, run(t, "L=2 W=100: A[0,9] A[50,52] A[51,53] A[52,54] A[90,99]"), "never-over")
	var ids []int64
	for _, op := range f.Witness {
		ids = append(ids, op.ID)
	}
	if len(ids) != 3 || ids[0] != 1 || ids[1] != 2 || ids[2] != 3 {
		t.Errorf("the witness is %v, want ops 1, 2 and 3: %s", ids, f.Because)
	}
}

// Not every breach outlives every flaw of the evidence.
func TestFlawsOfTheEvidence(t *testing.T) {
	step := rlbench.Event{Kind: rlbench.ClockStep, At: 3, Until: 3, Note: "by 2s"}
	lost := rlbench.Event{Kind: rlbench.ServerLost, At: 3, Until: 3}
	const over, kept = "L=1 W=2: A[1,1] A[2,2]", "L=1 W=2: A[1,1]"
	const refused, right = "L=1 W=2: A[1,1] D[8,8]", "L=1 W=2: A[1,1] D[1,1]"
	incomplete := func(r *rlbench.Run) { r.Complete = false }
	excerpt := func(r *rlbench.Run) { r.Complete, r.Excerpt = false, true }
	absent := func(outcome rlbench.Outcome) func(*rlbench.Run) {
		return func(r *rlbench.Run) {
			addOp(&r.Ops, "k", outcome, 1, 20, 20)
			r.Ops.Errors = []string{"", "dial tcp 127.0.0.1:6379: connect: connection refused"}
			r.Ops.Error = make([]uint32, r.Ops.Len())
			r.Ops.Error[r.Ops.Len()-1] = 1
		}
	}
	rows := []struct {
		why, check, history string
		flaw                func(*rlbench.Run)
		want                rlbench.Verdict
	}{
		{"missing ops cannot mend a full window", "never-over", over, incomplete, fail},
		{"missing ops may have broken it", "never-over", kept, incomplete, open},
		{"missing ops may have filled the window of a refusal", "never-starved", refused, incomplete, open},
		{"missing ops may have left out a wrong refusal", "never-starved", right, incomplete, open},
		{"a step does not move a sliding window", "never-over", over, func(r *rlbench.Run) { r.Events = append(r.Events, step) }, fail},
		{"a step moves an aligned window", "never-over", "aligned " + over, func(r *rlbench.Run) { r.Events = append(r.Events, step) }, open},
		{"a step moves the window of a refusal", "never-starved", "aligned " + refused, func(r *rlbench.Run) { r.Events = append(r.Events, step) }, open},
		{"after a step nothing passes", "never-over", kept, func(r *rlbench.Run) { r.Events = append(r.Events, step) }, open},
		{"a lost server does not mend a full window", "never-over", over, func(r *rlbench.Run) { r.Events = append(r.Events, lost) }, fail},
		{"after a lost server nothing passes", "never-over", kept, func(r *rlbench.Run) { r.Events = append(r.Events, lost) }, open},
		{"nobody was there to be asked", "never-over", kept, absent(rlbench.Unsent), open},
		{"nobody was there any more", "never-over", kept, absent(rlbench.Unknown), open},
		{"nothing was answered", "never-over", "L=1 W=2: U[1,1]", func(*rlbench.Run) {}, open},
		{"nothing was asked", "never-starved", "L=1 W=2:", func(*rlbench.Run) {}, open},
		{"the clock was not read: where is the edge?", "never-over", "aligned L=1 W=20: A[1,1] A[2,2]", func(r *rlbench.Run) { r.Clock.Stated = false }, open},
		{"the clock was not read: was the window full?", "never-starved", "aligned L=1 W=20: A[1,1] D[2,2]", func(r *rlbench.Run) { r.Clock.Stated = false }, open},
		{"wherever it is, the window had room", "never-starved", "aligned L=1 W=20: A[1,1] D[52,52]", func(r *rlbench.Run) { r.Clock.Stated = false }, fail},
		{"wherever it is, two edges would be needed", "never-over", "aligned L=1 W=20: A[1,1] A[2,2] A[3,3]", func(r *rlbench.Run) { r.Clock.Stated = false }, fail},
		{"wherever it is, there was room", "never-over", "aligned L=2 W=20: A[1,1] A[2,2]", func(r *rlbench.Run) { r.Clock.Stated = false }, pass},
		{"a run cut short is judged as far as it came", "never-over", kept, func(r *rlbench.Run) { r.Interrupted = true }, pass},
		{"what did not leave because the run was cut short cannot have been charged", "never-over", "L=1 W=2: A[1,1] N[1,1]", func(r *rlbench.Run) { r.Interrupted = true }, pass},
		{"half of the planned load never left: the limiter was not put to the test", "never-over", "L=1 W=2: A[1,1] N[1,1]", func(*rlbench.Run) {}, open},
		{"an excerpt: refused long after all that can have come before", "never-starved", "L=1 W=2: A[1,1] D[9,9]", excerpt, fail},
		{"an excerpt: what came before may still fill the window", "never-starved", "L=1 W=20: D[1,1] D[9,9]", excerpt, pass},
		{"an excerpt: the window is full whatever came before", "never-over", over, excerpt, fail},
		{"an excerpt: explained as far as it reaches", "never-over", kept, excerpt, pass},
		{"an excerpt of a bucket: drained long ago", "never-starved", "r=1/4 b=1: A[1,1] D[20,20]", excerpt, fail},
		{"an excerpt of a bucket: it may have begun full", "never-starved", "r=1/4 b=1: D[1,1] D[4,4]", excerpt, pass},
		{"load that never left does not mend a full window", "never-over", over + " N[1,1] N[1,1]", func(*rlbench.Run) {}, fail},
	}
	for _, row := range rows {
		r := run(t, row.history)
		row.flaw(r)
		f := judgeOne(t, r, row.check)
		if f.Verdict != row.want {
			t.Errorf("%s: %s, want %s: %s", row.why, f.Verdict, row.want, f.Because)
		}
	}
}

// A decision without the store is judged by what the policy says of outages, but only
// while the history says that there was one.
func TestOutage(t *testing.T) {
	outage := rlbench.Event{Kind: "store-gone", At: 5, Until: 9}
	rows := []struct {
		why, check, history string
		events              []rlbench.Event
		want                rlbench.Verdict
	}{
		{"let through without the store, in an outage", "never-over", "L=1 W=9: A[4,5] A[6,6] A[7,7]", []rlbench.Event{outage}, pass},
		{"the same, but nothing had happened", "never-over", "L=1 W=9: A[4,5] A[6,6] A[7,7]", nil, fail},
		{"before the outage", "never-over", "L=1 W=9: A[1,1] A[2,2] A[3,3]", []rlbench.Event{outage}, fail},
		{"after the outage", "never-over", "L=1 W=9: A[10,10] A[11,11] A[12,12]", []rlbench.Event{outage}, fail},
		{"refused without the store, in an outage", "never-starved", "L=1 W=9: A[0,0] D[6,6] D[7,7]", []rlbench.Event{outage}, pass},
		{"refused without the store, but nothing had happened", "never-starved", "L=2 W=9: A[0,0] D[6,6] D[7,7]", nil, fail},
	}
	for _, row := range rows {
		r := run(t, row.history)
		r.Events = row.events
		r.Ops.Errors = []string{"", "store: no answer"}
		r.Ops.Error = []uint32{0, 1, 1}
		if f := judgeOne(t, r, row.check); f.Verdict != row.want {
			t.Errorf("%s: %s, want %s: %s", row.why, f.Verdict, row.want, f.Because)
		}
	}
}

// The worst of many keys is named, and keys are judged apart.
func TestKeysAreJudgedApart(t *testing.T) {
	r := run(t, "L=2 W=10:")
	for i, key := range []string{"b", "a", "c", "a", "b", "c", "b", "c", "b"} {
		addOp(&r.Ops, key, rlbench.Allowed, 1, int64(i), int64(i))
	}
	f := judgeOne(t, r, "never-over")
	if f.Verdict != fail || !strings.Contains(f.Because, `"b"`) || !strings.Contains(f.Because, "2 broken keys of 3") {
		t.Errorf("%s: %s; want key b of 2 broken keys of 3", f.Verdict, f.Because)
	}
	for _, op := range f.Witness {
		if op.Key != "b" {
			t.Errorf("op %d of key %s is no witness against key b", op.ID, op.Key)
		}
	}
}

// A Run that cannot be read is an error, and a check that does not exist too.
func TestUnreadable(t *testing.T) {
	rows := []struct {
		why   string
		spoil func(*rlbench.Run)
	}{
		{"done before sent", func(r *rlbench.Run) { r.Ops.Done[0] = 0 }},
		{"allowed, but never sent", func(r *rlbench.Run) { r.Ops.Sent[0] = rlbench.NoInstant }},
		{"allowed, but never done", func(r *rlbench.Run) { r.Ops.Done[0] = rlbench.NoInstant }},
		{"no cost", func(r *rlbench.Run) { r.Ops.Cost[0] = 0 }},
		{"costs beyond arithmetic", func(r *rlbench.Run) { r.Ops.Cost[0] = 1 << 62 }},
		{"a key without a name", func(r *rlbench.Run) { r.Ops.Key[0] = 7 }},
		{"an outcome that is none", func(r *rlbench.Run) { r.Ops.Outcome[0] = 9 }},
		{"columns of different length", func(r *rlbench.Run) { r.Ops.Sent = nil }},
		{"no limit", func(r *rlbench.Run) { r.Policy.Limits = nil }},
		{"a window beyond arithmetic", func(r *rlbench.Run) { r.Policy.Limits[0].Per = 1 << 62 }},
	}
	for _, row := range rows {
		r := run(t, "L=1 W=2: A[1,2]")
		row.spoil(r)
		if _, err := Judge(r); err == nil {
			t.Errorf("%s: no error", row.why)
		}
		for _, c := range Checks() {
			if f := c.Judge(r); f.Verdict != rlbench.Inconclusive || f.Because == "" {
				t.Errorf("%s: %s says %s: %s", row.why, c.Name, f.Verdict, f.Because)
			}
		}
	}
	if _, err := Judge(run(t, "L=1 W=2: A[1,2]"), "never-late"); err == nil {
		t.Error("a check that does not exist is no error")
	}
}
