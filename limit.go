package rlbench

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// perUnits are the durations that may be written as a bare unit: 10/s is 10/1s.
var perUnits = []struct {
	name string
	per  time.Duration
}{
	{"ns", time.Nanosecond}, {"us", time.Microsecond}, {"ms", time.Millisecond},
	{"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour},
}

// daysMax is as many days as nanoseconds in 64 bits can count.
const daysMax = math.MaxInt64 / int64(24*time.Hour)

// ParseLimit reads COUNT/DURATION, where the duration is Go's form (1m30s), a
// number of days (7d) or a bare unit (s, m, h, d): 100/1m, 10/s, 1/4ms. Both
// parts are at least 1.
func ParseLimit(text string) (Limit, error) {
	count, per, found := strings.Cut(text, "/")
	if !found {
		return Limit{}, fmt.Errorf("%q is not COUNT/DURATION, such as 100/1m", text)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return Limit{}, fmt.Errorf("%q: the count %q is beyond 64 bits", text, count)
	}
	if err != nil || n < 1 {
		return Limit{}, fmt.Errorf("%q: the count %q is not a whole number of at least 1", text, count)
	}
	d, err := ParsePer(strings.TrimSpace(per))
	if err != nil {
		return Limit{}, fmt.Errorf("%q: %w", text, err)
	}
	return Limit{Count: n, Per: d}, nil
}

// ParsePer reads the duration of a limit: Go's form, days (7d) or a bare unit.
// It is at least 1 ns.
func ParsePer(text string) (time.Duration, error) {
	for _, u := range perUnits {
		if text == u.name {
			return u.per, nil
		}
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if errors.Is(err, strconv.ErrRange) || n > daysMax {
			return 0, fmt.Errorf("%q is more than the %d days that fit", text, daysMax)
		}
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%q is not a number of days", text)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 1 {
		return 0, fmt.Errorf("%q is not a duration of at least 1ns, such as 1m, 250ms or s", text)
	}
	return d, nil
}

// formatPer writes a duration without the zero parts that Go's own form keeps:
// 1m rather than 1m0s.
func formatPer(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
