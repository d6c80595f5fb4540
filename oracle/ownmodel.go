package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// own-model: every decision is the one that the exact model of the algorithm makes.
//
// Where the limiter says when it decided, that is the moment: its decisions are
// replayed in that order, and it must lie in [sent, done] as far as the clock is known.
// Of equal moments any order will do. Where it does not say, the states of the model are
// carried on as intervals, and every moment in [sent, done] and every order that these
// allow will do. For a window on the clock a stated moment says which window counted the
// request, and no more: whether the limiter read its clock before or after it counted
// another is not its promise.
//
// Fail: no order, no moments and no state explain a decision, even with every doubt of
// the clock against the accusation. Pass: the replay explained every decision.
// Smallest histories that break it: one request refused, "L=1 W=2: D[0,0]"; two let
// through, "L=1 W=2: A[0,0] A[1,1]"; and one in which never-over and never-starved see
// nothing, since each refusal alone has its excuse: "L=1 W=2: A[0,4] D[1,1] D[4,4]".

// ownModel judges the decisions of a Run by their model.
type ownModel struct {
	tally
	// origin is the reading of the limiter's clock at instant 0, step that clock's own;
	// late is how much longer than it should a window may last that ends by an expiry.
	origin, step, late int64
	wide               doubt
	// stamped: some op says when it was decided; onClock: where windows lie matters.
	stamped, onClock bool
	// worlds are the offsets of the clock within its error; one explains all keys. world
	// is the one tried now, dead: it fails.
	worlds []int64
	world  int
	dead   bool
	// points and stretches count the decisions that were explained.
	points, stretches int
}

func openOwnModel(e *evidence) (judge, string) {
	o, why := newOwnModel(e)
	if o == nil {
		return nil, why
	}
	return o, ""
}

func newOwnModel(e *evidence) (*ownModel, string) {
	p := e.run.Policy
	if _, err := newModel(p); err != nil {
		return nil, err.Error()
	}
	if !e.run.Complete {
		return nil, "the evidence is not complete, so in which state the model was when it begins is not known"
	}
	o := &ownModel{tally: tally{evidence: e}, origin: e.run.Clock.Origin, step: int64(p.Resolution)}
	o.onClock = p.Algorithm == rlbench.SlidingCounter || p.Algorithm == rlbench.FixedWindow && !anchoredAt(p, rlbench.FirstRequest)
	for _, at := range e.run.Ops.DecidedAt {
		o.stamped = o.stamped || at != rlbench.None
	}
	if !o.stamped {
		o.late = o.step
	}
	if !e.run.Clock.Stated && !o.stamped {
		o.origin = 0
	}
	o.wide = doubt{drift: int64(p.Drift), window: int64(p.Limits[0].Per)}
	for _, l := range p.Limits {
		o.wide.window = min(o.wide.window, int64(l.Per))
	}
	o.wide.drift = min(o.wide.drift, o.wide.window)
	o.worlds = []int64{0}
	if e := int64(e.run.Clock.Error); e > 0 && (o.stamped || o.onClock) {
		o.wide.offset = e
		o.worlds = []int64{0, e / 2, -e / 2, e, -e}
	}
	if p.Params[paramModel] == modelEnvoy {
		o.step = max(o.step, 1) + 1 // Its clock is a floating point number.
	}
	if stepped(e.run) {
		o.frail = "the limiter's clock stepped, and the model goes by that clock"
	}
	return o, ""
}

// again asks for another pass when this setting of the clock does not explain every
// key and another is left.
func (o *ownModel) again() bool {
	if !o.dead || o.world+1 >= len(o.worlds) || o.broken > 0 {
		return false
	}
	o.world++
	o.dead, o.points, o.stretches = false, 0, 0
	o.reset()
	return true
}

func (o *ownModel) key(h *history) { o.add(h.key, o.rule(h)) }

// reading is how the ops of a key are to be read.
type reading struct {
	// shift is how much later the limiter's clock is than its reading says, wide by how
	// much more it may be off, for each op by itself.
	shift int64
	wide  doubt
	// windows: a stated moment says only which window counted the op.
	windows bool
}

