package oracle

import (
	"fmt"
	"slices"
	"sort"

	"github.com/rlbench/rlbench"
)

// A stream judges ops that come in order of Sent. When enough have come they are dealt
// to their keys, and of each key everything is judged that nothing sent at the frontier
// or later can change: a sum over a window that ended, a refusal that was answered, a
// position in an explanation that cannot be taken back. The ops that later ones may
// still meet in a window, or that are in flight, stay listed; of the others only what
// they come to is carried on.

const (
	// batchOps is how many ops come, at least, before they are dealt.
	batchOps = 1 << 16
	// batchPerKey is how many more for each key that is active.
	batchPerKey = 20
	// spareOps is how many ops of all keys together stay listed longer than needed, so
	// that a witness can be looked for among them.
	spareOps = 1 << 18
	// restedMax is how many idle keys are remembered apart. Of more the fullest stands
	// for all that stood alike, and the number of keys in a sentence is too small.
	restedMax = 1 << 20
)

type stream struct {
	run    rlbench.Run
	ledger *ledger
	*evidence
	// spells are the active keys, as the ledger numbers them.
	spells []*spell
	// dealt is the first row that was not dealt to its key.
	dealt, listed, active int
	// batch and spare can be set by tests.
	batch, spare int
	swept        bool
	// jumbled: the rows not dealt yet may be in any order.
	jumbled bool
	rested  map[string]*rested
	// forgotten are the fullest of the keys that are not remembered apart, by how they
	// stood.
	forgotten map[string]resting
	turnout   turnout
	// begin is the first answer so far.
	begin   int64
	horizon int64
	wide    doubt
	capMax  int64

	over     *overStream
	starved  *starvedStream
	accuracy *accuracyStream
	h        history
}

// spell is one key while it is active.
type spell struct {
	name string
	rows []uint32
	// from is the frontier up to which it was judged, cut the moment up to which what
	// it carries was taken. next is when, on the limiter's clock at the earliest, the
	// first op in flight was sent.
	from, cut, next int64
	// answered is the moment before which every refusal was judged that was done.
	answered int64
	// unlisted is the cost of ops of unknown outcome that are not listed any more.
	unlisted int64
	// old are the last allowed rows that are not needed any more but to show them in a
	// witness. dropped is when the last before those was sent.
	old      []uint32
	dropped  int64
	over     overSpell
	starved  starvedSpell
	accuracy accuracySpell
	// past is what was known of the key when it was idle before.
	past *rested
}

// rested is what is remembered of a key that is idle.
type rested struct {
	// most are the fullest stretches by rule, as of ops that were let through; settled
	// tells which walkers explained it.
	most    []crown
	settled []bool
	// doubt is the cost of the refusals that may have been wrong.
	doubt int64
}

// starved is the doubt that is remembered.
func (r *rested) starved() int64 {
	if r == nil {
		return 0
	}
	return r.doubt
}

// piece is what is listed of a key: ops sent before from were there before.
type piece struct {
	*history
	// wide is the history as the limiter's clock may have seen it; it is in order of
	// sent too, and its frontiers are wideFrom and wideTo.
	wide             *history
	from, to         int64
	wideFrom, wideTo int64
	// fresh is the first allowed op that was not there before.
	fresh int
	// ready are the refusals about which everything is known now; asked is the history
	// with those alone, and charged what counts where refusals are free.
	ready   []int
	asked   *history
	charged *charges
}

// free returns the refusals that are ready, and the charges where refusals are free.
func (p *piece) free(unlisted int64) (*history, *charges) {
	if p.charged == nil {
		p.asked = p.only(p.history)
		p.charged = newCharges(p.history, false)
		p.charged.unlisted, p.charged.shared = unlisted, true
	}
	return p.asked, p.charged
}

// only returns a history with the refusals alone that are ready.
func (p *piece) only(h *history) *history {
	if len(p.ready) == h.denied.len() {
		return h
	}
	ready := *h
	ready.denied = *h.denied.pick(p.ready)
	return &ready
}

