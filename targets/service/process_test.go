package service

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestProcess(t *testing.T) {
	service := startOrSkip(t, Process, "redis")
	if !service.Owned || service.Backend != Process || !strings.HasPrefix(service.Version, "redis ") {
		t.Errorf("started %+v", service)
	}
	if err := clientOf(t, service).Set(t.Context(), "rlbench:x", 1, 0).Err(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(strings.ToLower(string(service.Log())), readyLine) {
		t.Errorf("its log does not say that it was ready:\n%s", service.Log())
	}
	if err := service.Close(); err != nil {
		t.Error(err)
	}
	refuses(t, service)
	if len(service.Log()) == 0 {
		t.Error("the log is gone with the server")
	}
}

// refuses: nobody listens where the service was.
func refuses(t *testing.T, service *Service) {
	t.Helper()
	options, err := redis.ParseURL(service.Address)
	if err != nil {
		t.Fatal(err)
	}
	if err := reach(t.Context(), options, answerMax); err == nil {
		t.Errorf("%v still listens at %s after Close", service, options.Addr)
	}
}

func redisServer(t *testing.T) string {
	t.Helper()
	binary, err := exec.LookPath(DefaultBinary)
	if err != nil && !required("redis") {
		t.Skipf("skipped without redis: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// A port that somebody took meanwhile is told from a binary that does not run,
// and never mistaken for ours because somebody answers there.
func TestProcessPortTaken(t *testing.T) {
	binary := redisServer(t)
	taken := startOrSkip(t, Embedded, "")
	options, err := redis.ParseURL(taken.Address)
	if err != nil {
		t.Fatal(err)
	}
	address, err := net.ResolveTCPAddr("tcp", options.Addr)
	if err != nil {
		t.Fatal(err)
	}
	p, err := begin(binary, t.TempDir(), address.Port)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if _, err := p.awaitReady(t.Context(), options.Addr); !errors.Is(err, errPortTaken) {
		t.Errorf("on a taken port: %v, want %v", err, errPortTaken)
	}
}

func TestProcessThatCannotBeHad(t *testing.T) {
	t.Setenv(brokenVariable, "1")
	for _, c := range []struct{ why, binary, want string }{
		{"not on PATH", "rlbench-no-such-server", "no such program on PATH"},
		{"ends before it is ready: its last word is the reason", os.Args[0], brokenSays},
	} {
		ownTemp(t)
		service, err := Start(t.Context(), Choice{Backend: Process, Binary: c.binary})
		var missing *Missing
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), c.want) || missing.Hint == "" {
			t.Errorf("%s: %v, %v, want a Missing with a hint that says %q", c.why, service, err, c.want)
		}
		nothingLeft(t)
	}
}

// ownTemp gives the test a folder of its own for all that is temporary.
func ownTemp(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // Windows
}

// nothingLeft: no folder of a server is left there.
func nothingLeft(t *testing.T) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "rlbench-redis-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestProcessStartIsInterrupted(t *testing.T) {
	binary := redisServer(t)
	ownTemp(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if service, err := Start(ctx, Choice{Backend: Process, Binary: binary}); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, %v, want %v", service, err, context.Canceled)
	}
	nothingLeft(t)
}
