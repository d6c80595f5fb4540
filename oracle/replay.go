package oracle

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/rlbench/rlbench"
)

// Replay: is there an order, and are there moments, in which the model decides as the
// limiter did? Every op has a stretch of moments; where the limiter said when it
// decided, that is one moment. Ops of unknown outcome were decided at some moment from
// sent on, or never.
//
// Ops are taken in order of their stretches. Those that no other overlaps come one
// after the other. For those that overlap, every order is tried that the stretches
// allow, layer by layer: what is known after a set of ops is the same whatever their
// order was. Of ops that cost the same and were answered alike, one that ends no later than
// another, and begins no later or may come now, need not come after it, since the two can
// trade places; the same goes for ops of unknown outcome that cost the same, so that of
// those only the number counts. What remains is a few sets a layer; where it is more, the
// search follows some, and settles nothing unless it finds an explanation.

// asked is an op as a replay sees it: decided in [from, to].
type asked struct {
	from, to, cost int64
	outcome        rlbench.Outcome
	row            uint32
	id             int64
}

// Limits of a search; beyond them a replay finds an explanation or is undecided.
const (
	// setsMax bounds the sets of one layer; where there are more, setsKept go on, from
	// there to the end. regionsMax bounds the regions after one set.
	setsMax    = 1 << 12
	setsKept   = 1 << 6
	regionsMax = 1 << 8
	// stepsBase and stepsFactor bound the steps of a replay of n ops.
	stepsBase   = 1 << 20
	stepsFactor = 64
)

// replay is the search on one key.
type replay struct {
	// ops were answered, in order of from, to and id.
	ops []asked
	// unknown are the others, by cost, in order of from.
	unknown [][]asked
	// charges: a refusal may change the state.
	charges bool
	steps   int
	// pruned: some sets were left out.
	pruned bool
	// stuck is an op that no state explains, before the regions that were left.
	stuck  asked
	before []region
}

// newReplay sorts ops for a replay.
func newReplay(all []asked, charges bool) *replay {
	r := &replay{charges: charges}
	slices.SortFunc(all, func(x, y asked) int {
		for _, c := range []int{cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.id, y.id)} {
			if c != 0 {
				return c
			}
		}
		return 0
	})
	at := map[int64]int{}
	for _, op := range all {
		if op.outcome != rlbench.Unknown {
			r.ops = append(r.ops, op)
			continue
		}
		class, seen := at[op.cost]
		if !seen {
			class = len(r.unknown)
			at[op.cost] = class
			r.unknown = append(r.unknown, nil)
		}
		r.unknown[class] = append(r.unknown[class], op)
	}
	r.steps = stepsBase + stepsFactor*len(all)
	return r
}

// spot is what is known after a set of ops was decided.
type spot struct {
	// served tells which ops of the cluster were, a bit each; all before first are,
	// none from last on. spent tells how many of each class of unknown ones were.
	served      []uint64
	first, last int
	spent       []int
	// now is a moment that the last decision did not come before.
	now     int64
	regions []region
}

func (s *spot) has(i int) bool { return s.served[i/64]&(1<<(i%64)) != 0 }

// with returns the spot when op i was served too, with nothing known yet.
func (s *spot) with(ops []asked, i int) *spot {
	next := &spot{served: slices.Clone(s.served), first: s.first, last: max(s.last, i+1), spent: s.spent, now: max(s.now, ops[i].from)}
	next.served[i/64] |= 1 << (i % 64)
	for next.first < next.last && next.has(next.first) {
		next.first++
	}
	return next
}

// name tells spots of one layer apart.
func (s *spot) name() string {
	b := strconv.AppendInt(nil, int64(s.first), 10)
	for i := s.first / 64; i*64 < s.last; i++ {
		b = binary.LittleEndian.AppendUint64(b, s.served[i])
	}
	for _, n := range s.spent {
		b = append(strconv.AppendInt(b, int64(n), 10), ',')
	}
	return string(b)
}

// run looks for an explanation that begins in the given region. exact is false when
// what it found rests on regions that are rough.
func (r *replay) run(start region) (found answer, exact bool) {
	spots := []*spot{{spent: make([]int, len(r.unknown)), now: beginning, regions: []region{start}}}
	for i := 0; i < len(r.ops); {
		j, ends := i+1, r.ops[i].to
		for ; j < len(r.ops) && r.ops[j].from <= ends; j++ {
			ends = max(ends, r.ops[j].to)
		}
		if j == i+1 && len(spots) == 1 && len(r.unknown) == 0 {
			alone := r.alone(spots[0], r.ops[i])
			switch {
			case alone == unexplained && !r.pruned:
				return unexplained, true
			case alone != explained:
				return undecided, false
			}
			i = j
			continue
		}
		var ok bool
		if spots, ok = r.cluster(spots, r.ops[i:j]); !ok {
			return undecided, false
		}
		switch {
		case len(spots) == 0 && r.pruned:
			return undecided, false
		case len(spots) == 0:
			return unexplained, true
		}
		i = j
	}
	for _, s := range spots {
		for _, g := range s.regions {
			exact = exact || !g.rough()
		}
	}
	return explained, exact
}

// alone decides an op that no other overlaps.
func (r *replay) alone(s *spot, op asked) answer {
	before := s.regions
	s.regions = nil
	for _, g := range before {
		s.regions = joined(s.regions, op.decided(g, op.to)...)
	}
	switch n := len(s.regions); {
	case n == 0:
		r.stuck, r.before = op, before
		return unexplained
	case n > regionsMax:
		return undecided
	}
	return explained
}

