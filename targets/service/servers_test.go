package service

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"
)

// With brokenVariable set, this test binary is a server that ends at once.
const (
	brokenVariable = "RLBENCH_TEST_BROKEN"
	brokenSays     = "no such option"
)

func TestMain(m *testing.M) {
	if os.Getenv(brokenVariable) != "" {
		os.Stderr.WriteString(brokenSays + "\n")
		os.Exit(3)
	}
	goleak.VerifyTestMain(m)
}

// startOrSkip starts a backend that this machine may not have. Without it the
// test is skipped, unless RLBENCH_REQUIRE lists what it needs.
func startOrSkip(t testing.TB, backend Backend, needs string) *Service {
	t.Helper()
	service, err := Start(t.Context(), Choice{Backend: backend})
	var missing *Missing
	if errors.As(err, &missing) && !required(needs) {
		t.Skipf("skipped without %s: %v (%s)", needs, err, missing.Hint)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	})
	return service
}

func required(needs string) bool {
	return slices.Contains(strings.Split(os.Getenv("RLBENCH_REQUIRE"), ","), needs)
}

func clientOf(t testing.TB, service *Service) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(service.Address)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}
