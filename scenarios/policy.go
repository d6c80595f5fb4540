package scenarios

import (
	"fmt"
	"math"

	"github.com/rlbench/rlbench"
)

const (
	minInt64 int64 = math.MinInt64
	maxInt64 int64 = math.MaxInt64
)

// ParsePolicy reads a promise that stands in a file of its own, under the field
// policy as in a scenario. A scenario is such a file too: its other fields are
// passed over. The error is [Mistakes].
func ParsePolicy(file string, text []byte, getenv func(string) (string, bool)) (rlbench.Policy, error) {
	if getenv == nil {
		getenv = func(string) (string, bool) { return "", false }
	}
	r := &reader{}
	var p rlbench.Policy
	if root := r.document(file, text); root != nil {
		r.policyOf(root, &p, getenv)
	}
	if all := r.mistakes(); all != nil {
		return rlbench.Policy{}, all
	}
	return p, nil
}

// policyOf reads the field policy of a file and nothing else.
func (r *reader) policyOf(root *node, p *rlbench.Policy, getenv func(string) (string, bool)) {
	e := root.entry("policy")
	if root.kind != mapping || e == nil {
		r.wrong(root.at, "write policy: {algorithm: sliding-log, limit: 100/1m}", "there is no policy in it")
		return
	}
	e.value = r.expand(e.value, getenv)
	r.value(*e, r.policy(p))
}

// policy reads what a limiter promised.
func (r *reader) policy(p *rlbench.Policy) read {
	return func(_ string, v *node) {
		var base rlbench.Limit
		sound := r.clean(func() {
			r.fields(v, "a policy",
				field{"algorithm", choice(r, &p.Algorithm, "algorithm", rlbench.Algorithms()...), "one of " + fmt.Sprint(rlbench.Algorithms())},
				field{"limit", r.limit(&base), ""},
				field{"limits", r.limits(&p.Limits), ""},
				field{"burst", whole(r, &base.Burst, 1, maxInt64), ""},
				field{"anchor", choice(r, &base.Anchor, "anchor", rlbench.Epoch, rlbench.FirstRequest), ""},
				field{"resolution", r.duration(&p.Resolution, 0, DurationMax), ""},
				field{"drift", r.duration(&p.Drift, 0, DurationMax), ""},
				field{"charges_refusals", r.flag(&p.ChargesRefusals), ""},
				field{"on_store_error", choice(r, &p.OnStoreError, "way to treat a lost store", rlbench.Open, rlbench.Closed, rlbench.Local), ""},
				field{"params", r.params(&p.Params), ""},
			)
			r.oneLimit(v)
		})
		if !sound {
			return
		}
		if v.child("limits") == nil {
			p.Limits = []rlbench.Limit{base}
		}
		for i := range p.Limits {
			inherit(&p.Limits[i], base)
		}
		r.policyProblems(v, *p)
	}
}

// oneLimit checks that exactly one of limit and limits is there.
func (r *reader) oneLimit(v *node) {
	if v.kind != mapping {
		return
	}
	one, many := v.entry("limit"), v.entry("limits")
	switch {
	case one == nil && many == nil:
		r.wrong(v.at, "write limit: COUNT/DURATION, such as limit: 100/1m", "a policy needs a limit")
	case one != nil && many != nil:
		r.wrong(one.key, "put every limit into limits: [100/1m, …]", "a policy has limit or limits, not both")
	}
}

// inherit fills in what a limit of a list leaves to the policy.
func inherit(l *rlbench.Limit, base rlbench.Limit) {
	if l.Burst == 0 {
		l.Burst = base.Burst
	}
	if l.Anchor == "" {
		l.Anchor = base.Anchor
	}
}

// limits reads several limits, each COUNT/DURATION or a mapping.
func (r *reader) limits(into *[]rlbench.Limit) read {
	return r.list(func(_ int, item *node) {
		var l rlbench.Limit
		if item.kind == mapping {
			r.fields(item, "a limit",
				field{"limit", r.limit(&l), "write COUNT/DURATION, such as limit: 100/1m"},
				field{"burst", whole(r, &l.Burst, 1, maxInt64), ""},
				field{"anchor", choice(r, &l.Anchor, "anchor", rlbench.Epoch, rlbench.FirstRequest), ""},
			)
		} else {
			r.limit(&l)("a limit", item)
		}
		*into = append(*into, l)
	})
}

// params reads what only one design has. Numbers and flags are texts here.
func (r *reader) params(into *map[string]string) read {
	return r.open(func(e entry) {
		r.value(e, r.scalar(func(name, text string, _ *node) {
			if *into == nil {
				*into = map[string]string{}
			}
			(*into)[name] = text
		}))
	})
}

// policyProblems points at each thing that keeps the policy from being a
// promise. The limits are judged one by one, so that each caret finds its own.
func (r *reader) policyProblems(v *node, p rlbench.Policy) {
	seen := map[string]bool{}
	for i, l := range p.Limits {
		alone := p
		alone.Limits = []rlbench.Limit{l}
		of := v
		if list := v.child("limits"); list != nil {
			of = list.items[i]
		}
		for _, problem := range alone.Problems() {
			at := of.placeOf(problem.Field)
			if of.child(problem.Field) == nil && v.child(problem.Field) != nil {
				at = v.placeOf(problem.Field)
			}
			if key := fmt.Sprint(at.line, at.column, problem.Text); !seen[key] {
				seen[key] = true
				r.wrong(at, problem.Hint, "%s", problem.Text)
			}
		}
	}
}
