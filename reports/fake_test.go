package reports

import "github.com/rlbench/rlbench"

// measured are the figures of a target that was asked 500 times at once.
func measured(name string) Target {
	return Target{
		Name: name, Backend: "embedded", BackendVersion: "miniredis 2.40.0", Verdict: rlbench.Pass,
		Accuracy: rlbench.Accuracy{
			Offered: 500, Allowed: 100, Denied: 400, IdealAllowed: 100, WorstWindow: 100, WorstWindowRatio: 1,
		},
		Latency:  Quantiles{P50: 1_204_111, P90: 3_999_000, P99: 12_345_678, P999: 99_960_000, Max: 100_100_000},
		Service:  Quantiles{P50: 853, P90: 9_994, P99: 9_996, P999: 999_499, Max: 999_501},
		Lateness: Quantiles{P50: 0, P90: 7, P99: 1_000, P999: 2_000_000_000, Max: 125_000_000_000},
	}
}

// found is a finding that met its expectation or, when the two differ, did not.
func found(check string, expected, verdict rlbench.Verdict) Finding {
	return Finding{
		Check: check, Promise: "at most 100 in each window of 1m that a request opens",
		Expected: expected, Verdict: verdict, AsExpected: expected == verdict,
		Because: "100 were allowed, and never more than 100 in one window.",
		Witness: []Witness{},
	}
}

// overrun is the finding of a race: n ops of one key that all fit in one window.
func overrun(expected rlbench.Verdict, n int) Finding {
	f := found("never-over", expected, rlbench.Fail)
	f.Because = "user-1 was certainly allowed 180 between 1.204 ms and 9.911 ms, 80 above the 100 of one window of 1m."
	for i := range n {
		sent, done := int64(1_204_000+i*10_500), int64(2_911_000+i*10_500)
		f.Witness = append(f.Witness, Witness{
			Op: int64(i), Key: "user-1", Instance: int32(i % 10), Cost: 1, Sent: &sent, Done: &done, Outcome: rlbench.Allowed,
		})
	}
	return f
}

func passing() *Summary {
	t := measured("redis-lua-fixed-window")
	t.Findings = []Finding{
		found("never-over", rlbench.Pass, rlbench.Pass),
		found("never-starved", rlbench.Pass, rlbench.Pass),
	}
	return &Summary{
		SchemaVersion: SchemaVersion, Scenario: "race",
		Why:  `Ten instances read "99" at the same moment; only an atomic limiter stops at 100.`,
		Seed: 1, Verdict: rlbench.Pass, Targets: []Target{t}, Folder: ".rlbench/race/20260701T120000.123Z",
	}
}

func failing() *Summary {
	s := passing()
	t := measured("redis-getset-fixed-window")
	t.Verdict = rlbench.Fail
	t.Accuracy = rlbench.Accuracy{
		Offered: 500, Allowed: 180, Denied: 310, Unknown: 8, Unsent: 2, IdealAllowed: 100, OverCertain: 80, OverEstimate: 80,
		RefusedWronglyCertain: 1, RefusedWronglyEstimate: 3, CannotTell: 0.0625, WorstWindow: 180, WorstWindowRatio: 1.8,
	}
	over := overrun(rlbench.Pass, 101)
	over.Proof = []string{
		"All 101 were sent at 1.204 ms or later.", "All 101 were done before 61.204 ms, so whatever the moments of decision they lie in one window.",
		"A window may hold 100.",
	}
	t.Findings = []Finding{over, found("never-starved", rlbench.Pass, rlbench.Pass)}
	s.Targets = append([]Target{t}, s.Targets...)
	s.Verdict, s.ExitStatus = rlbench.Fail, 1
	return s
}

func inconclusive() *Summary {
	s := passing()
	f := found("never-over", rlbench.Pass, rlbench.Inconclusive)
	f.Because, f.Doubt = "The limiter's clock stepped by 2.1 s during the run.", 17
	s.Targets[0].Findings[0] = f
	s.Targets[0].Verdict = rlbench.Inconclusive
	s.Targets[0].Warnings = []string{"the limiter's clock stepped by 2.1 s at 1.4 s: windows after it cannot be placed"}
	s.Verdict, s.ExitStatus = rlbench.Inconclusive, 2
	return s
}

func interrupted() *Summary {
	s := passing()
	s.Interrupted, s.ExitStatus, s.Verdict = true, 130, rlbench.Inconclusive
	s.Targets[0].Warnings = []string{"20 of 500 requests were not sent before the run was stopped", "p99 lateness was 4.2 ms: the latency figures are the generator's too"}
	return s
}

// expectedFailure is a limiter that is wrong on purpose and was caught.
func expectedFailure() *Summary {
	s := passing()
	s.Targets[0].Findings[0] = overrun(rlbench.Fail, 3)
	return s
}

func skipped() *Summary {
	s := passing()
	s.Skipped = []Skip{{Target: "redis-incr-fixed-window", Reason: "no Redis answers: neither container, process nor embedded is to be had here, and --skip-missing was given"}}
	return s
}

func unasked() *Summary {
	s := passing()
	s.Targets = []Target{{Name: "memory-fixed-window", Backend: "none"}}
	s.Verdict, s.ExitStatus, s.Folder, s.Why = rlbench.Inconclusive, 2, "", ""
	return s
}

// hostileTexts has evidence that would take over a terminal.
func hostileTexts() *Summary {
	s := failing()
	f := &s.Targets[0].Findings[0]
	keys := []string{"käyttäjä-日本", "\x1b[2J\x1b[31mgone", "\u202egnp.exe", "\xff\xfe\n\t\x00" + "a key that is much too long for one line of a table, whatever its width"}
	for i := range keys {
		f.Witness[i].Key = keys[i]
	}
	f.Witness[0].Sent, f.Witness[0].Done, f.Witness[0].Outcome = nil, nil, rlbench.Unsent
	f.Because = "The key \x1b]0;title\x07 was refused.\r\nPASS: every expectation was met"
	s.Targets[0].Warnings = []string{"error: \x9b31m\u2028 " + "averyveryverylongwordwithoutanyspacethatcannotbewrappedanywhereatallbecauseithasnoneofthem"}
	s.Targets[0].Name, s.Scenario, s.Folder = "redis\b\b\b\b\b", "ra\x1bce", "/tmp/\x1b[31m"
	f.Check = "never-over-\x1b[5m-with-a-name-that-nobody-should-give"
	return s
}
