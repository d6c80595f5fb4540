package targettest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rlbench/rlbench"
)

// exactSteps requests are made under each policy, fewer where time must be
// waited for.
const exactSteps, exactStepsReal = 100, 16

// exactLimits are what exact asks under: rates that no decimal fraction and no
// power of two divides, and several limits at once.
func (t *trial) exactLimits() [][]rlbench.Limit {
	const per = 120 * time.Millisecond
	one, three, seven := t.limit(1, per), t.limit(3, per/2), t.limit(7, per+7*time.Millisecond)
	if t.Design.Algorithm.Bucket() {
		three.Burst, seven.Burst = 5, 4
	}
	return [][]rlbench.Limit{{one}, {three}, {seven}, {seven, t.limit(9, 3*per), three}}
}

// exact asks at random, and just before, at and after what the answers say.
func exact(t *trial) error {
	random := rand.New(rand.NewPCG(1, 2))
	for _, limits := range t.exactLimits() {
		if t.Design.Check(t.setup(1, limits)) != nil {
			continue // several-limits tells whether it should
		}
		if err := t.open(1, limits...); err != nil {
			return err
		}
		all, err := t.wander(random)
		if err == nil {
			err = t.replay(all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wander makes requests of two keys in turn.
func (t *trial) wander(random *rand.Rand) ([]asked, error) {
	keys := []string{t.freshKey(), t.freshKey()}
	steps := exactStepsReal
	if t.Pass != nil {
		steps = exactSteps
	}
	most := max(t.limits[0].Count, t.limits[0].Burst)
	var all []asked
	admitted, told := 0, 0
	for i := range steps {
		q := asked{key: keys[i%len(keys)], cost: 1}
		if random.IntN(3) == 0 {
			q.cost = random.Int64N(most+2) + 1
		}
		var err error
		if q.answer, err = t.ask(q.key, q.cost, 0); err != nil {
			return nil, err
		}
		all = append(all, q)
		if q.answer.Outcome == allowed {
			admitted++
		} else if q.cost <= most {
			told++
		}
		if err := t.idle(random, q.answer); err != nil {
			return nil, err
		}
	}
	// In real time a machine that stalls gives every budget time to come back.
	if admitted == 0 || told == 0 && t.Pass != nil {
		return nil, fmt.Errorf("limits %v: of %d requests %d were admitted: the rule saw one side only", t.limits, steps, admitted)
	}
	return all, nil
}

// idle lets time pass after an answer, or none. Where time must be waited for,
// only so much as an answer said.
func (t *trial) idle(random *rand.Rand, a rlbench.Answer) error {
	l, step := t.limits[0], t.Design.Resolution(t.anchor)
	stated := a.Said&rlbench.SaidRetryAfter != 0
	pause := a.RetryAfter + step*time.Duration(random.IntN(3)-1)
	switch die := random.IntN(6); {
	case die < 2 || t.Pass == nil && !stated:
		return nil
	case die == 2 && t.Pass != nil:
		pause = l.Per / time.Duration(l.Count)
	case !stated || die == 3 && t.Pass != nil:
		pause = time.Duration(random.Int64N(int64(l.Per)))
	}
	if t.Pass != nil {
		t.Pass(pause)
		return nil
	}
	now, err := t.clock()
	if err != nil {
		return err
	}
	return t.until(now + int64(pause))
}
