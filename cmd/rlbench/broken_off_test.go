package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/internal/evidence"
)

// steady asks for long enough that something can happen in the middle.
const steady = `
name: steady
why: Traffic that goes on while the server goes away.
policy: {algorithm: fixed-window, limit: 100/1m, anchor: first-request}
instances: 3
traffic:
- {rate: 400/s, for: 2s}
targets:
- name: redis-lua-fixed-window
- name: memory-fixed-window
`

// servedUntil runs the scenario against a server of ours, calls stop once the
// server has made so many decisions, and returns the exit status, what was
// printed, and the evidence.
func servedUntil(t *testing.T, decisions int, stop func(*miniredis.Miniredis)) (int, string, []*rlbench.Run) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("steady.yaml", []byte(steady), 0o644); err != nil {
		t.Fatal(err)
	}
	redis := miniredis.RunT(t)
	reached := make(chan struct{})
	var mu sync.Mutex
	seen := 0
	redis.Server().SetPreHook(func(_ *server.Peer, command string, _ ...string) bool {
		if !strings.EqualFold(command, "EVALSHA") {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == decisions {
			close(reached)
		}
		return false
	})
	var out, errs bytes.Buffer
	done := make(chan int)
	go func() {
		done <- run([]string{"run", "steady.yaml", "--backend", "external", "--redis", redis.Addr()}, &out, &errs)
	}()
	select {
	case <-reached:
		stop(redis)
	case status := <-done:
		t.Fatalf("the run ended with %d before %d decisions: %s%s", status, decisions, &out, &errs)
	}
	status := <-done
	folders, err := filepath.Glob(".rlbench/steady/2*")
	if err != nil || len(folders) != 1 {
		t.Fatalf("the evidence lies in %v, %v; printed: %s%s", folders, err, &out, &errs)
	}
	_, runs, err := evidence.Load(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(folders[0], summaryFile)); err != nil {
		t.Error(err)
	}
	return status, out.String() + errs.String(), runs
}

func outcomes(run *rlbench.Run) string {
	var n [4]int
	for _, o := range run.Ops.Outcome {
		n[o]++
	}
	return fmt.Sprintf("unknown %d allowed %d denied %d unsent %d", n[0], n[1], n[2], n[3])
}

func TestServerGoneInTheMiddle(t *testing.T) {
	status, printed, runs := servedUntil(t, 300, func(redis *miniredis.Miniredis) { redis.Close() })
	if status != int(statusInconclusive) && status != int(statusNotMet) {
		t.Errorf("exit status %d after the server went away: %s", status, printed)
	}
	if len(runs) != 2 || runs[0].Ops.Len() != 800 {
		t.Fatalf("the evidence does not hold the 800 planned ops: %d runs", len(runs))
	}
	if len(runs[0].Events) == 0 || runs[0].Events[0].Kind != rlbench.ServerLost {
		t.Errorf("the evidence does not say that the server was lost: %v", runs[0].Events)
	}
	if got := outcomes(runs[0]); !strings.Contains(got, "allowed 100 ") {
		t.Errorf("the limiter allowed its 100 before the server went away, the evidence says %s", got)
	}
}

func TestInterruptKeepsWhatWasRecorded(t *testing.T) {
	status, printed, runs := servedUntil(t, 300, func(*miniredis.Miniredis) {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(os.Interrupt)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if status != int(statusInterrupted) {
		t.Errorf("exit status %d after Ctrl-C: %s", status, printed)
	}
	if len(runs) != 1 || !runs[0].Interrupted {
		t.Fatalf("an interrupted run must say so, and start no further target: %d runs", len(runs))
	}
	if n := runs[0].Ops.Len(); n < 300 {
		t.Errorf("%d ops are on disk, at least 300 had been decided", n)
	}
}
