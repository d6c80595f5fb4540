package logs

import (
	"bytes"
	"fmt"
	"strings"
)

// The access logs that need no template to be stated.
const (
	common        = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent`
	combined      = common + ` "$http_referer" "$http_user_agent"`
	envoyShort    = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION%`
	envoyDefault  = envoyShort + ` %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%"`
	problemShape  = "it does not have the shape of the log format"
	problemBehind = "there is more on the line than the log format says"
)

// template is a text log's format: literals with variables between them.
type template struct {
	lead  string
	parts []part
	// escaped: a quote behind a backslash belongs to the value.
	escaped bool
	// open: anything may follow the last variable, from a blank on.
	open bool
}

// part is a variable and the literal that ends it; empty at the end of the line.
type part struct {
	name string
	end  string
	slot slot // slotCount when nobody wants it
}

// parseTemplate reads NGINX's $name and ${name}, or Envoy's %NAME(…)%.
func parseTemplate(text string, format Format) (*template, error) {
	t := &template{escaped: format == NGINX}
	variable := nginxVariable
	if format == Envoy {
		variable = envoyVariable
	}
	text = strings.TrimRight(text, "\n")
	text = strings.TrimSuffix(text, `\n`)
	literal := ""
	for text != "" {
		name, rest := variable(text)
		switch {
		case rest == text:
			literal, text = literal+text[:1], text[1:]
			continue
		case len(t.parts) == 0:
			t.lead = literal
		case literal == "":
			return nil, fmt.Errorf("%w: nothing stands between $%s and $%s in the log format", ErrFormat, t.parts[len(t.parts)-1].name, name)
		default:
			t.parts[len(t.parts)-1].end = literal
		}
		t.parts = append(t.parts, part{name: name, slot: slotCount})
		literal, text = "", rest
	}
	if len(t.parts) == 0 {
		return nil, fmt.Errorf("%w: there is no variable in the log format", ErrFormat)
	}
	t.parts[len(t.parts)-1].end = literal
	return t, nil
}

// nginxVariable cuts a variable off the text; text itself when it begins with none.
func nginxVariable(text string) (name, rest string) {
	if text[0] != '$' {
		return "", text
	}
	body, ok := strings.CutPrefix(text[1:], "{")
	n := 0
	for n < len(body) && (body[n] == '_' || body[n]|0x20 >= 'a' && body[n]|0x20 <= 'z' || body[n] >= '0' && body[n] <= '9') {
		n++
	}
	rest = body[n:]
	if ok {
		rest, ok = strings.CutPrefix(rest, "}")
		if !ok {
			return "", text
		}
	}
	if n == 0 {
		return "", text
	}
	return body[:n], rest
}

// envoyVariable cuts an operator off the text; percent signs within its
// parentheses belong to it.
func envoyVariable(text string) (name, rest string) {
	if text[0] != '%' {
		return "", text
	}
	depth := 0
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case text[i] == '%' && depth <= 0 && i > 1:
			return text[1:i], text[i+1:]
		}
	}
	return "", text
}

// names are the variables; the arguments of Envoy's own stamp are left out.
func (t *template) names() []string {
	var all []string
	for _, p := range t.parts {
		all = append(all, base(p.name))
	}
	return all
}

func base(name string) string {
	if strings.HasPrefix(name, "START_TIME(") {
		return "START_TIME"
	}
	return name
}

func (t *template) bind(b binding) {
	for i := range t.parts {
		for s, field := range b.field {
			if field == base(t.parts[i].name) {
				t.parts[i].slot = slot(s)
			}
		}
	}
}

// tail reports whether a wanted value is the last thing on a line, so that a cut
// within it would not show.
func (t *template) tail() bool {
	last := t.parts[len(t.parts)-1]
	return last.end == "" && last.slot != slotCount
}

func (t *template) parse(line []byte, f *fields) string {
	if len(line) < len(t.lead) || string(line[:len(t.lead)]) != t.lead {
		return problemShape
	}
	at := len(t.lead)
	for i := range t.parts {
		p := &t.parts[i]
		rest := line[at:]
		n := len(rest)
		if p.end != "" {
			if n = t.endOf(rest, p.end); n < 0 {
				return problemShape
			}
		} else if blank := bytes.IndexByte(rest, ' '); blank >= 0 {
			if !t.open {
				return problemBehind
			}
			n = blank
		}
		if p.slot < slotCount {
			f.text[p.slot] = rest[:n:n]
		}
		at += n + len(p.end)
	}
	if at < len(line) && !t.open {
		return problemBehind
	}
	return ""
}

// endOf finds the literal that ends a value.
func (t *template) endOf(rest []byte, end string) int {
	for from := 0; ; {
		n := bytes.IndexByte(rest[from:], end[0])
		if n < 0 || from+n+len(end) > len(rest) {
			return -1
		}
		n += from
		if string(rest[n:n+len(end)]) == end && !(t.escaped && end[0] == '"' && escapedAt(rest, n)) {
			return n
		}
		from = n + 1
	}
}

// escapedAt reports whether an odd number of backslashes stands before i.
func escapedAt(text []byte, i int) bool {
	n := 0
	for i-n > 0 && text[i-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}
