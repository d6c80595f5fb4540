package redis_test

import (
	"crypto/tls"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	goredis "github.com/redis/go-redis/v9"

	"github.com/rlbench/rlbench"
	"github.com/rlbench/rlbench/targets/redis"
	"github.com/rlbench/rlbench/targets/targettest"
)

// olderThanSeven answers PEXPIRE with an option as Redis 6 does.
func olderThanSeven(c *server.Peer, cmd string, args ...string) bool {
	if !strings.EqualFold(cmd, "PEXPIRE") || len(args) < 3 {
		return false
	}
	c.WriteError("ERR wrong number of arguments for 'pexpire' command")
	return true
}

// keysOf lists the keys that begin with the namespace.
func keysOf(t *testing.T, client *goredis.Client, namespace string) []string {
	t.Helper()
	all, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(k string) bool { return !strings.HasPrefix(k, namespace) })
}

// contents is what the hash or the sorted set holds.
func contents(t *testing.T, client *goredis.Client, key string) string {
	t.Helper()
	switch kind := client.Type(t.Context(), key).Val(); kind {
	case "hash":
		return fmt.Sprint(client.HGetAll(t.Context(), key).Val())
	case "zset":
		return fmt.Sprint(client.ZRangeWithScores(t.Context(), key, 0, -1).Val())
	default:
		t.Fatalf("%q is a %s", key, kind)
		return ""
	}
}

// TestCloseRemovesItsKeysAndNoOther: a namespace is text, whatever patterns make
// of it.
func TestCloseRemovesItsKeysAndNoOther(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		for _, d := range redis.Designs() {
			s := setup(url, 1, time.Hour, rlbench.Epoch)
			s.Namespace = `own*[x]?\:`
			others := []string{"own", `own*[x]?`, `ownA[x]?\:k`, `own*xB\:k`, "another"}
			for _, key := range others {
				client.Set(t.Context(), key, 1, 0)
			}
			target := open(t, d.Name, s)
			for _, key := range []string{"a", "b", "*", ""} {
				target.Ask(t.Context(), rlbench.Request{Key: key, Cost: 1})
			}
			if len(keysOf(t, client, s.Namespace)) < 4 {
				t.Errorf("%s: the keys are not under the namespace: %q", d.Name, keysOf(t, client, ""))
			}
			if err := target.Close(); err != nil {
				t.Errorf("%s: %v", d.Name, err)
			}
			left := keysOf(t, client, "")
			slices.Sort(left)
			slices.Sort(others)
			if !slices.Equal(left, others) {
				t.Errorf("%s: left are %q instead of %q", d.Name, left, others)
			}
		}
	})
}

// TestEveryKeyEnds: no key is left without an expiry, or with one far beyond its
// window.
func TestEveryKeyEnds(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		for _, d := range redis.Designs() {
			for _, anchor := range targettest.Anchors(d) {
				target := open(t, d.Name, setup(url, 2, time.Minute, anchor))
				ask(t, target, 1)
				if d.Algorithm != rlbench.LeakyQueue { // where the second would wait for half a minute
					ask(t, target, 1)
					ask(t, target, 1)
				}
				most := time.Minute
				if d.Algorithm == rlbench.SlidingCounter {
					most *= 2
				}
				keys := keysOf(t, client, "rlbench:test:")
				if len(keys) == 0 {
					t.Errorf("%s, %s: no keys", d.Name, anchor)
				}
				for _, key := range keys {
					if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > most+2*time.Second {
						t.Errorf("%s, %s: %q ends in %s", d.Name, anchor, key, ttl)
					}
				}
				_ = target.Close()
			}
		}
	})
}

