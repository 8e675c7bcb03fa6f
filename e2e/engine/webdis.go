package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/weirproxy/weir/e2e/child"
)

// Webdis is a running webdis, a door for HTTP in front of a Redis server.
type Webdis struct {
	*Process

	// Addr is where it serves, as host and port, and Port the port alone.
	Addr string
	Port int
}

// WebdisOptions say how to run webdis. Only Redis is required.
type WebdisOptions struct {
	// Redis is the server behind it, which may be down for now.
	Redis *Redis

	// Port is where to serve; the zero value is any that is free.
	Port int

	// Credentials are the user:password without which it runs no command. The
	// zero value asks for none.
	Credentials string
}

// StartWebdis starts webdis and waits until it answers. It listens on 127.0.0.1
// only.
func StartWebdis(ctx context.Context, o WebdisOptions) (*Webdis, error) {
	bin, err := find("webdis", "webdis")
	if err != nil {
		return nil, err
	}
	return onPort(o.Port, func(port int) (*Webdis, error) {
		w := &Webdis{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Port: port}
		config, err := o.config(port)
		if err != nil {
			return nil, fmt.Errorf("start webdis: %w", err)
		}
		run := child.Options{
			Name:    "webdis",
			Files:   map[string][]byte{"webdis.json": config},
			Command: func(string) *exec.Cmd { return exec.Command(bin, "webdis.json") },
		}
		w.Process, err = child.Start(ctx, run, func(ctx context.Context, _ *Process) error {
			return o.answers(ctx, w.Addr)
		})
		if err != nil {
			return nil, err
		}
		return w, nil
	})
}

// config is the configuration, which has the password in it, if any.
func (o WebdisOptions) config(port int) ([]byte, error) {
	acl := []any{map[string]any{"disabled": []string{"DEBUG", "CONFIG", "SHUTDOWN"}}}
	if o.Credentials != "" {
		acl = []any{
			map[string]any{"disabled": []string{"*"}},
			map[string]any{"http_basic_auth": o.Credentials, "enabled": []string{"PING", "EVAL", "EVALSHA"}},
		}
	}
	return json.Marshal(map[string]any{
		"redis_host": "127.0.0.1", "redis_port": o.Redis.Port, "redis_auth": nil,
		"http_host": "127.0.0.1", "http_port": port, "threads": 2, "pool_size": 10,
		"daemonize": false, "websockets": false, "database": 0, "acl": acl,
		"verbosity": 2, "logfile": "/dev/stderr",
	})
}

// answers asks for a PING. A webdis whose Redis is down answers 503, and serves.
func (o WebdisOptions) answers(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/PING", nil)
	if err != nil {
		return err
	}
	request.Close = true
	if user, password, ok := strings.Cut(o.Credentials, ":"); ok {
		request.SetBasicAuth(user, password)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusServiceUnavailable {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return nil
}
