package service

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// pingInterval is the pause between two looks at a server that starts: a
	// published port gives no event to wait for.
	pingInterval = 5 * time.Millisecond
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

// awaitPong pings until the server answers; ended is closed when it no longer
// can. The error is the context's, or nil with false when the server ended.
func awaitPong(ctx context.Context, client *redis.Client, ended <-chan struct{}) error {
	ticker := time.NewTicker(pingInterval)
	defer ticker.Stop()
	for {
		err := client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-ended:
			return err
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
