package main

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/e2e/envoyproc"
)

// A stage is all that runs: an upstream, the engines, and an Envoy.
type stage struct {
	envoy *envoyproc.Process
	addrs map[string]string // of the contenders
	stops []func() error
}

// stop ends all of it, the last first.
func (s *stage) stop() (err error) {
	for i := len(s.stops) - 1; i >= 0; i-- {
		err = errors.Join(err, s.stops[i]())
	}
	return err
}

func startStage(ctx context.Context) (*stage, error) {
	s := &stage{addrs: map[string]string{}}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *stage) start(ctx context.Context) error {
	// Not an answer of Envoy's own: its ratelimit filter leaves those alone.
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.stops = append(s.stops, upstream.Close)
	go func() { _ = http.Serve(upstream, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) }()
	server, err := engine.StartRedis(ctx, engine.RedisOptions{})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, server.Stop)
	door, err := engine.StartWebdis(ctx, engine.WebdisOptions{Redis: server})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, door.Stop)
	service, err := engine.StartRatelimit(ctx, engine.RatelimitOptions{Executable: "build/service_cmd", Redis: server, Config: []byte(limits)})
	if err != nil {
		return err
	}
	s.stops = append(s.stops, service.Stop)
	return s.startEnvoy(ctx, map[string]string{"upstream": upstream.Addr().String(), "webdis": door.Addr, "ratelimit": service.Addr})
}

func (s *stage) startEnvoy(ctx context.Context, services map[string]string) error {
	var listeners, clusters []any
	for _, c := range contenders {
		manager := envoyconf.Manager(c.name, envoyconf.ToCluster("upstream"), c.filters()...)
		if c.name == native {
			host := manager["route_config"].(envoyconf.Object)["virtual_hosts"].([]any)[0].(envoyconf.Object)
			host["rate_limits"] = nativeActions()
		}
		listeners = append(listeners, envoyconf.Listener(c.name, manager))
	}
	for name, addr := range services {
		c, err := envoyconf.Cluster(name, addr)
		if err != nil {
			return err
		}
		if name == "ratelimit" {
			const kind = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
			c["typed_extension_protocol_options"] = envoyconf.Object{kind: envoyconf.Object{
				"@type":                "type.googleapis.com/" + kind,
				"explicit_http_config": envoyconf.Object{"http2_protocol_options": envoyconf.Object{}},
			}}
		}
		clusters = append(clusters, c)
	}
	config, err := envoyconf.Envoy(listeners, clusters...)
	if err != nil {
		return err
	}
	if s.envoy, err = envoyproc.Start(ctx, envoyproc.Options{Config: config, Concurrency: 1, LogLevel: "error"}); err != nil {
		return err
	}
	s.stops = append(s.stops, s.envoy.Stop)
	for _, c := range contenders {
		if s.addrs[c.name], err = s.envoy.Listener(ctx, c.name); err != nil {
			return err
		}
	}
	return nil
}
