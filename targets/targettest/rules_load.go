package targettest

import (
	"errors"
	"fmt"
	"time"

	"github.com/rlbench/rlbench"
)

const (
	// loadCount requests a window are admitted under a load of loadFactor times
	// as many, until loadWindows windows can be judged: on a machine that stalls
	// that takes longer, loadWindowsMax at most.
	loadCount, loadFactor, loadWindows, loadWindowsMax = 4, 10, 5, 40
)

// errSlow: the machine did not bring the load about.
var errSlow = errors.New("the machine was too slow to make the load")

// look is one request of the load: the clock before and after it, whether it was
// admitted, and all that was said.
type look struct {
	before, after int64
	admitted      bool
	asked
}

func loadWithoutPause(t *trial) error {
	if err := t.open(1, t.limit(loadCount, short)); err != nil {
		return err
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	key, begin := t.freshKey(), now-now%int64(short)+int64(short)
	var looks []look
	for windows := int64(0); windows < loadWindowsMax; windows++ {
		more, err := t.load(key, begin+int64(short)*windows)
		if err != nil {
			return err
		}
		looks = append(looks, more...)
		if windows < loadWindows {
			continue
		}
		if err = t.judgeLoad(looks); !errors.Is(err, errSlow) {
			return err
		}
	}
	return t.judgeLoad(looks)
}

func (t *trial) judgeLoad(looks []look) error {
	switch t.anchor {
	case rlbench.Epoch:
		return judgeAligned(looks)
	case rlbench.FirstRequest:
		return t.judgeOpened(looks)
	}
	return t.judgeDecisions(looks)
}

// judgeDecisions holds each decision to the definition, if the load was one.
func (t *trial) judgeDecisions(looks []look) error {
	var all []asked
	refused := 0
	for _, l := range looks {
		all = append(all, l.asked)
		if !l.admitted {
			refused++
		}
	}
	if err := t.replay(all); err != nil {
		return err
	}
	if refused < loadWindows*loadCount {
		return fmt.Errorf("%w: of %d requests only %d were refused", errSlow, len(looks), refused)
	}
	return nil
}

// load asks evenly for a window's length from the moment on.
func (t *trial) load(key string, begin int64) (looks []look, err error) {
	const step = int64(short) / (loadCount * loadFactor)
	for moment := begin; moment < begin+int64(short); moment += step {
		if err := t.until(moment); err != nil {
			return nil, err
		}
		var l look
		if l.before, err = t.clock(); err != nil {
			return nil, err
		}
		a, err := t.ask(key, 1, 0)
		if err != nil {
			return nil, err
		}
		if l.after, err = t.clock(); err != nil {
			return nil, err
		}
		l.admitted, l.asked = a.Outcome == allowed, asked{key: key, cost: 1, answer: a}
		looks = append(looks, l)
	}
	return looks, nil
}

// judgeAligned holds each whole window to the limit: what was certainly in it
// is at most that, what may have been in it at least.
func judgeAligned(looks []look) error {
	first, last := looks[0].before/int64(short), looks[len(looks)-1].before/int64(short)
	judged := 0
	for k := first; k < last; k++ {
		var inside, insideAdmitted, touchingAdmitted int
		for _, l := range looks {
			from, to := l.before/int64(short), l.after/int64(short)
			if from > k || to < k {
				continue
			}
			if l.admitted {
				touchingAdmitted++
			}
			if from == k && to == k {
				inside++
				if l.admitted {
					insideAdmitted++
				}
			}
		}
		switch {
		case insideAdmitted > loadCount:
			return fmt.Errorf("window %d admitted %d of limit %d", k-first+1, insideAdmitted, loadCount)
		case inside < 2*loadCount:
			continue // too few were made to miss any
		case touchingAdmitted < loadCount:
			return fmt.Errorf("window %d admitted only %d of limit %d from %d requests", k-first+1, touchingAdmitted, loadCount, inside)
		}
		judged++
	}
	if judged < loadWindows {
		return fmt.Errorf("%w: of %d windows %d had enough requests", errSlow, last-first, judged)
	}
	return nil
}

// judgeOpened bounds how many windows can have been opened one after the other:
// at most one each window's length, at least as many as fit when each waits for
// the longest pause between two requests and then for its limit of them.
func (t *trial) judgeOpened(looks []look) error {
	admitted, pause := 0, int64(0)
	for i, l := range looks {
		if l.admitted {
			admitted++
		}
		if i > 0 {
			pause = max(pause, l.after-looks[i-1].after)
		}
	}
	last := looks[len(looks)-1]
	most := (last.after-looks[0].before)/int64(short) + 1
	least := (last.before-looks[0].after-loadCount*pause)/(int64(short+t.Design.Resolution(t.anchor))+pause) + 1
	switch {
	case int64(admitted) > most*loadCount:
		return fmt.Errorf("at most %d windows admitted %d of limit %d each", most, admitted, loadCount)
	case least < loadWindows:
		return fmt.Errorf("%w: a pause of %s", errSlow, time.Duration(pause))
	case int64(admitted) < least*loadCount:
		return fmt.Errorf("at least %d windows admitted only %d, of limit %d each", least, admitted, loadCount)
	}
	return nil
}

func severalLimits(t *trial) error {
	if err := t.open(1, t.limit(10, long), t.soon(5)); err != nil {
		return fmt.Errorf("%w: %v", ErrNotApplicable, err)
	}
	var err error
	for range attempts {
		if err = t.bothHold(t.freshKey()); !errors.Is(err, errEdge) {
			return err
		}
	}
	return err
}

// bothHold uses up the short limit of 5, is refused by it, and finds when that has
// come back that the long limit of 10 was charged 5 and nothing else.
func (t *trial) bothHold(key string) error {
	begin, err := t.clock()
	if err != nil {
		return err
	}
	filled := t.expectAll(key, append([]step{{5, allowed}, {11, denied}}, times(6, step{5, denied})...)...)
	now, err := t.clock()
	if err != nil {
		return err
	}
	if !t.kept(t.limits[1], 5, begin, now) {
		return errEdge
	}
	if filled != nil {
		return filled
	}
	rest := t.expectLater(key, step{5, allowed}, step{1, denied})
	if rest == nil {
		rest = t.expectLater(key, step{1, denied})
	}
	end, err := t.clock()
	if err == nil && !t.kept(t.limits[0], 1, begin, end) {
		err = errEdge
	}
	return errors.Join(err, rest)
}

// expectLater asks when the short limit has its whole budget again.
func (t *trial) expectLater(key string, row ...step) error {
	now, err := t.clock()
	if err != nil {
		return err
	}
	_, all := t.comesBack(t.limits[1], now, now)
	if err := t.until(all); err != nil {
		return err
	}
	before, err := t.clock()
	if err != nil {
		return err
	}
	rowErr := t.expectAll(key, row...)
	after, err := t.clock()
	if err == nil && !t.kept(t.limits[1], 1, before, after) {
		return errEdge
	}
	return errors.Join(err, rowErr)
}
