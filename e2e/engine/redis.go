package engine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/weirproxy/weir/e2e/child"
)

// Redis is a running Redis server, which keeps nothing on disk.
type Redis struct {
	*Process

	// Addr is where it serves, as host and port, and Port the port alone.
	Addr string
	Port int
}

// RedisOptions say how to run Redis. The zero value is fine.
type RedisOptions struct {
	// Port is where to serve, for a server that takes the place of one that was
	// killed. The zero value is any that is free.
	Port int

	// Executable is the name or path of the server; empty means redis-server.
	Executable string

	// ExtraArgs are further command line arguments.
	ExtraArgs []string
}

// StartRedis starts a Redis server and waits until it answers. It listens on
// 127.0.0.1 only.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	bin, err := find(cmp.Or(o.Executable, "redis-server"), "redis-server")
	if err != nil {
		return nil, err
	}
	return onPort(o.Port, func(port int) (*Redis, error) {
		r := &Redis{Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Port: port}
		args := append([]string{
			"--bind", "127.0.0.1", "--port", strconv.Itoa(port),
			"--save", "", "--appendonly", "no",
		}, o.ExtraArgs...)
		run := child.Options{
			Name:    "redis-server",
			Command: func(string) *exec.Cmd { return exec.Command(bin, args...) },
		}
		var err error
		if r.Process, err = child.Start(ctx, run, r.answers); err != nil {
			return nil, err
		}
		return r, nil
	})
}

// answers asks who serves at the address: it must be the process that we started,
// not a stranger who took the port first.
func (r *Redis) answers(ctx context.Context, p *Process) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.Addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "INFO server\r\nQUIT\r\n"); err != nil {
		return err
	}
	reply, err := io.ReadAll(conn)
	if err != nil {
		return err
	}
	if !strings.Contains(string(reply), fmt.Sprintf("\nprocess_id:%d\r\n", p.PID())) {
		return fmt.Errorf("not the server that was started: %.200q", reply)
	}
	return nil
}
