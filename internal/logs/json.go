package logs

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

const problemJSON = "it is no complete JSON object"

// object reads one JSON object a line, picking out the wanted members without
// building the others.
type object struct{ root members }

// members are the wanted members of one object.
type members []member

type member struct {
	name  string
	slot  slot // slotCount when only something inside is wanted
	inner members
}

func newObject(b binding) *object {
	o := &object{}
	for s, field := range b.field {
		if field != "" {
			o.root = o.root.add(field, slot(s))
		}
	}
	return o
}

// add wants a field; behind its first dot lies a member of a nested object,
// whose own name may hold dots.
func (m members) add(field string, s slot) members {
	first, rest, nested := strings.Cut(field, ".")
	if !nested {
		return append(m, member{name: field, slot: s})
	}
	for i := range m {
		if m[i].name == first {
			m[i].inner = m[i].inner.add(rest, s)
			return m
		}
	}
	// A flat member whose name has a dot is wanted as well.
	return append(m, member{name: first, slot: slotCount, inner: members{}.add(rest, s)}, member{name: field, slot: s})
}

func (m members) find(name []byte) *member {
	for i := range m {
		if string(name) == m[i].name {
			return &m[i]
		}
	}
	return nil
}

func (o *object) tail() bool { return false }

func (o *object) parse(line []byte, f *fields) string {
	at := blanks(line, 0)
	if at == len(line) || line[at] != '{' {
		return problemJSON
	}
	end := o.root.read(line, at, f)
	if end < 0 || blanks(line, end) != len(line) {
		return problemJSON
	}
	return ""
}

// read takes the object that begins at i and gives the place behind it, -1 when
// it is broken.
func (m members) read(b []byte, i int, f *fields) int {
	i = blanks(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		name, next := quoted(b, i)
		if next < 0 {
			return -1
		}
		i = blanks(b, next)
		if i >= len(b) || b[i] != ':' {
			return -1
		}
		i = blanks(b, i+1)
		if want := m.find(name); want != nil {
			i = want.read(b, i, f)
		} else {
			i = skip(b, i)
		}
		if i < 0 {
			return -1
		}
		i = blanks(b, i)
		switch {
		case i >= len(b):
			return -1
		case b[i] == '}':
			return i + 1
		case b[i] != ',':
			return -1
		}
		i = blanks(b, i+1)
	}
}

// read takes the wanted value that begins at i: a text, a number, or of a list
// the first text (headers come as lists).
func (m *member) read(b []byte, i int, f *fields) int {
	if i >= len(b) {
		return -1
	}
	var value []byte
	end := -1
	switch {
	case b[i] == '{' && m.inner != nil:
		return m.inner.read(b, i, f)
	case b[i] == '{':
		return skip(b, i)
	case b[i] == '[':
		if first := blanks(b, i+1); first < len(b) && b[first] == '"' {
			value, _ = quoted(b, first)
		}
		end = skip(b, i)
	case b[i] == '"':
		value, end = quoted(b, i)
	default:
		if end = skip(b, i); end > 0 && string(b[i:end]) != "null" {
			value = b[i:end:end]
		}
	}
	if m.slot < slotCount {
		f.text[m.slot] = value
	}
	return end
}

func blanks(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// quoted reads the text that begins at i and gives the place behind it, -1 when
// there is none.
func quoted(b []byte, i int) (text []byte, end int) {
	if i >= len(b) || b[i] != '"' {
		return nil, -1
	}
	end = textEnd(b, i)
	if end < 0 {
		return nil, -1
	}
	text = b[i+1 : end-1 : end-1]
	if bytes.IndexByte(text, '\\') < 0 {
		return text, end
	}
	var plain string
	if json.Unmarshal(b[i:end], &plain) != nil {
		return nil, -1
	}
	return []byte(plain), end
}

// textEnd gives the place behind the text that begins at i.
func textEnd(b []byte, i int) int {
	for j := i + 1; ; {
		n := bytes.IndexByte(b[j:], '"')
		if n < 0 {
			return -1
		}
		if !escapedAt(b[i+1:], j+n-i-1) {
			return j + n + 1
		}
		j += n + 1
	}
}

// skip gives the place behind the value that begins at i.
func skip(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			if i = textEnd(b, i); i < 0 {
				return -1
			}
		case c == '{' || c == '[':
			depth++
			i++
			continue
		case c == '}' || c == ']':
			depth--
			i++
		case depth > 0 && (c == ',' || c == ':' || c == ' ' || c == '\t' || c == '\r'):
			i++
			continue
		default:
			n := literal(b[i:])
			if n == 0 {
				return -1
			}
			i += n
		}
		if depth < 0 {
			return -1
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// literal measures a number, true, false or null.
func literal(b []byte) int {
	for i, c := range b {
		switch c {
		case ',', '}', ']', ' ', '\t', '\r', ':', '"', '{', '[':
			return i
		}
	}
	return len(b)
}

// paths lists the members of an object, nested ones with dots; nil when the
// line is no object.
func paths(line []byte) []string {
	var all map[string]any
	if json.Unmarshal(line, &all) != nil {
		return nil
	}
	return appendPaths([]string{}, "", all, 3)
}

func appendPaths(to []string, path string, of map[string]any, depth int) []string {
	for _, name := range slices.Sorted(maps.Keys(of)) { // so that messages say the same each time
		to = append(to, path+name)
		if inner, ok := of[name].(map[string]any); ok && depth > 1 {
			to = appendPaths(to, path+name+".", inner, depth-1)
		}
	}
	return to
}
