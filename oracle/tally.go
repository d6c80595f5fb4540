package oracle

import (
	"fmt"
	"strings"

	"github.com/rlbench/rlbench"
)

// tally joins the rulings on the keys of a Run into one Finding.
type tally struct {
	*evidence
	keys, broken, certain, explained, unsettled int
	// guilty is the worst broken key, open the first that was not settled, fullest
	// the kept one with the greatest doubt.
	guilty, open, fullest struct {
		key string
		ruling
	}
	// most is the greatest doubt of any key.
	most int64
	// frail says why a Fail does not stand on this run; empty when it does.
	frail string
}

// reset forgets every ruling, for another pass.
func (t *tally) reset() { *t = tally{evidence: t.evidence, frail: t.frail} }

func (t *tally) add(key string, r ruling) {
	t.keys++
	t.most = max(t.most, r.doubt)
	switch {
	case r.verdict == rlbench.Fail:
		t.broken++
		worse := r.over > t.guilty.over || r.over == t.guilty.over && r.doubt > t.guilty.doubt
		if t.broken == 1 || worse {
			t.guilty.key, t.guilty.ruling = key, r
		}
	case r.verdict == rlbench.Inconclusive:
		t.unsettled++
		if t.unsettled == 1 {
			t.open.key, t.open.ruling = key, r
		}
	case r.certain:
		t.certain++
		t.fuller(key, r)
	default:
		t.explained++
		t.fuller(key, r)
	}
}

func (t *tally) fuller(key string, r ruling) {
	if t.certain+t.explained == 1 || r.most.over() > t.fullest.most.over() {
		t.fullest.key, t.fullest.ruling = key, r
	}
}

// finding joins the rulings: broken on one key is broken.
func (t *tally) finding() rlbench.Finding {
	f := rlbench.Finding{Doubt: t.most}
	switch {
	case t.broken > 0:
		t.failed(&f)
	case t.unsettled > 0:
		f.Because = fmt.Sprintf("key %q: %s", t.open.key, t.open.because)
		if t.unsettled > 1 {
			f.Because += fmt.Sprintf(" (one of %d keys of %d that were not settled)", t.unsettled, t.keys)
		}
	case len(t.unfit) > 0:
		f.Because = "what there is shows no breach, but " + strings.Join(t.unfit, "; ")
	default:
		f.Verdict = rlbench.Pass
		f.Because = t.keptBecause()
	}
	return f
}

func (t *tally) failed(f *rlbench.Finding) {
	g := t.guilty
	f.Because = fmt.Sprintf("key %q: %s", g.key, g.because)
	if t.broken > 1 {
		f.Because += fmt.Sprintf(" (the worst of %d broken keys of %d)", t.broken, t.keys)
	}
	f.Witness = g.shown
	for _, row := range g.witness {
		f.Witness = append(f.Witness, t.run.Ops.At(int(row)))
	}
	f.Proof = g.proof
	if t.frail != "" {
		f.Because = t.frail + "; otherwise " + f.Because
		return
	}
	f.Verdict = rlbench.Fail
}

func (t *tally) keptBecause() string {
	most := fmt.Sprintf("%d at most where %d is the limit", t.fullest.most.cost, t.fullest.most.allowed)
	scope := ""
	if t.run.Interrupted {
		scope = ", as far as the run came before it was interrupted"
	}
	certainly := "certainly kept"
	if t.run.Excerpt {
		scope, certainly = ", as far as the evidence reaches: what came before it is not known", "kept"
	}
	if t.explained == 0 {
		return fmt.Sprintf("%s on %s, whatever the decision moments were: %s%s", certainly, allKeys(t.keys), most, scope)
	}
	return fmt.Sprintf("explained: some choice of decision moments keeps it on %s (%d %s), in doubt by %d; key %q was the fullest, with %s%s",
		allKeys(t.keys), t.certain, certainly, t.most, t.fullest.key, most, scope)
}

func allKeys(n int) string {
	if n == 1 {
		return "the one key"
	}
	return "all " + count(n, "key")
}

func count(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
