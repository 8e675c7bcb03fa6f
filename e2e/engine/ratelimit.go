package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Ratelimit is a running rate limit service of Envoy's, which counts in Redis.
type Ratelimit struct {
	*Process

	// Addr is where it serves gRPC, as host and port, and Port the port alone.
	Addr string
	Port int

	runtime string // the directory of its configuration
}

// RatelimitOptions say how to run the service. All but Port are required.
type RatelimitOptions struct {
	// Executable is its name or path: make build/service_cmd makes it.
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
func StartRatelimit(ctx context.Context, o RatelimitOptions) (r *Ratelimit, err error) {
	if o.Executable, err = filepath.Abs(o.Executable); err != nil {
		return nil, err
	}
	if _, err := os.Stat(o.Executable); err != nil {
		return nil, fmt.Errorf("no rate limit service: %w; make build/service_cmd makes it", err)
	}
	fixed := o.Port != 0
	for range portAttempts {
		if !fixed {
			if o.Port, err = freePort(); err != nil {
				return nil, err
			}
		}
		if r, err = startRatelimit(ctx, o); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return r, err
		}
	}
	return nil, err
}

func startRatelimit(ctx context.Context, o RatelimitOptions) (*Ratelimit, error) {
	runtime, err := os.MkdirTemp("", "ratelimit-runtime-")
	if err != nil {
		return nil, fmt.Errorf("start the rate limit service: %w", err)
	}
	p, err := o.start(ctx, runtime)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(runtime))
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))
	return &Ratelimit{Process: p, Addr: addr, Port: o.Port, runtime: runtime}, nil
}

// start starts it in the environment that it takes its settings from.
func (o RatelimitOptions) start(ctx context.Context, runtime string) (*Process, error) {
	config := filepath.Join(runtime, "config")
	if err := errors.Join(os.Mkdir(config, 0o700), os.WriteFile(filepath.Join(config, "config.yaml"), o.Config, 0o600)); err != nil {
		return nil, err
	}
	health, err := freePort()
	if err != nil {
		return nil, err
	}
	debug, err := freePort()
	if err != nil {
		return nil, err
	}
	args := []string{
		"HOST=127.0.0.1", "PORT=" + strconv.Itoa(health),
		"GRPC_HOST=127.0.0.1", "GRPC_PORT=" + strconv.Itoa(o.Port),
		"DEBUG_HOST=127.0.0.1", "DEBUG_PORT=" + strconv.Itoa(debug),
		"REDIS_SOCKET_TYPE=tcp", "REDIS_URL=" + o.Redis.Addr, "BACKEND_TYPE=redis",
		"RUNTIME_ROOT=" + runtime, "RUNTIME_SUBDIRECTORY=", "RUNTIME_WATCH_ROOT=false",
		"USE_STATSD=false", "LOG_LEVEL=error",
		o.Executable,
	}
	// env becomes what it starts, so that the process is the service's own.
	return start(ctx, "env", "coreutils", args, func(ctx context.Context, _ *Process) error {
		return healthy(ctx, health)
	})
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

// Stop ends the service, see [Process.Stop].
func (r *Ratelimit) Stop() error { return errors.Join(r.Process.Stop(), os.RemoveAll(r.runtime)) }
