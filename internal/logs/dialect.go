package logs

import (
	"bytes"
	"slices"
)

// slot is what a field of a log means.
type slot uint8

const (
	slotOp slot = iota
	slotKey
	slotCost
	slotInstance
	slotWorker
	slotPlanned
	slotSent
	slotDone
	slotOutcome
	slotStatus
	slotLimit
	slotRemaining
	slotRetryAfter
	slotReset
	slotDecidedAt
	slotReleasedAt
	slotError
	slotTarget
	slotStamp    // a lone stamp; which moment it stands for, the dialect or the options say
	slotDuration // how long the request took
	slotIdle     // what the duration leaves out
	slotFlags    // Envoy's response flags
	slotKind     // k6: metric or point
	slotMetric   // k6: which metric
	slotMessage  // JMeter: tells transactions from samples
	slotCount
)

// fields are one line, taken apart. A text is nil when the line says nothing
// there; it is good until the next line is read.
type fields struct {
	text [slotCount][]byte
}

func (f *fields) has(s slot) bool { return f.text[s] != nil }

// name is what a format calls a slot. For durations unit is that of the number,
// in nanoseconds.
type name struct {
	text string
	slot slot
	unit int64
}

// dialect is what a format says and how it is to be understood.
type dialect struct {
	format Format
	names  []name
	// stamp is which moment a lone stamp stands for.
	stamp Moment
	// exact: the stated duration is the difference of the very readings that the
	// stamps were cut from, so cutting it off lost nothing.
	exact bool
	// own: the format is ours; an empty key is a key, an error is meant.
	own bool
	// keys are the usual key fields, the first that there is. keyPaths are where
	// a field may lie that was named without its path.
	keys, keyPaths []string
	// tells reports whether a line is about a request to the limiter.
	tells func(*fields) bool
	// signs are fields that only this format has, any one set of which tells it.
	signs [][]string
}

var columns = []name{
	{text: "op", slot: slotOp}, {text: "key", slot: slotKey}, {text: "cost", slot: slotCost},
	{text: "instance", slot: slotInstance}, {text: "worker", slot: slotWorker},
	{text: "planned_ns", slot: slotPlanned}, {text: "sent_ns", slot: slotSent}, {text: "done_ns", slot: slotDone},
	{text: "outcome", slot: slotOutcome}, {text: "status", slot: slotStatus}, {text: "status_code", slot: slotStatus},
	{text: "code", slot: slotStatus}, {text: "limit", slot: slotLimit}, {text: "remaining", slot: slotRemaining},
	{text: "retry_after_ns", slot: slotRetryAfter}, {text: "reset_ns", slot: slotReset},
	{text: "decided_at_ns", slot: slotDecidedAt}, {text: "released_at_ns", slot: slotReleasedAt},
	{text: "error", slot: slotError}, {text: "target", slot: slotTarget},
	{text: "time", slot: slotStamp}, {text: "timestamp", slot: slotStamp},
	{text: "duration_ns", slot: slotDuration, unit: 1}, {text: "duration_us", slot: slotDuration, unit: micro},
	{text: "duration_ms", slot: slotDuration, unit: milli}, {text: "duration_s", slot: slotDuration, unit: second},
}

// NGINX logs when the request is over. Both $msec and $request_time come from
// one clock in whole milliseconds, so their difference is the start, exactly.
var nginxNames = []name{
	{text: "msec", slot: slotStamp}, {text: "time_iso8601", slot: slotStamp}, {text: "time_local", slot: slotStamp},
	{text: "time", slot: slotStamp}, {text: "timestamp", slot: slotStamp}, {text: "@timestamp", slot: slotStamp}, {text: "ts", slot: slotStamp},
	{text: "request_time", slot: slotDuration, unit: second}, {text: "status", slot: slotStatus},
	{text: "limit_req_status", slot: slotOutcome},
}

// Envoy stamps the start to the millisecond and cuts the duration off by itself.
var envoyNames = []name{
	{text: "start_time", slot: slotStamp}, {text: "duration", slot: slotDuration, unit: milli},
	{text: "response_code", slot: slotStatus}, {text: "response_flags", slot: slotFlags}, {text: "response_flags_long", slot: slotFlags},
}

var vegetaNames = []name{
	{text: "timestamp", slot: slotStamp}, {text: "latency", slot: slotDuration, unit: 1},
	{text: "code", slot: slotStatus}, {text: "seq", slot: slotOp}, {text: "error", slot: slotError},
}

var dialects = []*dialect{
	{format: K6, stamp: End, exact: true, keyPaths: []string{"data.tags.", "data.metadata."}, tells: isRequestDuration,
		signs: [][]string{{"type", "metric"}},
		names: []name{{text: "type", slot: slotKind}, {text: "metric", slot: slotMetric}, {text: "data.time", slot: slotStamp},
			{text: "data.value", slot: slotDuration, unit: milli}, {text: "data.tags.status", slot: slotStatus},
			{text: "data.tags.error", slot: slotError}}},
	{format: VegetaJSON, stamp: Start, exact: true, names: vegetaNames, keyPaths: []string{"headers."},
		signs: [][]string{{"latency", "code", "timestamp", "seq"}}},
	{format: VegetaCSV, stamp: Start, exact: true, names: vegetaNames},
	{format: JMeter, stamp: Start, exact: true, tells: isSample, signs: [][]string{{"timeStamp", "elapsed"}},
		names: []name{{text: "timeStamp", slot: slotStamp}, {text: "elapsed", slot: slotDuration, unit: milli},
			{text: "IdleTime", slot: slotIdle, unit: milli}, {text: "responseCode", slot: slotStatus}, {text: "responseMessage", slot: slotMessage}}},
	{format: JSONLines, stamp: End, names: columns, own: true, keys: []string{"key"}, signs: [][]string{{"outcome"}, {"sent_ns"}}},
	{format: CSV, stamp: End, names: columns, own: true, keys: []string{"key"}},
	{format: EnvoyJSON, stamp: Start, names: envoyNames, signs: [][]string{{"start_time", "response_code"}, {"start_time", "duration"}, {"response_flags"}}},
	{format: Envoy, stamp: Start, names: envoyNames},
	{format: NGINXJSON, stamp: End, exact: true, names: nginxNames, keys: []string{"remote_addr"},
		signs: [][]string{{"msec"}, {"request_time"}, {"time_local"}, {"time_iso8601"}, {"limit_req_status"}, {"remote_addr"}}},
	{format: NGINX, stamp: End, exact: true, names: nginxNames, keys: []string{"remote_addr"}},
}

func dialectOf(f Format) *dialect {
	i := slices.IndexFunc(dialects, func(d *dialect) bool { return d.format == f })
	return dialects[i]
}

// signed gives the dialect that the fields of a line or of a header tell.
func signed(names []string, among ...Format) *dialect {
	for _, d := range dialects {
		if !slices.Contains(among, d.format) {
			continue
		}
		for _, sign := range d.signs {
			if !slices.ContainsFunc(sign, func(s string) bool { return !slices.Contains(names, s) }) {
				return d
			}
		}
	}
	return nil
}

// isRequestDuration keeps the one of the many points of a k6 request that says
// how long it took; its time is the request's end.
func isRequestDuration(f *fields) bool {
	return string(f.text[slotKind]) == "Point" && string(f.text[slotMetric]) == "http_req_duration"
}

// isSample leaves out the totals of transaction controllers, whose samples
// stand in the file by themselves.
func isSample(f *fields) bool {
	return !bytes.HasPrefix(f.text[slotMessage], []byte("Number of samples in transaction"))
}
