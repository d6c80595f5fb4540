package service

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// AddressVariable is the environment variable that names an External server.
const AddressVariable = "RLBENCH_REDIS_ADDR"

func useExternal(ctx context.Context, choice Choice) (*Service, error) {
	raw := choice.Address
	if raw == "" {
		raw = os.Getenv(AddressVariable)
	}
	if raw == "" {
		return nil, &Missing{
			What: "external redis", Why: "no address was given",
			Hint: "set " + AddressVariable + " to host:port or to a redis:// URL",
		}
	}
	address, options, err := parseAddress(raw)
	if err != nil {
		return nil, err
	}
	if err := allowed(address, choice.AllowRemote); err != nil {
		return nil, err
	}
	if err := reach(ctx, options, answerMax); err != nil {
		return nil, noAnswer(address, err)
	}
	client := connect(options)
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, noAnswer(address, err)
	}
	return newService(Service{
		Backend: External, Version: versionOf(ctx, client), Source: shown(address), Address: address.String(),
	}, func() []byte { return nil }, func() error { return nil }), nil
}

// parseAddress reads host:port or a URL. No error of the parsers is passed on:
// they repeat the address, and the password in it.
func parseAddress(raw string) (*url.URL, *redis.Options, error) {
	if !strings.Contains(raw, "://") {
		raw = "redis://" + raw
	}
	address, err := url.Parse(raw)
	if err != nil {
		return nil, nil, badAddress("it is no URL")
	}
	if address.Scheme != "unix" && address.Hostname() == "" {
		return nil, nil, badAddress("it names no host")
	}
	options, err := redis.ParseURL(raw)
	if err != nil {
		return nil, nil, badAddress("scheme, database or a parameter of it is not understood: " + shown(address))
	}
	return address, options, nil
}

func badAddress(why string) error {
	return &Mistake{
		What: "address of the external redis", Why: why,
		Hint: "write host:port, or redis://user:password@host:port/db (rediss:// for TLS)",
	}
}

// allowed refuses to send load to another machine unless the person named it.
func allowed(address *url.URL, remote []string) error {
	host := address.Hostname()
	if address.Scheme == "unix" || isLoopback(host) {
		return nil
	}
	if slices.ContainsFunc(remote, func(r string) bool { return strings.EqualFold(strings.Trim(r, "[]"), host) }) {
		return nil
	}
	return &Mistake{
		What: "external redis at " + shown(address), Why: "it is not on this machine",
		Hint: "if load may be sent there, say so with --allow-remote " + host,
	}
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func noAnswer(address *url.URL, err error) error {
	why := err.Error()
	if password, ok := address.User.Password(); ok && password != "" {
		why = strings.ReplaceAll(why, password, "xxxxx")
	}
	return &Missing{
		What: "external redis at " + shown(address), Why: fmt.Sprintf("it does not answer PING: %s", why), Err: err,
		Hint: "start it, or correct " + AddressVariable + "; is TLS, user or password needed?",
	}
}

// shown is the address as it may be printed: without user and parameters, since
// nothing keeps a password from standing there.
func shown(address *url.URL) string {
	bare := *address
	bare.User, bare.RawQuery, bare.Fragment = nil, "", ""
	return bare.String()
}
