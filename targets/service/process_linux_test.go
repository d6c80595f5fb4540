package service

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const orphanVariable = "RLBENCH_TEST_ORPHAN"

// If rlbench is killed, the server that it started is killed too. The test
// starts itself as the one to be killed.
func TestProcessDiesWithUs(t *testing.T) {
	if os.Getenv(orphanVariable) != "" {
		untilKilled(t)
	}
	redisServer(t)
	us := exec.Command(os.Args[0], "-test.run=^TestProcessDiesWithUs$", "-test.v")
	// Whoever is killed leaves its folder: it shall stand where it is removed.
	us.Env = append(os.Environ(), orphanVariable+"=1", "TMPDIR="+t.TempDir())
	out, err := us.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := us.Start(); err != nil {
		t.Fatal(err)
	}
	child := childOf(t, bufio.NewScanner(out))
	// A handle of the kernel's: it becomes readable when the child has ended.
	handle, err := unix.PidfdOpen(child, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(handle)
	if err := us.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = us.Wait() // it was killed
	const enoughMs = 10000
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, enoughMs)
	if err != nil || n != 1 {
		t.Errorf("server %d outlives the one that started it: poll = %d, %v", child, n, err)
	}
}

// untilKilled starts a server, says which process it is, and waits for its end.
func untilKilled(t *testing.T) {
	service, err := Start(t.Context(), Choice{Backend: Process})
	if err != nil {
		t.Fatal(err)
	}
	info, err := clientOf(t, service).Info(t.Context(), "server").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if pid, ok := strings.CutPrefix(line, "process_id:"); ok {
			os.Stdout.WriteString("\nserver " + pid + "\n")
		}
	}
	<-t.Context().Done()
}

func childOf(t *testing.T, said *bufio.Scanner) int {
	t.Helper()
	for said.Scan() {
		if pid, found := strings.CutPrefix(said.Text(), "server "); found {
			n, err := strconv.Atoi(strings.TrimSpace(pid))
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("the one to be killed started no server")
	return 0
}
