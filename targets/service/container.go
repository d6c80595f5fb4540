package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

const (
	// DefaultImage is the image of the backend Container.
	DefaultImage = "redis:7-alpine"
	// ImageVariable is the environment variable that names another image.
	ImageVariable = "RLBENCH_REDIS_IMAGE"
	// ContainerLabel is on every container that rlbench starts; its value is the
	// server's kind. What a killed run left is found with
	// docker ps --all --filter label=org.rlbench.service
	ContainerLabel = "org.rlbench.service"

	// engineMax bounds how long the container engine may take to answer.
	engineMax = 5 * time.Second
	// pullMax bounds the attempt to get an image that is not here.
	pullMax = 20 * time.Second
	// containerStartMax bounds the making and starting of a container.
	containerStartMax = 30 * time.Second
	// containerStopMax bounds its removal, and separately the reading of its log.
	containerStopMax = 10 * time.Second
	redisPort        = "6379/tcp"
)

// inProcess runs once what testcontainers keeps for a whole process. Its reaper
// needs an image of its own, which many machines cannot pull, and without which
// no container starts: it is off unless the environment says otherwise, and
// Close removes the container. The variable is set only for the moment in which
// the library reads it. Its log would print between our lines: it is silent.
var inProcess = sync.OnceFunc(func() {
	const reaper = "TESTCONTAINERS_RYUK_DISABLED"
	if _, set := os.LookupEnv(reaper); !set {
		os.Setenv(reaper, "true")
		defer os.Unsetenv(reaper)
	}
	testcontainers.ReadConfig()
	tclog.SetDefault(tclog.NewNoopLogger())
})

func startContainer(ctx context.Context, choice Choice) (*Service, error) {
	image := imageOf(choice)
	provider, err := engine(ctx)
	if err != nil {
		return nil, err
	}
	if err := haveImage(ctx, provider.Client(), image); err != nil {
		return nil, errors.Join(err, provider.Close())
	}
	b, err := runContainer(ctx, provider, image)
	if err != nil {
		return nil, errors.Join(err, provider.Close())
	}
	address, version, err := b.awaitReady(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a container of %s: %w", image, err), b.close())
	}
	return newService(Service{
		Backend: Container, Version: version, Source: image, Address: address, Owned: true,
	}, b.bytes, b.close), nil
}

func imageOf(choice Choice) string {
	for _, image := range []string{choice.Image, os.Getenv(ImageVariable)} {
		if image != "" {
			return image
		}
	}
	return DefaultImage
}

// engine connects to the container engine. The library looks for it without a
// context: when the context ends first, that look is left to its own time-outs.
func engine(ctx context.Context) (*testcontainers.DockerProvider, error) {
	inProcess()
	ctx, cancel := context.WithTimeout(ctx, engineMax)
	defer cancel()
	type found struct {
		provider *testcontainers.DockerProvider
		err      error
	}
	look := make(chan found, 1)
	go func() {
		provider, err := testcontainers.NewDockerProvider()
		look <- found{provider, err}
	}()
	select {
	case f := <-look:
		if f.err != nil {
			return nil, noEngine(f.err)
		}
		if err := f.provider.Health(ctx); err != nil {
			return nil, errors.Join(noEngine(err), f.provider.Close())
		}
		return f.provider, nil
	case <-ctx.Done():
		return nil, noEngine(ctx.Err())
	}
}

func noEngine(err error) error {
	return &Missing{
		What: "container engine", Why: fmt.Sprintf("none answers: %v", err), Err: err,
		Hint: "start Docker (Debian: apt-get install docker.io, then dockerd), name its socket in DOCKER_HOST, or choose --backend process or embedded",
	}
}

// haveImage makes sure that the image is here, with one attempt to pull it.
func haveImage(ctx context.Context, engine client.APIClient, image string) error {
	_, err := engine.ImageInspect(ctx, image)
	if err == nil {
		return nil
	}
	if errdefs.IsNotFound(err) {
		err = pull(ctx, engine, image)
	}
	if err == nil {
		return nil
	}
	return &Missing{
		What: "image " + image, Why: fmt.Sprintf("it is not here and cannot be pulled: %v", err), Err: err,
		Hint: "pull it by hand, or name an image that is here in " + ImageVariable + " (now: " + image + ")",
	}
}

func pull(ctx context.Context, engine client.APIClient, image string) error {
	ctx, cancel := context.WithTimeout(ctx, pullMax)
	defer cancel()
	progress, err := engine.ImagePull(ctx, image, client.ImagePullOptions{})
	if err != nil {
		return err
	}
	defer progress.Close()
	return progress.Wait(ctx)
}

// box is a container that runs a server for us.
type box struct {
	container testcontainers.Container
	provider  *testcontainers.DockerProvider
	mu        sync.Mutex
	kept      []byte // the log as it was at the end; nil while it runs
}

// runContainer makes and starts the container under a bound of its own: if the
// caller's context could end a call half-way, the engine might make a container
// that nobody would remove.
func runContainer(ctx context.Context, provider *testcontainers.DockerProvider, image string) (*box, error) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), containerStartMax)
	defer cancel()
	c, err := provider.RunContainer(bounded, testcontainers.ContainerRequest{
		Image:        image,
		ExposedPorts: []string{redisPort},
		// Protected mode would refuse the published port, which arrives from the bridge.
		Cmd:    []string{"redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no"},
		Labels: map[string]string{ContainerLabel: "redis"},
		HostConfigModifier: func(host *container.HostConfig) {
			host.PortBindings = network.PortMap{
				network.MustParsePort(redisPort): {{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1})}},
			}
		},
	})
	b := &box{container: c, provider: provider}
	if err != nil {
		err = fmt.Errorf("start a container of %s: %w", image, err)
		if c != nil {
			err = errors.Join(err, b.remove())
		}
		return nil, err
	}
	return b, nil
}

// awaitReady finds the published port and waits for the server behind it.
func (b *box) awaitReady(ctx context.Context) (address, version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, containerStartMax)
	defer cancel()
	port, err := b.container.MappedPort(ctx, redisPort)
	if err != nil {
		return "", "", fmt.Errorf("read its published port: %w", err)
	}
	// Not the host that the library would name: on some virtual machines that is
	// the address of the bridge, and load goes to loopback alone.
	host := fmt.Sprintf("127.0.0.1:%d", port.Num())
	if version, err = awaitPong(ctx, host, nil); err != nil {
		return "", "", fmt.Errorf("wait for its server to answer: %w; last line of its log: %s", err, lastLine(b.bytes()))
	}
	return "redis://" + host + "/0", version, nil
}

// bytes is the container's log: as it is now, or as it was at the end.
func (b *box) bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kept != nil {
		return b.kept
	}
	ctx, cancel := context.WithTimeout(context.Background(), containerStopMax)
	defer cancel()
	reader, err := b.container.Logs(ctx)
	if err != nil {
		return nil
	}
	defer reader.Close()
	j := newJournal("")
	_, _ = io.Copy(j, reader) // what could be read is better than nothing
	return j.bytes()
}

func (b *box) close() error {
	log := b.bytes()
	b.mu.Lock()
	b.kept = append([]byte{}, log...)
	b.mu.Unlock()
	return errors.Join(b.remove(), b.provider.Close())
}

// remove needs no live context of the caller's: it comes after all else ended.
func (b *box) remove() error {
	ctx, cancel := context.WithTimeout(context.Background(), containerStopMax)
	defer cancel()
	if err := b.container.Terminate(ctx, testcontainers.StopTimeout(0)); err != nil {
		return fmt.Errorf("remove container %s: %w", b.container.GetContainerID(), err)
	}
	return nil
}
