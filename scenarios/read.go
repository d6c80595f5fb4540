package scenarios

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/rlbench/rlbench"
)

// reader reads values out of the tree and collects what is wrong with them.
type reader struct {
	found []found
	// unread counts the values that are not there to be read because of a
	// mistake found before.
	unread int
}

// found is a mistake and the order of the source that it lies in.
type found struct {
	Mistake
	order int
}

// wrong records a mistake.
func (r *reader) wrong(at place, hint, format string, args ...any) {
	r.found = append(r.found, found{at.mistake(fmt.Sprintf(format, args...), hint), at.src.order})
}

// mistakes gives all that was recorded in the order of the text, nil when there
// is none.
func (r *reader) mistakes() Mistakes {
	slices.SortStableFunc(r.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var all Mistakes
	for _, f := range r.found {
		all = append(all, f.Mistake)
	}
	return slices.Compact(all)
}

// clean runs read and reports whether it read everything and found nothing wrong.
func (r *reader) clean(read func()) bool {
	found, unread := len(r.found), r.unread
	read()
	return len(r.found) == found && r.unread == unread
}

// read takes the value of the field of the given name.
type read func(name string, v *node)

// field is a field that a mapping may have.
type field struct {
	name string
	read read
	// required is the hint for when it is missing; empty when it may be.
	required string
}

// fields reads a mapping that may hold the known fields and no others. what is
// the mapping in words, such as "a traffic part".
func (r *reader) fields(n *node, what string, known ...field) {
	if n.kind != mapping {
		r.wrong(n.at, "write it as fields: {"+known[0].name+": …}", "%s is a mapping, not %s", what, kindNames[n.kind])
		return
	}
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	for _, e := range n.entries {
		i := slices.Index(names, e.name)
		if i < 0 {
			r.wrong(e.key, suggest(e.name, names), "%s has no field %q", what, e.name)
			continue
		}
		r.value(e, known[i].read)
	}
	for _, f := range known {
		if f.required != "" && n.entry(f.name) == nil {
			r.wrong(n.at, f.required, "%s needs the field %q", what, f.name)
		}
	}
}

// value reads the value of an entry, unless there is none.
func (r *reader) value(e entry, read read) {
	switch {
	case e.value == nil:
		r.unread++
	case e.value.kind == empty:
		r.wrong(e.key, "give it a value or leave it out", "%q is empty", e.name)
	default:
		read(e.name, e.value)
	}
}

// open reads a mapping whose fields are names of something rather than known here.
func (r *reader) open(each func(e entry)) read {
	return func(name string, v *node) {
		if v.kind != mapping {
			r.wrong(v.at, "write it as fields: {NAME: VALUE}", "%s is a mapping, not %s", name, kindNames[v.kind])
			return
		}
		for _, e := range v.entries {
			each(e)
		}
	}
}

// list reads a list that has at least one item.
func (r *reader) list(each func(i int, item *node)) read {
	return func(name string, v *node) {
		if v.kind != sequence {
			r.wrong(v.at, "begin each item with a dash: - {…}", "%s is a list, not %s", name, kindNames[v.kind])
			return
		}
		if len(v.items) == 0 {
			r.wrong(v.at, "", "%s needs at least one item", name)
		}
		for i, item := range v.items {
			if item == nil {
				r.unread++
				continue
			}
			each(i, item)
		}
	}
}

// scalar passes on a single value's text, of whichever type YAML takes it for.
func (r *reader) scalar(use func(name, text string, v *node)) read {
	return func(name string, v *node) {
		if v.kind != scalar {
			r.wrong(v.at, "", "%q is a single value, not %s", name, kindNames[v.kind])
			return
		}
		// What quotes can smuggle in, a terminal or a server might obey.
		for _, c := range v.text {
			if obeyed(c) {
				r.wrong(v.at, "leave it out", "%q holds the control character %U", name, c)
				return
			}
		}
		use(name, v.text, v)
	}
}

// obeyed reports whether c is a command rather than a character.
func obeyed(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' }

// text reads a text that is not empty.
func (r *reader) text(into *string) read {
	return r.scalar(func(name, text string, v *node) {
		if strings.TrimSpace(text) == "" {
			r.wrong(v.at, "", "%s is empty", name)
		}
		*into = text
	})
}

// key reads whose budget it is: one line that fits into a header or a store.
func (r *reader) key(into *string) read {
	return r.scalar(func(name, text string, v *node) {
		if text == "" || len(text) > KeyMax || strings.ContainsAny(text, "\n\t") {
			r.wrong(v.at, "", "%s is one line of 1 to %d bytes", name, KeyMax)
		}
		*into = text
	})
}

// label reads a name that may stand in paths and files.
func (r *reader) label(into *string) read {
	return r.scalar(func(name, text string, v *node) {
		if !isLabel(text) {
			r.wrong(v.at, "letters, digits, '-', '_' and '.', beginning with a letter or digit",
				"%q is not a name of at most %d characters", text, NameMax)
		}
		*into = text
	})
}

func isLabel(text string) bool {
	if text == "" || len(text) > NameMax {
		return false
	}
	for i, c := range []byte(text) {
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune("-_.", rune(c))) {
			return false
		}
	}
	return true
}

// whole reads a whole number from least to greatest.
func whole[T ~int | ~int64](r *reader, into *T, least, greatest int64) read {
	return r.scalar(func(name, text string, v *node) {
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			r.wrong(v.at, "", "%s lies between %d and %d, and %s does not", name, least, greatest, text)
		case v.quoted && err == nil:
			r.wrong(v.at, "leave the quotes out", "%s is a number, and %q is a text", name, text)
		case err != nil:
			r.wrong(v.at, "digits alone, such as 500", "%s is a whole number, and %q is none", name, text)
		case n < least || n > greatest:
			r.wrong(v.at, "", "%s lies between %d and %d, and %d does not", name, least, greatest, n)
		default:
			*into = T(n)
		}
	})
}

