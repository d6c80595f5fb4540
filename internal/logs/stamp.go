package logs

import "bytes"

const (
	second = int64(1e9)
	milli  = int64(1e6)
	micro  = int64(1e3)
	// stampMax bounds stamps (the year 2116) so that sums and differences of
	// stamps and durations stay within int64.
	stampMax = int64(1) << 62
	spanMax  = int64(1) << 60
)

// clock reads stamps. Lines that follow each other mostly share their second,
// so the last one is kept and its text compared.
type clock struct {
	form Form
	// finest is the smallest step that a stamp of this log was written in. Writers
	// that drop trailing zeros make single stamps look coarser than they are.
	finest int64

	prefix [20]byte
	length int
	secs   int64
}

// read gives the stamp in nanoseconds since the Unix epoch and the step of its
// last digit.
func (c *clock) read(text []byte) (ns, step int64, ok bool) {
	calendar := c.form == "" || c.form == Text
	switch {
	case calendar && len(text) >= 19 && (text[4] == '-' || text[4] == '/'):
		ns, step, ok = c.calendar(text, 19)
	case calendar && len(text) >= 20 && text[2] == '/':
		ns, step, ok = c.calendar(text, 20)
	case c.form != Text:
		ns, step, ok = c.unix(text)
	}
	if !ok || ns < 0 || ns >= stampMax {
		return 0, 0, false
	}
	if c.finest == 0 || step < c.finest {
		c.finest = step
	}
	return ns, c.finest, true
}

// calendar reads a date and time of n bytes up to the second, a fraction and a
// zone; without a zone it is UTC.
func (c *clock) calendar(text []byte, n int) (ns, step int64, ok bool) {
	if c.length != n || !bytes.Equal(c.prefix[:n], text[:n]) {
		secs, ok := civil(text[:n])
		if !ok {
			return 0, 0, false
		}
		c.length, c.secs = n, secs
		copy(c.prefix[:], text[:n])
	}
	rest := text[n:]
	step = second
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') {
		var used int
		if ns, step, used = fraction(rest[1:], second); used == 0 {
			return 0, 0, false
		}
		rest = rest[1+used:]
	}
	offset, ok := zone(rest)
	return (c.secs-offset)*second + ns, step, ok
}

// civil reads 2006-01-02T15:04:05 (19 bytes, also with / and a blank) or
// 02/Jan/2006:15:04:05 (20 bytes) as seconds since the Unix epoch.
func civil(text []byte) (int64, bool) {
	var y, mo, d int
	var clock []byte
	if len(text) == 20 {
		mo = month(text[3:6])
		if text[6] != '/' || text[11] != ':' {
			return 0, false
		}
		y, d, clock = digits(text[7:11]), digits(text[0:2]), text[12:]
	} else {
		if text[7] != text[4] || (text[10] != 'T' && text[10] != 't' && text[10] != ' ') {
			return 0, false
		}
		y, mo, d, clock = digits(text[0:4]), digits(text[5:7]), digits(text[8:10]), text[11:]
	}
	h, mi, s := digits(clock[0:2]), digits(clock[3:5]), digits(clock[6:8])
	bad := clock[2] != ':' || clock[5] != ':' || y < 1970 || y > 2115 || mo < 1 || mo > 12 || d < 1 || d > monthDays(y, mo) ||
		h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 60 // 60 is a leap second
	if bad {
		return 0, false
	}
	return daysSinceEpoch(y, mo, d)*86400 + int64(h)*3600 + int64(mi)*60 + int64(s), true
}

