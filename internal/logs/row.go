package logs

import (
	"bytes"
	"strings"
	"time"

	"github.com/rlbench/rlbench"
)

// statusMax is above every status.
const statusMax = 1000

// row is one op before it stands in columns. Instants are not yet less the origin.
type row struct {
	op, cost         int64
	instance, worker int64
	planned          int64
	sent, done       int64
	// origin is what the instants count from if this is the first op; wall: a wall
	// clock says so.
	origin     int64
	wall       bool
	outcome    rlbench.Outcome
	status     int64
	key, fault []byte
	// stated are limit, remaining, retry_after, reset, decided_at, released_at.
	stated [statedCount]int64
}

const statedCount = int(slotReleasedAt-slotLimit) + 1

// wallMin is a moment in 1973: whatever has run for longer is a wall clock.
const wallMin = int64(1e17)

// none stands for an instant that the log does not state.
const none = int64(rlbench.NoInstant)

// Problems that a line may have. They are constants so that a damaged log costs
// no allocation a line.
const (
	problemOutcome  = "its outcome is none of allowed, denied, unknown, unsent"
	problemStatus   = "its status is no number below 1000"
	problemMute     = "it has neither an outcome nor a status"
	problemTime     = "its time cannot be read"
	problemNoTime   = "it has no time"
	problemMoment   = "nothing says whether its time is when it began or when it was over: --moment start, or --moment end"
	problemDuration = "its duration cannot be read"
	problemOrder    = "it is done before it was sent"
	problemNumber   = "a number in it cannot be read"
	problemCost     = "its cost is below 1"
	problemKey      = "its key is longer than 4096 bytes"
	problemTooLong  = "it is longer than 1048576 bytes"
	problemCutOff   = "the log ends before the line does"
)

// reading turns fields into rows by what one log's dialect and options say.
type reading struct {
	dialect *dialect
	binding binding
	moment  Moment
	// momentGiven: somebody said which moment it is.
	momentGiven bool
	rounded     bool
	longest     int64
	clock       clock
	outcomes    [statusMax]rlbench.Outcome
	instance    int64
	target      []byte
	// port: the key is an address whose port is the connection's, not the client's.
	port  bool
	doubt Doubt
}

func newReading(d *dialect, b binding, o Options) *reading {
	r := &reading{dialect: d, binding: b, moment: d.stamp, rounded: o.Rounded, longest: int64(o.Longest), instance: int64(o.Instance)}
	r.clock.form = o.Form
	if o.Moment != "" {
		r.moment, r.momentGiven = o.Moment, true
	}
	r.port = strings.EqualFold(b.field[slotKey], "downstream_remote_address")
	if o.Target != "" {
		r.target = []byte(o.Target)
	}
	for s := range r.outcomes {
		r.outcomes[s] = rlbench.Allowed
	}
	for _, s := range append([]int{0, 499}, o.Unknown...) {
		r.outcomes[s] = rlbench.Unknown
	}
	refused := o.Refused
	if refused == nil {
		refused = []int{429}
	}
	for _, s := range refused {
		r.outcomes[s] = rlbench.Denied
	}
	return r
}

// row reads the fields; the answer is what is wrong with them, if anything.
func (r *reading) row(f *fields, line int64) (row, string) {
	to := row{op: line, cost: 1, instance: r.instance, planned: none, sent: none, done: none}
	if problem := r.numbers(f, &to); problem != "" {
		return to, problem
	}
	if problem := r.judge(f, &to); problem != "" {
		return to, problem
	}
	if problem := r.interval(f, &to); problem != "" {
		return to, problem
	}
	to.key = f.text[slotKey]
	if i := bytes.LastIndexByte(to.key, ':'); r.port && i >= 0 {
		to.key = to.key[:i]
	}
	if len(to.key) > keyMax {
		return to, problemKey
	}
	// What a load generator calls an error is often only a status of 400 or more;
	// on an Allowed or a Denied op it would mean that the limiter had no store.
	if to.fault == nil && (r.dialect.own || to.outcome == rlbench.Unknown) {
		to.fault = f.text[slotError]
	}
	if len(to.fault) > keyMax {
		to.fault = to.fault[:keyMax]
	}
	if !r.dialect.own {
		return to, ""
	}
	return to, r.stated(f, &to)
}

