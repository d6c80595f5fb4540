package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rlbench/rlbench"
)

// never-starved: no request was refused while the promise had room for it.
//
// Fail: some refusal had room at every moment in its [sent, done], under every limit,
// even with all doubt charged: ops of unknown outcome from the moment they were sent
// for ever, ops in flight at the same instant before the refusal, and what the
// limiter let through beyond its own promise too. Pass: each refusal alone has a
// moment at which it may have been full.
// Smallest history that breaks it: "L=1 W=2: D[0,0]"; the smallest that one look at
// both ends of the interval misses: "L=2 W=1: D[3,4] A[3,3] A[4,5]".
// Smallest innocent one that a strict comparison would accuse: "L=1 W=1: A[0,1] D[1,1]"
// (at one instant the order is unknown).

// starved judges refusals.
type starved struct {
	// lenient accuse with all doubt of the limiter's clock charged; in one of the
	// strict worlds that its error allows every refusal must be excused.
	lenient []room
	strict  [][]room
	wide    doubt
	// world is the one in which keys are excused now, dead: this one fails.
	world int
	dead  bool
	// firm are those that are full for certain when they seem so; none where a
	// window may have opened anew.
	firm []room
	// blind says why refusals that may be right cannot be said to be so; empty when
	// they can.
	blind    string
	refusals int
	// begin is the moment from which on everything decided is in the evidence.
	begin int64
	last  *charges
	tally
}

func newStarved(e *evidence, lenient []room, strict [][]room, wide doubt) *starved {
	s := &starved{lenient: lenient, strict: strict, wide: wide, tally: tally{evidence: e}, begin: beginOf(e.run)}
	if !e.run.Complete && !e.run.Excerpt {
		s.frail = "ops that are not in the evidence may have filled the limit"
	}
	return s
}

// beginOf returns the moment from which on everything decided is in the evidence: a
// log cut out of traffic holds all that was answered from the first answer on.
func beginOf(run *rlbench.Run) int64 {
	if run.Complete {
		return beginning
	}
	first := int64(-beginning)
	for i, outcome := range run.Ops.Outcome {
		if outcome == rlbench.Allowed || outcome == rlbench.Denied {
			first = min(first, int64(run.Ops.Done[i]))
		}
	}
	return first
}

// again asks for another pass when this setting of the limiter's clock does not
// excuse every refusal and another is left.
func (s *starved) again() bool {
	if !s.dead || s.world+1 >= len(s.strict) || s.broken > 0 {
		return false
	}
	s.world++
	s.dead, s.refusals = false, 0
	s.reset()
	return true
}

func (s *starved) key(h *history) {
	n := h.denied.len()
	s.refusals += n
	if n == 0 {
		s.add(h.key, ruling{verdict: rlbench.Pass, certain: true})
		return
	}
	wide := s.wide.widen(h)
	charged := s.charges(wide)
	least := s.spare(wide, charged, s.lenient)
	worst, wrong := wrongest(least)
	doubt := s.doubtful(wide, charged)
	if wrong > 0 {
		s.add(h.key, s.conclude(s.convict(wide, charged, worst, least[worst]), wrong, 0, doubt))
		return
	}
	s.add(h.key, s.conclude(ruling{}, 0, s.doubted(h, s.charges(h)), doubt))
}

// wrongest returns the first of the refusals that had most to spare, and how many
// had room.
func wrongest(spare []int64) (worst, wrong int) {
	worst = -1
	for q := range spare {
		if spare[q] < 0 {
			continue
		}
		wrong++
		if worst < 0 || spare[q] > spare[worst] {
			worst = q
		}
	}
	return worst, wrong
}

// doubted counts the refusals that had room in the world of this pass.
func (s *starved) doubted(h *history, c *charges) int {
	if s.world >= len(s.strict) {
		return 0
	}
	_, doubted := wrongest(s.spare(h, c, s.strict[s.world]))
	return doubted
}

