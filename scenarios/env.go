package scenarios

import (
	"regexp"
	"strings"
)

// variable matches what ${…} may be: an escaped opening, a variable, or an
// opening that is neither.
var variable = regexp.MustCompile(`\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{`)

// expand replaces the variables in every value under n and gives the node back;
// nil when it cannot be read. Names of fields stay as they are.
func (r *reader) expand(n *node, getenv func(string) (string, bool)) *node {
	if n == nil {
		return nil
	}
	for i, e := range n.entries {
		n.entries[i].value = r.expand(e.value, getenv)
	}
	for i, item := range n.items {
		n.items[i] = r.expand(item, getenv)
	}
	if n.kind != scalar || !strings.Contains(n.text, "${") {
		return n
	}
	if !r.clean(func() { r.replace(n, getenv) }) {
		return nil
	}
	return n
}

// replace puts the variables' values into a text.
func (r *reader) replace(n *node, getenv func(string) (string, bool)) {
	n.text = variable.ReplaceAllStringFunc(n.text, func(found string) string {
		switch {
		case found == "$${":
			return "${"
		case found == "${":
			r.wrong(n.at, "write ${NAME}, or $${ for the characters themselves", "${ begins no variable here")
			return found
		}
		name := found[2 : len(found)-1]
		value, ok := getenv(name)
		if !ok {
			r.wrong(n.at, "set it, or write $${"+name+"} for the characters themselves", "the environment has no variable %s", name)
		}
		// Quotes kept YAML from reading the braces; the value is what counts.
		n.quoted = false
		return value
	})
}
