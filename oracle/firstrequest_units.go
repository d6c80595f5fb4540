package oracle

import (
	"cmp"
	"math"
	"slices"
)

// unitOps is a history with its costs divided by what they have in common, as
// the tests of the first-request promise read it. Allowed ops must be served;
// openers may open a window, each at most once, and count for nothing.
type unitOps struct {
	promise firstRequest
	// ops are the allowed ops as they are in the history.
	ops *columns
	// limit is the promise's, in units; unit is how much cost one of them is.
	limit, unit int64
	// sent, done and weight are the allowed ops in order of sent.
	// due is the order in which they were done.
	sent, done, weight []int64
	due                []uint32
	// equal: every weight is 1, so that the search is exact.
	equal bool
	// openers are in order of sent. Those without an end stand in classes of the
	// same room, the others in bounded, by position; longestBounded is the longest
	// interval of one of these.
	openers        []opener
	classes        []openerClass
	bounded        []int32
	longestBounded int64
}

// openerClass lists openers without an end that leave the same room. Any can
// stand in later for one sent before it, so they are best used in order.
type openerClass struct {
	room      int64
	positions []int32
}

// opener is a request that may have opened a window without being counted.
type opener struct {
	// sent and done bound when; done is endless where nothing bounds it.
	sent, done int64
	// room is how many units it leaves to others in the window it opens.
	room int64
	// row names the op.
	row uint32
}

// endless stands for the end of an interval that has none.
const endless = math.MaxInt64

// units reads a history whose allowed costs are all within the limit.
func (p firstRequest) units(h *history) *unitOps {
	a := &h.allowed
	unit := int64(0)
	for _, c := range a.cost {
		unit = greatestCommonDivisor(unit, c)
	}
	unit = max(unit, 1)
	u := &unitOps{promise: p, unit: unit, limit: p.limit / unit, ops: a, equal: true,
		sent: a.sent, done: a.done, weight: a.cost, due: h.due()}
	if unit > 1 {
		u.weight = make([]int64, len(a.cost))
		for i, c := range a.cost {
			u.weight[i] = c / unit
		}
	}
	for _, w := range u.weight {
		u.equal = u.equal && w == 1
	}
	u.addOpeners(h)
	return u
}

// addOpeners lists the requests that may have opened a window uncounted.
func (u *unitOps) addOpeners(h *history) {
	for i, sent := range h.unknown.sent {
		u.addOpener(sent, endless, h.unknown.cost[i], h.unknown.row[i], true)
	}
	for i, sent := range h.denied.sent {
		u.addOpener(sent, h.denied.done[i], h.denied.cost[i], h.denied.row[i], u.promise.refusalsOpen)
	}
	u.sortOpeners()
}

// addOpener adds an op that may have opened a window: one dearer than the limit
// where the promise says so, any other where it may have been charged.
func (u *unitOps) addOpener(sent, done, cost int64, row uint32, charged bool) {
	p := u.promise
	room := p.limit - cost
	if room < 0 {
		room, charged = p.limit, p.dearOpens
	}
	if charged {
		u.openers = append(u.openers, opener{sent: sent, done: done, room: room / u.unit, row: row})
	}
}

// sortOpeners puts the openers in order and deals them to their classes.
func (u *unitOps) sortOpeners() {
	slices.SortStableFunc(u.openers, func(x, y opener) int { return cmp.Compare(x.sent, y.sent) })
	class := map[int64]int{}
	for at, o := range u.openers {
		if o.done != endless {
			u.bounded = append(u.bounded, int32(at))
			u.longestBounded = max(u.longestBounded, o.done-o.sent)
			continue
		}
		c, known := class[o.room]
		if !known {
			c = len(u.classes)
			class[o.room] = c
			u.classes = append(u.classes, openerClass{room: o.room})
		}
		u.classes[c].positions = append(u.classes[c].positions, int32(at))
	}
}

// atSent tries the moments at which each request was sent, with windows as short
// and as long as they come.
func (u *unitOps) atSent() bool {
	return u.serves(u.sent, u.weight, u.promise.windowMin) || u.serves(u.sent, u.weight, u.promise.windowMax)
}

// atDone tries the moments at which each request was answered.
func (u *unitOps) atDone() bool {
	moments, weights := make([]int64, len(u.due)), make([]int64, len(u.due))
	for i, at := range u.due {
		moments[i], weights[i] = u.done[at], u.weight[at]
	}
	return u.serves(moments, weights, u.promise.windowMin) || u.serves(moments, weights, u.promise.windowMax)
}

// serves reports whether ops at the given rising moments keep the promise with
// every window of length w.
func (u *unitOps) serves(moments, weights []int64, w int64) bool {
	end, charged := int64(math.MinInt64), int64(0)
	for i, t := range moments {
		if t >= end {
			end, charged = later(t, w), 0
		}
		if charged += weights[i]; charged > u.limit {
			return false
		}
	}
	return true
}
