// Command globaldemo shows limits that two Envoys share, on this machine: it
// starts Redis, webdis and Envoy's rate limit service, then two Envoys with
// envoy/global-redis.yaml, and two with envoy/global-rls.yaml, those files as they
// are but for the ports and for time that a busy machine needs.
//
// Without a flag it exits, with status 0 only if the limits behaved. With
// -stay everything stays up until Ctrl-C.
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

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/envoyproc"
)

func main() {
	stay := flag.Bool("stay", false, "stay up for your own requests until Ctrl-C")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	s := &stage{}
	err := errors.Join(run(ctx, s, *stay), s.stop())
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "globaldemo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s *stage, stay bool) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	redis, err := s.proxies(ctx, "envoy/global-redis.yaml", "7379", s.webdis.Port)
	if err != nil {
		return err
	}
	if err := showRedis(ctx, s, redis); err != nil {
		return err
	}
	if err := s.startService(ctx); err != nil {
		return err
	}
	rls, err := s.proxies(ctx, "envoy/global-rls.yaml", "8081", s.service.Port)
	if err != nil {
		return err
	}
	if err := showRLS(ctx, rls); err != nil || !stay {
		return err
	}
	fmt.Println("\nNow you, with any of the four:")
	for _, addr := range append(redis, rls...) {
		fmt.Printf("  curl -i -H 'x-user-id: carol' http://%s/api/hello\n", addr)
	}
	fmt.Printf("(the windows are in Redis: redis-cli -p %d keys '*'; Ctrl-C ends it all)\n", s.server.Port)
	<-ctx.Done()
	return nil
}

// A stage is all that runs.
type stage struct {
	upstream int // port
	server   *engine.Redis
	webdis   *engine.Webdis
	service  *engine.Ratelimit
	stops    []func() error
}

// stop ends all of it, the last first.
func (s *stage) stop() (err error) {
	for i := len(s.stops) - 1; i >= 0; i-- {
		err = errors.Join(err, s.stops[i]())
	}
	return err
}

// start starts a small service, Redis and its door.
func (s *stage) start(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.upstream, s.stops = l.Addr().(*net.TCPAddr).Port, append(s.stops, l.Close)
	go func() {
		_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "hello") }))
	}()
	fmt.Println("starting Redis and webdis ...")
	if s.server, err = engine.StartRedis(ctx, engine.RedisOptions{}); err != nil {
		return err
	}
	s.stops = append(s.stops, s.server.Stop)
	s.webdis, err = engine.StartWebdis(ctx, engine.WebdisOptions{Redis: s.server})
	if err == nil {
		s.stops = append(s.stops, s.webdis.Stop)
	}
	return err
}

// startService starts the rate limit service, when Redis has had its outage: the
// service finds out that a connection is dead by an error, and for as many calls.
func (s *stage) startService(ctx context.Context) error {
	limits, err := os.ReadFile("envoy/global-rls/config/edge.yaml")
	if err != nil {
		return err
	}
	fmt.Println("\nstarting ratelimit ...")
	s.service, err = engine.StartRatelimit(ctx, engine.RatelimitOptions{Executable: "build/service_cmd", Redis: s.server, Config: limits})
	if err == nil {
		s.stops = append(s.stops, s.service.Stop)
	}
	return err
}

// proxies starts two Envoys with a file that users copy, and returns where they
// serve.
func (s *stage) proxies(ctx context.Context, name, enginePort string, port int) (addrs []string, err error) {
	file, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("run me from the root of the checkout: %w", err)
	}
	config, err := envoyproc.Patch(file, map[string]string{
		"port_value: 8000":          fmt.Sprintf("port_value: %d", s.upstream),
		"port_value: 10000":         "port_value: 0",
		"port_value: " + enginePort: fmt.Sprintf("port_value: %d", port),
		`"timeout": "20ms"`:         `"timeout": "5s"`,
		"connect_timeout: 0.02s":    "connect_timeout: 5s",
	})
	if err != nil {
		return nil, err
	}
	fmt.Printf("\nstarting two Envoys of two workers with %s ...\n", name)
	for range 2 {
		envoy, err := envoyproc.Start(ctx, envoyproc.Options{Config: config, Concurrency: 2, LogLevel: "error"})
		if err != nil {
			return nil, err
		}
		s.stops = append(s.stops, envoy.Stop)
		addr, err := envoy.Listener(ctx, "ingress")
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}
