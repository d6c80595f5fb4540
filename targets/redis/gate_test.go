package redis_test

import (
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// gate stands between a target and its server, and can keep answers back.
type gate struct {
	listener net.Listener
	server   string
	mode     atomic.Int32
	// arrived gets one token for each piece of data that a closed gate let
	// through to the server and whose answer it will keep back.
	arrived chan struct{}

	mu    sync.Mutex
	conns []net.Conn
	all   sync.WaitGroup
}

const (
	pass    = iota // everything goes through
	swallow        // requests go through, answers do not
	cut            // requests go through; the answer ends the connection
)

// newGate returns a gate before the server at the URL, and its own URL.
func newGate(t *testing.T, url string) (*gate, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{listener: l, server: strings.TrimPrefix(url, "redis://"), arrived: make(chan struct{}, 100)}
	g.all.Go(g.accept)
	t.Cleanup(func() {
		_ = l.Close()
		g.mu.Lock()
		for _, c := range g.conns {
			_ = c.Close()
		}
		g.mu.Unlock()
		g.all.Wait()
	})
	return g, "redis://" + l.Addr().String()
}

func (g *gate) accept() {
	for {
		client, err := g.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", g.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		g.mu.Lock()
		g.conns = append(g.conns, client, server)
		g.mu.Unlock()
		g.all.Go(func() { g.requests(server, client) })
		g.all.Go(func() { g.answers(client, server) })
	}
}

func (g *gate) requests(server, client net.Conn) {
	defer server.Close()
	_, _ = io.Copy(server, client)
}

func (g *gate) answers(client, server net.Conn) {
	defer client.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		switch g.mode.Load() {
		case swallow:
			g.arrived <- struct{}{}
			continue
		case cut:
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