// streams tells whether never-over and never-starved of a policy can be judged as the
// ops come. How far a bucket strays rests on the length of the whole run.
func streams(p rlbench.Policy) bool {
	switch {
	case p.Algorithm == rlbench.SlidingLog:
		return true
	case p.Algorithm == rlbench.FixedWindow:
		return anchoredAt(p, rlbench.Epoch)
	}
	return p.Algorithm.Bucket() && p.Algorithm != rlbench.LeakyQueue && p.Drift == 0
}

func newStream(head *rlbench.Run) *stream {
	s := &stream{run: *head, ledger: newLedger(), rested: map[string]*rested{}, forgotten: map[string]resting{}, batch: batchOps, spare: -1, begin: forever}
	s.evidence = &evidence{run: &s.run}
	s.accuracy = newAccuracyStream(s.evidence)
	for _, w := range s.accuracy.windows {
		s.horizon, s.capMax = max(s.horizon, w.length), max(s.capMax, w.limit)
	}
	p := head.Policy
	for _, l := range p.Limits {
		late := 2*int64(p.Resolution) + 2*int64(p.Drift) + 1
		if !p.Algorithm.Bucket() {
			late += int64(l.Per)
		}
		s.horizon, s.capMax = max(s.horizon, late), max(s.capMax, l.Count, l.Burst)
	}
	if !streams(p) {
		return s
	}
	o, _ := openOver(s.evidence)
	s.over = newOverStream(o.(*over))
	s.wide = s.over.rules.wide
	s.starved = &starvedStream{starved: starvedOf(s.evidence)}
	return s
}

func (s *stream) takes(name string) bool {
	return s.over != nil && (name == "never-over" || name == "never-starved")
}

// feed takes in a part, of which no op was sent before first, nor any before it later.
// What is there is judged only when more comes: a Run that comes whole is judged whole.
func (s *stream) feed(part *rlbench.Ops, first int64, sorted bool) {
	waiting := s.ledger.ops.Len() - s.dealt
	if first < forever && waiting >= max(s.batch, s.listed, batchPerKey*s.active*min(1, s.batch/batchOps)) {
		s.sweep(first)
	}
	s.jumbled = s.jumbled || !sorted
	s.ledger.add(part)
	s.turnout.add(part)
	s.accuracy.count(part)
	if s.run.Complete {
		return
	}
	for i, outcome := range part.Outcome {
		if outcome == rlbench.Allowed || outcome == rlbench.Denied {
			s.begin = min(s.begin, int64(part.Done[i]))
		}
	}
}

// sweep judges all keys up to the frontier.
func (s *stream) sweep(frontier int64) {
	s.swept = true
	if s.jumbled {
		s.ledger.sort(s.dealt)
		s.jumbled = false
	}
	s.run.Ops = s.ledger.ops
	ops := judged(&s.run)
	s.deal(&ops, frontier)
	if s.over != nil {
		s.starved.begin = beginning
		if !s.run.Complete {
			s.starved.begin = s.begin
		}
		s.accuracy.begin = s.starved.begin
	} else if !s.run.Complete {
		s.accuracy.begin = s.begin
	}
	s.active = 0
	for _, sp := range s.spells {
		if sp != nil {
			s.active++
		}
	}
	for k, sp := range s.spells {
		if sp != nil {
			s.settle(sp, &ops, frontier)
			if len(sp.rows)+len(sp.old) == 0 && frontier != forever && s.idle(sp, frontier) {
				s.rest(sp)
				s.spells[k] = nil
			}
		}
	}
	if frontier != forever {
		s.tidy()
	}
}

