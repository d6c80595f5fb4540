package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// kind is what a node of the tree is.
type kind uint8

const (
	empty kind = iota
	scalar
	mapping
	sequence
)

var kindNames = [...]string{empty: "empty", scalar: "a single value", mapping: "a mapping", sequence: "a list"}

// node is one value of a scenario and its place: the YAML tree reduced to what a
// scenario may hold, so that overrides and variables work on it.
type node struct {
	at   place
	kind kind
	// text is a scalar's; quoted tells that it stands in quotes, so that it is
	// no number.
	text    string
	quoted  bool
	entries []entry
	items   []*node
}

// entry is one field of a mapping.
type entry struct {
	key   place
	name  string
	value *node
}

// entry gives the field of that name, nil when there is none.
func (n *node) entry(name string) *entry {
	i := slices.IndexFunc(n.entries, func(e entry) bool { return e.name == name })
	if i < 0 {
		return nil
	}
	return &n.entries[i]
}

// child gives the value of the field of that name, nil when there is none.
func (n *node) child(name string) *node {
	if e := n.entry(name); e != nil {
		return e.value
	}
	return nil
}

// placeOf is where the value of a field stands, the mapping itself when it has
// no such field.
func (n *node) placeOf(name string) place {
	if v := n.child(name); v != nil {
		return v.at
	}
	return n.at
}

// parseTree reads the text of src into a tree. It returns nil when there is
// nothing to go on with; why stands among the mistakes of r.
func (r *reader) parseTree(src *source, text string) *node {
	if problem := unreadable(text); problem != "" {
		r.wrong(place{src: src}, "a scenario is a text of a few lines", "%s", problem)
		return nil
	}
	file, err := parseYAML(text)
	if err != nil {
		r.syntax(src, err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			r.wrong(begin(src, doc.Body), "write one file for each", "a second document begins here; a scenario is one document")
			return nil
		default:
			body = doc.Body
		}
	}
	if body == nil {
		return &node{at: place{src: src}}
	}
	return r.convert(src, body)
}

// unreadable says why text cannot be YAML at all; empty when it can.
func unreadable(text string) string {
	if len(text) > TextMax {
		return fmt.Sprintf("%d bytes are more than the %d that a scenario may have", len(text), TextMax)
	}
	if !utf8.ValidString(text) {
		return "this is not UTF-8 text"
	}
	for i, c := range text {
		if obeyed(c) && c != '\r' {
			return fmt.Sprintf("the control character %U at byte %d has no place in a scenario", c, i)
		}
	}
	return ""
}

// syntaxError is a place where YAML itself is broken.
type syntaxError struct {
	text string
	at   *token.Position
}

func (e *syntaxError) Error() string { return e.text }

// parseYAML parses text. The library takes time that grows with the square of
// the nesting, so that is bounded first; and should it panic on a text that
// nobody thought of, that text is refused like any other.
func parseYAML(text string) (file *ast.File, err error) {
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, &syntaxError{text: "this YAML cannot be read"}
		}
	}()
	tokens := lexer.Tokenize(text)
	if at := tooDeep(tokens); at != nil {
		return nil, &syntaxError{text: fmt.Sprintf("lists and mappings stand more than %d deep in each other", NestingMax), at: at}
	}
	file, err = parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	var broken yaml.Error
	if errors.As(err, &broken) {
		err = &syntaxError{text: broken.GetMessage(), at: position(broken.GetToken())}
	}
	return file, err
}

func position(tk *token.Token) *token.Position {
	if tk == nil {
		return nil
	}
	return tk.Position
}

// tooDeep finds where nesting goes beyond NestingMax: brackets within brackets,
// or block entries, of which each level costs at least a column.
func tooDeep(tokens token.Tokens) *token.Position {
	depth := 0
	for _, tk := range tokens {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			if depth == 0 && tk.Position.Column > 4*NestingMax {
				return tk.Position
			}
		}
		if depth > NestingMax {
			return tk.Position
		}
	}
	return nil
}

