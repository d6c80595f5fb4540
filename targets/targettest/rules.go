package targettest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/rlbench/rlbench"
)

const (
	allowed = rlbench.Allowed
	denied  = rlbench.Denied
	// togetherInstances × togetherPer requests are released together.
	togetherInstances, togetherPer = 4, 8
)

func exactLimit(t *trial) error {
	for _, count := range []int{1, 2, 7} {
		if err := t.open(1, t.limit(int64(count), long)); err != nil {
			return err
		}
		row := append(times(count, step{1, allowed}), step{1, denied}, step{1, denied})
		if err := t.undisturbed(func(key string) error { return t.expectAll(key, row...) }); err != nil {
			return fmt.Errorf("limit %d: %w", count, err)
		}
	}
	return nil
}

func costs(t *trial) error {
	if err := t.open(1, t.limit(10, long)); err != nil {
		return err
	}
	after := allowed // what is left is still there for the next, unless refusals use it
	if t.Design.ChargesRefusals {
		after = denied
	}
	for _, row := range [][]step{
		{{10, allowed}, {1, denied}},               // all at once
		{{4, allowed}, {6, allowed}, {1, denied}},  // exactly what is left
		{{4, allowed}, {7, denied}, {6, after}},    // one more than what is left
		{{11, denied}, {10, allowed}, {1, denied}}, // a cost that never fits opens and uses nothing
		{{9, allowed}, {11, denied}, {1, allowed}}, // nor does it in a window that is open
		{{1 << 62, denied}, {1, allowed}},          // nor does one that no sum can hold
	} {
		if err := t.undisturbed(func(key string) error { return t.expectAll(key, row...) }); err != nil {
			return fmt.Errorf("limit 10, row %v: %w", row, err)
		}
	}
	return nil
}

// oddEndings make keys that a careless limiter takes for one another.
var oddEndings = []string{"", "a", "A", "a:0", "a:1", "{a}", "a}", "a}:0", "}", "{", "*", "a*", "a b", "a\nb", "ключ", "\x00", "\xff"}

func keysApart(t *trial) error {
	if err := t.open(1, t.limit(1, long)); err != nil {
		return err
	}
	return t.undisturbed(func(key string) error {
		for _, want := range []rlbench.Outcome{allowed, denied} {
			for _, ending := range oddEndings {
				// Both ways round: a limiter may mistake a key's begin as well as its end.
				for _, k := range []string{key + ending, ending + key + "!"} {
					if _, err := t.expect(want, k, 1); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

func instancesShare(t *trial) error {
	const instances, count = 3, 7
	if err := t.open(instances, t.limit(count, long)); err != nil {
		return err
	}
	return t.undisturbed(func(key string) error {
		for i := range 2 * count {
			want := allowed
			if i >= count {
				want = denied
			}
			a, err := t.ask(key, 1, int32(i%instances))
			if err != nil {
				return err
			}
			if a.Outcome != want {
				return fmt.Errorf("request %d of limit %d, through instance %d: %s instead of %s", i+1, count, i%instances, a.Outcome, want)
			}
		}
		return nil
	})
}

func together(t *trial) error {
	if t.Racy {
		return fmt.Errorf("%w: it says that requests at once may share a unit of budget", ErrNotApplicable)
	}
	const count = togetherInstances * togetherPer / 2
	if err := t.open(togetherInstances, t.limit(count, long)); err != nil {
		return err
	}
	return t.undisturbed(func(key string) error {
		admitted, err := t.release(key)
		if err == nil && admitted != count {
			err = fmt.Errorf("%d of %d at once were admitted instead of %d", admitted, togetherInstances*togetherPer, count)
		}
		return err
	})
}

// release makes all requests at once and counts the admitted.
func (t *trial) release(key string) (int64, error) {
	var admitted atomic.Int64
	var failed atomic.Value
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range togetherInstances * togetherPer {
		all.Go(func() {
			<-start
			a, err := t.ask(key, 1, int32(i%togetherInstances))
			if err != nil {
				failed.Store(err)
			}
			if a.Outcome == allowed {
				admitted.Add(1)
			}
		})
	}
	close(start)
	all.Wait()
	err, _ := failed.Load().(error)
	return admitted.Load(), err
}

func remaining(t *trial) error {
	const count = 5
	if err := t.open(1, t.limit(count, long)); err != nil {
		return err
	}
	return t.undisturbed(func(key string) error {
		for _, s := range []struct{ cost, left int64 }{{1, 4}, {3, 1}, {count + 1, 1}, {1, 0}, {1, 0}, {2, 0}} {
			a, err := t.ask(key, s.cost, 0)
			if err != nil {
				return err
			}
			if a.Said&rlbench.SaidLimit != 0 && a.Limit != count {
				return fmt.Errorf("it states a limit of %d instead of %d", a.Limit, count)
			}
			if a.Said&rlbench.SaidRemaining != 0 && a.Remaining != s.left {
				return fmt.Errorf("after cost %d it states %d remaining instead of %d", s.cost, a.Remaining, s.left)
			}
		}
		return nil
	})
}

func scriptsForgotten(t *trial) error {
	if t.ForgetScripts == nil {
		return fmt.Errorf("%w: there are no scripts", ErrNotApplicable)
	}
	if err := t.open(2, t.limit(3, long)); err != nil {
		return err
	}
	return t.undisturbed(func(key string) error {
		for i, want := range []rlbench.Outcome{allowed, allowed, allowed, denied, denied} {
			if err := t.ForgetScripts(t.ctx); err != nil {
				return err
			}
			a, err := t.ask(key, 1, int32(i%2))
			if err != nil {
				return err
			}
			if a.Outcome != want {
				return fmt.Errorf("request %d of limit 3: %s instead of %s", i+1, a.Outcome, want)
			}
		}
		return nil
	})
}

func closesTwice(t *trial) error {
	if err := t.open(1, t.limit(1, long)); err != nil {
		return err
	}
	if _, err := t.expect(allowed, t.freshKey(), 1); err != nil {
		return err
	}
	if err := t.target.Close(); err != nil {
		return fmt.Errorf("the first time: %w", err)
	}
	return t.close()
}
