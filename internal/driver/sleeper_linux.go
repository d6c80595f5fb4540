package driver

import (
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// oversleep is by how much a sleep is cut short: the kernel's timer slack (50
// µs) and the wake-up of the thread make it about 90 µs late, 130 µs at the
// 99th percentile. The rest is spent yielding.
const oversleep = 150 * time.Microsecond

// sleeper sleeps by the kernel's own timer, because a timer of the Go runtime
// is up to 1 ms late when nothing else is going on. Anyone may wake it early.
type sleeper struct {
	event int

	mu     sync.Mutex
	closed bool // the descriptor may be somebody else's by now
}

func newSleeper() (*sleeper, error) {
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("making an event descriptor: %w", err)
	}
	return &sleeper{event: event}, nil
}

// sleep returns after about d, early when woken or when a signal came: callers
// look at the clock again.
func (s *sleeper) sleep(d time.Duration) {
	timeout := unix.NsecToTimespec(int64(d))
	fds := []unix.PollFd{{Fd: int32(s.event), Events: unix.POLLIN}}
	if n, err := unix.Ppoll(fds, &timeout, nil); err == nil && n == 1 {
		var count [8]byte
		_, _ = unix.Read(s.event, count[:]) // only resets it; nobody else reads
	}
}

// wake ends the present sleep, or else the next one at once.
func (s *sleeper) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(s.event, one[:]) // full means that a wake-up is pending already
}

func (s *sleeper) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = unix.Close(s.event)
}
