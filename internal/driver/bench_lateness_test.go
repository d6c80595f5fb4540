package driver

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/rlbench/rlbench"
)

// inFlight is how many requests the benchmarks of lateness keep at once at most.
const inFlight = 256

// BenchmarkLateness measures by how much requests of an open loop leave after
// their planned instants. In one run it first takes the capacity of a target
// by closed loops, then offers half of it, or the rate in the name, at constant
// gaps for b.N requests and 10 seconds at most.
// Metrics: the capacity, the median and 99th percentile of Sent less Planned,
// and beside them machine-p99: by how much a thread that does nothing but spin
// for the same instants comes late, which no driver can better. in-process decides at once; loopback asks an echo server of this
// same process over TCP, so client and server share the processors. Run it with
// -benchtime 100000x: fewer than some thousand requests make no percentile.
func BenchmarkLateness(b *testing.B) {
	b.Run("loopback-half-of-capacity", func(b *testing.B) { benchmarkLateness(b, newEcho(b), 16, 0) })
	b.Run("loopback-1000-per-second", func(b *testing.B) { benchmarkLateness(b, newEcho(b), 16, time.Millisecond) })
	b.Run("in-process-100000-per-second", func(b *testing.B) { benchmarkLateness(b, &counter{}, 1, 10*time.Microsecond) })
}

// benchmarkLateness offers one request every gap, or half of what clients
// closed loops reach when gap is 0.
func benchmarkLateness(b *testing.B, target rlbench.Target, clients int, gap time.Duration) {
	bounds := rlbench.Bounds{Duration: time.Hour, Ops: int64(max(b.N/4, 1000)), InFlight: inFlight}
	capacity := mustDrive(b, closedLoops(clients, bounds), target)
	perSecond := float64(bounds.Ops) / time.Duration(capacity.Ops.Sent[bounds.Ops-1]).Seconds()
	if gap == 0 {
		gap = time.Duration(2 * float64(time.Second) / perSecond)
	}
	bounds.Ops = int64(b.N)
	plan := &rlbench.Plan{Bounds: bounds, Arrivals: make([]rlbench.Arrival, min(b.N, int(10*time.Second/gap)))}
	for i := range plan.Arrivals {
		plan.Arrivals[i] = rlbench.Arrival{Request: rlbench.Request{Key: "k", Cost: 1}, At: rlbench.Instant(i) * rlbench.Instant(gap)}
	}
	machine := machineLateness(plan)
	b.ResetTimer()
	r := mustDrive(b, plan, target)
	b.ReportMetric(machine, "machine-p99-µs")
	b.ReportMetric(perSecond, "capacity/s")
	b.ReportMetric(float64(time.Second/gap), "offered/s")
	b.ReportMetric(float64(r.Lateness.ValueAtQuantile(50))/1e3, "p50-µs")
	b.ReportMetric(float64(r.Lateness.ValueAtQuantile(99))/1e3, "p99-µs")
	b.ReportMetric(float64(r.UnsentInFlight), "unsent")
}

// machineLateness is the 99th percentile in µs of how late a spinning thread
// sees the plan's instants, over at most a second of it.
func machineLateness(plan *rlbench.Plan) float64 {
	var late []rlbench.Instant
	c := newClock(time.Now())
	for _, a := range plan.Arrivals {
		if a.At > rlbench.Instant(time.Second) {
			break
		}
		now := c.now()
		for now < a.At {
			now = c.now()
		}
		late = append(late, now-a.At)
	}
	slices.Sort(late)
	return float64(late[len(late)*99/100]) / 1e3
}

func closedLoops(n int, bounds rlbench.Bounds) *rlbench.Plan {
	plan := &rlbench.Plan{Bounds: bounds}
	for range n {
		plan.Clients = append(plan.Clients, rlbench.Client{
			Requests: []rlbench.Request{{Key: "k", Cost: 1}}, Until: rlbench.Instant(time.Hour),
		})
	}
	return plan
}

func mustDrive(b *testing.B, plan *rlbench.Plan, target rlbench.Target) *Recording {
	b.Helper()
	r, err := Drive(b.Context(), plan, target, Options{})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// echo asks a server on loopback that sends every byte back.
type echo struct{ conns chan net.Conn }

func newEcho(b *testing.B) *echo {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go sendBack(conn)
		}
	}()
	e := &echo{conns: make(chan net.Conn, inFlight)}
	for range inFlight {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		e.conns <- conn
	}
	b.Cleanup(func() { _ = listener.Close(); _ = e.Close() })
	return e
}

func sendBack(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var buffer [64]byte
	for {
		n, err := conn.Read(buffer[:])
		if err != nil {
			return
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (e *echo) Ask(context.Context, rlbench.Request) rlbench.Answer {
	conn := <-e.conns
	defer func() { e.conns <- conn }()
	var buffer [1]byte
	if _, err := conn.Write(buffer[:]); err != nil {
		return rlbench.Answer{Err: err}
	}
	if _, err := conn.Read(buffer[:]); err != nil {
		return rlbench.Answer{Err: err}
	}
	return rlbench.Answer{Outcome: rlbench.Allowed}
}

func (e *echo) Close() error {
	for range inFlight {
		_ = (<-e.conns).Close()
	}
	return nil
}
