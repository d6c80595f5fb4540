package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// replayTwin asks the plainest way whether the model can have decided so: every order
// of the ops is tried, and every moment of each on a grid of 1/scale ticks.
type replayTwin struct {
	policy rlbench.Policy
	origin int64
	scale  int64
	ops    []asked
	// unit is what one tick is to the model.
	unit int64
}

func newReplayTwin(r *rlbench.Run) *replayTwin {
	w := &replayTwin{policy: r.Policy, scale: 1, unit: 1}
	if r.Policy.Algorithm.Bucket() {
		for _, l := range r.Policy.Limits {
			w.scale *= l.Count
		}
	}
	w.origin = r.Clock.Origin * w.scale
	w.policy.Limits = nil
	for _, l := range r.Policy.Limits {
		l.Per *= time.Duration(w.scale)
		w.policy.Limits = append(w.policy.Limits, l)
	}
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		a := asked{from: int64(op.Sent) * w.scale, to: int64(op.Done) * w.scale, cost: op.Cost, outcome: op.Outcome}
		if op.DecidedAt != rlbench.None && op.Outcome != rlbench.Unknown {
			a.from, a.to = op.DecidedAt*w.scale, op.DecidedAt*w.scale
		}
		if op.Outcome == rlbench.Unknown {
			a.to = far * w.scale
		}
		w.ops = append(w.ops, a)
	}
	return w
}

// explainable tells whether some order and some moments explain every decision.
func (w *replayTwin) explainable() bool {
	m, err := newModel(w.policy)
	if err != nil {
		panic(err)
	}
	return w.goOn(m, make([]bool, len(w.ops)), beginning)
}

func (w *replayTwin) goOn(m *model, done []bool, now int64) bool {
	left := false
	for i, op := range w.ops {
		if done[i] {
			continue
		}
		left = left || op.outcome != rlbench.Unknown
		for at := max(op.from, now); at <= op.to; at++ {
			if at > w.last(done) {
				break // Some op that was answered would be too late.
			}
			done[i] = true
			for _, after := range w.decide(m, op, at) {
				if w.goOn(after, done, at) {
					return true
				}
			}
			done[i] = false
		}
	}
	return !left
}

// last is the least moment by which an op that was answered must be decided.
func (w *replayTwin) last(done []bool) int64 {
	last := int64(far) * w.scale
	for i, op := range w.ops {
		if !done[i] && op.outcome != rlbench.Unknown {
			last = min(last, op.to)
		}
	}
	return last
}

