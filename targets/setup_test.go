package targets_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets"
)

func design() targets.Design {
	return targets.Design{
		Name: "a-design", Algorithm: rlbench.FixedWindow, Needs: targets.Redis, ChargesRefusals: true,
		Anchors: []rlbench.Anchor{rlbench.Epoch},
		Params:  map[string][]string{"clock": {"server", "client"}},
		Resolution: func(a rlbench.Anchor) time.Duration {
			if a == rlbench.Epoch {
				return time.Microsecond
			}
			return time.Millisecond
		},
	}
}

func sound() targets.Setup {
	return targets.Setup{
		Policy: rlbench.Policy{
			Algorithm: rlbench.FixedWindow,
			Limits:    []rlbench.Limit{{Count: 100, Per: time.Minute, Anchor: rlbench.Epoch}},
		},
		Instances: 2, InFlight: 10, Address: "redis://127.0.0.1:6379", Namespace: "rlbench:", Timeout: time.Second,
	}
}

func TestCheck(t *testing.T) {
	if err := design().Check(sound()); err != nil {
		t.Fatalf("nothing is wrong, and yet: %v", err)
	}
	serverless := design()
	serverless.Needs = targets.NoServer
	if err := serverless.Check(targets.Setup{Policy: sound().Policy, Instances: 1, InFlight: 1}); err != nil {
		t.Errorf("a design without a server needs neither address nor namespace nor timeout: %v", err)
	}
	for _, row := range []struct {
		says   string
		change func(*targets.Setup)
	}{
		{"policy.limit: the policy has no limit", func(s *targets.Setup) { s.Policy.Limits = nil }},
		{"policy.anchor", func(s *targets.Setup) { s.Policy.Limits[0].Anchor = "" }},
		{"it has no windows from first-request", func(s *targets.Setup) { s.Policy.Limits[0].Anchor = rlbench.FirstRequest }},
		{"it implements fixed-window, not gcra", func(s *targets.Setup) { s.Policy.Algorithm = rlbench.GCRA }},
		{"longer than", func(s *targets.Setup) { s.Policy.Limits[0].Per = targets.WindowMax + 1 }},
		{"clock is one of [server client], not \"moon\"", func(s *targets.Setup) { s.Policy.Params = map[string]string{"clock": "moon"} }},
		{"at least 1 instance and", func(s *targets.Setup) { s.Instances = 0 }},
		{"1 request in flight, not 2 and 0", func(s *targets.Setup) { s.InFlight = 0 }},
		{"address of a redis server", func(s *targets.Setup) { s.Address = "" }},
		{"namespace", func(s *targets.Setup) { s.Namespace = "" }},
		{"timeout", func(s *targets.Setup) { s.Timeout = 0 }},
	} {
		s := sound()
		row.change(&s)
		err := design().Check(s)
		if err == nil || !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "opening a-design") {
			t.Errorf("%q: %v", row.says, err)
		}
	}
}

func TestCheckNamesEveryMistake(t *testing.T) {
	err := design().Check(targets.Setup{})
	for _, says := range []string{"limit", "instance", "address", "namespace", "timeout"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is missing from: %v", says, err)
		}
	}
}

func TestPromise(t *testing.T) {
	p := sound().Policy
	if got := design().Promise(p); got.Resolution != time.Microsecond || !got.ChargesRefusals {
		t.Errorf("%+v", got)
	}
	p.Limits = append(p.Limits, rlbench.Limit{Count: 1, Per: time.Second, Anchor: rlbench.FirstRequest})
	if got := design().Promise(p); got.Resolution != time.Millisecond {
		t.Errorf("the coarsest clock is %s", got.Resolution)
	}
	p.Resolution = time.Second / 10
	if got := design().Promise(p); got.Resolution != time.Second/10 {
		t.Errorf("a policy may promise less than its design keeps, not %s", got.Resolution)
	}
}

func TestSteadyClockStartsAtTheWallClock(t *testing.T) {
	before := time.Now().UnixNano()
	clock := targets.SteadyClock()
	first, second := clock(), clock()
	after := time.Now().UnixNano()
	if first < before || second < first || second > after {
		t.Errorf("between %d and %d it read %d, then %d", before, after, first, second)
	}
}
