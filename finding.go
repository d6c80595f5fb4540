package rlbench

// Check is one promise, and the pure function that judges a Run against it.
type Check struct {
	// Name is the promise's name in scenarios and files, such as never-over.
	Name string
	// About is one line for lists.
	About string
	// Promise says the promise that a policy makes in words; empty when the
	// policy makes no such promise and the check does not apply.
	Promise func(Policy) string
	// OnRequest: it is judged only where somebody names it.
	OnRequest bool
	// Judge returns the Finding. It reads the Run and changes nothing.
	Judge func(*Run) Finding
}

// Finding is a verdict on one promise, one sentence with numbers, and the
// fewest ops that show it.
type Finding struct {
	// Check is the check's name, Promise the promise in words.
	Check, Promise string
	Verdict        Verdict
	// Because is one sentence with numbers.
	Because string
	// Doubt is how much cost beyond the promise the evidence would allow in the
	// worst case: 0 when the promise was certainly kept.
	Doubt int64
	// Witness holds the fewest ops that show a Fail, in order of Sent.
	Witness []Op
	// Proof says step by step why no decision moments excuse the witness.
	Proof []string
}

// Accuracy measures a Run against an exact sliding log, whatever its design
// promised. Costs and counts are whole numbers; shares lie in [0, 1].
type Accuracy struct {
	// Offered counts every op, Unsent included.
	Offered int64 `json:"offered"`
	Allowed int64 `json:"allowed"`
	Denied  int64 `json:"denied"`
	Unknown int64 `json:"unknown"`
	Unsent  int64 `json:"unsent"`
	// IdealAllowed is how many ops an exact sliding log would have admitted of
	// the same arrivals at their sent moments.
	IdealAllowed int64 `json:"ideal_allowed"`
	// OverCertain is the cost above the limit summed over disjoint certain
	// windows, left to right: at least so much must be taken away.
	OverCertain int64 `json:"over_certain"`
	// OverEstimate counts allowed ops that found the log full, taken at
	// DecidedAt or at the middle of their interval.
	OverEstimate int64 `json:"over_estimate"`
	// RefusedWronglyCertain counts refusals that had room at every moment,
	// RefusedWronglyEstimate those that had room at that same middle.
	RefusedWronglyCertain  int64 `json:"refused_wrongly_certain"`
	RefusedWronglyEstimate int64 `json:"refused_wrongly_estimate"`
	// CannotTell is the share of refusals that are certainly neither right nor wrong.
	CannotTell float64 `json:"cannot_tell"`
	// WorstWindow is the greatest cost that certainly was in one window,
	// WorstWindowRatio the same divided by the limit.
	WorstWindow      int64   `json:"worst_window"`
	WorstWindowRatio float64 `json:"worst_window_ratio"`
}