// layer is the spots after one number of ops, in the order in which they were found.
type layer struct {
	spots  []*spot
	byName map[string]*spot
}

// add joins a spot with what is known of the same set; false where that is too much.
func (l *layer) add(s *spot) bool {
	if len(s.regions) == 0 {
		return true
	}
	name := s.name()
	if same, known := l.byName[name]; known {
		same.now = min(same.now, s.now)
		same.regions = joined(same.regions, s.regions...)
		return len(same.regions) <= regionsMax
	}
	l.byName[name] = s
	l.spots = append(l.spots, s)
	return len(s.regions) <= regionsMax
}

// prune keeps the most promising sets of a layer where there are too many: those that
// leave most time for what is to come.
func (r *replay) prune(l *layer, ops []asked) {
	if len(l.spots) <= setsMax && r.steps > 0 && !r.pruned || len(l.spots) <= setsKept {
		return
	}
	if !r.pruned {
		r.pruned, r.steps = true, r.steps+stepsBase
	}
	due := make(map[*spot]int64, len(l.spots))
	for _, s := range l.spots {
		due[s] = s.due(ops)
	}
	slices.SortStableFunc(l.spots, func(x, y *spot) int {
		if due[x] != due[y] {
			return cmp.Compare(due[y], due[x])
		}
		return cmp.Compare(x.now, y.now)
	})
	l.spots = l.spots[:setsKept]
	l.byName = map[string]*spot{}
	for _, s := range l.spots {
		l.byName[s.name()] = s
	}
}

// cluster decides ops that overlap. No spots: nothing explains them. false: a limit
// was reached.
func (r *replay) cluster(from []*spot, ops []asked) ([]*spot, bool) {
	here := &layer{byName: map[string]*spot{}}
	for _, s := range from {
		if !here.add(&spot{served: make([]uint64, len(ops)/64+1), spent: s.spent, now: s.now, regions: s.regions}) {
			return nil, false
		}
	}
	for range ops {
		if !r.spend(here, ops) {
			return nil, false
		}
		next := &layer{byName: map[string]*spot{}}
		for _, s := range here.spots {
			if !r.serve(s, ops, next) {
				return nil, false
			}
		}
		if len(next.spots) == 0 {
			r.blame(here.spots, ops)
			return nil, true
		}
		r.prune(next, ops)
		here = next
	}
	return here.spots, true
}

// due is the least moment by which an op that is not served must be.
func (s *spot) due(ops []asked) int64 {
	due := int64(math.MaxInt64)
	for i := s.first; i < len(ops) && ops[i].from <= due; i++ {
		if !s.has(i) {
			due = min(due, ops[i].to)
		}
	}
	return due
}

// spend decides ops of unknown outcome before the next that was answered.
func (r *replay) spend(here *layer, ops []asked) bool {
	for i := 0; i < len(here.spots); i++ {
		s := here.spots[i]
		due := s.due(ops)
		for class, list := range r.unknown {
			if s.spent[class] == len(list) || list[s.spent[class]].from > due {
				continue
			}
			op := list[s.spent[class]]
			next := &spot{served: s.served, first: s.first, last: s.last, spent: slices.Clone(s.spent), now: max(s.now, op.from)}
			next.spent[class]++
			for _, g := range s.regions {
				r.steps--
				next.regions = joined(next.regions, g.admit(op.from, due, op.cost)...)
				if r.charges {
					next.regions = joined(next.regions, g.refuse(op.from, due, op.cost)...)
				}
			}
			if !here.add(next) || len(here.spots) > 2*setsMax || r.steps < 0 && r.pruned {
				return false
			}
		}
	}
	return true
}

// serve decides each op that may come next.
func (r *replay) serve(s *spot, ops []asked, next *layer) bool {
	due := s.due(ops)
	// Looking for what may come next is work too.
	r.steps -= (len(ops) - s.first) / 64
	for _, i := range s.candidates(ops, due) {
		after := s.with(ops, i)
		for _, g := range s.regions {
			r.steps--
			after.regions = joined(after.regions, ops[i].decided(g, due)...)
		}
		if !next.add(after) || r.steps < 0 && r.pruned {
			return false
		}
	}
	return true
}

// decided returns what is known after the op was decided, by due.
func (op asked) decided(g region, due int64) []region {
	if op.outcome == rlbench.Allowed {
		return g.admit(op.from, due, op.cost)
	}
	return g.refuse(op.from, due, op.cost)
}

// candidates returns the ops that may be decided next: none that another of its kind
// need not come after.
func (s *spot) candidates(ops []asked, due int64) []int {
	type kind struct {
		outcome rlbench.Outcome
		cost    int64
	}
	var found []int
	// first is where the candidate of a kind stands that may come now and is due first.
	first, ends := map[kind]int{}, map[kind]int64{}
	for i := s.first; i < len(ops) && ops[i].from <= due; i++ {
		op := ops[i]
		k := kind{op.outcome, op.cost}
		end, seen := ends[k]
		if s.has(i) || seen && end <= op.to {
			continue
		}
		ends[k] = op.to
		at, waits := first[k]
		switch {
		case op.from > s.now:
			found = append(found, i)
		case waits:
			found[at] = i
		default:
			first[k] = len(found)
			found = append(found, i)
		}
	}
	return found
}

// blame notes an op that nothing explains: of those that might have come next in the
// first set, the one that is due first.
func (r *replay) blame(spots []*spot, ops []asked) {
	s := spots[0]
	due := s.due(ops)
	for _, i := range s.candidates(ops, due) {
		if ops[i].to == due {
			r.stuck, r.before = ops[i], s.regions
			return
		}
	}
}