// duration reads a duration from least to greatest.
func (r *reader) duration(into *time.Duration, least, greatest time.Duration) read {
	return r.scalar(func(name, text string, v *node) {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil && isNumber(text):
			r.wrong(v.at, fmt.Sprintf("write %ss or %sms", text, text), "%s is a duration, and %q has no unit", name, text)
		case err != nil:
			r.wrong(v.at, "such as 10s, 250ms or 1m30s", "%s is a duration, and %q is none", name, text)
		case d < least || d > greatest:
			r.wrong(v.at, "", "%s lies between %s and %s, and %s does not", name, least, greatest, d)
		default:
			*into = d
		}
	})
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// flag reads true or false.
func (r *reader) flag(into *bool) read {
	return r.scalar(func(name, text string, v *node) {
		if v.quoted || text != "true" && text != "false" {
			r.wrong(v.at, "true or false, without quotes", "%s is true or false, not %q", name, text)
		}
		*into = text == "true"
	})
}

// choice reads one of the options; what is each of them in words.
func choice[T ~string](r *reader, into *T, what string, options ...T) read {
	return r.scalar(func(_, text string, v *node) {
		names := make([]string, len(options))
		for i, o := range options {
			names[i] = string(o)
		}
		if !slices.Contains(names, text) {
			r.wrong(v.at, suggest(text, names), "%q is no %s that rlbench knows", text, what)
			return
		}
		*into = T(text)
	})
}

// limit reads COUNT/DURATION.
func (r *reader) limit(into *rlbench.Limit) read {
	return r.scalar(func(_, text string, v *node) {
		l, err := rlbench.ParseLimit(text)
		if err != nil {
			r.wrong(v.at, "write COUNT/DURATION, such as 100/1m, 10/s or 1/4ms", "%v", err)
			return
		}
		into.Count, into.Per = l.Count, l.Per
	})
}