// deal gives the ops sent before the frontier to their keys.
func (s *stream) deal(ops *rlbench.Ops, frontier int64) {
	for len(s.spells) < len(ops.Keys) {
		s.spells = append(s.spells, nil)
	}
	for ; s.dealt < ops.Len(); s.dealt++ {
		row := s.dealt
		if ops.Outcome[row] == rlbench.Unsent {
			continue
		}
		if int64(ops.Sent[row]) >= frontier {
			return
		}
		k := ops.Key[row]
		if s.spells[k] == nil {
			s.spells[k] = s.newSpell(ops.Keys[k])
		}
		s.spells[k].rows = append(s.spells[k].rows, uint32(row))
	}
}

func (s *stream) newSpell(name string) *spell {
	sp := &spell{name: name, from: beginning, answered: beginning, cut: beginning, next: beginning, dropped: beginning, past: s.rested[name]}
	if s.over != nil {
		sp.over = s.over.spell()
		sp.starved = s.starved.spell()
	}
	sp.accuracy = s.accuracy.spell()
	return sp
}

// settle judges a key up to the frontier, and drops what is not needed any more.
func (s *stream) settle(sp *spell, ops *rlbench.Ops, frontier int64) {
	s.h.split(ops, sp.name, sp.rows)
	p := piece{history: &s.h, wide: s.wide.widen(&s.h), from: sp.from, to: frontier}
	p.wideFrom, p.wideTo = s.wide.early(p.from), s.wide.early(p.to)
	p.fresh = sort.Search(p.allowed.len(), func(i int) bool { return p.allowed.sent[i] >= p.from })
	// A clock that strays more each moment may make it fall again.
	known, answered := sp.answered, max(sp.answered, s.wide.answered(frontier))
	flying := frontier
	for i, done := range p.allowed.done {
		if done >= answered {
			flying = min(flying, p.allowed.sent[i])
		}
	}
	for q, done := range p.denied.done {
		switch {
		case done < known: // It was judged, and stays for what it was charged.
		case done < answered:
			p.ready = append(p.ready, q)
		default:
			flying = min(flying, p.denied.sent[q])
		}
	}
	if s.over != nil {
		s.over.piece(sp, &p)
		s.starved.piece(sp, &p)
	}
	s.accuracy.piece(sp, &p)
	if frontier != forever {
		s.drop(sp, &p, flying, max(sp.cut, flying-s.horizon-2*s.wide.margin(frontier)), answered)
		sp.from, sp.answered = frontier, answered
	}
}

// early is the earliest that the limiter's clock can have read at a frontier.
func (d doubt) early(frontier int64) int64 {
	if frontier == beginning || frontier == forever {
		return frontier
	}
	return frontier - d.at(frontier)
}

// answered is the moment before which everything done is done before the frontier on
// any clock.
func (d doubt) answered(frontier int64) int64 {
	return frontier - 2*d.margin(frontier)
}

// margin is what the limiter's clock may be off at a frontier.
func (d doubt) margin(frontier int64) int64 {
	if frontier == forever {
		return 0
	}
	return d.at(frontier)
}

// drop lists only what later ops may still meet: allowed ops not done by the cut, the
// refusals not judged yet, and of unknown outcome as many as settle everything.
func (s *stream) drop(sp *spell, p *piece, flying, cut, answered int64) {
	n := 0
	for n < p.allowed.len() && p.allowed.done[n] <= cut {
		n++
	}
	if s.over != nil {
		n = s.over.needed(sp, p, n)
		s.age(sp, p.allowed.row[:n], n == p.allowed.len() && flying == p.to)
	}
	charged := s.over != nil && s.run.Policy.ChargesRefusals
	rows := append(sp.rows[:0], p.allowed.row[n:]...)
	gone := sum(p.allowed.cost[:n])
	for _, done := range p.allowed.done[:n] {
		sp.starved.left = max(sp.starved.left, done)
	}
	refusedGone := int64(0)
	for q, row := range p.denied.row {
		if p.denied.done[q] >= answered || charged && p.denied.done[q] > cut {
			rows = append(rows, row)
		} else {
			refusedGone += p.denied.cost[q]
			if charged {
				sp.starved.left = max(sp.starved.left, p.denied.done[q])
			}
		}
	}
	listed := sp.unlisted
	for i, row := range p.unknown.row {
		if p.unknown.sent[i] < cut && listed > s.capMax {
			sp.unlisted += p.unknown.cost[i]
			continue
		}
		listed += p.unknown.cost[i]
		rows = append(rows, row)
	}
	if s.over != nil {
		if !charged {
			refusedGone = 0
		}
		s.starved.carry(sp, p, cut, gone+refusedGone)
		s.over.carry(sp, p, cut, gone, n)
	}
	slices.Sort(rows)
	sp.rows, sp.cut = rows, cut
}

