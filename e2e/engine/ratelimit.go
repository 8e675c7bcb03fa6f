package engine

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weirproxy/weir/e2e/child"
)

// Ratelimit is a running rate limit service of Envoy's, which counts in Redis.
type Ratelimit struct {
	*Process

	// Addr is where it serves gRPC, as host and port, and Port the port alone.
	Addr string
	Port int
}

// RatelimitOptions say how to run the service. All but Port are required.
type RatelimitOptions struct {
	// Executable is its path: make build/service_cmd makes it.
	Executable string

	// Redis is the server that it counts in, which must be up.
	Redis *Redis

	// Config is the YAML of one domain.
	Config []byte

	// Port is where to serve, for a service that takes the place of one that was
	// killed. The zero value is any that is free.
	Port int
}

// StartRatelimit starts the service and waits until it is healthy. It listens on
// 127.0.0.1 only.
func StartRatelimit(ctx context.Context, o RatelimitOptions) (*Ratelimit, error) {
	bin, err := filepath.Abs(o.Executable)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(bin); err != nil {
		return nil, fmt.Errorf("no rate limit service: %w; make build/service_cmd makes it", err)
	}
	return onPort(o.Port, func(port int) (*Ratelimit, error) {
		r := &Ratelimit{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Port: port}
		health, err := freePort()
		if err != nil {
			return nil, err
		}
		debug, err := freePort()
		if err != nil {
			return nil, err
		}
		run := child.Options{
			Name:  "ratelimit",
			Files: map[string][]byte{"config/config.yaml": o.Config},
			Command: func(dir string) *exec.Cmd {
				cmd := exec.Command(bin)
				cmd.Env = append(os.Environ(), o.settings(dir, port, health, debug)...)
				return cmd
			},
		}
		r.Process, err = child.Start(ctx, run, func(ctx context.Context, _ *Process) error {
			return healthy(ctx, health)
		})
		if err != nil {
			return nil, err
		}
		return r, nil
	})
}

// settings are what it takes from its environment.
func (o RatelimitOptions) settings(dir string, port, health, debug int) []string {
	return []string{
		"HOST=127.0.0.1", "PORT=" + strconv.Itoa(health),
		"GRPC_HOST=127.0.0.1", "GRPC_PORT=" + strconv.Itoa(port),
		"DEBUG_HOST=127.0.0.1", "DEBUG_PORT=" + strconv.Itoa(debug),
		"REDIS_SOCKET_TYPE=tcp", "REDIS_URL=" + o.Redis.Addr, "BACKEND_TYPE=redis",
		"RUNTIME_ROOT=" + dir, "RUNTIME_SUBDIRECTORY=", "RUNTIME_WATCH_ROOT=false",
		"USE_STATSD=false", "LOG_LEVEL=error",
	}
}

func healthy(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthcheck", port), nil)
	if err != nil {
		return err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("its health is %s", response.Status)
	}
	return nil
}
