package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/oracle"
	"github.com/rlbench/rlbench/reports"
	"github.com/rlbench/rlbench/targets/broken"
)

// museumSchema is the schema_version of what museum --json prints.
const museumSchema = 1

// inFlightMax bounds the ops in flight at once where a correct limiter's run is also
// replayed (own-model, key-isolation).
const inFlightMax = 12

// museum is what a visit came to, as --json prints it.
type museum struct {
	SchemaVersion int          `json:"schema_version"`
	Seeds         int64        `json:"seeds"`
	Mutants       []exhibit    `json:"mutants"`
	Correct       []innocent   `json:"correct"`
	Caught        int          `json:"caught"`
	Accusations   []accusation `json:"accusations"`
	CorrectRuns   int64        `json:"correct_runs"`
	ExitStatus    int          `json:"exit_status"`
}

// exhibit is a mutant and what its check said of it.
type exhibit struct {
	Name    string `json:"name"`
	Class   string `json:"class"`
	About   string `json:"about"`
	Promise string `json:"promise"`
	Check   string `json:"check"`
	// Caught counts the seeds for which the check failed with a witness. The other
	// fields are of the first such seed, or of the first seed when there was none.
	Caught  int64    `json:"caught"`
	Seed    int64    `json:"seed"`
	Because string   `json:"because"`
	Witness int      `json:"witness_ops"`
	Proof   []string `json:"proof"`
	// Ops are the witness.
	Ops []reports.Witness `json:"witness"`
}

// innocent is a correct limiter and how its runs were judged.
type innocent struct {
	Name  string `json:"name"`
	About string `json:"about"`
	Runs  int64  `json:"runs"`
	// Verdicts counts the findings of every check that its policy calls for.
	Verdicts map[string]map[rlbench.Verdict]int64 `json:"verdicts"`
}

// accusation is a Fail of a correct limiter.
type accusation struct {
	Name    string `json:"name"`
	Seed    int64  `json:"seed"`
	Check   string `json:"check"`
	Because string `json:"because"`
}

func museumCommand() *cobra.Command {
	var asJSON bool
	var seeds int64
	cmd := &cobra.Command{
		Use:   "museum [NAME…]",
		Short: "Show that wrong limiters are caught, and correct ones never accused",
		Long: `Judges limiters that are wrong on purpose, each in one way that real limiters have
been wrong in, and correct limiters of every algorithm. All of them run in virtual
time, from seeds: the same figures on every machine, and no server.

Exit status: 0 every mutant was caught by the check that it names and no correct
limiter was accused, 1 otherwise.`,
		Example: `  rlbench museum
  rlbench museum bucket-uncapped                 # what is wrong with it, and the proof
  rlbench museum --seeds 1000 gcra sliding-log   # correct ones, a thousand times each`,
		RunE: func(cmd *cobra.Command, names []string) error {
			m, err := visit(cmd.Context(), names, seeds)
			if err != nil {
				return err
			}
			if asJSON {
				err = m.writeJSON(cmd.OutOrStdout())
			} else {
				err = m.writeText(cmd.OutOrStdout(), len(names) > 0)
			}
			if err != nil {
				return fmt.Errorf("printing the museum: %w", err)
			}
			return status(m.ExitStatus).orNil()
		},
	}
	cmd.Flags().Int64Var(&seeds, "seeds", 20, "judge each limiter for the seeds from 1 to this one")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document and nothing else")
	return cmd
}

// visit judges the limiters of those names, all when there are none.
func visit(ctx context.Context, names []string, seeds int64) (*museum, error) {
	if seeds < 1 {
		return nil, badInput("", "--seeds %d: at least 1", seeds)
	}
	mutants, correct, err := named(names)
	if err != nil {
		return nil, err
	}
	var twins []broken.Limiter
	m := &museum{SchemaVersion: museumSchema, Seeds: seeds, Mutants: []exhibit{}, Correct: []innocent{}, Accusations: []accusation{}}
	for _, mutant := range mutants {
		if err := m.show(ctx, mutant); err != nil {
			return nil, err
		}
		twins = append(twins, mutant.Twin())
	}
	for _, limiter := range correct {
		if err := m.acquit(ctx, limiter.Name, limiter.About, limiter); err != nil {
			return nil, err
		}
	}
	if len(twins) > 0 {
		if err := m.acquit(ctx, "twins", "correct limiters with the policies and the traffic of the mutants", twins...); err != nil {
			return nil, err
		}
	}
	m.conclude()
	return m, nil
}

