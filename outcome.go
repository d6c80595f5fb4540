package rlbench

import "fmt"

// Outcome is what became of one request.
type Outcome uint8

const (
	// Unknown is the zero value: it was sent, and nobody can tell whether it was
	// charged (a timeout, a reset, a server error). It counts as neither.
	Unknown Outcome = iota
	// Allowed: the limiter let it pass.
	Allowed
	// Denied: the limiter refused it.
	Denied
	// Unsent: it never left, so it cannot have been charged.
	Unsent
)

var outcomeNames = [...]string{Unknown: "unknown", Allowed: "allowed", Denied: "denied", Unsent: "unsent"}

// String gives the name used in every file.
func (o Outcome) String() string {
	if int(o) >= len(outcomeNames) {
		return fmt.Sprintf("outcome(%d)", uint8(o))
	}
	return outcomeNames[o]
}

// ParseOutcome is the inverse of [Outcome.String]. ok is false for a name that
// is none of the four.
func ParseOutcome(name string) (o Outcome, ok bool) {
	for i, n := range outcomeNames {
		if n == name {
			return Outcome(i), true
		}
	}
	return Unknown, false
}

// MarshalText writes the name, so that files hold words.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the name; any other text is an error.
func (o *Outcome) UnmarshalText(text []byte) error {
	parsed, ok := ParseOutcome(string(text))
	if !ok {
		return fmt.Errorf("%q is not an outcome", text)
	}
	*o = parsed
	return nil
}

// Verdict is what the evidence says of one promise.
type Verdict uint8

const (
	// Inconclusive is the zero value: the evidence does not settle it.
	Inconclusive Verdict = iota
	// Pass: some choice of decision moments keeps the promise.
	Pass
	// Fail: no choice of decision moments keeps the promise.
	Fail
)

var verdictNames = [...]string{Inconclusive: "inconclusive", Pass: "pass", Fail: "fail"}

// String gives the name used in every file.
func (v Verdict) String() string {
	if int(v) >= len(verdictNames) {
		return fmt.Sprintf("verdict(%d)", uint8(v))
	}
	return verdictNames[v]
}

// ParseVerdict is the inverse of [Verdict.String]. ok is false for a name that
// is none of the three.
func ParseVerdict(name string) (v Verdict, ok bool) {
	for i, n := range verdictNames {
		if n == name {
			return Verdict(i), true
		}
	}
	return Inconclusive, false
}

// MarshalText writes the name, so that files hold words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the name; any other text is an error.
func (v *Verdict) UnmarshalText(text []byte) error {
	parsed, ok := ParseVerdict(string(text))
	if !ok {
		return fmt.Errorf("%q is not a verdict", text)
	}
	*v = parsed
	return nil
}
