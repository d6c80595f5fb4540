package driver

import (
	"math/bits"
	"runtime"
	"slices"
	"sync"

	"github.com/rlbench/rlbench"
)

// place is where one op stands in the order of the merged columns, and where it
// was recorded: rowsMax·chunk + row.
type place struct {
	key uint64
	ref uint64
}

// source is a chunk, whose it is, and where its error texts begin.
type source struct {
	*chunk
	worker int32
	errors []uint32 // the merged number of the worker's error i
}

// merge makes one set of columns of what the workers recorded. Columns that no
// op has a value in stay nil.
func (r *run) merge() rlbench.Ops {
	m := &merger{plan: r.plan, clients: int64(len(r.clients)), ops: rlbench.Ops{Errors: []string{""}}}
	m.collect(r.record)
	for _, w := range r.workers {
		m.collect(w.record)
	}
	for _, record := range r.abandoned {
		m.collect(record)
	}
	m.intern()
	m.order()
	m.allocate()
	inParallel(len(m.places), m.fill)
	return m.ops
}

type merger struct {
	plan    *rlbench.Plan
	clients int64
	sources []source
	errors  map[string]uint32
	places  []place
	// keys of the arrivals, and of each client's requests, as numbers
	arrivalKeys []uint32
	clientKeys  [][]uint32
	ops         rlbench.Ops
}

// collect takes over a worker's chunks, and numbers its error texts anew.
func (m *merger) collect(record *recorder) {
	if m.errors == nil {
		m.errors = map[string]uint32{"": 0}
	}
	errors := make([]uint32, 1, len(record.texts)+1)
	for _, text := range record.texts {
		number, known := m.errors[text]
		if !known {
			number = uint32(len(m.ops.Errors))
			m.errors[text] = number
			m.ops.Errors = append(m.ops.Errors, text)
		}
		errors = append(errors, number)
	}
	for _, c := range record.chunks {
		if len(c.rows) > 0 {
			m.sources = append(m.sources, source{chunk: c, worker: record.worker, errors: errors})
		}
	}
}

// intern numbers the keys of the plan in the order in which it names them.
func (m *merger) intern() {
	numbers := make(map[string]uint32)
	number := func(key string) uint32 {
		n, known := numbers[key]
		if !known {
			n = uint32(len(m.ops.Keys))
			numbers[key] = n
			m.ops.Keys = append(m.ops.Keys, key)
		}
		return n
	}
	m.arrivalKeys = make([]uint32, len(m.plan.Arrivals))
	for i := range m.plan.Arrivals {
		m.arrivalKeys[i] = number(m.plan.Arrivals[i].Key)
	}
	m.clientKeys = make([][]uint32, len(m.plan.Clients))
	for c := range m.plan.Clients {
		requests := m.plan.Clients[c].Requests
		m.clientKeys[c] = make([]uint32, len(requests))
		for i := range requests {
			m.clientKeys[c][i] = number(requests[i].Key)
		}
	}
}

// order sorts the places by Sent (Planned where there is none), ties by op.
func (m *merger) order() {
	total := 0
	for _, s := range m.sources {
		total += len(s.rows)
	}
	m.places = make([]place, 0, total)
	for n, s := range m.sources {
		for i := range s.rows {
			// Flipping the sign makes the order of signed numbers that of
			// unsigned ones.
			key := uint64(s.rows[i].moment()) ^ 1<<63
			m.places = append(m.places, place{key: key, ref: uint64(n)*rowsMax + uint64(i)})
		}
	}
	m.places = sorted(m.places)
	for from := 0; from < total; {
		to := from + 1
		for to < total && m.places[to].key == m.places[from].key {
			to++
		}
		if to-from > 1 {
			slices.SortFunc(m.places[from:to], func(a, b place) int {
				return int(m.row(a).id - m.row(b).id)
			})
		}
		from = to
	}
}

// moment is where an op stands in time.
func (r *row) moment() rlbench.Instant {
	if r.sent.Known() {
		return r.sent
	}
	return r.planned
}

func (m *merger) row(p place) *row { return &m.sources[p.ref/rowsMax].rows[p.ref%rowsMax] }

