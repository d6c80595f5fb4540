package targettest

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
)

func decidedAt(t *trial) error {
	if err := t.open(1, t.limit(2, long)); err != nil {
		return err
	}
	key := t.freshKey()
	for range 3 {
		before, err := t.clock()
		if err != nil {
			return err
		}
		a, err := t.ask(key, 1, 0)
		if err != nil {
			return err
		}
		after, err := t.clock()
		if err != nil {
			return err
		}
		if a.Said&rlbench.SaidDecidedAt == 0 {
			return fmt.Errorf("%w: it does not state when it decided", ErrNotApplicable)
		}
		if a.DecidedAt < before || a.DecidedAt > after {
			return fmt.Errorf("%s at %d, which is not within [%d, %d]", a.Outcome, a.DecidedAt, before, after)
		}
	}
	return nil
}

func retryAfter(t *trial) error {
	const count = 3
	if err := t.open(1, t.soon(count)); err != nil {
		return err
	}
	never, err := t.expect(denied, t.freshKey(), count+1)
	if err != nil {
		return err
	}
	if never.Said&rlbench.SaidRetryAfter != 0 {
		return fmt.Errorf("a cost above the limit is told to come back after %s", never.RetryAfter)
	}
	var refused rlbench.Answer
	var used string
	if err := t.undisturbed(func(key string) (err error) {
		used = key
		if err = t.expectAll(key, times(count, step{1, allowed})...); err == nil {
			refused, err = t.expect(denied, key, 1)
		}
		return err
	}); err != nil {
		return err
	}
	if refused.Said&rlbench.SaidRetryAfter == 0 {
		return fmt.Errorf("%w: it does not state a time to come back", ErrNotApplicable)
	}
	most := short + t.Design.Resolution(t.anchor)
	if t.Design.Algorithm == rlbench.SlidingCounter {
		most += short // a window counts until the next one is over
	}
	if refused.RetryAfter <= 0 || refused.RetryAfter > most {
		return fmt.Errorf("it says to come back after %s, and the next comes back within %s", refused.RetryAfter, most)
	}
	return t.comeBack(used, refused)
}

// comeBack asks again when the stated time has passed, and on a virtual clock
// just before as well.
func (t *trial) comeBack(key string, refused rlbench.Answer) error {
	if t.Pass != nil {
		t.Pass(refused.RetryAfter - t.Design.Resolution(t.anchor))
		if _, err := t.expect(denied, key, 1); err != nil {
			return fmt.Errorf("just before the stated %s: %w", refused.RetryAfter, err)
		}
	}
	if err := t.until(refused.DecidedAt + int64(refused.RetryAfter)); err != nil {
		return err
	}
	if _, err := t.expect(allowed, key, 1); err != nil {
		return fmt.Errorf("after the stated %s: %w", refused.RetryAfter, err)
	}
	return nil
}

func renews(t *trial) error {
	const count = 3
	for try := range attempts {
		if try%triesAlike == 0 {
			if err := t.open(1, t.soon(count)); err != nil {
				return err
			}
			t.slow++ // a machine that cannot keep up gets longer windows next
		}
		err := t.fullUntilItsEnd(t.freshKey(), count)
		if !errors.Is(err, errEdge) {
			return err
		}
	}
	return fmt.Errorf("%w, %d times of %d", errEdge, attempts, attempts)
}

// fullUntilItsEnd uses up a budget, sees it refuse until the first of it comes
// back, and expects the whole budget when all of it has.
func (t *trial) fullUntilItsEnd(key string, count int) error {
	before, err := t.clock()
	if err != nil {
		return err
	}
	full := t.expectAll(key, times(count, step{1, allowed})...)
	opened, err := t.clock()
	if err != nil {
		return err
	}
	if !t.allKept(before, opened) {
		return errEdge
	}
	if full != nil {
		return full
	}
	first, all := t.comesBack(t.limits[0], before, opened)
	if err := t.refusedBefore(key, first); err != nil {
		return err
	}
	if err := t.until(all); err != nil {
		return err
	}
	return t.wholeBudget(key, count)
}

// wholeBudget expects it, wherever it is that windows begin.
func (t *trial) wholeBudget(key string, count int) error {
	before, err := t.clock()
	if err != nil {
		return err
	}
	whole := t.expectAll(key, times(count, step{1, allowed})...)
	after, err := t.clock()
	if err == nil && t.aligned() && !t.allKept(before, after) {
		err = errEdge
	}
	return errors.Join(err, whole)
}

// refusedBefore asks now and then until shortly before the moment, and must be
// refused.
func (t *trial) refusedBefore(key string, moment int64) error {
	const looks = 5
	begin, err := t.clock()
	if err != nil {
		return err
	}
	for i := range int64(looks) {
		if err := t.until(begin + (moment-begin)*i/looks); err != nil {
			return err
		}
		a, err := t.ask(key, 1, 0)
		if err != nil {
			return err
		}
		now, err := t.clock()
		if err != nil {
			return err
		}
		if now >= moment {
			return errEdge // it may have used what came back
		}
		if a.Outcome != denied {
			return fmt.Errorf("%s before anything of a full budget comes back: %s", time.Duration(moment-now), a.Outcome)
		}
	}
	return nil
}