func monthDays(y, m int) int {
	switch m {
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// daysSinceEpoch counts years from March, so that the leap day is the last.
func daysSinceEpoch(y, m, d int) int64 {
	if m <= 2 {
		y, m = y-1, m+12
	}
	return int64(365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1 - 719468)
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

func month(name []byte) int {
	for i := 0; i < len(months); i += 3 {
		if string(name) == months[i:i+3] {
			return i/3 + 1
		}
	}
	return 0
}

// zone reads Z, +hh:mm, +hhmm or nothing, a blank before it allowed, as seconds
// east of UTC.
func zone(text []byte) (int64, bool) {
	if len(text) > 1 && text[0] == ' ' {
		text = text[1:]
	}
	if len(text) == 0 || (len(text) == 1 && (text[0] == 'Z' || text[0] == 'z')) {
		return 0, true
	}
	if len(text) == 6 && text[3] == ':' {
		text = append(append(make([]byte, 0, 5), text[:3]...), text[4:]...)
	}
	if len(text) != 5 || (text[0] != '+' && text[0] != '-') {
		return 0, false
	}
	h, m := digits(text[1:3]), digits(text[3:5])
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, false
	}
	east := int64(h)*3600 + int64(m)*60
	if text[0] == '-' {
		east = -east
	}
	return east, true
}

// unix reads a whole or decimal number of seconds; a whole number may as well
// be in milli-, micro- or nanoseconds, told by the stated form or by its size
// (all from 1973 to 5138 are told apart).
func (c *clock) unix(text []byte) (ns, step int64, ok bool) {
	unit := second
	switch c.form {
	case UnixMillis:
		unit = milli
	case UnixMicros:
		unit = micro
	case UnixNanos:
		unit = 1
	case "":
		unit = unitOf(text)
	}
	return decimal(text, unit)
}

func unitOf(text []byte) int64 {
	whole := bytes.IndexByte(text, '.')
	if whole < 0 {
		whole = len(text)
	}
	switch {
	case whole <= 11:
		return second
	case whole <= 14:
		return milli
	case whole <= 17:
		return micro
	}
	return 1
}

// decimal reads a non-negative decimal number of units, an exponent allowed, as
// nanoseconds cut off at the last one, and the step of its last digit.
func decimal(text []byte, unit int64) (ns, step int64, ok bool) {
	i, whole := 0, int64(0)
	for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
		if whole > stampMax/unit {
			return 0, 0, false
		}
		whole = whole*10 + int64(text[i]-'0')
	}
	if i == 0 || whole > stampMax/unit {
		return 0, 0, false
	}
	ns, step = whole*unit, unit
	if i+1 < len(text) && text[i] == '.' {
		part, finer, used := fraction(text[i+1:], unit)
		if used == 0 {
			return 0, 0, false
		}
		ns, step, i = ns+part, finer, i+1+used
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		return exponential(text, i, unit)
	}
	return ns, step, i == len(text)
}

// fraction reads the digits behind a point, as nanoseconds of a unit.
func fraction(text []byte, unit int64) (ns, step int64, used int) {
	step = unit
	for used < len(text) && text[used] >= '0' && text[used] <= '9' {
		if step >= 10 {
			step /= 10
			ns += int64(text[used]-'0') * step
		}
		used++
	}
	return ns, step, used
}

// exponential reads what a float prints when it is tiny or huge, digits moved
// to where the point belongs.
func exponential(text []byte, e int, unit int64) (ns, step int64, ok bool) {
	exp, ok := integer(bytes.TrimPrefix(text[e+1:], []byte("+")))
	whole, part, _ := bytes.Cut(text[:e], []byte("."))
	if !ok || exp < -30 || exp > 18 || len(text) > 40 || len(whole) == 0 {
		return 0, 0, false
	}
	all := append(append(bytes.Repeat([]byte("0"), 30), whole...), part...)
	point := 30 + len(whole) + int(exp)
	for len(all) < point {
		all = append(all, '0')
	}
	if len(all) == point {
		return decimal(all, unit)
	}
	return decimal(append(append(append([]byte(nil), all[:point]...), '.'), all[point:]...), unit)
}

// span reads a duration in units of unit nanoseconds: at most how long it was,
// and the step of its last digit.
func span(text []byte, unit int64) (ns, step int64, ok bool) {
	ns, step, ok = decimal(text, unit)
	if step == 1 && unit > 1 {
		ns++ // there may be digits below a nanosecond
	}
	return ns, step, ok && ns <= spanMax
}

// integer reads a whole number within ±stampMax.
func integer(text []byte) (int64, bool) {
	negative := len(text) > 1 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 19 {
		return 0, false
	}
	n := int64(0)
	for _, c := range text {
		if c < '0' || c > '9' || n > stampMax/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// digits reads a short run of digits; -1 when there is anything else.
func digits(text []byte) int {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
