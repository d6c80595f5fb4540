package driver_test

import (
	"fmt"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/driver"
)

// wellFormed demands what holds of every recording: each arrival has exactly
// one row, each closed loop's rows are its requests from the first on, a worker
// makes one op at a time, and rows are in order.
func wellFormed(plan *rlbench.Plan, r *driver.Recording) error {
	seen := make(map[int64]bool)
	made := make([]int, len(plan.Clients))
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		if seen[op.ID] {
			return fmt.Errorf("op %d has two rows", op.ID)
		}
		seen[op.ID] = true
		want, at := planned(plan, op.ID, made)
		if op.Key != want.Key || op.Cost != want.Cost || op.Instance != want.Instance {
			return fmt.Errorf("op %d is %+v, planned was %+v", op.ID, op, want)
		}
		if at.Known() && op.Planned != at {
			return fmt.Errorf("op %d: planned at %s, not %s", op.ID, op.Planned, at)
		}
		if err := instants(op); err != nil {
			return err
		}
		if i > 0 && !inOrder(r.Ops.At(i-1), op) {
			return fmt.Errorf("op %d stands after op %d", op.ID, r.Ops.ID[i-1])
		}
	}
	for i := range plan.Arrivals {
		if !seen[plan.OpOfArrival(i)] {
			return fmt.Errorf("arrival %d has no row", i)
		}
	}
	if err := loops(plan, r, made); err != nil {
		return err
	}
	return oneAtATime(r)
}

// loops demands of each client that its ops are its requests from the first on,
// and that each was planned for the instant at which the one before left it free.
func loops(plan *rlbench.Plan, r *driver.Recording, made []int) error {
	rows := make(map[int64]rlbench.Op)
	for i := range r.Ops.Len() {
		rows[r.Ops.ID[i]] = r.Ops.At(i)
	}
	for c, n := range made {
		for i := range n {
			op, there := rows[plan.OpOfClient(c, i)]
			if !there {
				return fmt.Errorf("client %d made %d ops, and its op %d has no row", c, n, i)
			}
			if i == 0 {
				continue
			}
			before := rows[plan.OpOfClient(c, i-1)]
			if want := before.Done.After(plan.Clients[c].Think); before.Done.Known() && op.Planned != want {
				return fmt.Errorf("client %d: op %d was planned at %s, not %s", c, i, op.Planned, want)
			}
		}
	}
	return nil
}

// planned is what the plan says of op id, with NoInstant where only the run can
// tell when; it counts the ops of each client.
func planned(plan *rlbench.Plan, id int64, made []int) (rlbench.Request, rlbench.Instant) {
	if id < int64(len(plan.Arrivals)) {
		return plan.Arrivals[id].Request, plan.Arrivals[id].At
	}
	for c, client := range plan.Clients {
		n := (id - plan.OpOfClient(c, 0))
		stride := plan.OpOfClient(c, 1) - plan.OpOfClient(c, 0)
		if n%stride != 0 {
			continue
		}
		made[c]++
		at := rlbench.NoInstant
		if n == 0 {
			at = client.From
		}
		return client.Requests[int(n/stride)%len(client.Requests)], at
	}
	return rlbench.Request{Key: "no such op"}, rlbench.NoInstant
}

func instants(op rlbench.Op) error {
	if op.Outcome == rlbench.Unsent {
		if op.Sent.Known() || op.Done.Known() || op.Error == "" {
			return fmt.Errorf("unsent op %d has sent %s, done %s, error %q", op.ID, op.Sent, op.Done, op.Error)
		}
		return nil
	}
	if !op.Sent.Known() || op.Sent < op.Planned || (op.Done.Known() && op.Done < op.Sent) {
		return fmt.Errorf("op %d: planned %s, sent %s, done %s", op.ID, op.Planned, op.Sent, op.Done)
	}
	if !op.Done.Known() && op.Outcome != rlbench.Unknown {
		return fmt.Errorf("op %d is %s and has no done", op.ID, op.Outcome)
	}
	return nil
}

func moment(op rlbench.Op) rlbench.Instant {
	if op.Sent.Known() {
		return op.Sent
	}
	return op.Planned
}

func inOrder(a, b rlbench.Op) bool {
	return moment(a) < moment(b) || (moment(a) == moment(b) && a.ID < b.ID)
}

// oneAtATime demands that no worker's ops overlap, and that none that was sent
// is the scheduler's.
func oneAtATime(r *driver.Recording) error {
	last := make(map[int32]rlbench.Op)
	for i := range r.Ops.Len() {
		op := r.Ops.At(i)
		if op.Outcome == rlbench.Unsent {
			continue
		}
		before, some := last[op.Worker]
		if op.Worker == 0 || (some && (!before.Done.Known() || before.Done > op.Sent)) {
			return fmt.Errorf("worker %d made op %d during op %d", op.Worker, op.ID, before.ID)
		}
		last[op.Worker] = op
	}
	return nil
}
