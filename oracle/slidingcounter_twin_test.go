package oracle

// The twin of the sliding counter: every choice of moments on a grid of parts of a
// tick, with the estimate as fractions. It shares no code with what it checks.

type counterTwin struct {
	limit, window, origin int64
	// grid is how many moments a tick has.
	grid int64
	ops  []twinOp
	seen map[counterTwinState]bool
}

type counterTwinState struct{ t, before, own, left int64 }

// begin is the state before anything was sent.
func (w *counterTwin) begin() counterTwinState {
	w.seen = map[counterTwinState]bool{}
	return counterTwinState{t: 0, left: 1<<len(w.ops) - 1}
}

// frac is how much of the window of moment t is over, in parts of window·grid.
func (w *counterTwin) frac(t int64) int64 {
	length := w.window * w.grid
	return ((t+w.origin*w.grid)%length + length) % length
}

// above compares the estimate with the limit, both times window·grid.
func (w *counterTwin) above(t, before, own, cost int64) bool {
	length := w.window * w.grid
	return before*(length-w.frac(t))+(own+cost)*length > w.limit*length
}

func (w *counterTwin) tick(s counterTwinState) counterTwinState {
	s.t++
	if w.frac(s.t) == 0 {
		s.before, s.own = s.own, 0
	}
	return s
}

// can reports whether op i may be decided in the state.
func (w *counterTwin) can(s counterTwinState, i int, kinds string) bool {
	o := w.ops[i]
	listed := false
	for _, k := range []byte(kinds) {
		listed = listed || k == o.kind
	}
	return listed && s.left&(1<<i) != 0 && o.sent*w.grid <= s.t && (o.kind == 'U' || s.t <= o.done*w.grid)
}

// overdue reports whether an op that must be charged can wait no longer.
func (w *counterTwin) overdue(s counterTwinState, must string) bool {
	for i, o := range w.ops {
		if w.can(s, i, must) && o.kind != 'U' && o.done*w.grid == s.t {
			return true
		}
	}
	return false
}

func (w *counterTwin) last() int64 {
	last := int64(0)
	for _, o := range w.ops {
		last = max(last, o.sent, o.done)
	}
	return last * w.grid
}

// innocent asks whether some moments keep the estimate within the limit.
func (w *counterTwin) innocent(s counterTwinState) bool {
	return w.remember(s, func() bool {
		if s.t > w.last() {
			return true
		}
		for i, o := range w.ops {
			if w.can(s, i, "A") && !w.above(s.t, s.before, s.own, o.cost) &&
				w.innocent(counterTwinState{s.t, s.before, s.own + o.cost, s.left &^ (1 << i)}) {
				return true
			}
		}
		return !w.overdue(s, "A") && w.innocent(w.tick(s))
	})
}

// breakable asks whether some moments, unknown ops charged or not, break it.
func (w *counterTwin) breakable(s counterTwinState) bool {
	return w.remember(s, func() bool {
		if s.t > w.last() {
			return false
		}
		for i, o := range w.ops {
			if w.can(s, i, "AU") && (w.above(s.t, s.before, s.own, o.cost) ||
				w.breakable(counterTwinState{s.t, s.before, s.own + o.cost, s.left &^ (1 << i)})) {
				return true
			}
		}
		return !w.overdue(s, "A") && w.breakable(w.tick(s))
	})
}

// full asks whether the refusal q may have found no room; charged lists the kinds
// of op that use budget.
func (w *counterTwin) full(s counterTwinState, q twinOp, charged string) bool {
	return w.remember(s, func() bool {
		if s.t > q.done*w.grid {
			return false
		}
		if s.t >= q.sent*w.grid && w.above(s.t, s.before, s.own, q.cost) {
			return true
		}
		for i, o := range w.ops {
			if w.can(s, i, charged) && w.full(counterTwinState{s.t, s.before, s.own + o.cost, s.left &^ (1 << i)}, q, charged) {
				return true
			}
		}
		return !w.overdue(s, charged) && w.full(w.tick(s), q, charged)
	})
}

func (w *counterTwin) remember(s counterTwinState, ask func() bool) bool {
	if known, ok := w.seen[s]; ok {
		return known
	}
	w.seen[s] = ask()
	return w.seen[s]
}
