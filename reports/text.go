package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rlbench/rlbench"
)

// TextOptions say what [WriteText] writes for.
type TextOptions struct {
	// Color marks verdicts with ANSI colours as well.
	Color bool
	// Width is how many columns there are; 0 stands for 80.
	Width int
	// Quiet leaves out all but the targets whose expectations were not met, and
	// the last line.
	Quiet bool
}

const (
	defaultWidth = 80
	// widthMin keeps tables in one piece on screens that claim to be narrower.
	widthMin = 60
	// witnessRows and proofRows bound what is shown of a finding; summary.json
	// has all of it.
	witnessRows = 4
	proofRows   = 6
	// checkNameMax keeps the line of a check within 80 columns.
	checkNameMax = 24
)

// WriteText writes the summary as a person reads it in a terminal. Whatever
// stands in the evidence is shown with its control characters escaped. The
// error is w's.
func WriteText(w io.Writer, s *Summary, options TextOptions) error {
	if options.Width == 0 {
		options.Width = defaultWidth
	}
	p := page{width: max(options.Width, widthMin), color: options.Color}
	if !options.Quiet {
		p.opening(s)
	}
	for i := range s.Targets {
		if !options.Quiet || s.Targets[i].Verdict != rlbench.Pass {
			p.target(&s.Targets[i])
			p.line("")
		}
	}
	p.skipped(s)
	if !options.Quiet {
		p.closing(s)
	}
	p.verdict(s)
	_, err := io.WriteString(w, p.text.String())
	return err
}

func (p *page) opening(s *Summary) {
	title := clean(s.Scenario)
	if s.Why != "" {
		title += ": " + clean(s.Why)
	}
	if !judgedLog(s) {
		title += fmt.Sprintf(" (seed %d)", s.Seed)
	}
	p.wrap("", "", title)
	p.line("")
}

// judgedLog reports whether somebody else made the traffic: then no seed did.
func judgedLog(s *Summary) bool { return len(s.Targets) > 0 && s.Targets[0].Backend == "log" }

// skipped is told even to who asked for little: a target that was not run was
// not judged.
func (p *page) skipped(s *Summary) {
	for _, skip := range s.Skipped {
		p.wrap("", "  ", fmt.Sprintf("skipped %s: %s", clean(skip.Target), clean(skip.Reason)))
	}
}

func (p *page) closing(s *Summary) {
	if s.Interrupted {
		p.wrap("", "  ", "interrupted: the run was stopped before its end, and what it had is judged")
	}
	if s.Folder != "" {
		p.line("evidence: " + clean(s.Folder))
	}
}

// target is one limiter: what was expected and found, and how it did.
func (p *page) target(t *Target) {
	p.wrap("", "  ", fmt.Sprintf("%s (%s): %s", clean(t.Name), served(t), expectations(t)))
	width := 0
	for _, f := range t.Findings {
		width = max(width, utf8.RuneCountInString(checkName(f.Check)))
	}
	for i := range t.Findings {
		p.finding(&t.Findings[i], width)
	}
	p.accuracy(&t.Accuracy)
	p.quantiles(t)
	for _, warning := range t.Warnings {
		p.wrap("  warning: ", "    ", clean(warning))
	}
}

// served says what stood behind the limiter.
func served(t *Target) string {
	backend := clean(t.Backend)
	if t.Backend == "none" {
		backend = "no server"
	}
	if t.BackendVersion != "" {
		backend += ", " + clean(t.BackendVersion)
	}
	return backend
}

func expectations(t *Target) string {
	missed := 0
	for _, f := range t.Findings {
		if !f.AsExpected {
			missed++
		}
	}
	switch {
	case len(t.Findings) == 0:
		return "nothing was judged"
	case missed == 0 && t.Verdict == rlbench.Pass:
		return "as expected"
	case missed == 0:
		return t.Verdict.String()
	}
	return fmt.Sprintf("%d of %d NOT as expected", missed, len(t.Findings))
}

// finding is one check: a line to look down, then what was found in words.
func (p *page) finding(f *Finding, width int) {
	const indent = "           "
	word, paint := mark(f)
	p.line(fmt.Sprintf("  %s%s%-*s  expected %-12s  found %s",
		p.paint(word, paint), strings.Repeat(" ", len(indent)-2-len(word)), width, checkName(f.Check), f.Expected, f.Verdict))
	p.wrap(indent, indent, clean(f.Because))
	if !f.AsExpected && f.Promise != "" {
		p.wrap(indent, indent, "Promised: "+clean(f.Promise))
	}
	p.witness(indent, f.Witness)
	for i, step := range f.Proof {
		if i == proofRows {
			p.line(fmt.Sprintf("%s… and %d more steps", indent, len(f.Proof)-i))
			break
		}
		p.wrap(fmt.Sprintf("%s%d. ", indent, i+1), indent+"   ", clean(step))
	}
}