// rule rules on one key.
func (o *ownModel) rule(h *history) ruling {
	if o.far(h) {
		return ruling{because: "the limiter's clock reads so far from the run that it is beyond whole numbers of 64 bits"}
	}
	if r, lies := o.outside(h); lies {
		return r
	}
	plain := reading{shift: o.worlds[o.world]}
	ops := o.read(h, plain)
	if o.unplaced(&h.allowed) || o.unplaced(&h.denied) {
		return ruling{because: unplaced}
	}
	if o.quick(ops) {
		return o.explained(ops)
	}
	if o.unplaced(&h.unknown) {
		return ruling{because: unplaced}
	}
	readings := []reading{plain}
	if o.stamped && o.onClock && o.run.Policy.Algorithm == rlbench.FixedWindow {
		readings = append(readings, reading{shift: plain.shift, windows: true})
	}
	last := readings[len(readings)-1]
	if !o.wide.none() {
		readings = append(readings, reading{wide: o.wide, windows: last.windows})
	}
	return o.search(h, readings)
}

// search tries readings, each more lenient than the one before.
func (o *ownModel) search(h *history, readings []reading) ruling {
	for i, how := range readings {
		ops := o.read(h, how)
		if why := o.beyond(ops); why != "" {
			return ruling{because: why}
		}
		replay := newReplay(ops, o.charges())
		found, exact := replay.run(o.start(ops))
		lenient := !how.wide.none()
		switch {
		case found == undecided:
			if r, broken := o.bounds(h); broken {
				return r
			}
			return ruling{because: fmt.Sprintf("whether some order of the ops in flight explains it was not settled: more than %d sets of them, or more steps than the search may take, and no explanation was found", setsMax)}
		case found == explained && !exact:
			return ruling{because: "the model's states may explain it, but they are only known to be among others: several limits share moments that are not known, or there were too many"}
		case found == explained && lenient:
			o.dead = true
			return ruling{because: fmt.Sprintf("no one setting of the limiter's clock within its error of %s and its drift of %s explains it", o.run.Clock.Error, o.run.Policy.Drift)}
		case found == explained:
			return o.explained(ops)
		case i == len(readings)-1:
			return o.convict(replay, ops)
		}
	}
	return ruling{}
}

// bounds asks never-over and never-starved where the search is lost among the orders of
// too many ops: a model keeps its own promise, so what breaks that is not the model's.
// What a limit before the refusing one took is lost on never-starved, as is how NGINX
// rounds its rate; how a counter rounds is lost on both.
func (o *ownModel) bounds(h *history) (ruling, bool) {
	p := o.run.Policy
	if p.Params[paramRounding] != "" {
		return ruling{}, false
	}
	opens := []func(*evidence) (judge, string){openOver, openStarved}
	if chargingOf(p) == chargesEarlier || p.Params[paramModel] == modelNginx {
		opens = opens[:1]
	}
	for _, open := range opens {
		j, _ := open(o.evidence)
		if j == nil {
			continue
		}
		j.key(h)
		if c, ok := j.(interface{ conviction() (ruling, bool) }); ok {
			if r, broken := c.conviction(); broken {
				r.because = "the model keeps its promise, and this does not: " + r.because
				return r, true
			}
		}
	}
	return ruling{}, false
}

// conviction is the ruling on the worst of the keys that were shown.
func (t *tally) conviction() (ruling, bool) {
	return t.guilty.ruling, t.broken > 0 && t.frail == ""
}

func (o *ownModel) charges() bool { return chargingOf(o.run.Policy) != chargesNothing }

// start is the fresh model. A policy that has a model has a region too, but for the
// bounds that beyond has looked at.
func (o *ownModel) start(ops []asked) region {
	start, err := regionOf(o.run.Policy, o.origin, o.begin(ops), o.late)
	if err != nil {
		return nil
	}
	return start
}

func (o *ownModel) begin(ops []asked) int64 {
	begin := int64(-beginning)
	for _, op := range ops {
		begin = min(begin, op.from)
	}
	return begin
}