// age sets rows aside for a witness. Of an idle key none is needed: nothing that comes
// can be broken together with them.
func (s *stream) age(sp *spell, rows []uint32, idle bool) {
	sp.old = append(sp.old, rows...)
	drop := max(0, len(sp.old)-s.spareOf())
	if idle && s.spare < 0 {
		drop = len(sp.old)
	}
	if drop > 0 {
		sp.dropped = int64(s.run.Ops.Sent[sp.old[drop-1]])
		sp.old = sp.old[:copy(sp.old, sp.old[drop:])]
	}
}

// spareOf is how many ops of one key are set aside for a witness.
func (s *stream) spareOf() int {
	if s.spare >= 0 {
		return s.spare
	}
	return int(min(4*s.capMax, int64(spareOps/max(1, s.active))))
}

// idle tells that nothing of a key bears on what is still to come, and that nothing
// would be lost by remembering only how it stood.
func (s *stream) idle(sp *spell, frontier int64) bool {
	if sp.unlisted > 0 || !s.accuracy.idle(sp) {
		return false
	}
	return s.over == nil || s.over.idle(sp, frontier) && s.starved.idle(sp, frontier)
}

func (s *stream) rest(sp *spell) {
	s.accuracy.rest(sp)
	if s.over == nil {
		return
	}
	r := &rested{doubt: sp.starved.doubt + sp.past.starved()}
	s.over.rest(sp, r)
	if _, known := s.rested[sp.name]; known || len(s.rested) < restedMax {
		s.rested[sp.name] = r
		return
	}
	s.forget(sp.name, r)
}

// resting is a key at rest.
type resting struct {
	name string
	*rested
}

// forget joins a key with all others that stood alike: the fullest stands for them.
func (s *stream) forget(name string, r *rested) {
	most := func(r *rested) peak { return s.over.most(&spell{past: r}) }
	kind := fmt.Sprint(r.settled, most(r).over() > 0, r.doubt > 0)
	if f, known := s.forgotten[kind]; known {
		r.doubt = max(r.doubt, f.doubt)
		if most(f.rested).over() >= most(r).over() {
			name, r.most = f.name, f.most
		}
	}
	s.forgotten[kind] = resting{name, r}
}

// tidy drops the rows that no key lists and the names of keys that rest.
func (s *stream) tidy() {
	n := s.ledger.ops.Len()
	live, named := make([]bool, n), make([]bool, len(s.ledger.ops.Keys))
	for row := s.dealt; row < n; row++ {
		live[row] = true
		named[s.ledger.ops.Key[row]] = true
	}
	s.listed, s.active = 0, 0
	for k, sp := range s.spells {
		if sp == nil {
			continue
		}
		named[k] = true
		s.active++
		s.listed += len(sp.rows)
		for _, row := range sp.rows {
			live[row] = true
		}
		for _, row := range sp.old {
			live[row] = true
		}
	}
	spells := s.spells
	rows, keys := s.ledger.keep(live, named)
	s.dealt -= n - s.ledger.ops.Len()
	s.spells = make([]*spell, len(s.ledger.ops.Keys))
	for k, sp := range spells {
		if sp == nil {
			continue
		}
		s.spells[keys[k]] = sp
		for i, row := range sp.rows {
			sp.rows[i] = rows[row]
		}
		for i, row := range sp.old {
			sp.old[i] = rows[row]
		}
	}
}
