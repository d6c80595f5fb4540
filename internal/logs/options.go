package logs

import (
	"errors"
	"fmt"
	"time"
)

// Format names what wrote a log. The zero value leaves it to be found out.
type Format string

// The formats that can be read.
const (
	// JSONLines has the columns of ops.parquet by name, one object a line.
	JSONLines Format = "jsonl"
	// CSV has the same columns under a header.
	CSV Format = "csv"
	// NGINX is a text access log: the common, the combined, or a stated log_format.
	NGINX Format = "nginx"
	// NGINXJSON is an access log whose log_format writes one object a line.
	NGINXJSON Format = "nginx-json"
	// Envoy is a text access log: Envoy's own default, or a stated format.
	Envoy Format = "envoy"
	// EnvoyJSON is an access log written by a json_format.
	EnvoyJSON Format = "envoy-json"
	// VegetaCSV and VegetaJSON are what vegeta encode writes.
	VegetaCSV  Format = "vegeta-csv"
	VegetaJSON Format = "vegeta-json"
	// K6 is what k6 run --out json writes.
	K6 Format = "k6"
	// JMeter is a JTL file with a header line, as CSV.
	JMeter Format = "jmeter"
)

// Formats lists every format in a fixed order.
func Formats() []Format {
	return []Format{JSONLines, CSV, NGINX, NGINXJSON, Envoy, EnvoyJSON, VegetaCSV, VegetaJSON, K6, JMeter}
}

// Moment says which moment of a request a lone stamp stands for.
type Moment string

// The moments. The zero value leaves it to the format.
const (
	// Start: the request was sent, or its first byte came.
	Start Moment = "start"
	// End: the answer was complete, or the line was written.
	End Moment = "end"
	// Decision: the limiter decided.
	Decision Moment = "decision"
)

// Form says how a stamp is written.
type Form string

// The forms. The zero value tells them apart by their look: Unix times by how
// many digits they have.
const (
	Text       Form = "text" // RFC 3339, or an access log's [02/Jan/2006:15:04:05 -0700]
	UnixS      Form = "unix"
	UnixMillis Form = "unix-ms"
	UnixMicros Form = "unix-us"
	UnixNanos  Form = "unix-ns"
)

// Options say what a log does not say of itself. The zero value is good for
// every format that can be told by its look.
type Options struct {
	// Name is the log's name in messages, such as its path.
	Name string
	// Format is found out when empty.
	Format Format
	// Template is NGINX's log_format or Envoy's format string, word for word, for
	// a text access log that is not written in the usual way.
	Template string
	// Key is the field whose value is whose budget a request used: a column, a
	// variable of the access log, a field of the object (nested ones with dots, a
	// k6 tag by its own name). When empty it is the format's usual one: key,
	// remote_addr; otherwise the whole log is one budget.
	Key string
	// Map names fields that the log calls something else: the name that this
	// package knows, then the log's own.
	Map map[string]string
	// Refused are the statuses that are refusals; nil means 429 alone.
	Refused []int
	// Unknown are statuses that do not tell whether a request was charged,
	// besides 0 and 499.
	Unknown []int
	// Longest bounds how long any request took. It is needed where a log has only
	// one stamp a request and no duration; 0 means that nobody knows.
	Longest time.Duration
	// Moment and Form say what a lone stamp stands for and how it is written.
	Moment Moment
	Form   Form
	// Rounded: stamps are rounded to their last digit. Else they are taken to be
	// cut off at it, as NGINX, Envoy and most others do.
	Rounded bool
	// Instance numbers the ops of this log where it has no instance column.
	Instance int32
	// Target keeps the ops of one target where the log holds several.
	Target string
}

// longestMax keeps sums of a stamp and a duration within int64.
const longestMax = time.Duration(1) << 60

func (o Options) check() error {
	known := o.Format == ""
	for _, f := range Formats() {
		known = known || f == o.Format
	}
	switch {
	case !known:
		return fmt.Errorf("%q is not a log format: one of %v", o.Format, Formats())
	case o.Longest < 0 || o.Longest > longestMax:
		return fmt.Errorf("a longest request of %s is out of bounds", o.Longest)
	case o.Template != "" && o.Format != "" && o.Format != NGINX && o.Format != Envoy:
		return fmt.Errorf("a log format string goes with %s or %s, not with %s", NGINX, Envoy, o.Format)
	}
	switch o.Moment {
	case "", Start, End, Decision:
	default:
		return fmt.Errorf("%q is not a moment: one of %s, %s, %s", o.Moment, Start, End, Decision)
	}
	switch o.Form {
	case "", Text, UnixS, UnixMillis, UnixMicros, UnixNanos:
	default:
		return fmt.Errorf("%q is not a form of time: one of %s, %s, %s, %s, %s", o.Form, Text, UnixS, UnixMillis, UnixMicros, UnixNanos)
	}
	for _, s := range append(append([]int(nil), o.Refused...), o.Unknown...) {
		if s < 0 || s >= statusMax {
			return fmt.Errorf("%d is not a status", s)
		}
	}
	return nil
}

// Errors that a caller may want to tell apart.
var (
	// ErrUnreadable: too many lines could not be read for the rest to mean much.
	ErrUnreadable = errors.New("too much of the log cannot be read")
	// ErrFormat: the log is in none of the formats, or not in the one stated.
	ErrFormat = errors.New("not a log that can be read")
	// ErrLate: too many lines came later than the order window allows.
	ErrLate = errors.New("too many lines are out of order")
)

// Place is where a log could not be read, or not be put in order.
type Place struct {
	Name string
	// Line counts from 1. It is 0 where What names the op by the number that the log
	// states for it.
	Line int64
	What string
}

// String gives name:line: what.
func (p Place) String() string {
	if p.Line == 0 { // the op is named, and where it stands is not known
		return fmt.Sprintf("%s: %s", p.Name, p.What)
	}
	return fmt.Sprintf("%s:%d: %s", p.Name, p.Line, p.What)
}

// Count is how much of a log was read, and how much was not.
type Count struct {
	// Lines that were looked at, blank ones left out. Each became an op or is
	// counted below.
	Lines, Ops int64
	// Skipped lines tell of no request to the limiter: a metric's declaration, a
	// transaction's total, a request that NGINX did not limit.
	Skipped int64
	// Unkeyed lines have no value in the key's field: nobody's budget was used.
	Unkeyed int64
	// Unreadable lines, of which the first few are in Places. What is missing takes
	// nothing from a Fail of never-over, but it may have used the budget for which
	// another request was refused.
	Unreadable int64
	// CutOff: the log ends within a line or within its compressed stream.
	CutOff bool
	Places []Place
}

// placesMax is how many places are kept.
const placesMax = 10
