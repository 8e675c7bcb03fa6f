// Command demo runs Weir in a real Envoy, in front of a small service, and
// plays a session that anybody could type: it shows each request and the
// headers of its answer, and what a user should make of them. It uses
// envoy/envoy.yaml as it is, but for the ports.
//
// Without a flag it exits, with status 0 only if the limits behaved. With
// -stay Envoy listens on the port of the file and stays up until Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

func main() {
	stay := flag.Bool("stay", false, "stay up for your own requests until Ctrl-C")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	if err := run(ctx, *stay); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stay bool) (err error) {
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = service.Close() }()
	go func() {
		_ = http.Serve(service, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	}()
	envoy, err := start(ctx, service.Addr().(*net.TCPAddr).Port, stay)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, envoy.Stop()) }()
	addr, err := envoy.Listener(ctx, "ingress")
	if err != nil {
		return err
	}
	if err := play(ctx, addr); err != nil {
		return err
	}
	if err := showCounters(ctx, envoy); err != nil || !stay {
		return err
	}
	fmt.Printf("\nNow you: curl -i -H 'x-user-id: carol' http://%s/api/hello\n(the admin page is http://%s; Ctrl-C ends it all)\n", addr, envoy.Admin())
	<-ctx.Done()
	return nil
}

// start runs Envoy with the file that users copy. Its own port is kept only
// for somebody who will use it.
func start(ctx context.Context, servicePort int, stay bool) (*envoyproc.Process, error) {
	file, err := os.ReadFile("envoy/envoy.yaml")
	if err != nil {
		return nil, fmt.Errorf("run me from the root of the checkout: %w", err)
	}
	ports := map[string]string{"port_value: 8000": fmt.Sprintf("port_value: %d", servicePort)}
	if !stay {
		ports["port_value: 10000"] = "port_value: 0"
	}
	config, err := envoyproc.Patch(file, ports)
	if err != nil {
		return nil, err
	}
	fmt.Println("starting Envoy with envoy/envoy.yaml and build/weir.wasm ...")
	return envoyproc.Start(ctx, envoyproc.Options{Config: config, Concurrency: 2, LogLevel: "warning"})
}

// showCounters prints what Weir has counted.
func showCounters(ctx context.Context, envoy *envoyproc.Process) error {
	stats, err := envoy.Stats(ctx, `wasmcustom\.weir\.rule`)
	if err != nil {
		return err
	}
	fmt.Println("\nWhat the rule has counted:")
	for _, name := range []string{"allowed", "limited", "errors"} {
		name = "wasmcustom.weir.rule.weir.per-user." + name
		fmt.Printf("  %s %d\n", name, stats[name])
	}
	return nil
}

// pause sleeps, unless the user has had enough.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
