package memory

import (
	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

// fixedWindow is one counter a key, limit and window.
type fixedWindow = limiter[window, fixedRule]

func newFixedWindow(limits []rlbench.Limit, clock targets.Clock) *fixedWindow {
	var rules []fixedRule
	for _, l := range limits {
		rules = append(rules, fixedRule{count: l.Count, length: int64(l.Per), aligned: l.Anchor == rlbench.Epoch})
	}
	return newLimiter(rules, clock)
}

// fixedRule lets count through in each window of a length.
type fixedRule struct {
	count, length int64
	aligned       bool
}

// window is what was used until the moment that it ends. A window that has
// ended is as good as none.
type window struct{ ends, used int64 }

// inForce reports whether the window is open. Only a charge opens one, so a
// window of which nothing was used never was.
func (w *window) inForce(now int64) bool { return w.used > 0 && now < w.ends }

func (r fixedRule) most() int64 { return r.count }

func (r fixedRule) left(w *window, now int64) int64 {
	if w.inForce(now) {
		return r.count - w.used
	}
	return r.count
}

func (r fixedRule) wait(w *window, now, _ int64) int64 { return w.ends - now }

func (r fixedRule) charge(w *window, now, cost int64) {
	if !w.inForce(now) {
		w.used, w.ends = 0, now+r.length
		if r.aligned {
			w.ends -= floorMod(now, r.length)
		}
	}
	w.used += cost
}

func (r fixedRule) idle(w *window, now int64) bool { return !w.inForce(now) }

// floorMod is the remainder of a division that rounds towards the past: before
// 1970 windows are aligned as well.
func floorMod(a, b int64) int64 { return (a%b + b) % b }