// conclude settles the exit status: one that got away, or one accused, is one too many.
func (m *museum) conclude() {
	if m.Caught < len(m.Mutants) || len(m.Accusations) > 0 {
		m.ExitStatus = int(statusNotMet)
	}
}

// named finds the limiters of those names, in the museum's order.
func named(names []string) ([]broken.Mutant, []broken.Limiter, error) {
	mutants, correct := broken.Mutants(), broken.Correct()
	if len(names) == 0 {
		return mutants, correct, nil
	}
	found := map[string]bool{}
	left := func(l broken.Limiter) bool {
		found[l.Name] = slices.Contains(names, l.Name)
		return !found[l.Name]
	}
	mutants = slices.DeleteFunc(mutants, func(m broken.Mutant) bool { return left(m.Limiter) })
	correct = slices.DeleteFunc(correct, left)
	for _, name := range names {
		if !found[name] {
			return nil, nil, badInput("rlbench museum lists them all", "there is no limiter %q in the museum", name)
		}
	}
	return mutants, correct, nil
}

// show judges a mutant by the check that it names.
func (m *museum) show(ctx context.Context, mutant broken.Mutant) error {
	e := exhibit{Name: mutant.Name, Class: mutant.Class, About: mutant.About, Check: mutant.Check, Seed: 1, Ops: []reports.Witness{}}
	for seed := int64(1); seed <= m.Seeds; seed++ {
		findings, err := judgeMuseum(ctx, mutant.Limiter, seed, mutant.Check)
		if err != nil {
			return err
		}
		f := findings[0]
		caught := f.Verdict == rlbench.Fail && len(f.Witness) > 0
		if caught {
			e.Caught++
		}
		if seed == 1 || caught && e.Caught == 1 {
			e.Seed, e.Promise, e.Because, e.Witness, e.Proof = seed, f.Promise, f.Because, len(f.Witness), append([]string{}, f.Proof...)
			e.Ops = witnesses(f.Witness)
		}
	}
	if e.Caught > 0 {
		m.Caught++
	}
	m.Mutants = append(m.Mutants, e)
	return nil
}

// acquit judges correct limiters by every check that their policies call for.
func (m *museum) acquit(ctx context.Context, name, about string, limiters ...broken.Limiter) error {
	i := innocent{Name: name, About: about, Runs: m.Seeds * int64(len(limiters)), Verdicts: map[string]map[rlbench.Verdict]int64{}}
	for _, limiter := range limiters {
		for seed := int64(1); seed <= m.Seeds; seed++ {
			findings, err := judgeMuseum(ctx, limiter, seed)
			if err != nil {
				return err
			}
			for _, f := range findings {
				m.note(&i, limiter.Name, seed, f)
			}
		}
	}
	m.CorrectRuns += i.Runs
	m.Correct = append(m.Correct, i)
	return nil
}

func (m *museum) note(i *innocent, name string, seed int64, f rlbench.Finding) {
	if i.Verdicts[f.Check] == nil {
		i.Verdicts[f.Check] = map[rlbench.Verdict]int64{}
	}
	i.Verdicts[f.Check][f.Verdict]++
	if f.Verdict == rlbench.Fail {
		m.Accusations = append(m.Accusations, accusation{Name: name, Seed: seed, Check: f.Check, Because: f.Because})
	}
}

// judgeMuseum judges one run by the checks of those names, with none by checksOf. The
// limiters are ours: that one cannot be judged is our own bug.
func judgeMuseum(ctx context.Context, l broken.Limiter, seed int64, names ...string) ([]rlbench.Finding, error) {
	if ctx.Err() != nil {
		return nil, statusInterrupted
	}
	run, checks := l.Run(seed), names
	if len(names) == 0 {
		checks = checksOf(run)
	}
	findings, err := oracle.Judge(run, checks...)
	if err != nil {
		return nil, &failure{status: statusBug, err: fmt.Errorf("judging %s with seed %d: %w", l.Name, seed, err)}
	}
	return findings, nil
}