// checkName is a check's name, short enough for its line.
func checkName(name string) string { return clip(clean(name), checkNameMax) }

// mark is the word that a reader finds an unmet expectation by, and its colour.
func mark(f *Finding) (word, paint string) {
	switch {
	case f.AsExpected:
		return "ok", green
	case f.Verdict == rlbench.Inconclusive:
		return "UNCLEAR", yellow
	}
	return "NOT MET", red
}

// witness shows the first of the ops that a finding rests on.
func (p *page) witness(indent string, ops []Witness) {
	if len(ops) == 0 {
		return
	}
	shown := ops[:min(len(ops), witnessRows)]
	unit, name := instantUnit(shown)
	p.line(fmt.Sprintf("%sThe witness, %s:", indent, count(len(ops), "op")))
	rows := [][]string{{"OP", "INSTANCE", "SENT " + name, "DONE " + name, "COST", "OUTCOME", "KEY"}}
	for _, op := range shown {
		rows = append(rows, []string{
			fmt.Sprint(op.Op), fmt.Sprint(op.Instance), instant(op.Sent, unit), instant(op.Done, unit),
			fmt.Sprint(op.Cost), op.Outcome.String(), strconv.Quote(op.Key),
		})
	}
	p.table(indent+"  ", rows)
	if more := len(ops) - len(shown); more > 0 {
		p.line(fmt.Sprintf("%s  … and %d more", indent, more))
	}
}

func (p *page) accuracy(a *rlbench.Accuracy) {
	const indent = "             "
	if a.Offered == 0 {
		p.line("  accuracy   no request was offered")
		return
	}
	words := fmt.Sprintf("%d offered, %d allowed (an exact log: %d), %d denied", a.Offered, a.Allowed, a.IdealAllowed, a.Denied)
	if a.Unknown > 0 {
		words += fmt.Sprintf(", %d unknown", a.Unknown)
	}
	if a.Unsent > 0 {
		words += fmt.Sprintf(", %d unsent", a.Unsent)
	}
	p.wrap("  accuracy   ", indent, words)
	p.wrap(indent, indent, fmt.Sprintf("beyond an exact log: a cost of %d for certain; %d requests, if each was decided midway",
		a.OverCertain, a.OverEstimate))
	p.wrap(indent, indent, fmt.Sprintf("refused though it had room: %d for certain; %d, if each was decided midway",
		a.RefusedWronglyCertain, a.RefusedWronglyEstimate))
	words = fmt.Sprintf("worst window: %d for certain, %.2f × the limit", a.WorstWindow, a.WorstWindowRatio)
	if a.CannotTell > 0 {
		words += fmt.Sprintf("; cannot be told of %.1f %% of refusals", 100*a.CannotTell)
	}
	p.wrap(indent, indent, words)
}

// quantiles shows how long it took, unless nothing was measured.
func (p *page) quantiles(t *Target) {
	if t.Latency == (Quantiles{}) && t.Service == (Quantiles{}) && t.Lateness == (Quantiles{}) {
		return
	}
	row := func(name string, q Quantiles) []string {
		return []string{name, duration(q.P50), duration(q.P90), duration(q.P99), duration(q.P999), duration(q.Max)}
	}
	p.table("  ", [][]string{
		{"         ", "P50", "P90", "P99", "P99.9", "MAX"},
		row("latency", t.Latency), row("service", t.Service), row("lateness", t.Lateness),
	})
}

// verdict is the last line: what it came to, and the exit status in words.
func (p *page) verdict(s *Summary) {
	paint := map[rlbench.Verdict]string{rlbench.Pass: green, rlbench.Fail: red, rlbench.Inconclusive: yellow}[s.Verdict]
	word := p.paint(strings.ToUpper(s.Verdict.String()), paint)
	p.wrap(word+": ", "  ", fmt.Sprintf("%s (exit status %d)", statusWords(s), s.ExitStatus))
}

// statusWords says what an exit status means.
func statusWords(s *Summary) string {
	missed, all := 0, 0
	for _, t := range s.Targets {
		for _, f := range t.Findings {
			all++
			if !f.AsExpected {
				missed++
			}
		}
	}
	switch s.ExitStatus {
	case 0:
		return "every expectation was met, " + count(all, "check") + " on " + count(len(s.Targets), "target")
	case 1:
		if missed == 0 {
			return "a threshold was missed"
		}
		return fmt.Sprintf("%d of %s not met", missed, count(all, "expectation"))
	case 2:
		if all == 0 {
			return "nothing was judged"
		}
		return fmt.Sprintf("the evidence does not settle %d of %s", missed, count(all, "expectation"))
	case 3:
		return "something in the scenario, a file or the usage is wrong"
	case 4:
		return "something that the run needs is not there"
	case 5:
		return "a defect of rlbench itself"
	case 130:
		return "interrupted"
	}
	return "an exit status without a meaning"
}
