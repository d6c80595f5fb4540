package logs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/rlbench/rlbench"
)

const (
	// DefaultReorder is how long before the ops around it an op may have been sent:
	// lines are mostly written when a request ends, so it bounds the longest one.
	DefaultReorder = time.Minute
	// DefaultRowsMax bounds the ops that wait to be put in order.
	DefaultRowsMax = 1 << 20
)

// MergeOptions say how several logs are made one history.
type MergeOptions struct {
	// ClockError bounds how far the clocks of several logs are apart. Each interval
	// is widened by it at both ends; a single log is left as it is.
	ClockError time.Duration
	// Reorder and RowsMax bound how far back an op may belong, in time and in ops;
	// 0 means the defaults. Whichever is reached first gives way to memory.
	Reorder time.Duration
	RowsMax int
}

// MergeCount is what putting in order could not place.
type MergeCount struct {
	// Ops that were given.
	Ops int64
	// Late ops came after ops sent later had been given already. They are left out.
	Late int64
	// Doubled ops are the same in number, key, cost, interval and outcome as another
	// and left out. Where a log does not number its ops nobody can tell, and both stay.
	Doubled int64
	// Places of the first few late and doubled ops.
	Places []Place
}

// Merged gives the ops of several logs in order of Sent, those that were never
// sent where they were planned. It is not safe for concurrent use.
type Merged struct {
	options MergeOptions
	streams []*stream
	waiting runs
	spare   []*run
	rows    int
	primed  bool
	origin  int64
	stated  bool
	order   int64 // of the op that was given last
	seq     int64
	out     renumbering
	recent  map[same]struct{} // numbered ops of the same order as the last
	count   MergeCount
}

// stream is one log on its way. front is the middle of the block read last: a
// single stamp from far away does not move it.
type stream struct {
	reader *Reader
	front  int64
	over   bool
	// shift takes its instants to the common origin.
	shift int64
}

// same is what tells a doubled op.
type same struct {
	id, cost   int64
	key        string
	sent, done rlbench.Instant
	outcome    rlbench.Outcome
}

// Merge puts the ops of the readers in order. It reads nothing before the first
// Next and closes no reader.
func Merge(readers []*Reader, o MergeOptions) (*Merged, error) {
	if len(readers) == 0 {
		return nil, errors.New("merging logs: there is none")
	}
	if o.ClockError < 0 || o.ClockError > longestMax || o.Reorder < 0 || o.Reorder > longestMax || o.RowsMax < 0 {
		return nil, fmt.Errorf("merging logs: a clock error of %s (--clock-error) or an order window of %s (--reorder) is below 0, or there is room for no op (%d)", o.ClockError, o.Reorder, o.RowsMax)
	}
	if o.Reorder == 0 {
		o.Reorder = DefaultReorder
	}
	if o.RowsMax == 0 {
		o.RowsMax = DefaultRowsMax
	}
	m := &Merged{options: o, order: none, recent: make(map[same]struct{})}
	m.out.seen = make(map[string]uint32)
	for _, r := range readers {
		m.streams = append(m.streams, &stream{reader: r})
	}
	return m, nil
}

// Origin is what the instants of all ops count from; see [Reader.Origin]. It is
// known from the first block on.
func (m *Merged) Origin() (ns int64, stated bool) { return m.origin, m.stated }

// Count is what was given so far, and what could not be.
func (m *Merged) Count() MergeCount {
	c := m.count
	c.Places = append([]Place(nil), c.Places...)
	return c
}

// Next replaces the block by the next ops in order and gives their number; at
// the end 0 with [io.EOF]. Numbers of keys and errors hold within the block
// alone. The error is an [ErrUnreadable] or an [ErrLate] when too much of a log
// is lost to judge the rest.
func (m *Merged) Next(block *rlbench.Ops) (int, error) {
	if err := m.prime(); err != nil {
		return 0, err
	}
	reset(block)
	m.out.begin()
	for block.Len() < blockRows {
		switch {
		case m.due():
			m.give(block)
		case m.over():
			return m.finish(block, io.EOF)
		default:
			if err := m.fill(m.behind()); err != nil {
				return 0, err
			}
		}
	}
	return m.finish(block, nil)
}

func (m *Merged) finish(block *rlbench.Ops, end error) (int, error) {
	pad(block)
	n := block.Len()
	m.count.Ops += int64(n)
	if c := m.count; c.Late > unreadableFew && c.Late > (c.Ops+c.Late)/unreadableShare {
		return 0, fmt.Errorf("%w: %d of the first %d ops were sent more than %s before the ops around them, the first at %s",
			ErrLate, c.Late, c.Ops+c.Late, m.options.Reorder, c.Places[0])
	}
	if n > 0 {
		return n, nil
	}
	return 0, end
}