// syntax records broken YAML with the hint that most often helps.
func (r *reader) syntax(src *source, err error) {
	at := place{src: src}
	var broken *syntaxError
	if errors.As(err, &broken) && broken.at != nil {
		at.line, at.column = broken.at.Line, broken.at.Column
	}
	text := strings.ReplaceAll(err.Error(), "\t", `\t`)
	hint := ""
	switch around := at.before(); {
	case strings.Contains(text, `\t`):
		hint = "indent with spaces, not with tabs"
	case strings.HasSuffix(around, "$"):
		hint = `between braces and brackets a variable needs quotes: "${NAME}"`
	}
	r.wrong(at, hint, "this is not YAML: %s", text)
}

// before is the text of the line in front of the place.
func (p place) before() string {
	if p.line < 1 || p.line > len(p.src.lines) {
		return ""
	}
	line := p.src.lines[p.line-1]
	return string(line[:min(max(p.column-1, 0), len(line))])
}

// placeOf is where a YAML node begins.
func begin(src *source, n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return begin(src, m.Values[0].Key)
	}
	if pair, ok := n.(*ast.MappingValueNode); ok {
		return begin(src, pair.Key)
	}
	tk := n.GetToken()
	if tk == nil || tk.Position == nil {
		return place{src: src}
	}
	return place{src: src, line: tk.Position.Line, column: tk.Position.Column}
}

// convert reduces a YAML node. What a scenario may not hold becomes a mistake
// and nil, which nothing complains about again.
func (r *reader) convert(src *source, n ast.Node) *node {
	out := &node{at: begin(src, n)}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.kind = mapping
		for _, pair := range n.Values {
			if !r.convertEntry(src, out, pair) {
				return nil
			}
		}
	case *ast.MappingValueNode:
		out.kind = mapping
		if !r.convertEntry(src, out, n) {
			return nil
		}
	case *ast.SequenceNode:
		out.kind = sequence
		for _, item := range n.Values {
			out.items = append(out.items, r.convert(src, item))
		}
	case *ast.NullNode:
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode: // scalars too, to the library
		return r.refuse(out.at, n)
	case *ast.LiteralNode:
		out.kind, out.text, out.quoted = scalar, n.Value.Value, true
	case ast.ScalarNode:
		tk := n.GetToken()
		out.kind, out.text = scalar, tk.Value
		out.quoted = tk.Type == token.DoubleQuoteType || tk.Type == token.SingleQuoteType
	default:
		return r.refuse(out.at, n)
	}
	return out
}

// refuse records a YAML feature that scenarios do without.
func (r *reader) refuse(at place, n ast.Node) *node {
	what := "this YAML feature is"
	switch n.(type) {
	case *ast.AnchorNode:
		what = "anchors (&name) are"
	case *ast.AliasNode:
		what = "aliases (*name) are"
	case *ast.TagNode:
		what = "tags (!name) are"
	case *ast.DirectiveNode:
		what = "directives (%NAME) are"
	}
	r.wrong(at, "write the value out", "%s not read in a scenario", what)
	return nil
}

// convertEntry adds a pair to a mapping. It returns false when what the mapping
// holds can no longer be told.
func (r *reader) convertEntry(src *source, into *node, pair *ast.MappingValueNode) bool {
	at := begin(src, pair.Key)
	if _, ok := pair.Key.(*ast.MergeKeyNode); ok {
		r.wrong(at, "write the fields out", "merge keys (<<) are not read in a scenario")
		return false
	}
	key := r.convert(src, pair.Key)
	if key == nil {
		return false
	}
	if key.kind != scalar {
		r.wrong(at, "", "a field's name is one word, not %s", kindNames[key.kind])
		return false
	}
	if first := into.entry(key.text); first != nil {
		r.wrong(at, "keep one of them", "%q stands twice; the first is on line %d", key.text, first.key.line)
		return true
	}
	into.entries = append(into.entries, entry{key: at, name: key.text, value: r.convert(src, pair.Value)})
	return true
}
