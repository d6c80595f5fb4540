package logs

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	second30 := time.Date(2026, 11, 30, 20, 17, 8, 0, time.UTC).UnixNano()
	for _, c := range []struct {
		text string
		form Form
		ns   int64 // -1: it cannot be read
		step int64
		why  string
	}{
		{"2026-11-30T20:17:08Z", "", second30, second, "RFC 3339 in whole seconds"},
		{"2026-11-30T21:17:08.25+01:00", "", second30 + 250*milli, 10 * milli, "two digits stand for a hundredth; the zone comes off"},
		{"2026-11-30T20:17:08.123456789Z", "", second30 + 123456789, 1, "nanoseconds"},
		{"2026-11-30T20:17:08.1234567891Z", "", second30 + 123456789, 1, "digits below a nanosecond are cut off"},
		{"2026-11-30 20:17:08,5", "", second30 + 500*milli, 100 * milli, "no zone is UTC; a comma is a point"},
		{"2026/11/30 20:17:08", "", second30, second, "JMeter's own timestamp_format"},
		{"30/Nov/2026:20:17:08 +0000", "", second30, second, "an access log"},
		{"30/Nov/2026:12:47:08 -0730", "", second30, second, "a zone of half an hour"},
		{"1796069828", "", second30, second, "Unix seconds"},
		{"1796069828.716", "", second30 + 716*milli, milli, "$msec"},
		{"1796069828716", "", second30 + 716*milli, milli, "Unix milliseconds by their size"},
		{"1796069828716000", "", second30 + 716*milli, micro, "Unix microseconds by their size"},
		{"1796069828716000001", "", second30 + 716*milli + 1, 1, "Unix nanoseconds by their size"},
		{"1.796069828e9", "", second30, second, "a float's print"},
		{"12", UnixNanos, 12, 1, "a stated form goes before the size"},
		{"1796069828", Text, -1, 0, "a stated form is the only one"},
		{"2026-11-30T20:17:08Z", UnixS, -1, 0, "the same the other way"},
		{"2026-02-29T00:00:00Z", "", -1, 0, "2026 is no leap year"},
		{"2028-02-29T00:00:00Z", "", time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC).UnixNano(), second, "2028 is"},
		{"2026-11-31T00:00:00Z", "", -1, 0, "November has 30 days"},
		{"2026-12-31T23:59:60Z", "", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano(), second, "a leap second is the one after"},
		{"2026-11-30T24:00:00Z", "", -1, 0, "no such hour"},
		{"30/Foo/2026:20:17:08 +0000", "", -1, 0, "no such month"},
		{"2026-11-30T20:17:08.Z", "", -1, 0, "a point with nothing behind it"},
		{"2026-11-30T20:17:08+1:00", "", -1, 0, "a broken zone"},
		{"99999999999999999999", "", -1, 0, "more than an int64 holds"},
		{"-1", "", -1, 0, "before 1970"},
		{"", "", -1, 0, "nothing"},
		{"4611686018427387904", "", -1, 0, "2116 and later would overflow sums"},
	} {
		k := clock{form: c.form}
		ns, step, ok := k.read([]byte(c.text))
		if ok != (c.ns >= 0) || ok && (ns != c.ns || step != c.step) {
			t.Errorf("%q: %d step %d ok %v, want %d step %d: %s", c.text, ns, step, ok, c.ns, c.step, c.why)
		}
	}
}

// TestStampAgainstTime compares with the standard library on random moments; the
// clock is one and the same, so its memory of the last second is tested too.
func TestStampAgainstTime(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	layouts := []string{time.RFC3339, time.RFC3339Nano, "02/Jan/2006:15:04:05 -0700", "2006-01-02T15:04:05.000Z07:00"}
	var k clock
	at := time.Unix(0, 0)
	for range 20_000 {
		if random.IntN(4) == 0 {
			at = time.Unix(random.Int64N(146*365*86400), 0).In(time.FixedZone("", (random.IntN(49)-24)*1800))
		}
		at = at.Add(time.Duration(random.Int64N(2e9)))
		text := at.Format(layouts[random.IntN(len(layouts))])
		want, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			want, err = time.Parse(layouts[2], text)
		}
		got, _, ok := k.read([]byte(text))
		if err != nil || !ok || got != want.UnixNano() {
			t.Fatalf("%q: %d %v, want %d %v", text, got, ok, want.UnixNano(), err)
		}
	}
}

func TestClockRemembersTheFinestStep(t *testing.T) {
	var k clock
	for _, c := range []struct {
		text string
		step int64
		why  string
	}{
		{"2026-11-30T20:17:08.5Z", 100 * milli, "nothing finer was seen yet: as wide as it looks"},
		{"2026-11-30T20:17:08.512Z", milli, "a finer one"},
		{"2026-11-30T20:17:08Z", milli, "the writer dropped three zeros"},
	} {
		if _, step, _ := k.read([]byte(c.text)); step != c.step {
			t.Errorf("%q: step %d, want %d: %s", c.text, step, c.step, c.why)
		}
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		text     string
		unit, ns int64 // -1: it cannot be read
		why      string
	}{
		{"0.245", second, 245 * milli, "$request_time"},
		{"12", milli, 12 * milli, "%DURATION%"},
		{"0.406004", milli, 406004 + 1, "a float of milliseconds: what may be cut off is added"},
		{"4.06e-01", milli, 406 * micro, "the same float as some print it"},
		{"1.5e+03", milli, 1500 * milli, "a great one"},
		{"-3", milli, -1, "no request takes less than no time"},
		{"1152921505", second, -1, "36 years and more would overflow sums"},
		{"1e99", milli, -1, "far too long"},
		{"e5", milli, -1, "an exponent of nothing"},
		{"1.e5", milli, -1, "a point with nothing behind it"},
		{"0.1, 0.2", second, -1, "a list"},
	} {
		ns, _, ok := span([]byte(c.text), c.unit)
		if ok != (c.ns >= 0) || ok && ns != c.ns {
			t.Errorf("%q: %d %v, want %d: %s", c.text, ns, ok, c.ns, c.why)
		}
	}
}
