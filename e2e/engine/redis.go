package engine

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
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

// portAttempts is how often another free port is tried. Somebody else may take
// one between the moment that it is found and the moment that Redis binds it.
const portAttempts = 5

// StartRedis starts a Redis server and waits until it answers. It listens on
// 127.0.0.1 only.
func StartRedis(ctx context.Context, o RedisOptions) (r *Redis, err error) {
	if o.Executable == "" {
		o.Executable = "redis-server"
	}
	if o.Port != 0 {
		return startRedis(ctx, o)
	}
	for range portAttempts {
		if o.Port, err = freePort(); err != nil {
			return nil, err
		}
		r, err = startRedis(ctx, o)
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return r, err
		}
	}
	return nil, err
}

func startRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))
	args := append([]string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(o.Port),
		"--save", "", "--appendonly", "no",
	}, o.ExtraArgs...)
	p, err := start(ctx, o.Executable, "redis-server", args, func(ctx context.Context, p *Process) error {
		return redisAnswers(ctx, addr, p.PID())
	})
	if err != nil {
		return nil, err
	}
	return &Redis{p, addr, o.Port}, nil
}

// redisAnswers asks who serves at an address: it must be the process that we
// started, not a stranger who took the port first.
func redisAnswers(ctx context.Context, addr string, pid int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
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
	if !strings.Contains(string(reply), fmt.Sprintf("\nprocess_id:%d\r\n", pid)) {
		return fmt.Errorf("not the server that was started: %.200q", reply)
	}
	return nil
}
