package driver

import "github.com/rlbench/rlbench"

// row is what the driver itself knows of one op. Key, cost and instance are
// not in it: the Plan holds them under the op's number.
type row struct {
	id                  int64
	planned, sent, done rlbench.Instant
	outcome             rlbench.Outcome
}

const (
	// rowsMin and rowsMax bound a chunk: small at first, since most of many
	// workers make few ops, then doubling, so that growing costs little an op.
	// rowsMax rows of 40 bytes stay below what the allocator treats as huge.
	rowsMin = 16
	rowsMax = 4096
)

// chunk is a stretch of rows and of the columns that the limiter may state,
// each nil until a row of the chunk first has a value there.
type chunk struct {
	rows []row // its capacity never grows

	status                                                     []int32
	limit, remaining, retryAfter, reset, decidedAt, releasedAt []int64
	err                                                        []uint32
}

// recorder keeps the ops of one worker. It is written by that worker alone,
// and read once that worker has ended.
type recorder struct {
	worker      int32
	clockOrigin int64
	chunks      []*chunk
	last        *chunk
	texts       []string          // texts[i] is error i+1
	numbers     map[string]uint32 // made with the first error
}

func newRecorder(worker int32, clockOrigin int64, rows int) *recorder {
	r := &recorder{worker: worker, clockOrigin: clockOrigin}
	r.grow(min(max(rows, rowsMin), rowsMax))
	return r
}

func (r *recorder) grow(rows int) {
	r.last = &chunk{rows: make([]row, 0, rows)}
	r.chunks = append(r.chunks, r.last)
}

// add keeps one op and what was said of it.
func (r *recorder) add(op row, a *rlbench.Answer) {
	if len(r.last.rows) == cap(r.last.rows) {
		r.grow(min(2*cap(r.last.rows), rowsMax))
	}
	r.last.rows = append(r.last.rows, op)
	if a.Said != 0 || a.Status != 0 {
		r.last.state(a, r.clockOrigin)
	}
	if a.Err != nil {
		r.say(a.Err.Error())
	}
}

// failed keeps an op that was sent and got no answer.
func (r *recorder) failed(op row, text string) {
	op.outcome = rlbench.Unknown
	r.add(op, &rlbench.Answer{})
	r.say(text)
}

// unsent keeps an op that was never sent.
func (r *recorder) unsent(op row, text string) {
	op.outcome, op.sent, op.done = rlbench.Unsent, rlbench.NoInstant, rlbench.NoInstant
	r.add(op, &rlbench.Answer{})
	r.say(text)
}

// say gives the newest row an error text. Texts are numbered per worker, so
// that no two workers ever wait for each other.
func (r *recorder) say(text string) {
	number, known := r.numbers[text]
	if !known {
		if r.numbers == nil {
			r.numbers = make(map[string]uint32)
		}
		r.texts = append(r.texts, text)
		number = uint32(len(r.texts))
		r.numbers[text] = number
	}
	c := r.last
	if c.err == nil {
		c.err = make([]uint32, cap(c.rows))
	}
	c.err[len(c.rows)-1] = number
}

// state keeps what the limiter stated with the newest row.
func (c *chunk) state(a *rlbench.Answer, clockOrigin int64) {
	if a.Status != 0 {
		if c.status == nil {
			c.status = make([]int32, cap(c.rows))
		}
		c.status[len(c.rows)-1] = a.Status
	}
	c.put(&c.limit, a.Said&rlbench.SaidLimit, a.Limit)
	c.put(&c.remaining, a.Said&rlbench.SaidRemaining, a.Remaining)
	c.put(&c.retryAfter, a.Said&rlbench.SaidRetryAfter, int64(a.RetryAfter))
	c.put(&c.reset, a.Said&rlbench.SaidReset, int64(a.Reset))
	c.put(&c.decidedAt, a.Said&rlbench.SaidDecidedAt, a.DecidedAt-clockOrigin)
	c.put(&c.releasedAt, a.Said&rlbench.SaidReleasedAt, a.ReleasedAt-clockOrigin)
}

func (c *chunk) put(column *[]int64, said rlbench.Said, value int64) {
	if said == 0 {
		return
	}
	if *column == nil {
		*column = make([]int64, cap(c.rows))
		for i := range *column {
			(*column)[i] = rlbench.None
		}
	}
	(*column)[len(c.rows)-1] = value
}
