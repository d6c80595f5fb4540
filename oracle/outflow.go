package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// even-outflow: what a leaky queue lets out keeps its spacing.
//
// A caller that waits makes [sent, done] say nothing of when it was let go. So the
// limiter, or whatever stands behind it, must state it: released_at, judged as it
// stands, without an interval, as a bucket of capacity 1 that leaks at the rate: in
// every stretch [x, y] no more leaves than 1 + r·(y-x). Without stamps: Inconclusive.
//
// Doubt goes to the limiter: its stamps are cut to whole steps of its clock, so a
// stretch may be one step longer than they say; and its clock may stray. What costs more
// than 1 takes that many turns, before it leaves or after: some limiters wait first, some
// afterwards, and one of the two must hold throughout. Of several limits the fastest
// counts, since two spacings do not add up to one.
// Smallest history that breaks it, at 1 in 4: two released at 0 and 3. Smallest
// innocent one that a mean would accuse: at 0, 8 and 12.

// outflow judges the releases of each key.
type outflow struct {
	tally
	rate rate
	// step and drift are the doubts of the clock: once, and for each window.
	step, drift, window int64
	// worst holds, for each way of counting what costs more than 1, the worst breach.
	worst [2]breach
	// released and bare count the ops let through with a stamp and without.
	released, bare, pairs int
	doubtful              bool
	why                   string
}

// breach is a stretch of releases too close together.
type breach struct {
	key  string
	rows []uint32
	// short is by how much, in parts of a nanosecond; held what left after the first.
	short, held int64
	from, to    int64
}

func openOutflow(e *evidence) (judge, string) {
	p := e.run.Policy
	if outflowWords(p) == "" {
		return nil, fmt.Sprintf("a %s with these parameters does not promise to let requests out evenly", p.Algorithm)
	}
	if e.run.Ops.ReleasedAt == nil {
		return nil, "nothing says when requests were let go (released_at), and when they were answered does not tell"
	}
	if len(e.run.Ops.ReleasedAt) != e.run.Ops.Len() {
		return nil, "released_at does not have a row for each op"
	}
	fastest := slowestFirst(p.Limits)[len(p.Limits)-1]
	r, err := rateOf(fastest)
	if err != nil {
		return nil, err.Error()
	}
	o := &outflow{tally: tally{evidence: e}, rate: r, step: int64(p.Resolution), drift: int64(p.Drift), window: int64(fastest.Per)}
	if stepped(e.run) {
		o.frail = "the limiter's clock stepped, and releases are stamped by it"
	}
	return o, ""
}

// outflowWords says in words how a policy promises to let requests out. An NGINX queue
// that lets a burst go at once makes no such promise.
func outflowWords(p rlbench.Policy) string {
	_, delay := p.Params[paramDelay]
	if p.Algorithm != rlbench.LeakyQueue || delay || p.Params[paramNodelay] == "true" || len(p.Limits) == 0 {
		return ""
	}
	l := slowestFirst(p.Limits)[len(p.Limits)-1]
	return fmt.Sprintf("requests of a key leave no closer together than %s lets them", rlbench.Limit{Count: l.Count, Per: l.Per})
}

func (o *outflow) again() bool { return false }

// release is one op that was let go.
type release struct {
	at, cost int64
	row      uint32
}

func (o *outflow) key(h *history) {
	var all []release
	for i, row := range h.allowed.row {
		if at := o.run.Ops.ReleasedAt[row]; at != rlbench.None {
			all = append(all, release{at, h.allowed.cost[i], row})
		} else {
			o.bare++
		}
	}
	o.keys++
	if len(all) == 0 {
		return
	}
	o.released += len(all)
	o.pairs += len(all) - 1
	slices.SortFunc(all, func(x, y release) int {
		if x.at != y.at {
			return cmp.Compare(x.at, y.at)
		}
		return cmp.Compare(o.run.Ops.ID[x.row], o.run.Ops.ID[y.row])
	})
	if why := o.beyond(all); why != "" {
		o.why = fmt.Sprintf("key %q: %s", h.key, why)
		return
	}
	for way := range o.worst {
		o.look(h.key, all, way == 1)
	}
}

// beyond says why the releases are too much for the arithmetic.
func (o *outflow) beyond(all []release) string {
	cost := int64(0)
	for _, r := range all {
		cost += r.cost
	}
	first, last := all[0].at, all[len(all)-1].at
	if last-first < 0 || last-first > instantMax || mulDiv(last-first, o.rate.count, 1) > roomMax || mulDiv(cost, o.rate.per, 1) > roomMax {
		return "its releases are beyond whole numbers of 64 bits"
	}
	return ""
}

