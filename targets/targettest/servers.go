package targettest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	goredis "github.com/redis/go-redis/v9"
)

const (
	// requireEnv lists servers (redis, docker) whose absence fails a test
	// instead of skipping it.
	requireEnv = "RLBENCH_REQUIRE"
	// startTimeout bounds how long a server may take to answer, startAttempts
	// how many ports are tried.
	startTimeout  = 10 * time.Second
	startAttempts = 5
	// clientsMax is how many connections a server started here accepts.
	clientsMax = 8000
)

// Missing skips the test because the server is not here, or fails it when
// RLBENCH_REQUIRE names that server.
func Missing(t testing.TB, server, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv(requireEnv), ","), server) {
		t.Fatalf("%s is required by %s, and missing: %s", server, requireEnv, why)
	}
	t.Skipf("skipped: no %s: %s", server, why)
}

// Miniredis starts an in-process Redis work-alike behind a real socket, whose
// keys expire as time passes, and returns its URL. It ends with the test.
func Miniredis(t testing.TB) string {
	t.Helper()
	m := miniredis.RunT(t)
	m.ClockTTL(true)
	return "redis://" + m.Addr()
}

// RedisServer starts the redis-server on PATH and returns its URL. It ends with
// the test; without one the test is skipped, see [Missing].
func RedisServer(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		Missing(t, "redis", err.Error())
	}
	for range startAttempts {
		var url string
		// A free port may be taken by somebody else before the server has it.
		if url, err = startRedis(t, path); err == nil {
			return url
		}
	}
	t.Fatalf("starting %s: %v", path, err)
	return ""
}

// Redises runs the test against every kind of Redis that is here, side by side.
func Redises(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("miniredis", func(t *testing.T) { t.Parallel(); test(t, Miniredis(t)) })
	t.Run("redis-server", func(t *testing.T) { t.Parallel(); test(t, RedisServer(t)) })
}

func startRedis(t testing.TB, path string) (string, error) {
	port, err := freePort()
	if err != nil {
		return "", err
	}
	server := exec.Command(path, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", t.TempDir(), "--maxclients", strconv.Itoa(clientsMax))
	if err := server.Start(); err != nil {
		return "", err
	}
	gone := make(chan struct{})
	go func() { _ = server.Wait(); close(gone) }()
	stop := func() {
		_ = server.Process.Kill() // the one started here, and no other
		<-gone
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := answers(address, server.Process.Pid, gone); err != nil {
		stop()
		return "", err
	}
	t.Cleanup(stop)
	return "redis://" + address, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// answers waits for the server of that process to answer.
func answers(address string, pid int, gone <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return isProcess(ctx, address, pid)
		}
		select {
		case <-gone:
			return fmt.Errorf("it ended at once; its port was %s", address)
		case <-ctx.Done():
			return fmt.Errorf("no answer at %s within %s: %w", address, startTimeout, err)
		case <-look.C:
		}
	}
}

// isProcess makes sure of who answers: another server may have got the port first.
func isProcess(ctx context.Context, address string, pid int) error {
	client := goredis.NewClient(&goredis.Options{Addr: address, Protocol: 2})
	defer client.Close()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return fmt.Errorf("asking the server at %s who it is: %w", address, err)
	}
	if !strings.Contains(info, fmt.Sprintf("process_id:%d\r", pid)) {
		return fmt.Errorf("another server answers at %s", address)
	}
	return nil
}
