package oracle

import (
	"errors"
	"fmt"

	"github.com/rlbench/rlbench"
)

// Fold judges evidence that comes in parts, such as a log that is read as it grows.
// A Run is one part: Judge and a Fold fed the same ops agree.
//
// The promises of sliding logs, aligned windows and buckets, whole or in parts, are
// judged as the ops come: a Fold keeps what their windows and the ops in flight need,
// and of keys that were idle for longer than that their ruling. Checks and promises
// that look back further keep all ops, up to [FoldKeepMax].
//
// In parts it may know less than the whole Run tells, never more: where costs differ
// it does not look for an explanation backwards in time, a search that takes up too
// many ops again stays undecided, and of a stretch longer than is kept the witness
// is only its end. Then a finding is Inconclusive, or shows more ops or fewer.
type Fold struct {
	head   rlbench.Run
	names  []string
	closed bool
	// total is the cost of all ops, last the latest Sent.
	total int64
	last  rlbench.Instant
	// stream judges as the ops come; kept are the ops for checks that need them all,
	// nil where none does, and over tells that they became too many.
	stream *stream
	kept   *ledger
	over   bool
	// apart are the names of those checks.
	apart []string
}

// FoldKeepMax is how many ops a Fold keeps for checks that need all of them.
const FoldKeepMax = 1 << 22

var (
	// errClosed is returned by a Fold that was closed.
	errClosed = errors.New("the fold was closed before")
	// errOrder is returned for ops that come too late.
	errOrder = errors.New("a part must not go back to before the parts before it")
)

// Open begins a Fold for the named checks, or all that apply. The head is a Run
// without ops: policy, clock, events, whether it will be complete.
func Open(head *rlbench.Run, names ...string) (*Fold, error) {
	chosen, err := choose(head.Policy, names)
	if err != nil {
		return nil, err
	}
	f := &Fold{head: *head, last: beginning}
	f.head.Ops = rlbench.Ops{Errors: []string{""}}
	if err := readable(&f.head); err != nil {
		return nil, err
	}
	f.stream = newStream(&f.head)
	for _, p := range chosen {
		f.names = append(f.names, p.name)
		if !f.stream.takes(p.name) {
			f.apart, f.kept = append(f.apart, p.name), newLedger()
		}
	}
	return f, nil
}

// Feed adds a part of the evidence, which may be reused afterwards. Its ops may be in
// any order, but none was sent before one of the parts before; ops that were never sent
// may stand anywhere. The error says what is wrong with an op; then nothing of the part
// was taken.
func (f *Fold) Feed(part *rlbench.Ops) error {
	if f.closed {
		return errClosed
	}
	if err := readable(&rlbench.Run{Target: f.head.Target, Policy: f.head.Policy, Ops: *part}); err != nil {
		return err
	}
	first, last, sorted := rlbench.Instant(forever), f.last, true
	total := f.total
	for i, outcome := range part.Outcome {
		if outcome == rlbench.Unsent {
			continue
		}
		if part.Sent[i] < f.last {
			return fmt.Errorf("judging a run of target %q: op %d, sent at %s: %w", f.head.Target, part.ID[i], part.Sent[i], errOrder)
		}
		sorted = sorted && part.Sent[i] >= last
		first, last = min(first, part.Sent[i]), max(last, part.Sent[i])
		if total += part.Cost[i]; total > costMax {
			return fmt.Errorf("judging a run of target %q: its costs add up to more than %d", f.head.Target, int64(costMax))
		}
	}
	f.last, f.total = last, total
	f.stream.feed(part, int64(first), sorted)
	if f.kept == nil || f.over {
		return nil
	}
	if f.kept.ops.Len()+part.Len() > FoldKeepMax {
		f.kept, f.over = nil, true
		return nil
	}
	f.kept.add(part)
	return nil
}

// Close judges what was fed. The Fold takes no more afterwards.
func (f *Fold) Close() ([]rlbench.Finding, rlbench.Accuracy, error) {
	if f.closed {
		return nil, rlbench.Accuracy{}, errClosed
	}
	f.closed = true
	found := map[string]rlbench.Finding{}
	if f.kept != nil {
		run := f.head
		run.Ops = f.kept.ops
		findings, err := Judge(&run, f.apart...)
		if err != nil {
			return nil, rlbench.Accuracy{}, fmt.Errorf("closing the fold: %w", err)
		}
		for _, finding := range findings {
			found[finding.Check] = finding
		}
	}
	streamed, accuracy, err := f.stream.close(f.names)
	if err != nil {
		return nil, rlbench.Accuracy{}, fmt.Errorf("closing the fold: %w", err)
	}
	for _, finding := range streamed {
		found[finding.Check] = finding
	}
	findings := make([]rlbench.Finding, len(f.names))
	for i, name := range f.names {
		finding, judged := found[name]
		if !judged {
			finding = f.tooMany(name)
		}
		findings[i] = finding
	}
	return findings, accuracy, nil
}

// tooMany is the finding of a check that could not keep all ops.
func (f *Fold) tooMany(name string) rlbench.Finding {
	finding := rlbench.Finding{Check: name, Because: fmt.Sprintf("the evidence has more than the %d ops that this check can keep while it is read", FoldKeepMax)}
	for _, p := range promises() {
		if p.name == name {
			finding.Promise = p.words(f.head.Policy)
		}
	}
	return finding
}
