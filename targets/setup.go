package targets

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// WindowMax bounds a limit's window, so that its end is a number on every clock
// here: nanoseconds since the epoch in 64 bits, microseconds in 53.
const WindowMax = 100 * 365 * 24 * time.Hour

// Check returns everything that keeps the design from being opened with the
// setup, each with what to write instead; nil when nothing does. Every Open
// calls it first.
func (d Design) Check(s Setup) error {
	var found []error
	add := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	for _, p := range s.Policy.Problems() {
		add("policy.%s: %s%s", p.Field, p.Text, inBrackets(p.Hint))
	}
	if s.Policy.Algorithm != d.Algorithm {
		add("it implements %s, not %s", d.Algorithm, s.Policy.Algorithm)
	}
	for _, l := range s.Policy.Limits {
		if l.Anchor != "" && !slices.Contains(d.Anchors, l.Anchor) {
			add("it has no windows from %s, only from one of %v", l.Anchor, d.Anchors)
		}
		if l.Per > WindowMax {
			add("a window of %s is longer than %s", l.Per, WindowMax)
		}
	}
	if d.Accept != nil {
		if err := d.Accept(s.Policy.Limits); err != nil {
			found = append(found, err)
		}
	}
	if s.Instances < 1 || s.InFlight < 1 {
		add("it needs at least 1 instance and 1 request in flight, not %d and %d", s.Instances, s.InFlight)
	}
	if d.Needs != NoServer {
		d.checkServer(s, add)
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("opening %s: %w", d.Name, errors.Join(found...))
}

func (d Design) checkServer(s Setup, add func(format string, args ...any)) {
	if s.Address == "" {
		add("it needs the address of a %s server", d.Needs)
	}
	if s.Namespace == "" {
		// Close removes what begins with the namespace: an empty one would be
		// everything on the server.
		add("it needs a namespace for its keys")
	}
	if s.Timeout <= 0 {
		add("it needs a timeout above 0, not %s", s.Timeout)
	}
}

func inBrackets(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

// Promise returns the policy as the design keeps it: no finer than its own
// clock, and saying whether refusals use budget.
func (d Design) Promise(p rlbench.Policy) rlbench.Policy {
	for _, l := range p.Limits {
		p.Resolution = max(p.Resolution, d.Resolution(l.Anchor))
	}
	p.ChargesRefusals = p.ChargesRefusals || d.ChargesRefusals
	return p
}