// sorted sorts by key, a digit at a time from the lowest: as many passes as the
// keys' range has digits, each of them linear.
func sorted(places []place) []place {
	if len(places) == 0 {
		return places
	}
	least, greatest := places[0].key, places[0].key
	for _, p := range places {
		least, greatest = min(least, p.key), max(greatest, p.key)
	}
	const digit = 11
	spare := make([]place, len(places))
	for shift := 0; shift < bits.Len64(greatest-least); shift += digit {
		var starts [1 << digit]int
		for _, p := range places {
			starts[(p.key-least)>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range starts {
			starts[d] = sum
			sum += n
		}
		for _, p := range places {
			d := (p.key - least) >> shift & (1<<digit - 1)
			spare[starts[d]] = p
			starts[d]++
		}
		places, spare = spare, places
	}
	return places
}

// allocate makes the columns that some op has a value in.
func (m *merger) allocate() {
	n, o := len(m.places), &m.ops
	o.ID, o.Key, o.Cost = make([]int64, n), make([]uint32, n), make([]int64, n)
	o.Instance, o.Worker = make([]int32, n), make([]int32, n)
	o.Planned, o.Sent, o.Done = make([]rlbench.Instant, n), make([]rlbench.Instant, n), make([]rlbench.Instant, n)
	o.Outcome = make([]rlbench.Outcome, n)
	for _, s := range m.sources {
		if s.status != nil && o.Status == nil {
			o.Status = make([]int32, n)
		}
		if s.err != nil && o.Error == nil {
			o.Error = make([]uint32, n)
		}
		for i, column := range s.stated() {
			if *column != nil && *stated(o)[i] == nil {
				*stated(o)[i] = make([]int64, n)
			}
		}
	}
}

// stated lists the columns of what the limiter states in numbers, in the order
// of the function below.
func (c *chunk) stated() [6]*[]int64 {
	return [...]*[]int64{&c.limit, &c.remaining, &c.retryAfter, &c.reset, &c.decidedAt, &c.releasedAt}
}

func stated(o *rlbench.Ops) [6]*[]int64 {
	return [...]*[]int64{&o.Limit, &o.Remaining, &o.RetryAfter, &o.Reset, &o.DecidedAt, &o.ReleasedAt}
}

// fill writes the merged rows [from, to).
func (m *merger) fill(from, to int) {
	o := &m.ops
	columns := stated(o)
	for at := from; at < to; at++ {
		ref := m.places[at].ref
		s, i := &m.sources[ref/rowsMax], ref%rowsMax
		op := &s.rows[i]
		o.ID[at], o.Worker[at] = op.id, s.worker
		o.Planned[at], o.Sent[at], o.Done[at], o.Outcome[at] = op.planned, op.sent, op.done, op.outcome
		request, key := m.request(op.id)
		o.Key[at], o.Cost[at], o.Instance[at] = key, request.Cost, request.Instance
		if s.status != nil {
			o.Status[at] = s.status[i]
		}
		if s.err != nil {
			o.Error[at] = s.errors[s.err[i]]
		}
		for n, column := range s.stated() {
			if *columns[n] == nil {
				continue
			}
			(*columns[n])[at] = rlbench.None
			if *column != nil {
				(*columns[n])[at] = (*column)[i]
			}
		}
	}
}

// request is what op id asked, and the number of its key: the inverse of
// [rlbench.Plan.OpOfArrival] and [rlbench.Plan.OpOfClient].
func (m *merger) request(id int64) (*rlbench.Request, uint32) {
	arrivals := int64(len(m.plan.Arrivals))
	if id < arrivals {
		return &m.plan.Arrivals[id].Request, m.arrivalKeys[id]
	}
	c, n := (id-arrivals)%m.clients, (id-arrivals)/m.clients
	requests := m.plan.Clients[c].Requests
	n %= int64(len(requests))
	return &requests[n], m.clientKeys[c][n]
}

// shareMin is the least stretch worth a goroutine of its own.
const shareMin = 1 << 16

// inParallel does the work on [0, n) in as many stretches as there are
// processors, and as are worth it.
func inParallel(n int, work func(from, to int)) {
	shares := min(runtime.GOMAXPROCS(0), n/shareMin+1)
	var all sync.WaitGroup
	for s := range shares {
		all.Go(func() { work(n*s/shares, n*(s+1)/shares) })
	}
	all.Wait()
}