// explained rules that every decision of a key was.
func (o *ownModel) explained(ops []asked) ruling {
	for _, op := range ops {
		switch {
		case op.outcome == rlbench.Unknown:
		case op.from == op.to && o.stamped:
			o.points++
		default:
			o.stretches++
		}
	}
	return ruling{verdict: rlbench.Pass}
}

// stamp is the instant at which the limiter says that it decided, if it does.
func (o *ownModel) stamp(row uint32) (at int64, stated bool) {
	if !o.stamped {
		return 0, false
	}
	at = o.run.Ops.DecidedAt[row]
	return at, at != rlbench.None
}

// read reads the ops of a key for a replay.
func (o *ownModel) read(h *history, how reading) []asked {
	ops := make([]asked, 0, h.allowed.len()+h.denied.len()+h.unknown.len())
	kinds := [...]*columns{rlbench.Allowed: &h.allowed, rlbench.Denied: &h.denied, rlbench.Unknown: &h.unknown}
	for outcome, c := range kinds {
		for i, row := range c.row {
			op := asked{cost: c.cost[i], outcome: rlbench.Outcome(outcome), row: row, id: o.run.Ops.ID[row]}
			op.from, op.to = c.sent[i], c.sent[i]
			if len(c.done) > 0 {
				op.to = c.done[i]
			}
			op.from += how.shift - how.wide.at(op.from) - max(0, o.step-1)
			op.to += how.shift + how.wide.at(op.to)
			if o.run.Policy.Params[paramModel] == modelEnvoy {
				op.to++
			}
			if at, stated := o.stamp(row); stated && op.outcome != rlbench.Unknown {
				op.from, op.to = o.stampedStretch(op, at, how)
			}
			ops = append(ops, op)
		}
	}
	return ops
}

// stampedStretch is when an op was decided that says so itself.
func (o *ownModel) stampedStretch(op asked, at int64, how reading) (from, to int64) {
	if !how.windows {
		return at, at
	}
	if !o.run.Clock.Stated {
		op.from, op.to = beginning, -beginning
	}
	for _, l := range o.run.Policy.Limits {
		w := aligned{length: int64(l.Per), origin: originIn(o.origin, l.Per)}
		k := w.number(at)
		op.from, op.to = max(op.from, w.start(k)), min(op.to, w.start(k+1)-1)
	}
	if op.from > op.to {
		return at, at
	}
	return op.from, op.to
}

// readingMax bounds what the limiter's clock may read, some 73 years either way.
const readingMax = 1 << 61

// far tells whether some reading of the clock is beyond arithmetic.
func (o *ownModel) far(h *history) bool {
	if o.origin > readingMax || o.origin < -readingMax {
		return true
	}
	for _, c := range []*columns{&h.allowed, &h.denied} {
		for _, row := range c.row {
			at, stated := o.stamp(row)
			if stated && (at > readingMax || at < -readingMax || at+o.origin > readingMax || at+o.origin < -readingMax) {
				return true
			}
		}
	}
	return false
}

// outside finds an op that says it was decided when it cannot have been.
func (o *ownModel) outside(h *history) (ruling, bool) {
	if !o.stamped || !o.run.Clock.Stated {
		return ruling{}, false
	}
	for _, c := range []*columns{&h.allowed, &h.denied} {
		for i, row := range c.row {
			at, stated := o.stamp(row)
			if !stated {
				continue
			}
			least := c.sent[i] - o.wide.at(c.sent[i]) - max(0, o.step-1)
			most := c.done[i] + o.wide.at(c.done[i])
			if least <= at && at <= most {
				continue
			}
			by := max(least-at, at-most)
			op := o.run.Ops.At(int(row))
			return ruling{verdict: rlbench.Fail, over: 1, witness: []uint32{row},
				because: fmt.Sprintf("op %d says that it was decided at %s, but it was sent at %s and answered at %s: %s outside, beyond the clock's error of %s",
					op.ID, sayInstant(at), op.Sent, op.Done, time.Duration(by), o.run.Clock.Error),
				proof: []string{
					fmt.Sprintf("a decision lies between the sending and the answer: from %s to %s", op.Sent, op.Done),
					fmt.Sprintf("with the error of %s, the drift of %s and the step of %s of the limiter's clock its reading lay between %s and %s; it was %s",
						o.run.Clock.Error, o.run.Policy.Drift, o.run.Policy.Resolution, sayInstant(least), sayInstant(most), sayInstant(at)),
				}}, true
		}
	}
	return ruling{}, false
}

