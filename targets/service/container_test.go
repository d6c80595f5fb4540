package service

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/redis/go-redis/v9"
)

func TestContainer(t *testing.T) {
	service := startOrSkip(t, Container, "docker")
	if !service.Owned || service.Backend != Container || !strings.HasPrefix(service.Address, "redis://127.0.0.1:") {
		t.Errorf("started %v at %s", service, service.Address)
	}
	if err := clientOf(t, service).Set(t.Context(), "rlbench:x", 1, 0).Err(); err != nil {
		t.Error(err)
	}
	ours := labelled(t)
	if !slices.ContainsFunc(ours, func(c labelledContainer) bool { return c.publishes(t, service) }) {
		t.Errorf("no container with label %s publishes %s on 127.0.0.1 alone: %+v", ContainerLabel, service.Address, ours)
	}
	if err := service.Close(); err != nil {
		t.Error(err)
	}
	refuses(t, service)
	if slices.ContainsFunc(labelled(t), func(c labelledContainer) bool { return c.publishes(t, service) }) {
		t.Error("the container is still there after Close")
	}
	if !strings.Contains(strings.ToLower(string(service.Log())), readyLine) {
		t.Errorf("its log does not say that it was ready:\n%s", service.Log())
	}
}

type labelledContainer struct {
	id        string
	published []string
}

// publishes tells whether the container's only published port is the service's.
func (c labelledContainer) publishes(t *testing.T, service *Service) bool {
	options, err := redis.ParseURL(service.Address)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Equal(c.published, []string{options.Addr})
}

// labelled lists the containers that carry our label, running or not.
func labelled(t *testing.T) (found []labelledContainer) {
	t.Helper()
	provider, err := engine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	list, err := provider.Client().ContainerList(t.Context(), client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", ContainerLabel),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Items {
		l := labelledContainer{id: c.ID}
		for _, p := range c.Ports {
			if p.PublicPort != 0 {
				l.published = append(l.published, netip.AddrPortFrom(p.IP, p.PublicPort).String())
			}
		}
		found = append(found, l)
	}
	return found
}

// noImage is in no registry, and nobody listens where it says that one is: to
// ask for it takes no network.
const noImage = "127.0.0.1:1/rlbench/none:none"

func TestContainerImageThatCannotBeHad(t *testing.T) {
	if _, err := engine(t.Context()); err != nil && !required("docker") {
		t.Skipf("skipped without docker: %v", err)
	}
	service, err := Start(t.Context(), Choice{Backend: Container, Image: noImage})
	var missing *Missing
	if !errors.As(err, &missing) {
		t.Fatalf("%v, %v, want a Missing", service, err)
	}
	for _, want := range []string{noImage, ImageVariable} {
		if !strings.Contains(err.Error()+missing.Hint, want) {
			t.Errorf("neither %q nor its hint %q names %s", err, missing.Hint, want)
		}
	}
}

func TestContainerStartIsInterrupted(t *testing.T) {
	startOrSkip(t, Container, "docker") // the image is here
	provider, err := engine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b, err := runContainer(ctx, provider, imageOf(Choice{}))
	if err != nil {
		t.Fatalf("the making of a container is not left half-way: %v", err)
	}
	isOurs := func(c labelledContainer) bool { return c.id == b.container.GetContainerID() }
	if !slices.ContainsFunc(labelled(t), isOurs) {
		t.Error("the container does not carry our label")
	}
	if _, _, err := b.awaitReady(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v, want %v", err, context.Canceled)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	if slices.ContainsFunc(labelled(t), isOurs) {
		t.Error("the container is still there")
	}
}

func TestImageOf(t *testing.T) {
	for _, c := range []struct{ why, choice, variable, want string }{
		{"nothing said", "", "", DefaultImage},
		{"the environment", "", "a:1", "a:1"},
		{"the flag wins", "b:2", "a:1", "b:2"},
	} {
		t.Setenv(ImageVariable, c.variable)
		if got := imageOf(Choice{Image: c.choice}); got != c.want {
			t.Errorf("%s: %q, want %q", c.why, got, c.want)
		}
	}
}

// What testcontainers reads from the environment does not stay there.
func TestEnvironmentIsLeftAlone(t *testing.T) {
	before := os.Environ()
	inProcess()
	if after := os.Environ(); !slices.Equal(before, after) {
		t.Errorf("environment before %q, after %q", before, after)
	}
}
