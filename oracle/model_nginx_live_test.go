package oracle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// nginxLocation is one configuration that the model is held against.
type nginxLocation struct {
	name string
	// zones are rate and burst of each, flags what stands behind burst.
	zones []nginxRate
	flags string
	// keys are asked by workers, each request after a pause of at most pause.
	keys, requests, workers int
	pause                   time.Duration
}

type nginxRate struct {
	count int64
	unit  string
	burst int64
}

var nginxLocations = []nginxLocation{
	{"nodelay", []nginxRate{{100, "s", 5}}, "nodelay", 3, 400, 2, 12 * time.Millisecond},
	{"seven", []nginxRate{{7, "s", 4}}, "nodelay", 3, 300, 2, 40 * time.Millisecond},
	{"noburst", []nginxRate{{300, "s", 0}}, "", 2, 500, 2, 3 * time.Millisecond},
	{"fast", []nginxRate{{1000, "s", 5}}, "nodelay", 1, 600, 2, time.Millisecond},
	{"minute", []nginxRate{{1, "m", 2}}, "nodelay", 8, 80, 2, 40 * time.Millisecond},
	{"seventy", []nginxRate{{70, "m", 3}}, "nodelay", 3, 200, 2, 40 * time.Millisecond},
	{"thousand", []nginxRate{{1000, "m", 5}}, "nodelay", 2, 300, 2, 20 * time.Millisecond},
	{"waits", []nginxRate{{100, "s", 6}}, "", 1, 300, 10, 12 * time.Millisecond},
	{"delay", []nginxRate{{200, "s", 10}}, "delay=4", 1, 420, 14, 6 * time.Millisecond},
	{"zones", []nginxRate{{5, "s", 4}, {2, "s", 2}}, "nodelay", 4, 200, 2, 40 * time.Millisecond},
	{"zoneswait", []nginxRate{{50, "s", 5}, {90, "s", 3}, {40, "s", 8}}, "", 1, 160, 8, 20 * time.Millisecond},
	{"minutezones", []nginxRate{{1000, "m", 4}, {700, "m", 6}}, "nodelay", 3, 200, 2, 30 * time.Millisecond},
}

// policy is the one whose model decides as the location does.
func (l nginxLocation) policy() rlbench.Policy {
	p := rlbench.Policy{Algorithm: rlbench.LeakyQueue, Params: map[string]string{paramModel: modelNginx}}
	for _, z := range l.zones {
		per := map[string]time.Duration{"s": time.Second, "m": time.Minute}[z.unit]
		p.Limits = append(p.Limits, rlbench.Limit{Count: z.count, Per: per, Burst: z.burst + 1})
	}
	if name, value, given := strings.Cut(l.flags, "="); given {
		p.Params[name] = value
	} else if l.flags != "" {
		p.Params[l.flags] = "true"
	}
	return p
}

// configuration writes the file for all locations.
func nginxConfiguration(folder string) string {
	var zones, places strings.Builder
	for _, l := range nginxLocations {
		fmt.Fprintf(&places, "    location = /%s { empty_gif;", l.name)
		for i, z := range l.zones {
			fmt.Fprintf(&zones, "  limit_req_zone $arg_k zone=%s%d:1m rate=%dr/%s;\n", l.name, i, z.count, z.unit)
			fmt.Fprintf(&places, " limit_req zone=%s%d", l.name, i)
			if z.burst > 0 {
				fmt.Fprintf(&places, " burst=%d %s", z.burst, l.flags)
			}
			places.WriteString(";")
		}
		places.WriteString(" }\n")
	}
	return fmt.Sprintf(`daemon off;
master_process off;
pid %[1]s/pid;
error_log %[1]s/error.log debug;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path %[1]s/a; proxy_temp_path %[1]s/b; fastcgi_temp_path %[1]s/c; uwsgi_temp_path %[1]s/d; scgi_temp_path %[1]s/e;
  keepalive_timeout 75s;
  keepalive_requests 100000;
%[2]s  server {
    listen unix:%[1]s/socket;
%[3]s  }
}
`, folder, zones.String(), places.String())
}

