package scenarios

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rlbench/rlbench"
)

// TargetUse is one limiter in a scenario, and what is expected of it.
type TargetUse struct {
	// Name is the target's name in the catalogue.
	Name string
	// As tells uses of one target apart in files and reports: the Name, unless
	// the scenario says otherwise. No two uses share it.
	As string
	// Policy is what this target shall promise: the scenario's policy, or the
	// target's own instead of it; Params are laid over the policy's.
	Policy rlbench.Policy
	Params map[string]string
	// Expect holds the verdicts that the scenario names, by check. What is not
	// named is expected to pass.
	Expect map[string]rlbench.Verdict
}

// targets reads who is asked.
func (r *reader) targets(into *[]TargetUse, catalogue Catalogue) read {
	taken := map[string]place{}
	return r.list(func(_ int, item *node) {
		var t TargetUse
		r.fields(item, "a target",
			field{"name", choice(r, &t.Name, "target", catalogue.names()...), "such as name: memory-fixed-window"},
			field{"as", r.label(&t.As), ""},
			field{"policy", r.policy(&t.Policy), ""},
			field{"params", r.params(&t.Params), ""},
			field{"expect", r.expect(&t.Expect, catalogue.Checks), ""},
		)
		if t.As == "" {
			t.As = t.Name
		}
		at := item.placeOf("as")
		if item.kind == mapping && item.child("as") == nil {
			at = item.placeOf("name")
		}
		if first, twice := taken[t.As]; twice && t.As != "" {
			r.wrong(at, "tell them apart: {name: …, as: another-name}", "%q stands twice; the first is on line %d", t.As, first.line)
		}
		taken[t.As] = at
		*into = append(*into, t)
	})
}

// expect reads the verdicts that are expected, by check.
func (r *reader) expect(into *map[string]rlbench.Verdict, checks []string) read {
	return r.open(func(e entry) {
		if !slices.Contains(checks, e.name) {
			r.wrong(e.key, suggest(e.name, checks), "%q is no check that rlbench knows", e.name)
			return
		}
		r.value(e, r.scalar(func(_, text string, v *node) {
			verdict, ok := rlbench.ParseVerdict(text)
			if !ok {
				r.wrong(v.at, suggest(text, []string{"pass", "fail", "inconclusive"}), "%q is no verdict", text)
				return
			}
			if *into == nil {
				*into = map[string]rlbench.Verdict{}
			}
			(*into)[e.name] = verdict
		}))
	})
}

// compatible settles each target's policy and checks that the target can make
// that promise.
func (r *reader) compatible(root *node, s *Scenario, catalogue Catalogue) {
	var takes []string
	for i := range s.Targets {
		t, item := &s.Targets[i], root.child("targets").items[i]
		info := catalogue.target(t.Name)
		takes = append(takes, info.Params...)
		if item.child("policy") == nil {
			t.Policy = s.Policy
		} else {
			r.paramsKnown(item.child("policy").child("params"), t.Policy.Params, "target "+t.Name, info.Params)
		}
		r.paramsKnown(item.child("params"), t.Params, "target "+t.Name, info.Params)
		t.Policy.Params = overlay(t.Policy.Params, t.Params)
		r.implements(item.placeOf("name"), t.Policy, info, catalogue)
	}
	r.paramsKnown(root.child("policy").child("params"), s.Policy.Params, "any of these targets", takes)
}

// overlay lays one set of parameters over another and changes neither.
func overlay(under, over map[string]string) map[string]string {
	if len(over) == 0 {
		return under
	}
	both := maps.Clone(under)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, over)
	return both
}

func (r *reader) paramsKnown(v *node, params map[string]string, who string, known []string) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if v != nil && !slices.Contains(known, name) {
			hint := suggest(name, known)
			if len(known) == 0 {
				hint = "leave it out: there are no parameters to choose from"
			}
			r.wrong(v.entry(name).key, hint, "%q is no parameter of %s", name, who)
		}
	}
}

// implements checks algorithm, anchors and clock of a target against a policy.
func (r *reader) implements(at place, p rlbench.Policy, info TargetInfo, catalogue Catalogue) {
	if info.Algorithm != p.Algorithm {
		r.wrong(at, catalogue.others(string(p.Algorithm), func(t TargetInfo) bool { return t.Algorithm == p.Algorithm }),
			"%s implements %s, not %s", info.Name, info.Algorithm, p.Algorithm)
		return
	}
	for _, l := range p.Limits {
		if l.Anchor != "" && !slices.Contains(info.Anchors, l.Anchor) {
			r.wrong(at, catalogue.others("anchor "+string(l.Anchor), func(t TargetInfo) bool {
				return t.Algorithm == p.Algorithm && slices.Contains(t.Anchors, l.Anchor)
			}), "%s has no windows anchored at %s", info.Name, l.Anchor)
			continue
		}
		if info.Resolution == nil {
			continue
		}
		if step := info.Resolution(l.Anchor); step >= l.Per {
			r.wrong(at, "take a longer window", "the clock of %s goes by %s, which is not below the window of %s", info.Name, step, l.Per)
		}
	}
}

func (c Catalogue) names() []string {
	var names []string
	for _, t := range c.Targets {
		names = append(names, t.Name)
	}
	return names
}

// target gives what is known of a target; one that is not there knows nothing.
func (c Catalogue) target(name string) TargetInfo {
	i := slices.IndexFunc(c.Targets, func(t TargetInfo) bool { return t.Name == name })
	if i < 0 {
		return TargetInfo{Name: name}
	}
	return c.Targets[i]
}

// others is the hint that names the targets that can do what is asked.
func (c Catalogue) others(what string, can func(TargetInfo) bool) string {
	var names []string
	for _, t := range c.Targets {
		if can(t) {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("no target implements %s", what)
	}
	return fmt.Sprintf("these implement %s: %s", what, list(names))
}
