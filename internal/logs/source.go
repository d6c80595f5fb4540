package logs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// lineMax is the longest line that is read; a longer one is unreadable.
	lineMax = 1 << 20
	// quotedMax is the longest record of a CSV log that spans several lines.
	quotedMax = 1 << 16
	// zstdMemoryMax bounds what a compressed stream may ask for.
	zstdMemoryMax = 128 << 20
)

// decompress tells gzip and zstd by their first bytes.
func decompress(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReaderSize(r, 1<<16)
	magic, err := b.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, nil, fmt.Errorf("reading: %w", err)
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, nil, fmt.Errorf("reading gzip: %w", err)
		}
		return z, func() {}, nil
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(zstdMemoryMax))
		if err != nil {
			return nil, nil, fmt.Errorf("reading zstd: %w", err)
		}
		return z, z.Close, nil
	case bytes.HasPrefix(magic, []byte("PAR1")):
		return nil, nil, fmt.Errorf("%w: it is a Parquet file", ErrFormat)
	}
	return b, func() {}, nil
}

// source cuts a stream into lines without copying them.
type source struct {
	r          io.Reader
	buf        []byte
	start, end int
	line       int64 // number of the line that next gave last
	lines      int64 // line ends passed
	err        error // of the stream, once it is over
	quoted     bool  // a record may span lines within quotes
}

// record is one line or, within quotes, several.
type record struct {
	text []byte
	// tooLong: text is missing.
	tooLong bool
	// open: the stream ended without a line end.
	open bool
}

func newSource(r io.Reader) *source { return &source{r: r, buf: make([]byte, 1<<17)} }

// next gives the next record, good until the call after it; io.EOF at the end.
func (s *source) next() (record, error) {
	for {
		rec, err := s.cut()
		if err != nil {
			return rec, err
		}
		s.line = s.lines + 1
		s.lines += 1 + int64(bytes.Count(rec.text, []byte{'\n'}))
		if n := len(rec.text); n > 0 && rec.text[n-1] == '\r' {
			rec.text = rec.text[:n-1]
		}
		if rec.tooLong || len(rec.text) > 0 {
			return rec, nil
		}
	}
}

func (s *source) cut() (record, error) {
	from := 0
	for {
		if n := s.length(from); n >= 0 {
			rec := record{text: s.buf[s.start : s.start+n]}
			s.start += n + 1
			return rec, nil
		}
		from = s.end - s.start
		if from >= lineMax {
			return s.overflow()
		}
		if s.err != nil {
			return s.last()
		}
		s.fill()
	}
}

// length is that of the record at the start of the buffer, -1 when its end is
// not there yet. Bytes before from are known to hold no line end, unless quotes
// may span lines.
func (s *source) length(from int) int {
	data := s.buf[s.start:s.end]
	if !s.quoted {
		n := bytes.IndexByte(data[from:], '\n')
		if n < 0 {
			return -1
		}
		return from + n
	}
	return s.quotedLength(data)
}

// quotedLength looks for a line end outside quotes. A quote that never closes
// would swallow the log: then the first line alone is taken, to be unreadable.
func (s *source) quotedLength(data []byte) int {
	first, at, quotes := -1, 0, 0
	for at < min(len(data), quotedMax) {
		n := bytes.IndexByte(data[at:], '\n')
		if n < 0 {
			break
		}
		if first < 0 {
			first = at + n
		}
		if quotes += bytes.Count(data[at:at+n], []byte{'"'}); quotes%2 == 0 {
			return at + n
		}
		at += n + 1
	}
	if len(data) >= quotedMax || s.err != nil {
		return first
	}
	return -1
}

func (s *source) last() (record, error) {
	if s.start == s.end {
		if errors.Is(s.err, io.EOF) {
			return record{}, io.EOF
		}
		return record{}, s.err
	}
	rec := record{text: s.buf[s.start:s.end], open: true}
	s.start = s.end
	return rec, nil
}

// overflow passes over a line that is longer than any that is read.
func (s *source) overflow() (record, error) {
	for {
		if n := bytes.IndexByte(s.buf[s.start:s.end], '\n'); n >= 0 {
			s.start += n + 1
			return record{tooLong: true}, nil
		}
		s.start = s.end
		if s.err != nil {
			return record{tooLong: true, open: true}, nil
		}
		s.fill()
	}
}

// fill reads more behind what is there, making room first.
func (s *source) fill() {
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 { // a reader may return nothing now and then, but not for ever
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if s.err = err; n > 0 || err != nil {
			return
		}
	}
	s.err = io.ErrNoProgress
}

// peek gives what the stream begins with, up to size bytes, without taking it.
func (s *source) peek(size int) []byte {
	for s.end-s.start < size && s.err == nil {
		s.fill()
	}
	return s.buf[s.start:min(s.end, s.start+size)]
}
