package scenarios

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// overrideName is the File of mistakes that lie in an override.
const overrideName = "--set"

// step is one part of an override's path: a field's name, or the number of a
// list's item.
type step struct {
	at    place
	name  string
	item  int
	index bool
}

// override replaces, in the tree of the scenario, what an assignment such as
// policy.limit=50/1m names. Fields that are not there yet are added, so that
// one nobody knows is reported like any other.
func (r *reader) override(root *node, assignment string, order int) {
	src := newSource(overrideName, order, assignment)
	path, text, found := strings.Cut(assignment, "=")
	if !found {
		r.wrong(place{src, 1, 1}, "write PATH=VALUE, such as policy.limit=50/1m", "%q sets nothing", assignment)
		return
	}
	steps := r.steps(src, path)
	if steps == nil {
		return
	}
	// The value is read behind as many spaces as the path takes, so that its
	// places are those of the whole assignment.
	value := r.parseTree(src, strings.Repeat(" ", utf8.RuneCountInString(path)+1)+text)
	if value == nil {
		return
	}
	if value.at.line == 0 {
		value.at = place{src, 1, utf8.RuneCountInString(path) + 2}
	}
	r.assign(root, steps, value)
}

// steps takes a path such as targets[0].expect.never-over apart. It returns nil
// when the path is none.
func (r *reader) steps(src *source, path string) []step {
	var steps []step
	column := 1
	for i, part := range strings.Split(path, ".") {
		if i > 0 {
			column++
		}
		name, _, _ := strings.Cut(part, "[")
		if name == "" {
			r.wrong(place{src, 1, column}, "write PATH=VALUE, such as traffic[0].burst=50", "a field's name is missing from the path")
			return nil
		}
		steps = append(steps, step{at: place{src, 1, column}, name: name})
		at := place{src, 1, column + utf8.RuneCountInString(name)}
		for rest := part[len(name):]; rest != ""; {
			digits, after, closed := strings.Cut(strings.TrimPrefix(rest, "["), "]")
			item, err := strconv.ParseUint(digits, 10, 31)
			if !closed || err != nil || rest[0] != '[' {
				r.wrong(at, "items are counted from 0: traffic[0]", "%q is not the number of an item", rest)
				return nil
			}
			steps = append(steps, step{at: at, item: int(item), index: true})
			at.column += utf8.RuneCountInString(rest) - utf8.RuneCountInString(after)
			rest = after
		}
		column += utf8.RuneCountInString(part)
	}
	return steps
}

// assign walks down from n and puts value where the steps lead.
func (r *reader) assign(n *node, steps []step, value *node) {
	for i, s := range steps {
		slot := r.slot(n, s)
		if slot == nil {
			return
		}
		if i == len(steps)-1 {
			*slot = value
			if e := n.entry(s.name); !s.index && e != nil {
				e.key = s.at
			}
			return
		}
		if *slot == nil || (*slot).kind == empty {
			*slot = &node{at: s.at, kind: mapping}
		}
		n = *slot
	}
}

// slot is where the value of one step hangs; nil, with a mistake, where there
// can be none.
func (r *reader) slot(n *node, s step) **node {
	if s.index {
		switch {
		case n.kind != sequence:
			r.wrong(s.at, "", "[%d] needs a list, and this is %s", s.item, kindNames[n.kind])
			return nil
		case s.item >= len(n.items):
			r.wrong(s.at, "items are counted from 0", "[%d] names no item: the list has %d", s.item, len(n.items))
			return nil
		}
		return &n.items[s.item]
	}
	if n.kind != mapping {
		r.wrong(s.at, "", "%q needs a mapping, and this is %s", s.name, kindNames[n.kind])
		return nil
	}
	e := n.entry(s.name)
	if e == nil {
		n.entries = append(n.entries, entry{key: s.at, name: s.name})
		e = &n.entries[len(n.entries)-1]
	}
	return &e.value
}