func (r *reading) numbers(f *fields, to *row) string {
	if text := f.text[slotOp]; text != nil {
		n, ok := integer(text)
		if !ok {
			return problemNumber
		}
		to.op = n
	}
	if !r.dialect.own {
		return ""
	}
	for _, n := range [...]struct {
		slot slot
		to   *int64
		max  int64
	}{{slotCost, &to.cost, stampMax}, {slotInstance, &to.instance, 1<<31 - 1}, {slotWorker, &to.worker, 1<<31 - 1}} {
		if text := f.text[n.slot]; text != nil {
			v, ok := integer(text)
			if !ok || v < 0 || v > n.max {
				return problemNumber
			}
			*n.to = v
		}
	}
	if to.cost < 1 {
		return problemCost
	}
	return ""
}

func (r *reading) stated(f *fields, to *row) string {
	for i := range to.stated {
		to.stated[i] = rlbench.None
		if text := f.text[int(slotLimit)+i]; text != nil {
			n, ok := integer(text)
			if !ok {
				return problemNumber
			}
			to.stated[i] = n
		}
	}
	return ""
}

// judge finds the outcome: what the limiter itself said, else what its status
// or its flags say.
func (r *reading) judge(f *fields, to *row) string {
	text, outcome, flags := f.text[slotStatus], f.text[slotOutcome], f.text[slotFlags]
	if text != nil {
		if problem := r.status(text, to); problem != "" {
			return problem
		}
	}
	if outcome != nil {
		var ok bool
		if to.outcome, ok = parseOutcome(outcome); !ok {
			return problemOutcome
		}
		return ""
	}
	if flags != nil {
		limitedBy(flags, to)
	}
	if text == nil {
		return problemMute
	}
	return ""
}

// status reads a status; 0 stands for - where there was none, and for the words
// that JMeter writes when there was no answer.
func (r *reading) status(text []byte, to *row) string {
	n := 0
	switch {
	case string(text) == "-":
	case len(text) <= 3 && digits(text) >= 0:
		n = digits(text)
	case r.dialect.format == JMeter:
		to.fault = text
	default:
		return problemStatus
	}
	to.status = int64(n)
	to.outcome = r.outcomes[n]
	return ""
}

// parseOutcome reads our own words, and those of NGINX's $limit_req_status. A
// delayed request was charged when it came; a dry run decides as in earnest.
func parseOutcome(text []byte) (rlbench.Outcome, bool) {
	switch string(text) {
	case "allowed", "PASSED", "DELAYED", "DELAYED_DRY_RUN":
		return rlbench.Allowed, true
	case "denied", "REJECTED", "REJECTED_DRY_RUN":
		return rlbench.Denied, true
	case "unknown":
		return rlbench.Unknown, true
	case "unsent":
		return rlbench.Unsent, true
	}
	return rlbench.Unknown, false
}

// limitedBy reads Envoy's flags: RL is a refusal whatever the status (a gRPC one
// answers 200), RLSE one for want of the rate limit service.
func limitedBy(flags []byte, to *row) {
	for len(flags) > 0 {
		var flag []byte
		flag, flags, _ = bytes.Cut(flags, []byte(","))
		switch string(flag) {
		case "RL", "RateLimited":
			to.outcome = rlbench.Denied
		case "RLSE", "RateLimitServiceError":
			to.outcome = rlbench.Denied
			to.fault = flag
		}
	}
}

// interval finds the closed interval that the decision lies in.
func (r *reading) interval(f *fields, to *row) string {
	if text := f.text[slotPlanned]; text != nil {
		n, ok := integer(text)
		if !ok {
			return problemNumber
		}
		to.planned = n
	}
	problem := ""
	if f.has(slotSent) || f.has(slotDone) || (to.outcome == rlbench.Unsent && !f.has(slotStamp)) {
		problem = r.whole(f, to)
	} else {
		problem = r.stamped(f, to)
	}
	if problem == "" && to.planned == none {
		to.planned = to.sent
	}
	return problem
}

