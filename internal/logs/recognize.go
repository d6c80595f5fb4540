package logs

import (
	"bytes"
	"fmt"
)

// sniffMax is how much of a log is looked at to find out what wrote it; its
// first line may be the rest of one that was cut.
const sniffMax = 1 << 16

// textual are the formats told by the members of a line's object; headed those
// told by a header.
var (
	textual = []Format{K6, VegetaJSON, JSONLines, EnvoyJSON, NGINXJSON}
	headed  = []Format{JMeter, CSV, VegetaCSV}
)

// recognize finds out what wrote the log and how to take its lines apart. A
// header line is taken from the source.
func recognize(src *source, o Options) (*dialect, binding, parser, error) {
	head := bytes.TrimPrefix(src.peek(sniffMax), []byte("\xef\xbb\xbf"))
	src.start += min(src.end-src.start, sniffMax) - len(head) // past the byte order mark
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, binding{}, nil, fmt.Errorf("%w: it is empty", ErrFormat)
	}
	switch {
	case o.Template != "":
		return recognizeTemplate(o)
	case o.Format == NGINX || o.Format == Envoy:
		return recognizeText(head, o)
	case in(headed, o.Format):
		return recognizeRows(src, head, o)
	case in(textual, o.Format):
		return recognizeObjects(head, o)
	}
	for _, try := range []func() (*dialect, binding, parser, error){
		func() (*dialect, binding, parser, error) { return recognizeObjects(head, o) },
		func() (*dialect, binding, parser, error) { return recognizeText(head, o) },
		func() (*dialect, binding, parser, error) { return recognizeRows(src, head, o) },
	} {
		if d, b, p, err := try(); d != nil || err != nil {
			return d, b, p, err
		}
	}
	return nil, binding{}, nil, fmt.Errorf("%w: it begins with %q%s", ErrFormat, first(head), foreignHint(head))
}

func in(formats []Format, f Format) bool {
	for _, known := range formats {
		if f == known {
			return true
		}
	}
	return false
}

// first is the beginning of a log, for a message.
func first(head []byte) []byte {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return line[:min(len(line), 60)]
}

// foreignHint knows files that are near to one that can be read.
func foreignHint(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("<?xml")):
		return "; let JMeter write its results as CSV with a header (jmeter.save.saveservice.output_format=csv)"
	case bytes.Contains(head[:min(len(head), 256)], []byte("Attack")) && bytes.IndexByte(head[:min(len(head), 256)], 0) >= 0:
		return "; put vegeta's own results through vegeta encode first"
	}
	return "; state its format, or for an access log its log_format"
}

func lines(head []byte, visit func(line []byte) (more bool)) {
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte{'\n'})
		if len(bytes.TrimSpace(line)) > 0 && (!visit(bytes.TrimSuffix(line, []byte{'\r'})) || !whole) {
			return
		}
		head = rest
	}
}

// recognizeObjects takes the first line that is an object. No dialect: there is none.
func recognizeObjects(head []byte, o Options) (*dialect, binding, parser, error) {
	var has []string
	lines(head, func(line []byte) bool {
		if line[0] == '{' {
			has = paths(line)
		}
		return has == nil
	})
	if has == nil {
		if o.Format == "" {
			return nil, binding{}, nil, nil
		}
		return nil, binding{}, nil, fmt.Errorf("%w: no line of it is a JSON object; it begins with %q", ErrFormat, first(head))
	}
	d := signed(has, textual...)
	switch {
	case o.Format != "":
		d = dialectOf(o.Format)
	case d == nil:
		d = dialectOf(JSONLines)
	}
	b, err := bind(d, has, false, o)
	return d, b, newObject(b), err
}

// recognizeText takes the first line that has the shape of a usual access log.
func recognizeText(head []byte, o Options) (*dialect, binding, parser, error) {
	for _, usual := range []struct {
		format Format
		text   string
	}{{NGINX, combined}, {NGINX, common}, {Envoy, envoyDefault}, {Envoy, envoyShort}} {
		if o.Format != "" && o.Format != usual.format {
			continue
		}
		t, err := parseTemplate(usual.text, usual.format)
		if err != nil {
			return nil, binding{}, nil, err
		}
		t.open = true
		fits := false
		lines(head, func(line []byte) bool {
			fits = fits || t.parse(line, &fields{}) == ""
			return !fits
		})
		if fits {
			d := dialectOf(usual.format)
			b, err := bind(d, t.names(), true, o)
			t.bind(b)
			return d, b, t, err
		}
	}
	if o.Format == "" {
		return nil, binding{}, nil, nil
	}
	return nil, binding{}, nil, fmt.Errorf("%w: it is not written in %s's usual way; state its log format", ErrFormat, o.Format)
}

func recognizeTemplate(o Options) (*dialect, binding, parser, error) {
	format := o.Format
	if format == "" {
		format = NGINX
		if bytes.Contains([]byte(o.Template), []byte("%START_TIME")) {
			format = Envoy
		}
	}
	t, err := parseTemplate(o.Template, format)
	if err != nil {
		return nil, binding{}, nil, err
	}
	d := dialectOf(format)
	b, err := bind(d, t.names(), true, o)
	t.bind(b)
	return d, b, t, err
}

// recognizeRows takes the header, or knows vegeta's rows, which have none.
func recognizeRows(src *source, head []byte, o Options) (*dialect, binding, parser, error) {
	var has []string
	var separator byte
	lines(head, func(line []byte) bool {
		has, separator = header(line)
		return false
	})
	headless := isVegetaRow(has)
	d := signed(has, JMeter)
	switch {
	case o.Format != "":
		d = dialectOf(o.Format)
	case headless:
		d = dialectOf(VegetaCSV)
	case d == nil && len(has) > 1 && (o.Map != nil || signed(has, JSONLines) != nil || find(has, "status") != ""):
		d = dialectOf(CSV)
	case d == nil:
		return nil, binding{}, nil, nil
	}
	if headless {
		has = vegetaColumns[:len(has)]
	} else if _, err := src.next(); err != nil {
		return nil, binding{}, nil, fmt.Errorf("reading the header: %w", err)
	}
	src.quoted = true
	b, err := bind(d, has, true, o)
	if err != nil {
		return nil, b, nil, err
	}
	return d, b, newRows(has, separator, b), nil
}
