package service

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
)

const secret = "geheim-4711"

func guarded(t *testing.T) *miniredis.Miniredis {
	m := miniredis.RunT(t)
	m.RequireUserAuth("bench", secret)
	return m
}

func TestExternal(t *testing.T) {
	open, closed := miniredis.RunT(t), guarded(t)
	secure := miniredis.NewMiniRedis()
	if err := secure.StartAddrTLS("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{selfSigned(t)}}); err != nil {
		t.Fatal(err)
	}
	defer secure.Close()
	for _, c := range []struct{ why, address, want string }{
		{"host and port", open.Addr(), "redis://" + open.Addr()},
		{"a name of this machine", "localhost:" + open.Port(), "redis://localhost:" + open.Port()},
		{"user, password and database", "redis://bench:" + secret + "@" + closed.Addr() + "/3", "redis://bench:" + secret + "@" + closed.Addr() + "/3"},
		{"TLS", "rediss://" + secure.Addr() + "?skip_verify=true", "rediss://" + secure.Addr() + "?skip_verify=true"},
	} {
		service, err := Start(t.Context(), Choice{Backend: External, Address: c.address})
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if service.Owned || service.Backend != External || service.Address != c.want {
			t.Errorf("%s: owned %v, %s at %s, want %s", c.why, service.Owned, service.Backend, service.Address, c.want)
		}
		if text := fmt.Sprintf("%v %+v %s", service, service, service.Source); strings.Contains(text, secret) {
			t.Errorf("%s: the password is printed: %s", c.why, text)
		}
		if err := service.Close(); err != nil {
			t.Errorf("%s: %v", c.why, err)
		}
	}
}

// What is there stays there, and the server runs on.
func TestExternalIsLeftAsItIs(t *testing.T) {
	m := miniredis.RunT(t)
	if err := m.Set("theirs", "1"); err != nil {
		t.Fatal(err)
	}
	t.Setenv(AddressVariable, m.Addr())
	service, err := Start(t.Context(), Choice{Backend: External})
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Close(); err != nil {
		t.Error(err)
	}
	if got, err := m.Get("theirs"); err != nil || got != "1" {
		t.Errorf("the key that was there: %q, %v", got, err)
	}
	if err := clientOf(t, service).Ping(t.Context()).Err(); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

func TestExternalRefused(t *testing.T) {
	closed := guarded(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	t.Setenv(AddressVariable, "")
	for _, c := range []struct {
		why, address string
		missing      bool // else it is the person's mistake
		says         string
	}{
		{"no address", "", true, "no address was given"},
		{"nobody listens", "redis://bench:" + secret + "@" + nobody, true, "does not answer"},
		{"wrong password", "redis://bench:" + secret + "x@" + closed.Addr(), true, "does not answer"},
		{"another machine", "redis://bench:" + secret + "@192.0.2.1:6379", false, "not on this machine"},
		{"another machine by name", "redis.example.com:6379", false, "not on this machine"},
		{"any interface is not loopback", "0.0.0.0:6379", false, "not on this machine"},
		{"no host", "redis://:6379", false, "names no host"},
		{"no URL", "redis://bench:" + secret + "@[::1", false, "no URL"},
		{"no such scheme", "http://bench:" + secret + "@127.0.0.1:80", false, "not understood"},
		{"no such database", "redis://bench:" + secret + "@127.0.0.1:6379/first", false, "not understood"},
		{"no such parameter", "redis://127.0.0.1:6379/0?password=" + secret, false, "not understood"},
	} {
		service, err := Start(t.Context(), Choice{Backend: External, Address: c.address})
		var missing *Missing
		var mistake *Mistake
		if err == nil || errors.As(err, &missing) != c.missing || errors.As(err, &mistake) == c.missing {
			t.Errorf("%s: %v, %T %v", c.why, service, err, err)
			continue
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, want it to say %q", c.why, err, c.says)
		}
		if text := fmt.Sprintf("%v %+v %v", err, missing, mistake); strings.Contains(text, secret) {
			t.Errorf("%s: the password is printed: %s", c.why, text)
		}
	}
}

func TestAllowRemote(t *testing.T) {
	for _, c := range []struct {
		why, address string
		remote       []string
		ok           bool
	}{
		{"named", "redis.example.com:6379", []string{"other", "Redis.Example.com"}, true},
		{"another one named", "redis.example.com:6379", []string{"example.com"}, false},
		{"an IPv6 address named", "redis://[2001:db8::1]:6379", []string{"2001:db8::1"}, true},
		{"with its brackets", "redis://[2001:db8::1]:6379", []string{"[2001:db8::1]"}, true},
		{"loopback needs no name", "redis://[::1]:6379", nil, true},
		{"all of 127/8 is loopback", "127.8.8.8:6379", nil, true},
		{"a socket in the file system", "unix:///run/redis.sock", nil, true},
		{"a name that only begins like loopback", "127.0.0.1.example.com:6379", nil, false},
	} {
		address, _, err := parseAddress(c.address)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		if err := allowed(address, c.remote); (err == nil) != c.ok {
			t.Errorf("%s: %v, want allowed %v", c.why, err, c.ok)
		}
	}
}

// selfSigned is a certificate that nobody need trust.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
