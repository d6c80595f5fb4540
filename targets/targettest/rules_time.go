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
	if err := t.open(1, t.limit(count, short)); err != nil {
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
	if err := t.inOneWindow(short, func(key string) (err error) {
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
	if refused.RetryAfter <= 0 || refused.RetryAfter > short+t.Design.Resolution(t.anchor) {
		return fmt.Errorf("it says to come back after %s in a window of %s", refused.RetryAfter, short)
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
	if err := t.open(1, t.limit(count, short)); err != nil {
		return err
	}
	for range attempts {
		err := t.fullUntilItsEnd(t.freshKey(), count)
		if !errors.Is(err, errEdge) {
			return err
		}
	}
	return fmt.Errorf("%w, %d times of %d", errEdge, attempts, attempts)
}

// fullUntilItsEnd fills a window, sees it refuse until its end, and expects the
// whole budget after it.
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
	if !t.sameWindow(before, opened, short) {
		return errEdge
	}
	if full != nil {
		return full
	}
	// The window opened between the two readings: it cannot end before sure, and
	// has ended at over.
	sure, over := before+int64(short), opened+int64(short+t.Design.Resolution(t.anchor))
	if t.anchor == rlbench.Epoch {
		sure = before - before%int64(short) + int64(short)
		over = sure
	}
	if err := t.refusedBefore(key, sure); err != nil {
		return err
	}
	if err := t.until(over); err != nil {
		return err
	}
	if t.anchor == rlbench.Epoch {
		return t.inFreshWindow(key, count)
	}
	return t.expectAll(key, times(count, step{1, allowed})...)
}

// inFreshWindow expects the whole budget in a window that may have begun a while ago.
func (t *trial) inFreshWindow(key string, count int) error {
	before, err := t.clock()
	if err != nil {
		return err
	}
	whole := t.expectAll(key, times(count, step{1, allowed})...)
	after, err := t.clock()
	if err == nil && !t.sameWindow(before, after, short) {
		err = errEdge
	}
	return errors.Join(err, whole)
}

// refusedBefore asks now and then until shortly before the moment, and must be
// refused.
func (t *trial) refusedBefore(key string, moment int64) error {
	const looks = 8
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
			return errEdge // it may have used of the next window
		}
		if a.Outcome != denied {
			return fmt.Errorf("%s before the end of a full window: %s", time.Duration(moment-now), a.Outcome)
		}
	}
	return nil
}
