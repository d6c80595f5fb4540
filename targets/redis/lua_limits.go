package redis

import (
	"fmt"

	"github.com/rlbench/rlbench"
)

// What a script is told of a limit, and which limits are beyond its numbers:
// above 2^53 a script would round, and a rounded limiter keeps no exact promise.

func fixedArgs(l rlbench.Limit) []any {
	return []any{l.Count, int64(l.Per / serverClock), string(l.Anchor)}
}

func windowArgs(l rlbench.Limit) []any { return []any{l.Count, int64(l.Per / serverClock)} }

func bucketArgs(l rlbench.Limit) []any {
	p := partsOf(l)
	return []any{l.Burst, p.unit, p.drains}
}

// parts divide a unit of cost so finely that a microsecond drains a whole number.
type parts struct{ unit, drains int64 }

func partsOf(l rlbench.Limit) parts {
	count, per := l.Count, int64(l.Per/serverClock)
	a, b := count, per
	for b != 0 {
		a, b = b, a%b
	}
	return parts{unit: per / a, drains: count / a}
}

// acceptWindows accepts windows that the server's clock can measure, and counts
// that a script can.
func acceptWindows(limits []rlbench.Limit) error {
	return eachLimit(limits, func(l rlbench.Limit) error {
		if l.Count > exactMax {
			return fmt.Errorf("a limit of %d is above %d, up to which a script counts exactly", l.Count, int64(exactMax))
		}
		return nil
	})
}

// acceptCounters: a script multiplies a count with a part of its window.
func acceptCounters(limits []rlbench.Limit) error {
	return eachLimit(limits, func(l rlbench.Limit) error {
		if most := exactMax / int64(l.Per/serverClock); l.Count > most {
			return fmt.Errorf("a limit of %s is above %d, up to which a script counts the fractions of such a window exactly", l, most)
		}
		return nil
	})
}

// acceptBuckets: a script adds what is in a bucket to what shall go in.
func acceptBuckets(limits []rlbench.Limit) error {
	return eachLimit(limits, func(l rlbench.Limit) error {
		parts := partsOf(l)
		if most := exactMax / 2 / parts.unit; l.Burst > most {
			return fmt.Errorf("%s: a burst above %d is more than a script counts exactly at this rate", l, most)
		}
		if parts.drains > exactMax {
			return fmt.Errorf("a rate of %s is above what a script counts exactly", l)
		}
		return nil
	})
}

func acceptQueue(limits []rlbench.Limit) error {
	if len(limits) != 1 {
		return fmt.Errorf("a queue lets requests go at one rate: it keeps one limit, not %d", len(limits))
	}
	return acceptBuckets(limits)
}

// eachLimit asks of each window whether the server's clock can measure it, and
// then what else there is to ask of it.
func eachLimit(limits []rlbench.Limit, accept func(rlbench.Limit) error) error {
	for _, l := range limits {
		if l.Per < serverClock || l.Per%serverClock != 0 {
			return fmt.Errorf("a window of %s is not a whole number of microseconds, which the server's clock counts", l.Per)
		}
		if err := accept(l); err != nil {
			return err
		}
	}
	return nil
}
