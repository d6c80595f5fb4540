package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// decided states when each op of a run was decided, on the limiter's clock less its
// origin; -1 for one that does not say.
func decided(r *rlbench.Run, at ...int64) *rlbench.Run {
	for _, t := range at {
		if t < 0 {
			t = rlbench.None
		}
		r.Ops.DecidedAt = append(r.Ops.DecidedAt, t)
	}
	return r
}

var ownModelRows = []struct {
	why, history string
	decided      []int64
	want         rlbench.Verdict
}{
	// At moments that the limiter states.
	{"room, and refused", "L=1 W=2: D[0,0]", []int64{0}, fail},
	{"none, and let through", "L=1 W=2: A[0,0] A[1,1]", []int64{0, 1}, fail},
	{"a stamp of exactly t-W has left", "L=1 W=2: A[0,0] A[2,2]", []int64{0, 2}, pass},
	{"and one later has not", "L=1 W=2: A[0,1] A[2,2]", []int64{1, 2}, fail},
	{"the intervals would excuse it", "L=1 W=2: A[0,1] A[2,2]", nil, pass},
	{"they decided in another order than they were sent", "L=1 W=9: D[0,5] A[1,5]", []int64{4, 3}, pass},
	{"of equal moments any order will do", "L=1 W=9: D[0,5] A[1,5]", []int64{3, 3}, pass},
	{"three at one moment, of costs 1, 2 and 3 into 3", "L=3 W=9: A2[0,5] D3[0,5] A[0,5]", []int64{3, 3, 3}, pass},
	{"no order lets 2 and 2 into 3", "L=3 W=9: A2[0,5] A2[0,5] D[0,5]", []int64{3, 3, 3}, fail},
	{"it cannot have decided before it was asked", "L=1 W=9: A[2,5]", []int64{1}, fail},
	{"nor after it answered", "L=1 W=9: A[2,5]", []int64{6}, fail},
	{"unless the clock may be off", "error=1 L=1 W=9: A[2,5]", []int64{6}, pass},
	{"but by no more than that", "error=1 L=1 W=9: A[2,5]", []int64{7}, fail},
	{"a clock of steps of 3 reads up to 2 early", "res=3 L=1 W=9: A[2,5]", []int64{0}, pass},
	{"but not 3", "res=3 L=1 W=9: A[3,5]", []int64{0}, fail},
	{"a lost answer was charged", "L=1 W=9: U[0,1] D[3,3]", []int64{-1, 3}, pass},
	{"or not", "L=1 W=9: U[0,1] A[3,3]", []int64{-1, 3}, pass},
	{"but not both", "L=1 W=9: U[0,1] D[3,3] A[4,4]", []int64{-1, 3, 4}, fail},
	{"one lost answer is one charge", "L=2 W=9: U[0,1] D[3,3]", []int64{-1, 3}, fail},
	{"it comes when it wants", "L=1 W=3: U[0,1] D[8,8] A[11,11]", []int64{-1, 8, 11}, pass},
	{"but only once", "L=1 W=3: U[0,1] D[8,8] D[11,11]", []int64{-1, 8, 11}, fail},
	// At some moment between sent and done.
	{"room at every moment, and refused", "L=1 W=2: D[0,5]", nil, fail},
	{"each refusal alone has its excuse", "L=1 W=2: A[0,4] D[1,1] D[4,4]", nil, fail},
	{"one moment excuses both", "L=1 W=4: A[0,4] D[1,1] D[3,3]", nil, pass},
	{"some order explains it", "L=1 W=2: A[0,3] D[0,3]", nil, pass},
	{"two and two of four at once", "L=2 W=9: A[0,3] D[0,3] A[0,3] D[0,3]", nil, pass},
	{"three of four at once, of two", "L=2 W=9: A[0,3] D[0,3] A[0,3] A[0,3]", nil, fail},
	{"one of four at once, of two", "L=2 W=9: A[0,3] D[0,3] D[0,3] D[0,3]", nil, fail},
	{"the bucket had gained one by the end", "r=1/4 b=1: A[0,0] A[3,4]", nil, pass},
	{"but not by then", "r=1/4 b=1: A[0,0] A[3,3]", nil, fail},
	{"two late ones, three gains apart", "r=1/4 b=1: A[0,2] A[4,6] A[8,9]", nil, pass},
	{"the estimate falls in the window", "counter L=2 W=4: A[2,2] A[3,3] D[5,5] A[6,6]", nil, pass},
	{"but not so soon", "counter L=2 W=4: A[2,2] A[3,3] A[5,5]", nil, fail},
	// Windows on the clock.
	{"a stamp tells the window", "aligned L=1 W=5: A[0,9] A[0,9]", []int64{4, 5}, pass},
	{"and nothing of the order in it", "aligned L=1 W=9: A[0,3] D[0,3]", []int64{2, 1}, pass},
	{"but the intervals do", "aligned L=1 W=9: A[2,3] D[0,1]", []int64{2, 1}, fail},
	{"one window, two let through", "aligned L=1 W=5: A[0,9] A[0,9]", []int64{3, 4}, fail},
	{"two were let through, on both sides of the edge", "aligned L=1 W=5: A[4,5] A[4,5]", nil, pass},
	{"three were not", "aligned L=1 W=5: A[4,5] A[4,5] A[4,5]", nil, fail},
	{"the clock reads 3 at instant 0", "aligned offset=3 L=1 W=5: A[1,1] A[2,2]", nil, pass},
	{"and may be off by one", "aligned offset=3 error=1 L=1 W=5: A[2,2] A[3,3]", nil, pass},
	{"but on one side only", "aligned offset=3 error=1 L=1 W=5: A[0,0] A[1,1] A[2,2] A[3,3]", nil, fail},
	// Windows opened by a request.
	{"the first opens the window", "first L=1 W=4: A[1,1] D[4,4] A[5,5]", nil, pass},
	{"it does not open by itself", "first L=1 W=4: A[1,1] A[4,4]", nil, fail},
	{"what is refused counts too", "first charges L=2 W=9: A[0,0] D2[1,1] D[2,2]", nil, pass},
	{"where it is not charged it does not", "first L=2 W=9: A[0,0] D2[1,1] D[2,2]", nil, fail},
	{"what never fits may be charged", "aligned charges L=2 W=9: D3[0,0] D[1,1]", nil, pass},
	{"or not", "aligned charges L=2 W=9: D3[0,0] A[1,1]", nil, pass},
	{"a key lives up to a step longer than its window", "first res=2 L=1 W=4: A[1,1] D[6,6]", nil, pass},
	{"but no more", "first res=1 L=1 W=4: A[1,1] D[7,7]", nil, fail},
	// Several limits.
	{"either may refuse", "L=1 W=2 L=2 W=9: A[0,0] D[1,1] A[2,2] D[5,5]", nil, pass},
	{"neither had to", "L=1 W=2 L=3 W=9: A[0,0] A[2,2] D[5,5]", nil, fail},
}

