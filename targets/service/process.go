package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

const (
	// DefaultBinary is the server that the backend Process looks for on PATH.
	DefaultBinary = "redis-server"
	// processStartMax bounds the start of a process, from exec to its first PONG.
	processStartMax = 10 * time.Second
	// processStopMax is how long a process may take to end when it is asked to,
	// before it is killed.
	processStopMax = 3 * time.Second
	// portTries bounds how often another port is taken because somebody took
	// the one that was free a moment ago.
	portTries = 5
	// readyLine is what Redis and its forks log once they have bound their port.
	readyLine = "ready to accept connections"
	// portTaken is what they log when they could not.
	portTaken = "Address already in use"
)

var errPortTaken = errors.New("the port was taken by another process")

func startProcess(ctx context.Context, choice Choice) (*Service, error) {
	name := choice.Binary
	if name == "" {
		name = DefaultBinary
	}
	binary, err := exec.LookPath(name)
	if err != nil {
		return nil, &Missing{
			What: name, Why: "no such program on PATH", Err: err,
			Hint: "install it (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis), or choose --backend embedded",
		}
	}
	for range portTries {
		service, err := launch(ctx, binary)
		if !errors.Is(err, errPortTaken) {
			return service, err
		}
	}
	return nil, fmt.Errorf("start %s: %w, %d times in a row", binary, errPortTaken, portTries)
}

// launch starts the binary on a port that is free now.
func launch(ctx context.Context, binary string) (*Service, error) {
	dir, err := os.MkdirTemp("", "rlbench-redis-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for %s: %w", binary, err)
	}
	port, err := freePort()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	p, err := begin(binary, dir, port)
	if err != nil {
		return nil, errors.Join(cannotRun(binary, err), os.RemoveAll(dir))
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	version, err := p.awaitReady(ctx, address)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return newService(Service{
		Backend: Process, Version: version, Source: binary, Address: "redis://" + address + "/0", Owned: true,
	}, p.journal.bytes, p.close), nil
}

// freePort asks the system for a port that nobody listens on. Another process
// can take it before the server does: the caller tries again.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("look for a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

func cannotRun(binary string, err error) error {
	return &Missing{
		What: binary, Why: fmt.Sprintf("it does not run: %v", err), Err: err,
		Hint: "try it by hand, or choose another with --backend",
	}
}

// process is a server that runs as our child.
type process struct {
	cmd     *exec.Cmd
	dir     string
	journal *journal
	// ended is closed when the child is gone and its log complete; err says how
	// it ended, and may be read after that.
	ended chan struct{}
	err   error
}

// begin starts the child and returns once it runs.
func begin(binary, dir string, port int) (*process, error) {
	p := &process{dir: dir, journal: newJournal(readyLine), ended: make(chan struct{})}
	p.cmd = exec.Command(binary,
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--logfile", "")
	p.cmd.Dir = dir
	p.cmd.Stdout, p.cmd.Stderr = p.journal, p.journal
	p.cmd.WaitDelay = processStopMax
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		<-p.ended
		return nil, err
	}
	return p, nil
}

// live starts the child and waits for its end on one locked thread: on Linux the
// child is killed when the thread that started it ends (see childAttributes),
// and so this thread must live as long as the child does.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.ended)
	if p.err = p.cmd.Start(); p.err != nil {
		started <- p.err
		return
	}
	started <- nil
	p.err = p.cmd.Wait()
}

// awaitReady waits for the line that says the port is ours, then for a PONG: a
// PONG alone could come from whoever took the port.
func (p *process) awaitReady(ctx context.Context, address string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, processStartMax)
	defer cancel()
	select {
	case <-p.journal.come:
	case <-p.ended:
		return "", p.whyEnded()
	case <-ctx.Done():
		return "", fmt.Errorf("wait for %s to be ready: %w", p.cmd.Path, ctx.Err())
	}
	if version, err = awaitPong(ctx, address, p.ended); err != nil {
		return "", fmt.Errorf("wait for %s to answer: %w", p.cmd.Path, err)
	}
	return version, nil
}

// whyEnded tells a port that was taken from a binary that does not run. The
// child has ended.
func (p *process) whyEnded() error {
	log := p.journal.bytes()
	if bytes.Contains(log, []byte(portTaken)) {
		return errPortTaken
	}
	return cannotRun(p.cmd.Path, fmt.Errorf("ended before it was ready (%v): %s", p.err, lastLine(log)))
}

// close ends the child, first with a request, then without, and removes its folder.
func (p *process) close() error {
	// Windows knows no SIGTERM: there the child is killed at once.
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.kill()
	}
	late := time.AfterFunc(processStopMax, p.kill)
	defer late.Stop()
	<-p.ended
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("remove the folder of %s: %w", p.cmd.Path, err)
	}
	return nil
}

// kill cannot fail in a way that matters: a child that is gone already is what
// was wanted, and ended tells.
func (p *process) kill() { _ = p.cmd.Process.Kill() }