// decide returns the models after the decision, if they make it so. Where refusals are
// charged, one that never fits may be charged or not.
func (w *replayTwin) decide(m *model, op asked, at int64) []*model {
	after := cloneModel(m)
	allowed, _ := after.decide(at*w.unit+w.origin, op.cost)
	if op.outcome != rlbench.Unknown && allowed != (op.outcome == rlbench.Allowed) {
		return nil
	}
	if allowed || m.charging != chargesEverything {
		return []*model{after}
	}
	for _, l := range w.policy.Limits {
		if op.cost > max(l.Burst, l.Count*b2i(!w.policy.Algorithm.Bucket())) {
			return []*model{after, cloneModel(m)}
		}
	}
	return []*model{after}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func cloneModel(m *model) *model {
	c := &model{charging: m.charging}
	for _, l := range m.limits {
		switch l := l.(type) {
		case *alignedWindow:
			x := *l
			c.limits = append(c.limits, &x)
		case *firstRequestWindow:
			x := *l
			c.limits = append(c.limits, &x)
		case *slidingLog:
			x := *l
			x.at, x.cost = append([]int64{}, l.at...), append([]int64{}, l.cost...)
			c.limits = append(c.limits, &x)
		case *slidingCount:
			x := *l
			c.limits = append(c.limits, &x)
		case *tokenBucket:
			x := *l
			c.limits = append(c.limits, &x)
		case *arrivalTime:
			x := *l
			c.limits = append(c.limits, &x)
		case *meter:
			x := *l
			c.limits = append(c.limits, &x)
		case *queue:
			x := *l
			c.limits = append(c.limits, &x)
		case *nginxZone:
			x := *l
			c.limits = append(c.limits, &x)
		default:
			panic(fmt.Sprintf("%T cannot be cloned", l))
		}
	}
	return c
}

// replayDraws draw a policy each.
var replayDraws = []struct {
	name    string
	policy  func(*rand.Rand) rlbench.Policy
	dearest int64
}{
	{"aligned", modelPolicy(rlbench.FixedWindow, rlbench.Epoch, 1), 1},
	{"aligned, costs differ", modelPolicy(rlbench.FixedWindow, rlbench.Epoch, 1), 3},
	{"two aligned", modelPolicy(rlbench.FixedWindow, rlbench.Epoch, 2), 2},
	{"first request", modelPolicy(rlbench.FixedWindow, rlbench.FirstRequest, 1), 1},
	{"first request, costs differ", modelPolicy(rlbench.FixedWindow, rlbench.FirstRequest, 1), 3},
	{"sliding log", modelPolicy(rlbench.SlidingLog, "", 1), 1},
	{"sliding log, costs differ", modelPolicy(rlbench.SlidingLog, "", 1), 3},
	{"two sliding logs", modelPolicy(rlbench.SlidingLog, "", 2), 2},
	{"sliding counter", modelPolicy(rlbench.SlidingCounter, "", 1), 1},
	{"sliding counter, costs differ", modelPolicy(rlbench.SlidingCounter, "", 1), 3},
	{"token bucket", modelPolicy(rlbench.TokenBucket, "", 1), 1},
	{"token bucket, costs differ", modelPolicy(rlbench.TokenBucket, "", 1), 3},
	{"gcra", modelPolicy(rlbench.GCRA, "", 1), 2},
	{"leaky meter", modelPolicy(rlbench.LeakyMeter, "", 1), 2},
	{"leaky queue", modelPolicy(rlbench.LeakyQueue, "", 1), 1},
	{"two buckets", modelPolicy(rlbench.TokenBucket, "", 2), 2},
	{"Envoy's two buckets", envoyPolicy, 2},
}

func modelPolicy(a rlbench.Algorithm, anchor rlbench.Anchor, limits int) func(*rand.Rand) rlbench.Policy {
	return func(random *rand.Rand) rlbench.Policy {
		p := rlbench.Policy{Algorithm: a, ChargesRefusals: random.IntN(4) == 0}
		for range limits {
			l := rlbench.Limit{Count: 1 + random.Int64N(3), Per: time.Duration(1 + random.Int64N(7)), Anchor: anchor}
			if a.Bucket() {
				l.Burst, l.Count = l.Count, 1+random.Int64N(2)
			}
			p.Limits = append(p.Limits, l)
		}
		if a == rlbench.SlidingCounter {
			if r := []string{"", roundFloor, roundNearest}[random.IntN(3)]; r != "" {
				p.Params = map[string]string{paramRounding: r}
			}
		}
		return p
	}
}

func envoyPolicy(random *rand.Rand) rlbench.Policy {
	p := modelPolicy(rlbench.TokenBucket, "", 2)(random)
	p.ChargesRefusals, p.Params = false, map[string]string{paramModel: modelEnvoy}
	return p
}

// drawDecided draws a history in which the model decided, at moments of its own, and
// sometimes changes an answer. With stamps the moments are stated.
func drawDecided(random *rand.Rand, p rlbench.Policy, dearest int64, ops int, stamps bool) *rlbench.Run {
	r := &rlbench.Run{Target: "history", Complete: true, Clock: rlbench.LimiterClock{Stated: true, Origin: random.Int64N(9) - 4}, Policy: p}
	m, err := newModel(p)
	if err != nil {
		panic(err)
	}
	at := random.Int64N(3)
	n := 1 + random.IntN(ops)
	for range n {
		cost := 1 + random.Int64N(dearest)
		outcome := rlbench.Denied
		if allowed, _ := m.decide(at+r.Clock.Origin, cost); allowed != (random.IntN(4*n) == 0) {
			outcome = rlbench.Allowed
		}
		sent := max(0, at-random.Int64N(1+random.Int64N(4)))
		done := min(12, at+random.Int64N(1+random.Int64N(4)))
		if random.IntN(10) == 0 {
			outcome = rlbench.Unknown
		}
		addOp(&r.Ops, "k", outcome, cost, sent, max(done, sent))
		if stamps {
			r.Ops.DecidedAt = append(r.Ops.DecidedAt, at)
		}
		if random.IntN(3) > 0 {
			at = min(12, at+random.Int64N(4))
		}
	}
	return r
}

// The replay and its twin agree on every random history: in both directions where
// regions are exact, and never against the limiter where they are rough.
func TestReplayAgreesWithTheTwin(t *testing.T) {
	for i, d := range replayDraws {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 31))
			var yes, no, rough int
			for n := range histories(t, 1500) {
				p := d.policy(random)
				r := drawDecided(random, p, d.dearest, 6, n%3 == 0)
				w := newReplayTwin(r)
				want := w.explainable()
				all := append([]asked{}, w.ops...)
				for i := range all {
					all[i].from, all[i].to, all[i].id = all[i].from/w.scale, all[i].to/w.scale, int64(i)
				}
				start, err := regionOf(p, r.Clock.Origin, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				found, exact := newReplay(all, chargingOf(p) != chargesNothing).run(start)
				switch {
				case found == undecided && p.ChargesRefusals && d.dearest > 1:
					rough++ // Each refusal of what never fits doubles what may have been charged.
				case found == undecided:
					t.Errorf("%s %v: undecided", text(r), p.Params)
				case found == unexplained && want:
					t.Errorf("%s %v %v: an innocent is accused", text(r), p.Params, r.Ops.DecidedAt)
				case found == explained && exact && !want:
					t.Errorf("%s %v %v: explained, but nothing explains it", text(r), p.Params, r.Ops.DecidedAt)
				case found == unexplained:
					no++
				case exact:
					yes++
				default:
					rough++
				}
				if t.Failed() {
					return
				}
			}
			t.Logf("%d explained, %d not, %d rough", yes, no, rough)
			if yes == 0 || no == 0 {
				t.Error("one of the answers was never given")
			}
		})
	}
}