// checksOf returns every check whose promise the run's policy makes. Those that replay
// the decisions go by one clock, and try every order of the ops in flight: they judge
// where the instances' clocks agree and few ops are in flight.
func checksOf(run *rlbench.Run) (names []string) {
	replays := run.Clock.Error == 0 && together(&run.Ops) <= inFlightMax
	for _, check := range oracle.Checks() {
		if check.Promise(run.Policy) != "" && (replays || !check.OnRequest) {
			names = append(names, check.Name)
		}
	}
	return names
}

// together is the most ops that were in flight at once, over all keys. Nobody knows
// when one of unknown outcome ended.
func together(ops *rlbench.Ops) int {
	most := 0
	for _, at := range ops.Sent {
		n := 0
		for j, sent := range ops.Sent {
			if sent <= at && (ops.Done[j] >= at || ops.Outcome[j] == rlbench.Unknown) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func (m *museum) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(m)
}

// writeText prints the tables and the score; closely, what is known of each mutant.
func (m *museum) writeText(w io.Writer, closely bool) error {
	var text strings.Builder
	if closely {
		m.describe(&text)
	} else {
		m.list(&text)
	}
	m.listCorrect(&text)
	if len(m.Mutants) > 0 {
		fmt.Fprintf(&text, "%d of %d caught", m.Caught, len(m.Mutants))
	}
	if len(m.Mutants) > 0 && len(m.Correct) > 0 {
		text.WriteString("; ")
	}
	if len(m.Correct) > 0 {
		fmt.Fprintf(&text, "correct limiters: %d accusations in %d runs", len(m.Accusations), m.CorrectRuns)
	}
	_, err := fmt.Fprintln(w, cutLines(text.String(), terminalWidth(w)))
	return err
}

func (m *museum) list(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MUTANT\tCLASS\tCHECK\tCAUGHT\tBECAUSE")
	for _, e := range m.Mutants {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", e.Name, e.Class, e.Check, e.caught(m.Seeds), e.Because)
	}
	table.Flush() // A strings.Builder takes everything.
}

// caught says for how many seeds it was, and which one to look at.
func (e exhibit) caught(seeds int64) string {
	if e.Caught == 0 {
		return fmt.Sprintf("GOT AWAY in %d", seeds)
	}
	return fmt.Sprintf("%d of %d, seed %d", e.Caught, seeds, e.Seed)
}

func (m *museum) describe(w io.Writer) {
	for _, e := range m.Mutants {
		fmt.Fprintf(w, "%s (%s): %s\n", e.Name, e.Class, e.About)
		fmt.Fprintf(w, "  promise  %s\n", e.Promise)
		fmt.Fprintf(w, "  %s: %s\n", e.Check, e.caught(m.Seeds))
		fmt.Fprintf(w, "  because  %s\n", e.Because)
		for _, op := range e.Ops {
			fmt.Fprintf(w, "  witness  op %d of %q through instance %d, cost %d, %s, sent %s, done %s\n",
				op.Op, op.Key, op.Instance, op.Cost, op.Outcome, moment(op.Sent), moment(op.Done))
		}
		for _, step := range e.Proof {
			fmt.Fprintf(w, "  proof    %s\n", step)
		}
		fmt.Fprintln(w)
	}
}

func moment(ns *int64) string {
	if ns == nil {
		return rlbench.NoInstant.String()
	}
	return rlbench.Instant(*ns).String()
}

func (m *museum) listCorrect(w io.Writer) {
	if len(m.Correct) == 0 {
		return
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CORRECT LIMITER\tCHECK\tRUNS\tPASS\tINCONCLUSIVE\tACCUSED")
	for _, i := range m.Correct {
		for _, check := range oracle.Checks() {
			if v := i.Verdicts[check.Name]; v != nil {
				fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\t%d\n", i.Name, check.Name, v[rlbench.Pass]+v[rlbench.Inconclusive]+v[rlbench.Fail], v[rlbench.Pass], v[rlbench.Inconclusive], v[rlbench.Fail])
			}
		}
	}
	table.Flush()
	for _, a := range m.Accusations {
		fmt.Fprintf(w, "ACCUSED %s, seed %d, %s: %s\n", a.Name, a.Seed, a.Check, a.Because)
	}
	fmt.Fprintln(w)
}

// cutLines cuts every line to a terminal's width, where there is one.
func cutLines(text string, width int) string {
	if width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if runes := []rune(line); len(runes) > width {
			lines[i] = string(runes[:width-1]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}
