package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

const module = "build/weir.wasm"

// A contender is a listener whose filters are measured.
type contender struct {
	name    string
	filters []any
	keys    int // that the requests cycle through
	status  int // that they are answered with
	fill    int // requests before the first round; at least all keys once
}

// weir is a contender with Weir in its chain.
func weir(name, configuration string, keys, status int) contender {
	return contender{name: name, filters: []any{wasm(name, module, configuration)}, keys: keys, status: status}
}

// floor is a contender with a module written by hand.
func floor(name, file string, status int) contender {
	return contender{name: name, filters: []any{wasm(name, file, "")}, keys: manyKeys, status: status}
}

func wasm(name, file, configuration string) any {
	path, err := filepath.Abs(file)
	if err != nil {
		path = file
	}
	return envoyconf.Wasm(name, path, configuration)
}

// The keys of most contenders are more than a key's limit fills in a second at
// any speed, and fewer than take long to visit once.
const manyKeys = 10_000

// A bench is an Envoy with a listener for each contender.
type bench struct {
	envoy *envoyproc.Process
	addrs map[string]string
	next  atomic.Int64
}

// startBench starts it. The routes answer directly: an upstream would cost more
// than all filters together, and blur them.
func startBench(ctx context.Context, workers int, contenders []contender) (*bench, error) {
	var listeners []any
	for _, c := range contenders {
		listeners = append(listeners, envoyconf.Listener(c.name, envoyconf.Manager(c.name, envoyconf.Answer, c.filters...)))
	}
	config, err := envoyconf.Envoy(listeners)
	if err != nil {
		return nil, err
	}
	envoy, err := envoyproc.Start(ctx, envoyproc.Options{Config: config, Concurrency: workers, LogLevel: "error"})
	if err != nil {
		return nil, err
	}
	b := &bench{envoy: envoy, addrs: map[string]string{}}
	for _, c := range contenders {
		if b.addrs[c.name], err = envoy.Listener(ctx, c.name); err != nil {
			return nil, b.stop(err)
		}
	}
	return b, nil
}

// stop ends the Envoy. Its error does not hide an earlier one.
func (b *bench) stop(earlier error) error {
	if err := b.envoy.Stop(); earlier == nil {
		return err
	}
	return earlier
}

// Connections of a flood, and requests in flight on each: Envoy hangs up where
// more than two of its own answers wait on one connection.
const connections, depth = 16, 2

// flood sends n requests to a contender and returns the CPU time that Envoy
// took for one. Every answer must have the contender's status.
func (b *bench) flood(ctx context.Context, c contender, n int) (time.Duration, error) {
	before, err := b.envoy.CPU()
	if err != nil {
		return 0, err
	}
	tally, err := b.send(ctx, c, n)
	if err != nil {
		return 0, err
	}
	after, err := b.envoy.CPU()
	if got := tally[c.status]; err == nil && got != int64(n) {
		return 0, fmt.Errorf("%s: answers by status %v, want %d of %d", c.name, tally, n, c.status)
	}
	return (after - before) / time.Duration(n), err
}

// fill sends n requests whatever becomes of them, save failures.
func (b *bench) fill(ctx context.Context, c contender, n int) error {
	tally, err := b.send(ctx, c, n)
	if err == nil && tally[200]+tally[429] != int64(n) {
		err = fmt.Errorf("%s: answers by status %v", c.name, tally)
	}
	return err
}

func (b *bench) send(ctx context.Context, c contender, n int) (load.Tally, error) {
	var sent atomic.Int64
	return load.Flood(ctx, b.addrs[c.name], connections, depth, func(int) (load.Request, bool) {
		return b.request(c), sent.Add(1) <= int64(n)
	})
}

// request is the next request: the keys take turns.
func (b *bench) request(c contender) load.Request {
	key := b.next.Add(1) % int64(max(c.keys, 1))
	return load.Request{Path: "/api/items?page=2", Headers: [][2]string{
		{"x-key", fmt.Sprintf("user-%07d", key)}, {"user-agent", "bench"}, {"accept", "*/*"},
	}}
}
