package logs

import (
	"bytes"
	"slices"
)

const (
	problemColumns = "it has another number of columns than the log"
	problemQuotes  = "a quoted column does not end"
)

// rows reads CSV: columns between separators, quoted ones with doubled quotes.
type rows struct {
	separator byte
	// slots of the columns, slotCount where nobody wants it.
	slots []slot
}

func newRows(header []string, separator byte, b binding) *rows {
	r := &rows{separator: separator, slots: make([]slot, len(header))}
	for i, name := range header {
		r.slots[i] = slotCount
		if s := slices.Index(b.field[:], name); name != "" && s >= 0 {
			r.slots[i] = slot(s)
		}
	}
	return r
}

func (r *rows) tail() bool { return r.slots[len(r.slots)-1] != slotCount }

func (r *rows) parse(line []byte, f *fields) string {
	for i, s := range r.slots {
		value, rest, more := column(line, r.separator)
		if value == nil {
			return problemQuotes
		}
		if more != (i < len(r.slots)-1) {
			return problemColumns
		}
		if s < slotCount && len(value) > 0 {
			f.text[s] = value
		}
		line = rest
	}
	return ""
}

// column cuts the first column off; value is nil when its quotes do not end.
func column(line []byte, separator byte) (value, rest []byte, more bool) {
	if len(line) > 0 && line[0] == '"' {
		return quotedColumn(line, separator)
	}
	n := bytes.IndexByte(line, separator)
	if n < 0 {
		return line[:len(line):len(line)], nil, false
	}
	return line[:n:n], line[n+1:], true
}

func quotedColumn(line []byte, separator byte) (value, rest []byte, more bool) {
	value = line[1:1]
	for at := 1; ; {
		n := bytes.IndexByte(line[at:], '"')
		if n < 0 {
			return nil, nil, false
		}
		end := at + n
		if len(value) == 0 {
			value = line[at:end:end] // grows by copying only when a doubled quote follows
		} else {
			value = append(value, line[at:end]...)
		}
		switch {
		case end+1 == len(line):
			return value, nil, false
		case line[end+1] == separator:
			return value, line[end+2:], true
		case line[end+1] != '"':
			return nil, nil, false
		}
		value = append(value, '"')
		at = end + 2
	}
}

// header splits the first line at whichever separator gives the most columns.
func header(line []byte) (names []string, separator byte) {
	for _, sep := range []byte{',', ';', '\t'} {
		var found []string
		for rest, more := line, true; more; {
			var value []byte
			if value, rest, more = column(rest, sep); value == nil {
				return nil, 0
			}
			found = append(found, string(bytes.TrimSpace(value)))
		}
		if len(found) > len(names) {
			names, separator = found, sep
		}
	}
	return names, separator
}

// vegetaColumns are those of vegeta encode --to csv, which writes no header.
// Older ones end after the ninth.
var vegetaColumns = []string{"timestamp", "code", "latency", "bytes_out", "bytes_in", "error", "body", "attack", "seq", "method", "url", "headers"}

// isVegetaRow knows the first three columns by their look.
func isVegetaRow(names []string) bool {
	if len(names) < 9 || len(names) > len(vegetaColumns) {
		return false
	}
	stamp, okStamp := integer([]byte(names[0]))
	_, okCode := integer([]byte(names[1]))
	_, okLatency := integer([]byte(names[2]))
	return okStamp && okCode && okLatency && stamp > 1e17
}
