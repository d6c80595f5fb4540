package scenarios

import "testing"

func TestShape(t *testing.T) {
	for _, row := range []struct{ reason, text, want string }{
		{"every kind of part", everyKind, `115 requests and 6 clients in closed loops over 2s, on 22 keys, to 3 instances
- at 500ms, 7 released together, on a: 7 requests
- from 0s for 2s, 30/1s constant, over 5 keys (uniform): 60 requests
- from 0s for 2s, 30/1s poisson, over 50 keys (zipf), at cost 2: 48 requests
- from 1s for 1s, 4 clients thinking 3ms, over 9 keys (zipf)
- from 0s for 1s, 2 clients, on key-1
begins at once
bounds: 1m0s, 1200 requests, 1000 in flight
`},
		{"inside a window it may have to wait as long as it takes", minimal("policy: {algorithm: fixed-window, limit: 10/1m, anchor: epoch}", "traffic: [{burst: 1, at: 3s}]"),
			`1 request over 3s, on 1 key, to 1 instance
- at 3s, 1 released together, on key-1: 1 request
lies inside one 1m0s window: waits for at most 4s
bounds: 1m0s, 100000 requests, 1000 in flight
`},
		{"at an edge it may have to wait for a whole window", minimal("policy: {algorithm: fixed-window, limit: 10/1m, anchor: epoch}", "start: {before_edge: 10ms}"),
			`1 request over 0s, on 1 key, to 1 instance
- at 0s, 1 released together, on key-1: 1 request
begins 10ms before an edge of the 1m0s window: waits for at most 1m0s
bounds: 1m0s, 100000 requests, 1000 in flight
`},
	} {
		s := mustParse(t, row.text)
		if got := s.Shape(mustPlan(t, s)).String(); got != row.want {
			t.Errorf("%s:\n%swant\n%s", row.reason, got, row.want)
		}
	}
}