// own-model says what the twin says: it passes nothing that no moments explain, and
// accuses nothing that some do. Where windows lie on the clock, a stated moment tells
// the window alone.
func TestOwnModelAgreesWithTheTwin(t *testing.T) {
	for i, d := range replayDraws {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(i), 32))
			var count [3]int
			for n := range histories(t, 600) {
				r := drawDecided(random, d.policy(random), d.dearest, 6, n%2 == 0)
				w := newReplayTwin(r)
				if r.Policy.Algorithm == rlbench.FixedWindow && r.Policy.Limits[0].Anchor == rlbench.Epoch && r.Ops.DecidedAt != nil {
					w.windows(r)
				}
				want := w.explainable()
				f := judgeOne(t, r, "own-model")
				if r.Policy.Params[paramModel] == modelEnvoy && f.Verdict == pass {
					want = true // Its clock is granted a nanosecond, which here is a tick.
				}
				answered := false
				for _, op := range w.ops {
					answered = answered || op.outcome != rlbench.Unknown
				}
				if f.Verdict == pass && !want || f.Verdict == fail && want || f.Verdict == pass && !answered {
					t.Fatalf("%s %v %v: %s: %s; the twin says explained: %v", text(r), r.Policy.Params, r.Ops.DecidedAt, f.Verdict, f.Because, want)
				}
				if f.Verdict == fail {
					checkForm(t, text(r), f)
				}
				count[f.Verdict]++
			}
			t.Logf("%d pass, %d fail, %d inconclusive", count[pass], count[fail], count[open])
			if count[pass] == 0 || count[fail] == 0 || len(d.policy(random).Limits) == 1 && count[open]*5 > count[pass] {
				t.Errorf("%d pass, %d fail, %d inconclusive", count[pass], count[fail], count[open])
			}
		})
	}
}

// windows leaves of a stated moment which window it lies in.
func (w *replayTwin) windows(r *rlbench.Run) {
	for i := range w.ops {
		op := r.Ops.At(i)
		if op.Outcome == rlbench.Unknown {
			continue
		}
		from, to := int64(op.Sent), int64(op.Done)
		for _, l := range r.Policy.Limits {
			a := aligned{length: int64(l.Per), origin: r.Clock.Origin}
			k := a.number(op.DecidedAt)
			from, to = max(from, a.start(k)), min(to, a.start(k+1)-1)
		}
		w.ops[i].from, w.ops[i].to = from, to
	}
}

// The states of NGINX's zones are followed one by one: all that some millisecond in the
// intervals leads to, and no others. One request is in flight: between two that overlap
// the order of nanoseconds decides, which a twin that counts milliseconds does not have.
func TestNginxReplayAgreesWithTheTwin(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 33))
	var yes, no int
	for range histories(t, 3000) {
		p := rlbench.Policy{Algorithm: rlbench.LeakyMeter, Params: map[string]string{paramModel: modelNginx}}
		for range 1 + random.IntN(2) {
			// Several a stretch of twenty milliseconds.
			p.Limits = append(p.Limits, rlbench.Limit{Count: 8000 + random.Int64N(60000), Per: time.Minute, Burst: 1 + random.Int64N(3)})
		}
		w := &replayTwin{policy: p, scale: 1, unit: millisecondNs}
		var all []asked
		at := int64(0)
		for i := range 2 + random.Int64N(5) {
			op := asked{from: at, to: at + random.Int64N(4), cost: 1, outcome: rlbench.Allowed, id: i}
			if random.IntN(3) == 0 {
				op.outcome = rlbench.Denied
			}
			w.ops = append(w.ops, op)
			at = op.to + 1 + random.Int64N(3)
			// Whose milliseconds begin where is not known, so an interval of nanoseconds may
			// end one millisecond later than it says.
			if op.from < op.to {
				op.from, op.to = op.from*millisecondNs, (op.to-1)*millisecondNs+1
			} else {
				op.from, op.to = op.from*millisecondNs, op.to*millisecondNs
			}
			all = append(all, op)
		}
		start, err := regionOf(p, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		found, exact := newReplay(all, false).run(start)
		if want := w.explainable(); found == undecided || !exact || (found == explained) != want {
			t.Fatalf("%v %v: %v, the twin says %v", p.Limits, w.ops, found, want)
		}
		if found == explained {
			yes++
		} else {
			no++
		}
	}
	t.Logf("%d explained, %d not", yes, no)
	if yes == 0 || no == 0 {
		t.Error("one of the answers was never given")
	}
}
