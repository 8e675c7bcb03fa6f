package e2e

import (
	"path/filepath"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyconf"
)

// A filter is one listener with Weir in its chain: its name, and the JSON.
type filter struct {
	name          string
	configuration string
}

type object = envoyconf.Object

// bootstrap is an Envoy with a listener for each filter, before one upstream.
// The client's address is what X-Forwarded-For says last.
func bootstrap(t testing.TB, upstream string, filters ...filter) []byte {
	t.Helper()
	var listeners []any
	for _, f := range filters {
		listeners = append(listeners, listener(t, f))
	}
	return assemble(t, listeners, cluster(t, "upstream", upstream))
}

// assemble is an Envoy of these listeners and clusters.
func assemble(t testing.TB, listeners []any, clusters ...any) []byte {
	t.Helper()
	config, err := envoyconf.Envoy(listeners, clusters...)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// A setting changes a listener, or the connection manager in it.
type setting func(listener, manager object)

// beforeWeir puts an HTTP filter before Weir.
func beforeWeir(filter object) setting {
	return func(_, manager object) {
		manager["http_filters"] = append([]any{filter}, manager["http_filters"].([]any)...)
	}
}

// answerDirectly lets Envoy answer 200 itself to what Weir admits: without an
// upstream more of the machine is left for the filter.
func answerDirectly(_, manager object) {
	manager["route_config"] = routes(object{"match": object{"prefix": "/"}, "direct_response": object{"status": 200}})
}

// listener has Weir in its chain, and passes everything to the cluster upstream.
func listener(t testing.TB, f filter, settings ...setting) object {
	t.Helper()
	module, err := filepath.Abs(modulePath)
	if err != nil {
		t.Fatal(err)
	}
	manager := envoyconf.Manager(f.name, envoyconf.ToCluster("upstream"), envoyconf.Wasm(f.name, module, f.configuration))
	l := envoyconf.Listener(f.name, manager)
	for _, change := range settings {
		change(l, manager)
	}
	return l
}

// cluster is a service at host:port.
func cluster(t testing.TB, name, addr string) object {
	t.Helper()
	c, err := envoyconf.Cluster(name, addr)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func clusterAt(name string, address object) object { return envoyconf.ClusterAt(name, address) }

// extension is a named part of Envoy with the configuration of the given type.
func extension(name, kind string, config object) object {
	return envoyconf.Extension(name, kind, config)
}

// routes are the routes of every host.
func routes(all ...any) object { return envoyconf.Routes(all...) }
