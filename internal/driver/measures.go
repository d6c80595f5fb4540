package driver

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/rlbench/rlbench"
)

const (
	// HighestTrackable is the greatest value that the histograms hold; what is
	// above it is recorded as it, and counted.
	HighestTrackable = time.Hour
	// significantFigures of every value in the histograms are kept.
	significantFigures = 3
)

// measures are the histograms of one stretch of the ops.
type measures struct {
	latency, service, lateness, alone *hdrhistogram.Histogram
	clamped                           int64
}

func newMeasures() *measures {
	histogram := func() *hdrhistogram.Histogram {
		return hdrhistogram.New(1, int64(HighestTrackable), significantFigures)
	}
	return &measures{latency: histogram(), service: histogram(), lateness: histogram(), alone: histogram()}
}

func (m *measures) record(h *hdrhistogram.Histogram, d time.Duration) {
	if d > HighestTrackable {
		d = HighestTrackable
		m.clamped++
	}
	_ = h.RecordValue(int64(d)) // its only error is a value out of range
}

func (m *measures) merge(other *measures) {
	m.latency.Merge(other.latency)
	m.service.Merge(other.service)
	m.lateness.Merge(other.lateness)
	m.alone.Merge(other.alone)
	m.clamped += other.clamped
}

// recording draws the books up: the merged columns, and what they measure.
func (r *run) recording() *Recording {
	recording := &Recording{
		Ops: r.merge(), StartedAt: r.clock.base,
		Interrupted:    r.interrupted.Load() && r.cut.Load(),
		UnsentInFlight: r.unsentInFlight, UnsentBound: r.unsentBound.Load(),
		ClientsHeld: r.clientsHeld, Abandoned: int64(len(r.abandoned)),
	}
	m := r.measure(&recording.Ops)
	recording.Latency, recording.Service, recording.Lateness = m.latency, m.service, m.lateness
	recording.LatenessP99 = time.Duration(m.alone.ValueAtQuantile(99))
	recording.Clamped = m.clamped
	recording.ReleaseSpread = r.releaseSpread(&recording.Ops)
	return recording
}

func (r *run) measure(ops *rlbench.Ops) *measures {
	all := newMeasures()
	var mu sync.Mutex
	inParallel(ops.Len(), func(from, to int) {
		part := newMeasures()
		for i := from; i < to; i++ {
			r.measureOp(part, ops, i)
		}
		mu.Lock()
		defer mu.Unlock()
		all.merge(part)
	})
	return all
}

func (r *run) measureOp(m *measures, ops *rlbench.Ops, i int) {
	if ops.Outcome[i] != rlbench.Allowed && ops.Outcome[i] != rlbench.Denied {
		return
	}
	planned, sent, done := ops.Planned[i], ops.Sent[i], ops.Done[i]
	m.record(m.latency, done.Since(planned))
	m.record(m.service, done.Since(sent))
	m.record(m.lateness, sent.Since(planned))
	if r.releaseOf(ops.ID[i]) == 0 {
		_ = m.alone.RecordValue(int64(min(sent.Since(planned), HighestTrackable)))
	}
}

// releaseOf is the release that op id belongs to, 0 for none.
func (r *run) releaseOf(id int64) int32 {
	if id >= int64(len(r.plan.Arrivals)) {
		return 0
	}
	return r.plan.Arrivals[id].Release
}

// releaseSpread goes by the order of Sent: the first op of a release that it
// meets is the first that was sent.
func (r *run) releaseSpread(ops *rlbench.Ops) time.Duration {
	var greatest time.Duration
	first := make(map[int32]rlbench.Instant)
	for i, id := range ops.ID {
		release := r.releaseOf(id)
		if release == 0 || !ops.Sent[i].Known() {
			continue
		}
		if _, met := first[release]; !met {
			first[release] = ops.Sent[i]
		}
		greatest = max(greatest, ops.Sent[i].Since(first[release]))
	}
	return greatest
}
