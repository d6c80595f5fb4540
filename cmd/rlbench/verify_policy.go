package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/scenarios"
)

// promised is what the flags say that a limiter promised.
type promised struct {
	limits          []string
	rate            string
	burst           int64
	burstGiven      bool
	algorithm       string
	anchor          string
	nginx           bool
	file            string
	resolution      time.Duration
	resolutionGiven bool
}

// resolutionDefault is the step of a limiter's clock of which nothing is said: most
// count in milliseconds, and to take a coarse clock for a fine one would accuse it.
const resolutionDefault = time.Millisecond

func (p *promised) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&p.limits, "limit", nil, "at most COUNT/DURATION in any window, such as 100/1m (repeatable: all hold at once)")
	f.StringVar(&p.rate, "rate", "", "a bucket's rate, such as 10/s; goes with --burst")
	f.Int64Var(&p.burst, "burst", 0, "how much the bucket holds")
	f.StringVar(&p.algorithm, "algorithm", "", fmt.Sprintf("whose promise is judged (default sliding-log, with --rate token-bucket): one of %v", rlbench.Algorithms()))
	f.StringVar(&p.anchor, "anchor", "", "where a fixed window begins: epoch or first-request")
	f.BoolVar(&p.nginx, "nginx", false, "--rate and --burst are those of NGINX's limit_req, which holds burst + 1")
	f.StringVar(&p.file, "policy", "", "YAML file with the field policy of a scenario")
	f.DurationVar(&p.resolution, "resolution", resolutionDefault, "the step of the limiter's own clock; 0 for one that is exact")
}

// shaped reports whether the flags say more of a promise than where it stands.
func (p *promised) shaped() bool {
	return len(p.limits) > 0 || p.rate != "" || p.burstGiven || p.algorithm != "" || p.anchor != "" || p.nginx
}

// policy is the promise that the flags state.
func (p *promised) policy() (rlbench.Policy, error) {
	policy, err := p.stated()
	if err != nil {
		return policy, err
	}
	// A policy that says nothing of its clock has a resolution of 0 to a reader.
	if policy.Resolution == 0 || p.resolutionGiven {
		policy.Resolution = p.resolution
	}
	problems := policy.Problems()
	if len(problems) == 0 {
		return policy, nil
	}
	hint := problems[0].Hint
	if problems[0].Field == "resolution" {
		hint = "--resolution 0 for a limiter whose clock is exact"
	}
	return policy, badInput(hint, "what was promised cannot be judged: %s", problems[0].Text)
}

func (p *promised) stated() (rlbench.Policy, error) {
	switch {
	case p.file != "" && p.shaped():
		return rlbench.Policy{}, badInput("leave the other flags out", "--policy says all of what was promised")
	case p.file != "":
		return policyFile(p.file)
	case len(p.limits) > 0 && (p.rate != "" || p.burstGiven):
		return rlbench.Policy{}, badInput("judge the log twice, once by each", "--limit promises a window, --rate and --burst a bucket: one limiter's design makes one of them")
	case len(p.limits) > 0:
		return p.windows()
	case p.rate != "" && p.nginx:
		return p.limitReq()
	case p.rate != "":
		return p.bucket()
	}
	return rlbench.Policy{}, badInput("--limit 100/1m for at most 100 in any minute, --rate 10/s --burst 20 for a bucket, or --policy FILE",
		"nothing says what the limiter promised")
}

func policyFile(name string) (rlbench.Policy, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return rlbench.Policy{}, badInput("", "reading the policy: %w", err)
	}
	policy, err := scenarios.ParsePolicy(name, text, os.LookupEnv)
	if err != nil {
		return policy, badInput("", "%w", err)
	}
	return policy, nil
}

func (p *promised) windows() (rlbench.Policy, error) {
	policy := rlbench.Policy{Algorithm: rlbench.SlidingLog}
	if p.algorithm != "" {
		policy.Algorithm = rlbench.Algorithm(p.algorithm)
	}
	if policy.Algorithm.Bucket() || p.nginx {
		return policy, badInput("--rate 10/s --burst 20", "a bucket promises a rate and a burst, not a limit in a window")
	}
	for _, text := range p.limits {
		l, err := rlbench.ParseLimit(text)
		if err != nil {
			return policy, badInput("--limit 100/1m", "--limit: %w", err)
		}
		l.Anchor = rlbench.Anchor(p.anchor)
		policy.Limits = append(policy.Limits, l)
	}
	if policy.Algorithm == rlbench.FixedWindow && p.anchor == "" {
		return policy, badInput("--anchor epoch for windows at whole multiples of their length, --anchor first-request for those that a request opens",
			"a fixed window needs an anchor")
	}
	return policy, nil
}

func (p *promised) bucket() (rlbench.Policy, error) {
	policy := rlbench.Policy{Algorithm: rlbench.TokenBucket}
	if p.algorithm != "" {
		policy.Algorithm = rlbench.Algorithm(p.algorithm)
	}
	switch {
	case !policy.Algorithm.Bucket():
		return policy, badInput("--limit 100/1m", "a %s promises a limit in a window, not a rate and a burst", policy.Algorithm)
	case p.anchor != "":
		return policy, badInput("leave it out", "a bucket has no anchor")
	case !p.burstGiven:
		return policy, badInput("--burst 20", "--rate needs to know how much the bucket holds")
	}
	l, err := rlbench.ParseLimit(p.rate)
	if err != nil {
		return policy, badInput("--rate 10/s", "--rate: %w", err)
	}
	l.Burst = p.burst
	policy.Limits = []rlbench.Limit{l}
	return policy, nil
}

// limitReq reads rate and burst as NGINX does: it counts in thousandths of a
// request a second, rounded down, and one request more than the burst fits.
func (p *promised) limitReq() (rlbench.Policy, error) {
	policy := rlbench.Policy{Algorithm: rlbench.LeakyMeter}
	if p.algorithm != "" || p.anchor != "" {
		return policy, badInput("leave --algorithm and --anchor out", "--nginx says which design it is")
	}
	l, err := rlbench.ParseLimit(strings.Replace(p.rate, "r/", "/", 1))
	if err != nil {
		return policy, badInput("--rate 10r/s", "--rate: %w", err)
	}
	if p.burst < 0 {
		return policy, badInput("--burst 20", "--burst %d: at least 0", p.burst)
	}
	switch l.Per {
	case time.Second:
	case time.Minute:
		l = rlbench.Limit{Count: l.Count * 1000 / 60, Per: 1000 * time.Second}
	default:
		return policy, badInput("--rate 10r/s or --rate 30r/m", "NGINX knows rates a second and a minute, not %s", p.rate)
	}
	l.Burst = p.burst + 1
	policy.Limits = []rlbench.Limit{l}
	return policy, nil
}

// roundsCredit reports whether NGINX loses a fraction of what a rate a minute gives
// back at each request: then it refuses somewhat more than the rate says.
func (p *promised) roundsCredit(policy rlbench.Policy) bool {
	return p.nginx && policy.Limits[0].Per != time.Second
}

// inWords says the promise in one line.
func inWords(p rlbench.Policy) string {
	words, _ := promise(neverOver, p)
	if p.Resolution > 0 {
		words += fmt.Sprintf(", by a clock in steps of %s", p.Resolution)
	}
	return words
}
