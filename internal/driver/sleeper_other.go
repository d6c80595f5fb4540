//go:build !linux

package driver

import "time"

// oversleep is by how much a sleep is cut short: a timer of the Go runtime can
// be about 1 ms late. The rest is spent yielding.
const oversleep = 1500 * time.Microsecond

// sleeper sleeps by a timer of the Go runtime. Anyone may wake it early.
type sleeper struct{ woken chan struct{} }

func newSleeper() (*sleeper, error) { return &sleeper{woken: make(chan struct{}, 1)}, nil }

// sleep returns after about d, early when woken.
func (s *sleeper) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.woken:
	}
}

// wake ends the present sleep, or else the next one at once.
func (s *sleeper) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *sleeper) close() {}