func TestOwnModel(t *testing.T) {
	for _, row := range ownModelRows {
		r := decided(run(t, row.history), row.decided...)
		f := judgeOne(t, r, "own-model")
		if f.Verdict != row.want {
			t.Errorf("%s: %s %v: %s, want %s: %s", row.why, row.history, row.decided, f.Verdict, row.want, f.Because)
		}
		checkForm(t, row.history, f)
	}
}

// What keeps own-model from a verdict.
func TestOwnModelOnFlawedEvidence(t *testing.T) {
	const broken, kept = "L=1 W=2: A[0,0] A[1,1]", "L=1 W=2: A[0,0] D[1,1]"
	rows := []struct {
		why, history string
		decided      []int64
		flaw         func(*rlbench.Run)
		want         rlbench.Verdict
	}{
		{"the model's state at the beginning is not known", broken, nil, func(r *rlbench.Run) { r.Complete = false }, open},
		{"the model goes by the clock that stepped", broken, []int64{0, 1}, func(r *rlbench.Run) { r.Events = []rlbench.Event{{Kind: rlbench.ClockStep, At: 1}} }, open},
		{"nothing was asked", "L=1 W=2:", nil, func(*rlbench.Run) {}, open},
		{"the clock was not read, but its stamps are its own", broken, []int64{70, 71}, func(r *rlbench.Run) { r.Clock.Stated = false }, fail},
		{"and explain themselves", kept, []int64{70, 71}, func(r *rlbench.Run) { r.Clock.Stated = false }, pass},
		{"an op without a stamp cannot be put among them", broken, []int64{70, -1}, func(r *rlbench.Run) { r.Clock.Stated = false }, open},
		{"nor windows on such a clock", "aligned L=1 W=20: A[0,0] A[1,1]", nil, func(r *rlbench.Run) { r.Clock.Stated = false }, open},
		{"it strayed by as much as it may", "drift=1 L=1 W=5: A[0,0] A[4,4]", nil, func(*rlbench.Run) {}, open},
		{"it strayed by more", "drift=1 L=1 W=9: A[0,0] A[3,3]", nil, func(*rlbench.Run) {}, fail},
		{"no one setting of the clock explains both", "aligned offset=3 error=1 L=1 W=5: A[1,1] A[2,2] A[12,12] A[13,13]", nil, func(*rlbench.Run) {}, open},
		{"a clock that reads beyond arithmetic", kept, []int64{1 << 62, 1<<62 + 1}, func(r *rlbench.Run) { r.Clock.Stated = false }, open},
		{"a policy without a model", kept, nil, func(r *rlbench.Run) { r.Policy.Params = map[string]string{paramModel: "other"} }, open},
		{"a rate beyond arithmetic over the run", "r=1000003/1000000007 b=1: A[0,0] A[1000000000000000,1000000000000000]", nil, func(*rlbench.Run) {}, pass},
	}
	for _, row := range rows {
		r := decided(run(t, row.history), row.decided...)
		row.flaw(r)
		if f := judgeOne(t, r, "own-model"); f.Verdict != row.want || f.Because == "" {
			t.Errorf("%s: %s, want %s: %s", row.why, f.Verdict, row.want, f.Because)
		}
	}
}

