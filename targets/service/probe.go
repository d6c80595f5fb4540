package service

import (
	"context"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// pingInterval is the pause between two looks at a server that starts: a
	// published port gives no event to wait for.
	pingInterval = 5 * time.Millisecond
	// dialMax is how long one such look may take to connect: the bridge of a new
	// container drops the first packet, and the system would repeat it after 1 s.
	dialMax = 50 * time.Millisecond
	// answerMax is how long a server may take to answer one of our questions.
	answerMax = 3 * time.Second
)

// connect makes a client for a few questions: one connection, and no command
// of its own beside them.
func connect(options *redis.Options) *redis.Client {
	o := *options
	o.PoolSize, o.MinIdleConns, o.MaxRetries = 1, 0, -1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = answerMax, answerMax, answerMax
	o.DialerRetries = 1
	o.Protocol, o.DisableIdentity = 2, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(&o)
}

// reach opens a connection and closes it again. A client that cannot connect
// writes lines of its own to standard error: it gets to try only after this.
func reach(ctx context.Context, options *redis.Options, within time.Duration) error {
	dialer := net.Dialer{Timeout: within}
	network := options.Network
	if network == "" {
		network = "tcp"
	}
	c, err := dialer.DialContext(ctx, network, options.Addr)
	if err != nil {
		return err
	}
	return c.Close()
}

// awaitPong asks until the server answers or can no longer: the context ended,
// or ended was closed. It returns what the server is.
func awaitPong(ctx context.Context, address string, ended <-chan struct{}) (version string, err error) {
	options := &redis.Options{Addr: address}
	client := connect(options)
	defer client.Close()
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		if err = reach(ctx, options, dialMax); err == nil {
			err = client.Ping(ctx).Err()
		}
		if err == nil {
			return versionOf(ctx, client), nil
		}
		select {
		case <-ctx.Done():
			return "", err
		case <-ended:
			return "", err
		case <-ticker.C:
		}
	}
}

// versionOf asks the server what it is. A server that does not say is still a
// server: its version is unknown.
func versionOf(ctx context.Context, client *redis.Client) string {
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return "redis, version unknown"
	}
	return parseVersion(info)
}

// parseVersion reads kind and version out of the section "server" of INFO. A
// work-alike names itself in server_name and keeps its own version beside the
// Redis version that it is compatible with.
func parseVersion(info string) string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	kind := "redis"
	if name := fields["server_name"]; name != "" {
		kind = name
	}
	for _, field := range []string{kind + "_version", "redis_version"} {
		if v := fields[field]; v != "" {
			return kind + " " + v
		}
	}
	return kind + ", version unknown"
}