// conclude rules on a key of which so many refusals were wrong for certain, convicted
// the worst of them, and so many more if the limiter's clock was right.
func (s *starved) conclude(convicted ruling, wrong, doubted int, doubt int64) ruling {
	switch {
	case wrong > 0:
		convicted.doubt = doubt
		if wrong > 1 {
			convicted.because += fmt.Sprintf(" (one of %d such refusals)", wrong)
		}
		return convicted
	case doubted > 0:
		s.dead = true
		return ruling{doubt: doubt, because: fmt.Sprintf("%s had room for certain unless the limiter's clock was off as far as it may be", count(doubted, "refusal"))}
	case doubt > 0 && s.blind != "":
		return ruling{doubt: doubt, because: s.blind}
	}
	return ruling{verdict: rlbench.Pass, certain: doubt == 0, doubt: doubt}
}

// doubtful returns the cost of the refusals of a key that some moments would make
// wrong: those for which no one limit was certainly full throughout.
func (s *starved) doubtful(h *history, c *charges) int64 {
	n := h.denied.len()
	right := make([]bool, n)
	least := make([]int64, n)
	for _, r := range s.firm {
		c.emptiest(r, h, least)
		for q, held := range least {
			right[q] = right[q] || held+h.denied.cost[q] > r.capacity()
		}
	}
	doubt := int64(0)
	for q, cost := range h.denied.cost {
		if !right[q] {
			doubt += cost
		}
	}
	return doubt
}

// spare returns for each refusal what would have been left, had it been let through,
// under the tightest limit at the fullest moment: below 0 it may have been right.
func (s *starved) spare(h *history, c *charges, rooms []room) []int64 {
	n := h.denied.len()
	least, full := make([]int64, n), make([]int64, n)
	for i, r := range rooms {
		c.fullest(r, h, full)
		for q := range full {
			spare := r.capacity() - full[q] - h.denied.cost[q]
			if h.denied.sent[q] < s.begin+r.horizon() && s.begin > beginning {
				spare = min(spare, -1) // What filled it may lie before the evidence.
			}
			if i == 0 || spare < least[q] {
				least[q] = spare
			}
		}
	}
	return least
}

// charges gathers the charges of a key, which keep their working space.
func (s *starved) charges(h *history) *charges {
	c := newCharges(h, s.run.Policy.ChargesRefusals)
	if s.last != nil {
		c.scratch = s.last.scratch
	}
	s.last = c
	return c
}

// convict writes the ruling on the refusal that had most room.
func (s *starved) convict(h *history, c *charges, q int, spare int64) ruling {
	r := ruling{verdict: rlbench.Fail, over: spare}
	refused := s.run.Ops.At(int(h.denied.row[q]))
	r.because = fmt.Sprintf("op %d of cost %d was refused although it would have left at least %d to spare at every moment from %s to %s",
		refused.ID, refused.Cost, spare, refused.Sent, refused.Done)
	r.witness = []uint32{h.denied.row[q]}
	for _, limit := range s.lenient {
		held := limit.held(h, c, q)
		line := fmt.Sprintf("at the fullest moment at most %s of cost %d may have counted against %d",
			count(len(held), "op"), s.costOf(held), limit.capacity())
		if c.partial {
			line += ", beside what sooner ones had left there, which were not kept while the evidence was read"
		}
		r.proof = append(r.proof, line)
		r.witness = append(r.witness, held...)
	}
	r.proof = append(r.proof, fmt.Sprintf("with the %d of op %d every limit still held, so no moment explains the refusal", refused.Cost, refused.ID))
	slices.SortFunc(r.witness, func(a, b uint32) int {
		ops := &s.run.Ops
		if ops.Sent[a] != ops.Sent[b] {
			return cmp.Compare(int64(ops.Sent[a]), int64(ops.Sent[b]))
		}
		return cmp.Compare(ops.ID[a], ops.ID[b])
	})
	r.witness = slices.Compact(r.witness)
	return r
}

func (s *starved) costOf(rows []uint32) int64 {
	total := int64(0)
	for _, row := range rows {
		total += s.run.Ops.Cost[row]
	}
	return total
}

// finding says what the rulings come to in words of refusals.
func (s *starved) finding() rlbench.Finding {
	f := s.tally.finding()
	if f.Verdict == rlbench.Pass {
		f.Because = fmt.Sprintf("each of %s may have been right: there is a moment in its interval at which some limit may have had no room", count(s.refusals, "refusal"))
		if s.refusals == 0 {
			f.Because = "nothing was refused"
		}
	}
	return f
}
