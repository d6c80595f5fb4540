package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/rlbench/rlbench/targets"
)

const (
	// poolMax bounds the connections of one instance, connectionsMax those of
	// all instances together; requests beyond them wait their turn.
	poolMax        = 128
	connectionsMax = 1024
	// warmMax bounds how many connections of one instance are dialled at once.
	warmMax = 16
	// openTimeout bounds the opening: a busy machine may take long to dial all
	// connections, and no decision waits for it.
	openTimeout = 20 * time.Second
	// closeTimeout bounds how long Close spends on removing keys, stepTimeout
	// each step of that.
	closeTimeout = 5 * time.Second
	stepTimeout  = 2 * time.Second
	// scanCount is how many keys a step of the removal looks at.
	scanCount = 1000
)

// store is the server as the instances see it: each has a client and a pool of
// its own.
type store struct {
	clients   []*goredis.Client
	namespace string
	timeout   time.Duration
	// open: every connection is dialled, and decisions may be asked.
	open atomic.Bool

	closing sync.Once
	closed  error
}

// openStore connects every instance and dials all its connections, so that the
// first requests of a run do not measure dialling.
func openStore(ctx context.Context, setup targets.Setup) (*store, error) {
	options, err := clientOptions(setup)
	if err != nil {
		return nil, err
	}
	quiet()
	s := &store{namespace: setup.Namespace, timeout: setup.Timeout}
	options.Dialer = s.dialer(options)
	for range setup.Instances {
		own := *options
		s.clients = append(s.clients, goredis.NewClient(&own))
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := s.warm(ctx, options.PoolSize); err != nil {
		s.disconnect()
		return nil, fmt.Errorf("connecting to redis at %s: %w", options.Addr, err)
	}
	s.open.Store(true)
	return s, nil
}

// dialer takes its time while the store is opened. A connection that is dialled
// anew for a decision has half of the decision's time: a request that got none
// by then gives up while it certainly was not sent.
func (s *store) dialer(options *goredis.Options) func(context.Context, string, string) (net.Conn, error) {
	patient, hasty := *options, *options
	hasty.DialTimeout = options.PoolTimeout
	opening, deciding := goredis.NewDialer(&patient), goredis.NewDialer(&hasty)
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if s.open.Load() {
			return deciding(ctx, network, address)
		}
		return opening(ctx, network, address)
	}
}

// quiet keeps the client library from printing: what goes wrong is in the
// answers. Its logger is one for the process, and must be set before its first use.
var quiet = sync.OnceFunc(func() { goredis.SetLogger(silence{}) })

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func clientOptions(setup targets.Setup) (*goredis.Options, error) {
	o, err := goredis.ParseURL(setup.Address)
	if err != nil {
		return nil, fmt.Errorf("reading the server's address, such as redis://127.0.0.1:6379/0: %w", err)
	}
	// A request sent twice may be charged twice: nothing is ever sent again.
	o.MaxRetries = -1
	o.DialerRetries = 1
	// One decision has one deadline, its context's; opening and closing have
	// theirs.
	o.ContextTimeoutEnabled = true
	o.ReadTimeout, o.WriteTimeout = openTimeout, openTimeout
	o.DialTimeout = openTimeout
	o.PoolTimeout = max(setup.Timeout/2, time.Millisecond)
	o.PoolSize = poolSize(setup)
	o.MaxConcurrentDials = 0
	o.MinIdleConns, o.MaxIdleConns, o.MaxActiveConns = 0, 0, 0
	o.ConnMaxIdleTime, o.ConnMaxLifetime = -1, -1
	// Pipelines share the pool that was warmed.
	o.PipelinePoolSize = -1
	// Old servers and work-alikes do not know what a client says of itself.
	o.Protocol = 2
	o.DisableIdentity = true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return o, nil
}

// poolSize is one instance's share of what may be asked at once.
func poolSize(setup targets.Setup) int {
	share := (setup.InFlight + setup.Instances - 1) / setup.Instances
	return max(1, min(share, poolMax, connectionsMax/setup.Instances))
}

// warm makes every client dial its whole pool.
func (s *store) warm(ctx context.Context, size int) error {
	failed := make([]error, len(s.clients))
	var all sync.WaitGroup
	for i, client := range s.clients {
		all.Go(func() { failed[i] = warmPool(ctx, client, size) })
	}
	all.Wait()
	return errors.Join(failed...)
}

// warmPool holds size connections at once: a connection given back early would
// be handed out again instead of a new one being dialled.
func warmPool(ctx context.Context, client *goredis.Client, size int) error {
	held := make([]*goredis.Conn, size)
	failed := make([]error, size)
	turns := make(chan struct{}, warmMax)
	var all sync.WaitGroup
	for i := range held {
		held[i] = client.Conn()
		all.Go(func() {
			turns <- struct{}{}
			failed[i] = held[i].Ping(ctx).Err()
			<-turns
		})
	}
	all.Wait()
	for i, conn := range held {
		failed[i] = errors.Join(failed[i], conn.Close())
	}
	return firstOf(failed)
}

// firstOf is the first error: the same one a hundred times tells no more.
func firstOf(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// client is the instance's own.
func (s *store) client(instance int32) *goredis.Client { return s.clients[instance] }

// key names the state of limit i for the key. What one decision touches shares
// a hash tag, so that it lies in one slot of a cluster; the mark before the key
// keeps the tag from being empty.
func (s *store) key(key, suffix string) string { return s.namespace + "{=" + key + "}" + suffix }

// readTime reads the server's clock, in nanoseconds since the Unix epoch.
func (s *store) readTime(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	now, err := s.clients[0].Time(ctx).Result()
	if err != nil {
		return 0, fmt.Errorf("reading the redis server's clock: %w", err)
	}
	return now.UnixNano(), nil
}

// Close removes the keys of the namespace and closes every connection. It never
// takes much longer than closeTimeout, whatever the server does; what it could
// not remove it says. A second Close says the same.
func (s *store) Close() error {
	s.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := s.removeKeys(ctx); err != nil {
			s.closed = fmt.Errorf("removing the keys that begin with %q: %w", s.namespace, err)
		}
		s.closed = errors.Join(s.closed, s.disconnect())
	})
	return s.closed
}

func (s *store) removeKeys(ctx context.Context) error {
	client := s.clients[0]
	pattern := globLiteral.Replace(s.namespace) + "*"
	for cursor := uint64(0); ; {
		next, err := removeSome(ctx, client, cursor, pattern)
		if err != nil || next == 0 {
			return err
		}
		cursor = next
	}
}

// removeSome is one step of the removal; a server that does not take it in
// stepTimeout takes none.
func removeSome(ctx context.Context, client *goredis.Client, cursor uint64, pattern string) (next uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	keys, next, err := client.Scan(ctx, cursor, pattern, scanCount).Result()
	if err == nil && len(keys) > 0 {
		err = client.Unlink(ctx, keys...).Err()
	}
	return next, err
}

// globLiteral makes a pattern match its own text.
var globLiteral = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

func (s *store) disconnect() error {
	var failed []error
	for _, client := range s.clients {
		failed = append(failed, client.Close())
	}
	return errors.Join(failed...)
}

// deadline bounds one decision.
func (s *store) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.timeout)
}
