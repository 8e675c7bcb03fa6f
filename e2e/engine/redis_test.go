package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/engine"
)

func startRedis(t *testing.T, args ...string) *engine.Redis {
	t.Helper()
	r, err := engine.StartRedis(t.Context(), engine.RedisOptions{Executable: redisServer, ExtraArgs: args})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestRedisKilled: a server that is killed is replaced on its port.
func TestRedisKilled(t *testing.T) {
	r := startRedis(t)
	r.Kill()
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	again, err := engine.StartRedis(t.Context(), engine.RedisOptions{Port: r.Port, Executable: redisServer})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Stop()
	if again.Addr != r.Addr {
		t.Errorf("it came back at %s, not %s", again.Addr, r.Addr)
	}
	if err := load(t, again).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestRedisDoesNotStart(t *testing.T) {
	for name, o := range map[string]engine.RedisOptions{
		"Debian's package redis-server has it": {Executable: "no-such-server"},
		"last output:\n":                       {Executable: redisServer, ExtraArgs: []string{"--no-such-option", "1"}},
		"Address already in use":               {Executable: redisServer, Port: server.Port},
	} {
		if r, err := engine.StartRedis(t.Context(), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v", o, err)
			if r != nil {
				r.Stop()
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.StartRedis(ctx, engine.RedisOptions{Executable: redisServer}); !errors.Is(err, context.Canceled) {
		t.Errorf("a start that was cancelled: %v", err)
	}
}