// whole reads sent_ns and done_ns.
func (r *reading) whole(f *fields, to *row) string {
	for _, n := range [...]struct {
		text []byte
		to   *int64
	}{{f.text[slotSent], &to.sent}, {f.text[slotDone], &to.done}} {
		if n.text != nil {
			v, ok := integer(n.text)
			if !ok {
				return problemTime
			}
			*n.to = v
		}
	}
	missing := to.sent == none && to.outcome != rlbench.Unsent ||
		to.done == none && (to.outcome == rlbench.Allowed || to.outcome == rlbench.Denied)
	switch {
	case missing:
		return problemNoTime
	case to.done != none && to.done < to.sent:
		return problemOrder
	}
	// A run's sent_ns counts from the run's own start; since the Unix epoch it
	// would be far greater.
	if first := max(to.sent, to.planned); first > wallMin {
		to.origin, to.wall = first, true
	}
	r.doubt.widen(to.sent, to.done)
	return ""
}

// stamped reads a lone stamp and, where there is one, the duration.
func (r *reading) stamped(f *fields, to *row) string {
	if !f.has(slotStamp) {
		return problemNoTime
	}
	at, step, ok := r.clock.read(f.text[slotStamp])
	if !ok {
		return problemTime
	}
	to.origin, to.wall = at, true
	last := at + step - 1
	if r.rounded {
		at, last = at-(step+1)/2, at+(step+1)/2
	}
	took, stated, ok := r.took(f)
	if !ok {
		return problemDuration
	}
	if stated && r.dialect.own && !r.momentGiven {
		return problemMoment
	}
	switch r.moment {
	case Decision:
		to.sent, to.done = at, last
	case Start:
		to.sent, to.done = at, last+took
	default:
		to.sent, to.done = at-took, last
	}
	if !stated && r.moment != Decision {
		r.doubt.lone(r.longest)
	}
	r.doubt.stamp(step)
	r.doubt.widen(to.sent, to.done)
	return ""
}

// took gives the longest that the request can have taken, in nanoseconds, and
// whether the line itself says so.
func (r *reading) took(f *fields) (ns int64, stated, ok bool) {
	text := f.text[slotDuration]
	if text == nil || string(text) == "-" {
		return r.longest, false, true
	}
	ns, step, ok := span(text, r.binding.durationUnit)
	if !r.dialect.exact {
		ns += step - 1
	}
	if idle := f.text[slotIdle]; idle != nil && ok {
		var more int64
		more, _, ok = span(idle, r.binding.idleUnit)
		ns += more
	}
	return ns, true, ok
}

// Doubt is what a log leaves open about the moments of its requests.
type Doubt struct {
	// Moment is what a lone stamp stands for; empty where the log gives both ends.
	Moment Moment
	// Stamp is how much of time one stamp stands for: the finest step seen. 0
	// where no stamp was read.
	Stamp time.Duration
	// Lone counts ops for which only one end was logged. Longest is what was
	// assumed to bound them. When it is 0, Unbounded is true: the other end is
	// nowhere, the interval is only as wide as the stamp, so a Fail must become
	// Inconclusive, and a Pass is never certain.
	Lone      int64
	Longest   time.Duration
	Unbounded bool
	// WidthMax is the widest interval of all ops.
	WidthMax time.Duration
}

func (d *Doubt) stamp(step int64) { d.Stamp = time.Duration(step) }

func (d *Doubt) lone(longest int64) {
	d.Lone++
	d.Longest = time.Duration(longest)
	d.Unbounded = longest == 0
}

func (d *Doubt) widen(sent, done int64) {
	if sent != none && done != none {
		d.WidthMax = max(d.WidthMax, time.Duration(done-sent))
	}
}

// Sentences say in words what the log leaves open.
func (d Doubt) Sentences() []string {
	var all []string
	if d.Stamp > time.Nanosecond {
		all = append(all, "its stamps are cut off at "+d.Stamp.String()+", so each moment is in doubt by that much")
	}
	switch {
	case d.Unbounded:
		all = append(all, "it has one stamp a request and no duration: without the longest that a request can take nothing is certain")
	case d.Lone > 0:
		all = append(all, "it has one stamp a request: each is taken to have lasted up to "+d.Longest.String())
	}
	return all
}