// unplaced is why ops without a stated moment cannot be put among the others.
const unplaced = "the limiter's clock was not read, so where ops that do not state their moment lie on it is not known"

// unplaced tells whether there are such ops. Those of unknown outcome matter only where
// they were decided.
func (o *ownModel) unplaced(c *columns) bool {
	if o.run.Clock.Stated || !o.stamped && !o.onClock {
		return false
	}
	return slices.ContainsFunc(c.row, func(row uint32) bool {
		_, stated := o.stamp(row)
		return !stated || o.run.Ops.Outcome[row] == rlbench.Unknown
	})
}

// beyond says why a key is too much for the arithmetic.
func (o *ownModel) beyond(ops []asked) string {
	first, last, total := int64(-beginning), int64(beginning), int64(0)
	longest := int64(0)
	for _, op := range ops {
		first, last = min(first, op.from), max(last, op.from, op.to)
		total += op.cost
		longest = max(longest, op.to-op.from)
	}
	for _, l := range o.run.Policy.Limits {
		if o.onClock && longest/int64(l.Per) >= windowsMax {
			return fmt.Sprintf("an op took %s, which is more than %d windows", time.Duration(longest), windowsMax)
		}
		if !o.run.Policy.Algorithm.Bucket() || o.run.Policy.Params[paramModel] == modelNginx {
			continue
		}
		r, err := rateOf(l)
		if err != nil {
			return err.Error()
		}
		if mulDiv(last-first, r.count, 1) > roomMax || mulDiv(total, r.per, 1) > roomMax {
			return fmt.Sprintf("%s over %s is beyond whole numbers of 64 bits", l, time.Duration(last-first))
		}
	}
	if _, err := regionOf(o.run.Policy, o.origin, first, o.late); err != nil {
		return err.Error()
	}
	return ""
}

// quick asks the model itself, once with every op at its first moment and once at its
// last, ops of unknown outcome left out: that explains most keys.
func (o *ownModel) quick(ops []asked) bool {
	moments := []func(asked) int64{func(op asked) int64 { return op.from }}
	if slices.ContainsFunc(ops, func(op asked) bool { return op.from != op.to && op.outcome != rlbench.Unknown }) {
		moments = append(moments, func(op asked) int64 { return op.to })
	}
	for _, at := range moments {
		by := func(x, y asked) int {
			if at(x) != at(y) {
				return cmp.Compare(at(x), at(y))
			}
			return cmp.Compare(x.id, y.id)
		}
		if !slices.IsSortedFunc(ops, by) {
			slices.SortFunc(ops, by)
		}
		if o.agrees(ops, at) {
			return true
		}
	}
	return false
}

// agrees tells whether the model decides alike at the given moments.
func (o *ownModel) agrees(ops []asked, at func(asked) int64) bool {
	m, err := newModel(o.run.Policy)
	if err != nil {
		return false
	}
	for _, op := range ops {
		if op.outcome == rlbench.Unknown {
			continue
		}
		if allowed, _ := m.decide(at(op)+o.origin, op.cost); allowed != (op.outcome == rlbench.Allowed) {
			return false
		}
	}
	return true
}

// finding says what the rulings come to in words of decisions.
func (o *ownModel) finding() rlbench.Finding {
	f := o.tally.finding()
	if f.Verdict == rlbench.Pass {
		f.Because = fmt.Sprintf("the model makes each of %s on %s: %d at the moment that the limiter states, %d at some moment between sent and done",
			count(o.points+o.stretches, "decision"), count(o.keys, "key"), o.points, o.stretches)
	}
	return f
}