// It is judged only where somebody asks for it: a design that keeps its bounds need not
// decide as the model does.
func TestOnRequest(t *testing.T) {
	r := run(t, "L=1 W=2: A[0,4] D[1,1] D[4,4]")
	found, err := Judge(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Check == "own-model" || f.Check == "key-isolation" || f.Verdict != pass {
			t.Errorf("unasked: %s: %s: %s", f.Check, f.Verdict, f.Because)
		}
	}
	for _, c := range Checks() {
		if c.OnRequest != (c.Name == "own-model" || c.Name == "key-isolation") {
			t.Errorf("%s: on request is %v", c.Name, c.OnRequest)
		}
		if unasked := slices.Contains(Default(r.Policy), c.Name); unasked && (c.OnRequest || c.Promise(r.Policy) == "") {
			t.Errorf("%s applies unasked", c.Name)
		}
	}
}

// oneByOne plays one client that asks a limiter, waits for the answer, and asks again
// after a pause. Answers take up to latency each way; the moments are stated.
func oneByOne(random *rand.Rand, policy rlbench.Policy, ops int, latency, pause int64, m *model) *rlbench.Run {
	r := &rlbench.Run{Target: "sequential", Complete: true, Clock: rlbench.LimiterClock{Stated: true}, Policy: policy}
	now := int64(0)
	for range ops {
		sent := now
		at := sent + 1 + random.Int64N(latency)
		done := at + 1 + random.Int64N(latency)
		outcome := rlbench.Denied
		if allowed, _ := m.decide(at, 1); allowed {
			outcome = rlbench.Allowed
		}
		addOp(&r.Ops, "k", outcome, 1, sent, done)
		r.Ops.DecidedAt = append(r.Ops.DecidedAt, at)
		now = done + random.Int64N(pause)
	}
	return r
}

// teethPolicies are asked about twice as often as they let through, for some hundred
// windows.
func teethPolicies() map[string]rlbench.Policy {
	limit := func(l rlbench.Limit) []rlbench.Limit { return []rlbench.Limit{l} }
	second := time.Second
	return map[string]rlbench.Policy{
		"token bucket":   {Algorithm: rlbench.TokenBucket, Limits: limit(rlbench.Limit{Count: 100, Per: second, Burst: 5})},
		"gcra":           {Algorithm: rlbench.GCRA, Limits: limit(rlbench.Limit{Count: 100, Per: second, Burst: 8})},
		"leaky queue":    {Algorithm: rlbench.LeakyQueue, Limits: limit(rlbench.Limit{Count: 100, Per: second, Burst: 20})},
		"Envoy":          {Algorithm: rlbench.TokenBucket, Limits: limit(rlbench.Limit{Count: 100, Per: second, Burst: 5}), Params: map[string]string{paramModel: modelEnvoy}},
		"NGINX":          {Algorithm: rlbench.LeakyQueue, Limits: limit(rlbench.Limit{Count: 100, Per: second, Burst: 6}), Params: map[string]string{paramModel: modelNginx}, Resolution: time.Millisecond},
		"sliding log":    {Algorithm: rlbench.SlidingLog, Limits: limit(rlbench.Limit{Count: 20, Per: second / 5})},
		"counter":        {Algorithm: rlbench.SlidingCounter, Limits: limit(rlbench.Limit{Count: 20, Per: second / 5})},
		"aligned window": {Algorithm: rlbench.FixedWindow, Limits: limit(rlbench.Limit{Count: 20, Per: second / 5, Anchor: rlbench.Epoch})},
		"first request":  {Algorithm: rlbench.FixedWindow, Limits: limit(rlbench.Limit{Count: 20, Per: second / 5, Anchor: rlbench.FirstRequest})},
	}
}

