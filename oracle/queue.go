package oracle

import (
	"fmt"
	"slices"

	"github.com/rlbench/rlbench"
)

// never-over and never-starved of a leaky queue: a bucket (capacity, r) at the decision.
//
// A caller that waits in a queue is answered when it is let go, so [sent, done] says
// little of when it was taken in: deciding at done would excuse everything. The limiter
// must state it: decided_at, on its own clock. An op's moment then lies between its
// stamp and one step of that clock later, widened by how far the clock may be off, and
// still in [sent, done]. A stamp that lies outside keeps [sent, done], which accuses
// nobody, and nothing passes by it; own-model accuses it. Unknown ops are charged as ever. Without stamps, or with a
// clock that was not read: Inconclusive.
// Smallest history that breaks it, at 1 in 4 and capacity 1: A[0,9] decided at 0 and
// A[1,9] decided at 1, which [sent, done] alone would excuse.

// stamped judges a queue by its stamps: inner sees each key with the moments that the
// stamps leave.
type stamped struct {
	inner judge
	ops   rlbench.Ops
	moved history
	rows  []uint32
	// astray is how many ops state a decision outside of [sent, done].
	astray int
}

// byStamps returns the judge that open makes, shown the stated moments, or why none can
// be had.
func byStamps(e *evidence, open func() judge) (judge, string) {
	if e.run.Ops.DecidedAt == nil || !e.run.Clock.Stated {
		return nil, "a queue answers when it lets go, and nothing says when it took requests in (decided_at, on a clock that was read)"
	}
	s := &stamped{inner: open(), ops: e.ops}
	s.ops.Sent, s.ops.Done = slices.Clone(e.ops.Sent), slices.Clone(e.ops.Done)
	off := int64(e.run.Clock.Error)
	for i, outcome := range e.ops.Outcome {
		if outcome != rlbench.Allowed && outcome != rlbench.Denied {
			continue
		}
		at := e.run.Ops.DecidedAt[i]
		if at == rlbench.None && outcome == rlbench.Denied {
			continue // nobody waits for a refusal: it is answered when it is decided
		}
		if at == rlbench.None {
			return nil, fmt.Sprintf("op %d does not say when it was decided, and a queue answers only when it lets go", e.run.Ops.ID[i])
		}
		early := max(e.ops.Sent[i], rlbench.Instant(at-off))
		late := min(e.ops.Done[i], rlbench.Instant(at+off+int64(e.run.Policy.Resolution)))
		if early > late {
			s.astray++
			continue
		}
		s.ops.Sent[i], s.ops.Done[i] = early, late
	}
	return s, ""
}

func (s *stamped) key(h *history) {
	s.rows = s.rows[:0]
	for _, c := range []*columns{&h.allowed, &h.unknown, &h.denied} {
		s.rows = append(s.rows, c.row...)
	}
	slices.Sort(s.rows)
	s.moved.split(&s.ops, h.key, s.rows)
	s.inner.key(&s.moved)
}

func (s *stamped) again() bool { return s.inner.again() }

func (s *stamped) finding() rlbench.Finding {
	f := s.inner.finding()
	if s.astray > 0 && f.Verdict == rlbench.Pass {
		f.Verdict = rlbench.Inconclusive
		f.Because = fmt.Sprintf("%s outside of the time between sending and answer; by the others %s", stamps(s.astray), f.Because)
	}
	f.Because += " (each taken at its stated decision)"
	if len(f.Proof) > 0 {
		f.Proof = slices.Insert(f.Proof, 0, "each op is taken where it says that it was decided: read its sent and done below as the bounds of that stamp")
	}
	return f
}

func stamps(n int) string {
	if n == 1 {
		return "1 decision is stated"
	}
	return fmt.Sprintf("%d decisions are stated", n)
}