// TestARefusalWritesNothing under a script: neither budget nor window.
func TestARefusalWritesNothing(t *testing.T) {
	targettest.Redises(t, func(t *testing.T, url string) {
		client := dial(t, url)
		for _, d := range scriptDesigns() {
			target := open(t, d.Name, setup(url, 2, time.Hour, rlbench.FirstRequest))
			ask(t, target, 3)
			if keys := keysOf(t, client, "rlbench:test:"); len(keys) != 0 {
				t.Errorf("%s: a refused request left %q", d.Name, keys)
			}
			ask(t, target, 2)
			key := keysOf(t, client, "rlbench:test:")[0]
			before := contents(t, client, key)
			if a := ask(t, target, 1); a.Outcome != rlbench.Denied {
				t.Errorf("%s: full, and %s", d.Name, a.Outcome)
			}
			if after := contents(t, client, key); after != before {
				t.Errorf("%s: a refused request changed %q to %q", d.Name, before, after)
			}
			_ = target.Close()
		}
	})
}

// TestAWindowThatEndsWhileItIsRead: GET sees it, SET does not. A count written
// without an end would refuse for ever.
func TestAWindowThatEndsWhileItIsRead(t *testing.T) {
	m := miniredis.RunT(t)
	target := open(t, getset, setup("redis://"+m.Addr(), 3, time.Minute, rlbench.FirstRequest))
	ask(t, target, 1)
	m.Server().SetPreHook(func(_ *server.Peer, cmd string, args ...string) bool {
		if strings.EqualFold(cmd, "SET") && slices.Contains(args, "keepttl") {
			m.FastForward(time.Minute)
		}
		return false
	})
	if a := ask(t, target, 2); a.Outcome != rlbench.Allowed {
		t.Fatalf("%s, %v", a.Outcome, a.Err)
	}
	m.Server().SetPreHook(nil)
	for _, key := range m.Keys() {
		if ttl := m.TTL(key); ttl != time.Minute {
			t.Errorf("%q ends in %s", key, ttl)
		}
	}
	if a := ask(t, target, 1); a.Outcome != rlbench.Allowed {
		t.Errorf("2 of 3 were used of the new window, and the next is %s", a.Outcome)
	}
}

// TestConnectionsAreMadeWhenOpening, each instance's share, and none later.
func TestConnectionsAreMadeWhenOpening(t *testing.T) {
	for _, d := range redis.Designs() {
		m := miniredis.RunT(t)
		s := setup("redis://"+m.Addr(), 1000, time.Second, rlbench.Epoch)
		s.Instances, s.InFlight = 3, 10
		target := open(t, d.Name, s)
		if got := m.CurrentConnectionCount(); got != 12 {
			t.Errorf("%s: %d connections for 10 in flight over 3 instances, instead of 4 each", d.Name, got)
		}
		for i := range 30 {
			target.Ask(t.Context(), rlbench.Request{Key: "k", Cost: 1, Instance: int32(i % 3)})
		}
		if got := m.TotalConnectionCount(); got != 12 {
			t.Errorf("%s: %d connections were made in all", d.Name, got)
		}
		if err := target.Close(); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// TestTheAddressIsAURL with TLS, a user, a password and a database.
func TestTheAddressIsAURL(t *testing.T) {
	web := httptest.NewTLSServer(nil) // for its certificate
	defer web.Close()
	m, err := miniredis.RunTLS(&tls.Config{Certificates: web.TLS.Certificates})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	m.RequireUserAuth("user", "secret")
	s := setup("rediss://user:secret@"+m.Addr()+"/3?skip_verify=true", 1, time.Hour, rlbench.Epoch)
	if a := ask(t, open(t, lua, s), 1); a.Outcome != rlbench.Allowed {
		t.Errorf("%s, %v", a.Outcome, a.Err)
	}
	if len(m.DB(3).Keys()) != 1 {
		t.Errorf("database 3 holds %q", m.DB(3).Keys())
	}
	for _, wrong := range []string{
		"rediss://user:wrong@" + m.Addr() + "/3?skip_verify=true",
		"rediss://user:secret@" + m.Addr() + "/3", // a certificate that nobody vouches for
		"redis://user:secret@" + m.Addr() + "/3",
	} {
		s.Address, s.Timeout = wrong, impatient
		if target, err := design(t, lua).Open(t.Context(), s); err == nil {
			t.Errorf("opened with %s", wrong)
			_ = target.Close()
		}
	}
}
