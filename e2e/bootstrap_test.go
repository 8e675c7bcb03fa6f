package e2e

import (
	"encoding/json"
	"net"
	"path/filepath"
	"testing"
)

// A filter is one listener with Weir in its chain: its name, and the JSON.
type filter struct {
	name          string
	configuration string
}

// object is a JSON object under construction.
type object = map[string]any

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
	config, err := json.Marshal(object{"static_resources": object{"listeners": listeners, "clusters": clusters}})
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
	manager := connectionManager(f, module)
	chain := object{"filters": []any{extension("envoy.filters.network.http_connection_manager",
		"filters.network.http_connection_manager.v3.HttpConnectionManager", manager)}}
	l := object{
		"name":          f.name,
		"address":       object{"socket_address": object{"address": "127.0.0.1", "port_value": 0}},
		"filter_chains": []any{chain},
	}
	for _, change := range settings {
		change(l, manager)
	}
	return l
}

// cluster is a service at host:port.
func cluster(t testing.TB, name, addr string) object {
	t.Helper()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return clusterAt(name, object{"socket_address": object{"address": host, "port_value": json.Number(port)}})
}

func clusterAt(name string, address object) object {
	return object{"name": name, "load_assignment": object{"cluster_name": name, "endpoints": []any{
		object{"lb_endpoints": []any{object{"endpoint": object{"address": address}}}}}}}
}

// extension is a named part of Envoy with the configuration of the given type.
func extension(name, kind string, config object) object {
	config["@type"] = "type.googleapis.com/envoy.extensions." + kind
	return object{"name": name, "typed_config": config}
}

func connectionManager(f filter, module string) object {
	return object{
		"stat_prefix":  f.name,
		"route_config": routes(object{"name": "everything", "match": object{"prefix": "/"}, "route": object{"cluster": "upstream"}}),
		"http_filters": []any{
			extension("weir", "filters.http.wasm.v3.Wasm", object{"config": pluginConfig(f, module)}),
			extension("envoy.filters.http.router", "filters.http.router.v3.Router", object{}),
		},
	}
}

// routes are the routes of every host.
func routes(all ...any) object {
	return object{"virtual_hosts": []any{object{"name": "all", "domains": []any{"*"}, "routes": all}}}
}

func pluginConfig(f filter, module string) object {
	return object{
		"name": f.name, "root_id": f.name, "failure_policy": "FAIL_RELOAD",
		"vm_config": object{
			"vm_id": "weir", "runtime": "envoy.wasm.runtime.v8",
			"code": object{"local": object{"filename": module}},
		},
		"configuration": object{
			"@type": "type.googleapis.com/google.protobuf.StringValue",
			"value": f.configuration,
		},
	}
}