// prime reads a block of every log to learn their origins.
func (m *Merged) prime() error {
	if m.primed {
		return nil
	}
	m.primed = true
	var first []*run
	for _, s := range m.streams {
		r, err := m.read(s)
		if err != nil {
			return err
		}
		if r != nil {
			first = append(first, r)
		}
	}
	for i, r := range first {
		ns, stated := r.from.reader.Origin()
		if i > 0 && stated != m.stated {
			return fmt.Errorf("merging logs: %s and %s do not share a clock: only one of them has wall clock times", first[0].from.reader.name, r.from.reader.name)
		}
		if i == 0 || ns < m.origin {
			m.origin, m.stated = ns, stated
		}
	}
	for _, r := range first {
		ns, _ := r.from.reader.Origin()
		r.from.shift = ns - m.origin
		m.push(r)
	}
	return nil
}

// due reports whether the earliest waiting op can be given: no log can bring an
// earlier one any more, or too many wait.
func (m *Merged) due() bool {
	return len(m.waiting) > 0 && (m.rows > m.options.RowsMax || m.waiting[0].head() <= m.horizon())
}

// horizon is the order up to which nothing more can come in time.
func (m *Merged) horizon() int64 {
	least := int64(math.MaxInt64)
	for _, s := range m.streams {
		if !s.over {
			least = min(least, s.front-int64(m.options.Reorder))
		}
	}
	return least
}

func (m *Merged) over() bool {
	return len(m.waiting) == 0 && m.behind() == nil
}

// behind is the log that is read next: the one whose front is the earliest.
func (m *Merged) behind() *stream {
	var least *stream
	for _, s := range m.streams {
		if !s.over && (least == nil || s.front < least.front) {
			least = s
		}
	}
	return least
}

func (m *Merged) fill(s *stream) error {
	r, err := m.read(s)
	if err == nil && r != nil {
		m.push(r)
	}
	return err
}

// read takes a block of a log; none at its end.
func (m *Merged) read(s *stream) (*run, error) {
	r := &run{}
	if n := len(m.spare); n > 0 {
		r, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	_, err := s.reader.Next(&r.ops)
	if errors.Is(err, io.EOF) {
		s.over = true
		return nil, nil
	}
	r.from = s
	return r, err
}

func (m *Merged) push(r *run) {
	widen := int64(0)
	if len(m.streams) > 1 {
		widen = int64(m.options.ClockError)
	}
	r.shift(r.from.shift, widen)
	r.sort(r.from.front)
	m.seq++
	r.seq = m.seq
	r.from.front = max(r.from.front, r.at[r.rows[len(r.rows)/2]])
	m.rows += len(r.rows)
	m.waiting.push(r)
}

// give moves ops of the earliest run into the block, as long as it stays the
// earliest.
func (m *Merged) give(block *rlbench.Ops) {
	r := m.waiting[0]
	horizon, second := m.horizon(), m.waiting.second(r.head())
	for block.Len() < blockRows && r.next < len(r.rows) && r.head() <= second && (r.head() <= horizon || m.rows > m.options.RowsMax) {
		m.one(block, r, int(r.rows[r.next]))
		r.next++
		m.rows--
	}
	if r.next == len(r.rows) {
		m.waiting.pop()
		r.from, r.next = nil, 0
		m.spare = append(m.spare, r)
		return
	}
	m.waiting.down(0)
}

func (m *Merged) one(block *rlbench.Ops, r *run, i int) {
	at := r.at[i]
	if at < m.order {
		m.count.Late++
		if len(m.count.Places) < placesMax {
			m.place(r, i, fmt.Sprintf("it was sent %s before an op that was given already", time.Duration(m.order-at)))
		}
		return
	}
	if r.from.reader.StatesOps() && m.doubled(r, i) {
		m.count.Doubled++
		if len(m.count.Places) < placesMax {
			m.place(r, i, "it is there twice")
		}
		return
	}
	m.order = at
	m.out.append(block, r, i)
}

func (m *Merged) place(r *run, i int, what string) {
	place := Place{Name: r.from.reader.name, Line: r.ops.ID[i], What: what}
	if r.from.reader.StatesOps() { // then its number is not that of its line
		place.Line, place.What = 0, fmt.Sprintf("op %d: %s", r.ops.ID[i], what)
	}
	m.count.Places = append(m.count.Places, place)
}

// doubled compares with the ops of the same order: the same op was sent at the
// same instant.
func (m *Merged) doubled(r *run, i int) bool {
	o := &r.ops
	if r.at[i] != m.order || len(m.recent) > m.options.RowsMax {
		clear(m.recent)
	}
	op := same{o.ID[i], o.Cost[i], o.Keys[o.Key[i]], o.Sent[i], o.Done[i], o.Outcome[i]}
	_, there := m.recent[op]
	m.recent[op] = struct{}{}
	return there
}
