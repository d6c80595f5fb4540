package oracle

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// thinMax bounds the ops that are tried while a witness is thinned, over all tries.
const thinMax = 1 << 22

// thin returns the fewest ops it can find that still cannot be explained: it starts
// from a stretch that cannot, and leaves out ever smaller parts while that stays so.
// broken says whether the chosen ops cannot be explained.
func thin(chosen []int, broken func([]int) bool) []int {
	tried := 0
	for part := (len(chosen) + 1) / 2; part >= 1; part /= 2 {
		for from := 0; from < len(chosen); {
			if tried += len(chosen); tried > thinMax {
				return chosen
			}
			to := min(len(chosen), from+part)
			rest := append(append([]int{}, chosen[:from]...), chosen[to:]...)
			if len(rest) > 0 && broken(rest) {
				chosen = rest
			} else {
				from = to
			}
		}
	}
	return chosen
}

// pick returns the chosen ops alone, in order of sent.
func (c *columns) pick(chosen []int) *columns {
	p := &columns{}
	for _, i := range chosen {
		p.sent = append(p.sent, c.sent[i])
		p.done = append(p.done, c.done[i])
		p.cost = append(p.cost, c.cost[i])
		if len(c.row) > 0 {
			p.row = append(p.row, c.row[i])
		}
	}
	return p
}

// stretch returns ops that cannot be explained: of those sent up to the first
// crisis, as few of the last as doubling finds. last is the last op needed.
func stretch(last int, broken func([]int) bool) []int {
	for size := 4; ; size *= 2 {
		from := max(0, last+1-size)
		chosen := span(from, last+1)
		if from == 0 || broken(chosen) {
			return chosen
		}
	}
}

// lastNeeded returns the last op in order of sent without which all can be
// explained, given that all cannot.
func (e *explainer) lastNeeded(ops *columns, rules []rule, broken func([]int) bool) int {
	scaled := ops.scaled(rules)
	if equal := equalCost(ops.cost); equal > 0 && scaled != nil && e.explain(scaled, paces(rules, equal, ops.len())) == unexplained {
		return int(slices.Max(e.served[:e.crisis+1]))
	}
	return sort.Search(ops.len(), func(i int) bool { return broken(span(0, i+1)) })
}

func span(from, to int) []int {
	all := make([]int, to-from)
	for i := range all {
		all[i] = from + i
	}
	return all
}

// stretchProof says why ops held too much whatever the moments, where one stretch
// of time does.
func stretchProof(ops *columns, p peak) []string {
	return []string{
		fmt.Sprintf("these %s cost %d", count(ops.len(), "op"), sum(ops.cost)),
		fmt.Sprintf("all were sent at %s or later and answered by %s", sayInstant(ops.sent[0]), sayInstant(slices.Max(ops.done))),
		"so whenever the limiter decided each of them, it was within that stretch",
		fmt.Sprintf("it lies in [%s, %s], which has room for %d: exceeded by %d",
			sayInstant(p.from), sayInstant(p.to), p.allowed, p.over()),
	}
}

// inferences writes down why the rounds leave no moments for the ops, which are of
// equal cost: each line follows from the ones before and from the promise.
func inferences(ops *columns, rules []rule, equal int64) []string {
	var lines []string
	scaled := ops.scaled(rules)
	if scaled == nil {
		return nil
	}
	say := sayScaled(gridOf(rules))
	rounds(scaled, paces(rules, equal, ops.len()), func(s step, slots []int64) {
		line := fmt.Sprintf("in order of time, %s; so by %s at most %d of the %d can have been decided",
			saySlots(slots, s.upTo, say), say(s.to), s.upTo, len(slots))
		line += fmt.Sprintf("; whole in [%s, %s]: %d of them", say(s.from), say(s.to), s.whole)
		if before := s.upTo - s.whole; before >= 0 {
			line += fmt.Sprintf(", so decision %d is not before %s", before+1, say(s.from))
		} else {
			line += ": more than can be"
		}
		lines = append(lines, line)
	})
	return lines
}

// saySlotsMax is how many slots a line names at its end.
const saySlotsMax = 3

// saySlots names the last slots that are in reach and the first that is not.
func saySlots(slots []int64, upTo int, say func(int64) string) string {
	text := ""
	for i := max(0, upTo+1-saySlotsMax); i < len(slots) && i <= upTo; i++ {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("decision %d is not before %s", i+1, say(slots[i]))
	}
	return text
}

// sayScaled writes instants in time that is scaled up.
func sayScaled(scale int64) func(int64) string {
	return func(t int64) string {
		whole := floorDiv(t, scale)
		if rest := t - whole*scale; rest != 0 {
			return fmt.Sprintf("%s+%d/%dns", sayInstant(whole), rest, scale)
		}
		return sayInstant(whole)
	}
}

// sayInstant writes an instant of the run.
func sayInstant(t int64) string { return time.Duration(t).String() }
