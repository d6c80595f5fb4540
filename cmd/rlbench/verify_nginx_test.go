//go:build unix

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rlbench/rlbench"
)

// nginxFormat is the log_format that docs/logs.md advises.
const nginxFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent ` +
	`"$http_referer" "$http_user_agent" $request_time $msec $limit_req_status "$http_x_api_key"`

const nginxConfig = `daemon off; pid pid; error_log stderr crit; worker_processes 2;
events { worker_connections 256; }
http {
  log_format judged '%s';
  access_log combined.log; access_log judged.log judged;
  client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c; uwsgi_temp_path d; scgi_temp_path e;
  limit_req_zone $http_x_api_key zone=z:1m rate=1r/s;
  server { listen %s; location / { limit_req zone=z burst=20 nodelay; limit_req_status 429; empty_gif; } }
}
`

// nginx starts one on a socket that is open already, so that requests wait for it
// rather than we; stop ends it when its logs are written.
func nginx(t *testing.T) (dir, address string, stop func()) {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	if err != nil {
		binary, err = exec.LookPath("/usr/sbin/nginx")
	}
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("RLBENCH_REQUIRE"), ","), "nginx") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	dir, address = t.TempDir(), listener.Addr().String()
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, nginxFormat, address), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-p", dir, "-c", config, "-e", "stderr")
	cmd.Env = append(os.Environ(), "NGINX=3;") // the socket that it inherits
	cmd.ExtraFiles = []*os.File{socket}
	var said strings.Builder
	cmd.Stderr = &said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // kills its workers too
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// Handing the socket over made it wait; a worker that waits for a connection which
	// another one took would hold up its own.
	if err := syscall.SetNonblock(int(socket.Fd()), true); err != nil {
		t.Fatal(err)
	}
	listener.Close()
	socket.Close()
	return dir, address, sync.OnceFunc(func() {
		err := cmd.Process.Signal(syscall.SIGQUIT)
		if waited := cmd.Wait(); err != nil || waited != nil {
			t.Fatalf("stopping nginx: %v, %v: %s", err, waited, &said)
		}
	})
}

// TestNGINX holds a real limit_req against what its configuration says, by its own log.
func TestNGINX(t *testing.T) {
	dir, address, stop := nginx(t)
	defer stop()
	// A busy machine keeps a worker waiting, and its clock with it; 2 s give back 2.
	const clients, requests = 4, 200
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for range requests {
				if err := get(client, address, "user-"+string(rune('a'+c%2))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	stop()
	judged := []string{filepath.Join(dir, "judged.log"), "--log-format", nginxFormat, "--key", "$http_x_api_key", "--nginx", "--clock-error", "2s", "--rate", "1r/s"}
	status, s, errs := verified(t, append(judged, "--burst", "20", "--complete")...)
	if status != 0 {
		t.Fatalf("as it is configured: exit status %d: %s %+v", status, errs, s.Targets)
	}
	if a := s.Targets[0].Accuracy; a.Offered != clients*requests || a.Allowed < 42 || a.Denied == 0 {
		t.Errorf("the log does not show a saturated limiter of 2 × 21: %+v", a)
	}
	over(t, "a burst that it does not keep", rlbench.Fail, append(judged, "--burst", "10")...)
	combined := []string{filepath.Join(dir, "combined.log"), "--longest", "10s"}
	over(t, "combined, both keys from one address", rlbench.Pass, append(combined, "--rate", "2/s", "--burst", "42")...)
	over(t, "combined, taken for one of them", rlbench.Fail, append(combined, "--rate", "1/s", "--burst", "20")...)
}

func get(client *http.Client, address, key string) error {
	request, err := http.NewRequest(http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return err
	}
	request.Header.Set("X-Api-Key", key)
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	if err == nil && answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusTooManyRequests {
		err = fmt.Errorf("nginx answered %s", answer.Status)
	}
	return err
}