// With one request in flight, a limiter that is true to its model is explained whatever
// its latency, and one whose rate or window is wrong by 1 % is caught, in either
// direction, from outside alone.
func TestIntervalReplayHasTeeth(t *testing.T) {
	for name, p := range teethPolicies() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) {
				for _, percent := range []int64{100, 99, 101} {
					random := rand.New(rand.NewPCG(seed, 7))
					planted := p
					planted.Limits = []rlbench.Limit{p.Limits[0]}
					planted.Limits[0].Per = p.Limits[0].Per * time.Duration(percent) / 100
					m, err := newModel(planted)
					if err != nil {
						t.Fatal(err)
					}
					r := oneByOne(random, p, 4000, int64(time.Millisecond/2), int64(9*time.Millisecond), m)
					want := map[int64]rlbench.Verdict{100: pass, 99: fail, 101: fail}[percent]
					if f := judgeOne(t, r, "own-model"); f.Verdict != want {
						t.Errorf("seed %d, a period of %d %%, moments stated: %s: %s", seed, percent, f.Verdict, f.Because)
					}
					r.Ops.DecidedAt = nil
					if f := judgeOne(t, r, "own-model"); f.Verdict != want {
						t.Errorf("seed %d, a period of %d %%: %s: %s", seed, percent, f.Verdict, f.Because)
					}
				}
			}
		})
	}
}

// Many requests in flight on one key: a burst of 500, of which 100 pass, is explained;
// of which more or fewer pass, it is not, though there are too many orders to try.
func TestReplayOfABurst(t *testing.T) {
	for _, more := range []int{0, 1, -1} {
		text := "first L=100 W=60000000000:"
		random := rand.New(rand.NewPCG(5, uint64(more+1)))
		for i := range 500 {
			outcome := "D"
			if i < 100+more {
				outcome = "A"
			}
			sent := random.IntN(3000)
			text += fmt.Sprintf(" %s[%d,%d]", outcome, sent, 4000+random.IntN(9000))
		}
		f := judgeOne(t, run(t, text), "own-model")
		if want := map[int]rlbench.Verdict{0: pass, 1: fail, -1: fail}[more]; f.Verdict != want {
			t.Errorf("%d let through: %s: %s", 100+more, f.Verdict, f.Because)
		}
	}
}

// A key whose ops in flight are too many for the search is left open, never passed.
func TestReplayGivesUp(t *testing.T) {
	text := "L=40 W=1000:"
	random := rand.New(rand.NewPCG(6, 6))
	for range 400 {
		sent := random.IntN(100)
		text += fmt.Sprintf(" %c%d[%d,%d]", "AD"[random.IntN(2)], 1+random.IntN(9), sent, sent+100+random.IntN(500))
	}
	if f := judgeOne(t, run(t, text), "own-model"); f.Verdict == pass {
		t.Errorf("%s: %s", f.Verdict, f.Because)
	}
}

// The witness of an op that was let through is as small as will do.
func TestOwnModelWitness(t *testing.T) {
	f := judgeOne(t, run(t, "L=2 W=100: A[0,1] A[40,41] A[200,201] D[205,206] A[210,211] D[215,216] A[220,221]"), "own-model")
	var ids []int64
	for _, op := range f.Witness {
		ids = append(ids, op.ID)
	}
	// Op 3 was refused with one of two used, which comes first.
	if !slices.Equal(ids, []int64{2, 3}) {
		t.Errorf("the witness is %v: %s", ids, f.Because)
	}
	f = judgeOne(t, run(t, "L=2 W=100: A[0,1] A[200,201] A[210,211] D[215,216] A[220,221]"), "own-model")
	if len(f.Witness) != 3 || f.Witness[2].ID != 4 {
		t.Errorf("the witness is %v: %s", f.Witness, f.Because)
	}
}

// What must wait until the estimate has fallen is decided then, and a refusal behind it
// no sooner: a cost of 2 fits in [2, 3] only at 3, where a cost of 1 fits beside it.
func TestOwnModelKeepsTheOrderOfTime(t *testing.T) {
	r := run(t, "counter L=4 W=2: A3[0,0] A2[2,3] D[2,3]")
	r.Policy.Params = map[string]string{paramRounding: roundFloor}
	if f := judgeOne(t, r, "own-model"); f.Verdict != fail {
		t.Errorf("%s: %s", f.Verdict, f.Because)
	}
}
