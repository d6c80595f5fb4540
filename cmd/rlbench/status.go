package main

import "fmt"

// status is an exit status. As an error it ends the program without a further
// word: what there was to say has been printed.
type status int

// The exit statuses that scripts may rely on.
const (
	statusMet          status = 0
	statusNotMet       status = 1
	statusInconclusive status = 2
	statusBadInput     status = 3
	statusMissing      status = 4
	statusBug          status = 5
	statusInterrupted  status = 130
)

// statusOrder ranks the statuses: of several, the first in this list is told.
var statusOrder = [...]status{
	statusInterrupted, statusBug, statusBadInput, statusMissing, statusNotMet, statusInconclusive, statusMet,
}

// Error names the status, for logs; report never prints it.
func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// orNil is the status as the error that a command returns.
func (s status) orNil() error {
	if s == statusMet {
		return nil
	}
	return s
}

// graver returns the one of the two that comes first in the order.
func graver(a, b status) status {
	for _, s := range statusOrder {
		if a == s || b == s {
			return s
		}
	}
	return statusBug
}

// failure is an error that knows its exit status and what the user can do.
type failure struct {
	status status
	err    error
	hint   string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func badInput(hint, format string, args ...any) error {
	return &failure{status: statusBadInput, err: fmt.Errorf(format, args...), hint: hint}
}
