package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func found(backend Backend) starter {
	return func(context.Context, Choice) (*Service, error) { return &Service{Backend: backend}, nil }
}

func fails(err error) starter {
	return func(context.Context, Choice) (*Service, error) { return nil, err }
}

func TestAutoTakesTheFirst(t *testing.T) {
	absent := fails(fmt.Errorf("start: %w", &Missing{What: "engine", Why: "none answers"}))
	mistake := &Mistake{What: "image", Why: "no name"}
	broken := errors.New("disk full")
	for _, c := range []struct {
		why    string
		starts []starter
		want   Backend
		passed []string
		err    error
	}{
		{"all are there", []starter{found(Container), found(Process), found(Embedded)}, Container, nil, nil},
		{"one is missing, and it is told why", []starter{absent, found(Process), found(Embedded)}, Process,
			[]string{"container: engine: none answers"}, nil},
		{"two are missing", []starter{absent, absent, found(Embedded)}, Embedded,
			[]string{"container: engine: none answers", "process: engine: none answers"}, nil},
		{"a mistake is not worked around", []starter{fails(mistake), found(Process), found(Embedded)}, "", nil, mistake},
		{"nor is a failure of another kind", []starter{absent, fails(broken), found(Embedded)}, "", nil, broken},
	} {
		service, err := startFirst(t.Context(), Choice{}, []candidate{
			{Container, c.starts[0]}, {Process, c.starts[1]}, {Embedded, c.starts[2]},
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", c.why, err, c.err)
		}
		if err == nil && (service.Backend != c.want || !slices.Equal(service.Passed, c.passed)) {
			t.Errorf("%s: %s, passed %q, want %s, %q", c.why, service.Backend, service.Passed, c.want, c.passed)
		}
	}
}

func TestAutoWithNothing(t *testing.T) {
	_, err := startFirst(t.Context(), Choice{}, []candidate{{Process, fails(&Missing{What: "redis-server", Why: "not there"})}})
	var missing *Missing
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "process: redis-server: not there") {
		t.Errorf("%v, want a Missing that says what was tried", err)
	}
}

func TestAutoIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	absent := &Missing{What: "engine", Why: "context ended", Err: ctx.Err()}
	service, err := startFirst(ctx, Choice{}, []candidate{{Container, fails(absent)}, {Embedded, found(Embedded)}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v, want %v", service, err, context.Canceled)
	}
}

func TestAutoWorksHere(t *testing.T) {
	service, err := Start(t.Context(), Choice{Image: noImage, Binary: "rlbench-no-such-server"})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	if service.Backend != Embedded || len(service.Passed) != 2 {
		t.Errorf("started %v, passed %q", service, service.Passed)
	}
}

func TestNoSuchBackend(t *testing.T) {
	_, err := Start(t.Context(), Choice{Backend: "cloud"})
	var mistake *Mistake
	if !errors.As(err, &mistake) || !strings.Contains(mistake.Hint, "embedded") {
		t.Errorf("%v, want a Mistake whose hint names the backends", err)
	}
}

func TestCloseTwice(t *testing.T) {
	calls := 0
	service := newService(Service{}, nil, func() error { calls++; return errors.New("once") })
	first, second := service.Close(), service.Close()
	if calls != 1 || first == nil || second == nil {
		t.Errorf("ended %d times, errors %v and %v", calls, first, second)
	}
}

func TestDoctor(t *testing.T) {
	t.Setenv(AddressVariable, "")
	diagnoses := Doctor(t.Context(), Choice{Image: noImage, Binary: "rlbench-no-such-server"})
	want := map[Backend]bool{Container: false, Process: false, Embedded: true, External: false}
	if len(diagnoses) != len(want) {
		t.Fatalf("%d diagnoses: %+v", len(diagnoses), diagnoses)
	}
	for _, d := range diagnoses {
		if d.Works != want[d.Backend] || d.Found == "" || (d.Hint == "") != d.Works || strings.Contains(d.Found+d.Hint, "\n") {
			t.Errorf("%+v, want works %v, one line, and a hint only where it does not", d, want[d.Backend])
		}
	}
}

func TestParseVersion(t *testing.T) {
	for _, c := range []struct{ why, info, want string }{
		{"redis", "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n", "redis 7.0.15"},
		{"a fork keeps the redis version for compatibility", "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n", "valkey 8.1.1"},
		{"a fork without a version of its own", "redis_version:6.2.0\r\nserver_name:other\r\n", "other 6.2.0"},
		{"nothing said", "", "redis, version unknown"},
		{"not what was asked for", "hello\r\n:\r\n", "redis, version unknown"},
	} {
		if got := parseVersion(c.info); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

func TestJournal(t *testing.T) {
	j := newJournal("ready to go")
	for _, part := range []string{"starting\n", "Ready ", "to go\n"} {
		select {
		case <-j.come:
			t.Fatalf("came before its last part %q", part)
		default:
		}
		j.Write([]byte(part))
	}
	<-j.come
	j.Write(bytes.Repeat([]byte("x"), LogMax))
	j.Write([]byte("\nlast words \n\n"))
	if kept := j.bytes(); len(kept) != LogMax || lastLine(kept) != "last words" {
		t.Errorf("kept %d bytes, last line %q", len(kept), lastLine(kept))
	}
}
