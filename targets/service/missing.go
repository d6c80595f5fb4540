package service

import (
	"fmt"
	"strings"
)

// Missing says that something a backend needs is not there. The person can
// bring it, or choose another backend.
type Missing struct {
	// What is not there, Why we think so, and in Hint what would help.
	What, Why, Hint string
	// Err is the cause, if there is one.
	Err error
}

// Error is What and Why, without the Hint, in one line: some engines answer in
// several.
func (m *Missing) Error() string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s: %s", m.What, m.Why)), " ")
}

// Unwrap is the cause.
func (m *Missing) Unwrap() error { return m.Err }

// Mistake says that a Choice cannot be carried out anywhere: the person must
// put it right.
type Mistake struct {
	// What is wrong, Why, and in Hint what would be right.
	What, Why, Hint string
}

// Error is What and Why, without the Hint.
func (m *Mistake) Error() string { return fmt.Sprintf("%s: %s", m.What, m.Why) }
