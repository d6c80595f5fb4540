package service

import (
	"bytes"
	"sync"
)

// LogMax is how much of a server's log is kept, in bytes.
const LogMax = 1 << 20

// journal keeps the newest of what a server writes, and tells when a line with
// a certain text has come.
type journal struct {
	mu    sync.Mutex
	kept  []byte
	await []byte // lower case; nil once it has come
	come  chan struct{}
}

func newJournal(await string) *journal {
	return &journal{await: []byte(await), come: make(chan struct{})}
}

// Write never fails: a server must not stop because its log is full.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = append(j.kept, p...)
	if j.await != nil && bytes.Contains(bytes.ToLower(j.kept), j.await) {
		j.await = nil
		close(j.come)
	}
	j.kept = newest(j.kept)
	return len(p), nil
}

// bytes is a copy of what is kept.
func (j *journal) bytes() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	return bytes.Clone(j.kept)
}

// newest cuts a log down to its last LogMax bytes.
func newest(log []byte) []byte {
	return log[max(0, len(log)-LogMax):]
}

// lastLine is the last line of a log that says anything, for an error's text.
func lastLine(log []byte) string {
	log = bytes.TrimSpace(log)
	return string(bytes.TrimSpace(log[bytes.LastIndexByte(log, '\n')+1:]))
}
