package driver

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAClosedSleeperWakesNobodyElse(t *testing.T) {
	old, err := newSleeper()
	if err != nil {
		t.Fatal(err)
	}
	old.close()
	other, err := newSleeper()
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	old.event = other.event // as when the number is given out anew
	old.wake()
	var count [8]byte
	if _, err := unix.Read(other.event, count[:]); !errors.Is(err, unix.EAGAIN) {
		t.Errorf("reading the other's event: %v, want that there is none", err)
	}
}