// nginxBinary finds one that writes its decisions down, or skips the test.
func nginxBinary(t *testing.T) string {
	t.Helper()
	missing := t.Skipf
	if slices.Contains(strings.Split(os.Getenv("RLBENCH_REQUIRE"), ","), "nginx") {
		missing = t.Fatalf
	}
	path, err := exec.LookPath("nginx")
	if err != nil {
		if path = "/usr/sbin/nginx"; !exists(path) {
			missing("nginx is not here, so its model is not held against it")
		}
	}
	version, err := exec.Command(path, "-V").CombinedOutput()
	if err != nil || !strings.Contains(string(version), "--with-debug") {
		missing("%s was not built with --with-debug, so it does not write its decisions down (%v)", path, err)
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// startNginx returns the socket it listens on, the log that it writes, and how to end it.
func startNginx(t *testing.T, binary string) (socket, log string, stop func()) {
	t.Helper()
	// Not the test's own folder: the path of a socket is at most 107 bytes long.
	folder, err := os.MkdirTemp("", "nginx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "nginx.conf")
	if err := os.WriteFile(file, []byte(nginxConfiguration(folder)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	server := exec.CommandContext(ctx, binary, "-p", folder, "-e", filepath.Join(folder, "error.log"), "-c", file)
	var said strings.Builder
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	t.Cleanup(stop)
	socket = filepath.Join(folder, "socket")
	for deadline := time.Now().Add(10 * time.Second); ; {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return socket, filepath.Join(folder, "error.log"), stop
		} else if time.Now().After(deadline) {
			t.Fatalf("nginx does not listen: %v: %s", err, said.String())
		}
		<-time.After(5 * time.Millisecond)
	}
}

// load asks every location on connections of their own.
func load(t *testing.T, socket string) {
	t.Helper()
	var all sync.WaitGroup
	for i, l := range nginxLocations {
		for w := range l.workers {
			random := rand.New(rand.NewPCG(uint64(i), uint64(w)))
			all.Go(func() {
				transport := &http.Transport{MaxConnsPerHost: 1, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return (&net.Dialer{}).DialContext(ctx, "unix", socket)
				}}
				defer transport.CloseIdleConnections()
				client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
				for range l.requests / l.workers {
					if err := askNginx(client, l.name, random.IntN(l.keys)); err != nil {
						t.Error(err)
						return
					}
					// Half of the requests follow at once: bursts and pauses.
					if random.IntN(2) == 0 {
						<-time.After(time.Duration(random.Int64N(int64(l.pause))))
					}
				}
			})
		}
	}
	all.Wait()
}

func askNginx(client *http.Client, location string, key int) error {
	response, err := client.Get(fmt.Sprintf("http://nginx/%s?k=%d", location, key))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
		return errors.New(response.Status)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// nginxDecision is one decision as the log tells it.
type nginxDecision struct {
	location, key string
	// codes and excess are what each zone said, in order; ms is the clock's reading and
	// wait for how long it was held back.
	codes, excess []int64
	ms, wait      int64
}

var (
	nginxAsked   = regexp.MustCompile(`\*(\d+) http request line: "GET /(\w+)\?k=(\w+) `)
	nginxZoneRow = regexp.MustCompile(`\*(\d+) limit_req\[\d+\]: (-?\d+) (\d+)\.(\d{3})`)
	nginxTimer   = regexp.MustCompile(`\*(\d+) event timer add: \d+: (\d+):(\d+)`)
)

// nginxKeepalive is the timeout whose timer is set when an answer is out.
const nginxKeepalive = 75000

// readDecisions reads the log: the timer that follows a decision, in the same turn of
// the event loop, tells the clock's reading.
func readDecisions(t *testing.T, log string) []nginxDecision {
	t.Helper()
	file, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pending := map[string]*nginxDecision{}
	var found []nginxDecision
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := nginxAsked.FindStringSubmatch(line); m != nil {
			pending[m[1]] = &nginxDecision{location: m[2], key: m[3]}
		} else if m := nginxZoneRow.FindStringSubmatch(line); m != nil {
			d := pending[m[1]]
			d.codes = append(d.codes, nginxNumber(t, m[2]))
			d.excess = append(d.excess, nginxNumber(t, m[3])*1000+nginxNumber(t, m[4]))
		} else if m := nginxTimer.FindStringSubmatch(line); m != nil {
			d := pending[m[1]]
			if d == nil || len(d.codes) == 0 {
				continue
			}
			timer := nginxNumber(t, m[2])
			if d.ms = nginxNumber(t, m[3]) - timer; timer != nginxKeepalive {
				d.wait = timer
			}
			found = append(found, *d)
			delete(pending, m[1])
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func nginxNumber(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNginxDecidesAsItsModel holds the model against the server itself, decision for
// decision: whether it was let through, the excess of each zone to the thousandth, and
// for how many milliseconds it was held back.
func TestNginxDecidesAsItsModel(t *testing.T) {
	t.Parallel()
	socket, log, stop := startNginx(t, nginxBinary(t))
	load(t, socket)
	stop()
	decisions := readDecisions(t, log)
	models := map[string]*model{}
	counts := map[string][3]int{}
	asked := 0
	for _, l := range nginxLocations {
		asked += l.requests
	}
	for _, d := range decisions {
		i := slices.IndexFunc(nginxLocations, func(l nginxLocation) bool { return l.name == d.location })
		m := models[d.location+d.key]
		if m == nil {
			var err error
			if m, err = newModel(nginxLocations[i].policy()); err != nil {
				t.Fatal(err)
			}
			models[d.location+d.key] = m
		}
		n := counts[d.location]
		if agreed := compareNginx(t, m, d); !agreed {
			return
		}
		switch {
		case d.codes[len(d.codes)-1] != 0:
			n[1]++
		case d.wait > 0:
			n[2]++
		default:
			n[0]++
		}
		counts[d.location] = n
	}
	var sum [3]int
	for _, l := range nginxLocations {
		n := counts[l.name]
		t.Logf("%s: %d let through, %d refused, %d held back", l.name, n[0], n[1], n[2])
		for i := range sum {
			sum[i] += n[i]
		}
	}
	if least := slices.Min(sum[:]); least < 100 {
		t.Errorf("%d let through, %d refused, %d held back: too few to compare", sum[0], sum[1], sum[2])
	}
	t.Logf("%d decisions of %d requests, all alike", len(decisions), asked)
	if len(decisions) != asked || asked < 2000 {
		t.Errorf("the log tells of %d decisions, %d were asked for", len(decisions), asked)
	}
}

// compareNginx decides by the model and compares.
func compareNginx(t *testing.T, m *model, d nginxDecision) bool {
	t.Helper()
	var excess []int64
	for _, l := range m.limits[:len(d.codes)] {
		x, _ := l.(*nginxZone).after(d.ms)
		excess = append(excess, x)
	}
	allowed, wait := m.decide(d.ms*millisecondNs, 1)
	// A zone that is not the last says -2, again; the last 0; whichever refuses -3, busy.
	last := d.codes[len(d.codes)-1]
	if allowed != (last == 0) || wait/millisecondNs != d.wait || !slices.Equal(excess, d.excess) {
		t.Errorf("%s key %s at %d ms: nginx says %v with an excess of %v and waits %d ms, the model says let through %v with %v and waits %d ms",
			d.location, d.key, d.ms, d.codes, d.excess, d.wait, allowed, excess, wait/millisecondNs)
		return false
	}
	return true
}
