package broken

import (
	"slices"
	"time"

	"github.com/rlbench/rlbench"
)

// part is some requests of one key: n of them, the first at a moment, so far apart.
type part struct {
	at    time.Duration
	n     int
	every time.Duration // 0: all together
	key   string        // "user" when not given
	cost  int64         // 1 when not given
	via   int           // the instance, from 1; 0: any
	// spread is by how much each may be later than planned.
	spread time.Duration
}

// arrivals draws the traffic, in order of time.
func (w *world) arrivals() []rlbench.Arrival {
	var all []rlbench.Arrival
	for _, p := range w.traffic {
		for i := range p.n {
			at := p.at + time.Duration(i)*p.every + time.Duration(w.draw.Int64N(int64(p.spread)+1))
			instance := int32(p.via - 1)
			if p.via == 0 {
				instance = w.draw.Int32N(int32(w.instances))
			}
			key := p.key
			if key == "" {
				key = "user"
			}
			all = append(all, rlbench.Arrival{
				Request: rlbench.Request{Key: key, Cost: max(p.cost, 1), Instance: instance},
				At:      rlbench.Instant(at),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b rlbench.Arrival) int { return int(a.At - b.At) })
	return all
}

// columns returns the ops that the arrivals are to become, still without an outcome.
func columns(arrivals []rlbench.Arrival) rlbench.Ops {
	n := len(arrivals)
	ops := rlbench.Ops{
		ID: make([]int64, n), Key: make([]uint32, n), Cost: make([]int64, n), Instance: make([]int32, n), Worker: make([]int32, n),
		Planned: make([]rlbench.Instant, n), Sent: make([]rlbench.Instant, n), Done: make([]rlbench.Instant, n),
		Outcome: make([]rlbench.Outcome, n), DecidedAt: make([]int64, n), ReleasedAt: make([]int64, n),
	}
	number := map[string]uint32{}
	for i, a := range arrivals {
		key, known := number[a.Key]
		if !known {
			key = uint32(len(ops.Keys))
			number[a.Key] = key
			ops.Keys = append(ops.Keys, a.Key)
		}
		ops.ID[i], ops.Key[i], ops.Cost[i], ops.Instance[i] = int64(i), key, a.Cost, a.Instance
		ops.Planned[i], ops.Sent[i], ops.Done[i] = a.At, a.At, rlbench.NoInstant
		ops.DecidedAt[i], ops.ReleasedAt[i] = rlbench.None, rlbench.None
	}
	return ops
}