// look finds the stretch of releases that is too short by most. What an op costs counts
// before it leaves, or else after: so the cost of a stretch is that of all ops but the
// first, or but the last.
func (o *outflow) look(key string, all []release, after bool) {
	gap, first := int64(0), 0
	drained := int64(0)
	for i := 1; i < len(all); i++ {
		cost := all[i].cost
		if after {
			cost = all[i-1].cost
		}
		passed := o.rate.gained(all[i].at - all[i-1].at)
		pair := breach{short: o.rate.worth(cost) - passed, held: cost, from: all[i-1].at, to: all[i].at}
		o.note(key, all[i-1:i+1], pair, after)
		// The worst stretch that ends here goes on from the worst before, or begins anew.
		if gap <= 0 {
			gap, first, drained = 0, i-1, 0
		}
		gap, drained = gap+pair.short, drained+cost
		o.note(key, all[first:i+1], breach{short: gap, held: drained, from: all[first].at, to: all[i].at}, after)
	}
}

func (o *outflow) note(key string, stretch []release, b breach, after bool) {
	if b.short <= 0 {
		return
	}
	way := 0
	if after {
		way = 1
	}
	length := b.to - b.from
	allowance := o.rate.gained(o.step)
	if o.drift > 0 && b.short > allowance {
		drift := o.rate.gained(o.drift + mulDiv(length, o.drift, o.window))
		if b.short <= allowance+drift {
			o.doubtful = true
			return
		}
		allowance += drift
	}
	if b.short -= allowance; b.short <= 0 {
		return
	}
	// The fewest releases show it best; of as many, the closest.
	worst := &o.worst[way]
	if len(worst.rows) > 0 && (len(worst.rows) < len(stretch) || len(worst.rows) == len(stretch) && worst.short >= b.short) {
		return
	}
	b.key = key
	for _, r := range stretch {
		b.rows = append(b.rows, r.row)
	}
	*worst = b
}

func (o *outflow) finding() rlbench.Finding {
	var f rlbench.Finding
	before, after := &o.worst[0], &o.worst[1]
	switch {
	case len(before.rows) > 0 && len(after.rows) > 0:
		o.tally.broken = 1
		worst := before
		if len(after.rows) < len(before.rows) {
			worst = after
		}
		o.guilty.key, o.guilty.ruling = worst.key, o.convict(worst)
		o.failed(&f)
	case o.why != "":
		f.Because = o.why
	case o.released == 0:
		f.Because = "nothing says when requests were let go (released_at), and when they were answered does not tell"
	case o.bare > 0:
		f.Because = fmt.Sprintf("%s of %d that were let through say not when they were let go", count(o.bare, "op"), o.bare+o.released)
	case o.doubtful:
		f.Because = fmt.Sprintf("some releases are too close together unless the limiter's clock strayed by up to %s over a window", time.Duration(o.drift))
	case o.pairs == 0:
		f.Because = "no key was let go twice, so no spacing was seen"
	default:
		f = o.tally.finding()
		if f.Verdict == rlbench.Pass {
			f.Because = fmt.Sprintf("each of %s kept its distance from those before, on %s", count(o.released, "release"), count(o.keys, "key"))
		}
	}
	return f
}

// convict writes the ruling on a stretch of releases.
func (o *outflow) convict(b *breach) ruling {
	needs := time.Duration(ceilDiv(o.rate.worth(b.held), o.rate.count))
	length := time.Duration(b.to - b.from)
	ops := &o.run.Ops
	r := ruling{verdict: rlbench.Fail, over: 1, witness: b.rows}
	r.because = fmt.Sprintf("%s were let go within %s, from %s to %s, where the spacing needs %s", count(len(b.rows), "op"), length, sayInstant(b.from), sayInstant(b.to), needs)
	for i := 1; i < len(b.rows) && i <= saySlotsMax; i++ {
		x, y := b.rows[i-1], b.rows[i]
		r.proof = append(r.proof, fmt.Sprintf("op %d was let go at %s and op %d at %s: %s later", ops.ID[x], sayInstant(ops.ReleasedAt[x]),
			ops.ID[y], sayInstant(ops.ReleasedAt[y]), time.Duration(ops.ReleasedAt[y]-ops.ReleasedAt[x])))
	}
	r.proof = append(r.proof, fmt.Sprintf("what left after the first cost %d, which takes %s at this rate; they took %s, and the clock's step of %s and its drift of %s leave no more than that much doubt",
		b.held, needs, length, time.Duration(o.step), time.Duration(o.drift)))
	r.witness = slices.Clone(b.rows)
	sortBySent(ops, r.witness)
	return r
}
