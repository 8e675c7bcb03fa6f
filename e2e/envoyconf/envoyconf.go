// Package envoyconf writes Envoy configurations for tests and benchmarks, piece
// by piece: listeners, with HTTP filters and routes in them, and clusters. A
// piece is an [Object], which the caller may change before it goes into
// [Envoy].
package envoyconf

import (
	"encoding/json"
	"fmt"
	"net"
)

// An Object is a JSON object under construction.
type Object = map[string]any

// Envoy is the configuration of an Envoy with these listeners and clusters.
func Envoy(listeners []any, clusters ...any) ([]byte, error) {
	return json.Marshal(Object{"static_resources": Object{"listeners": listeners, "clusters": clusters}})
}

// Listener listens on a free port of 127.0.0.1, for the connection manager.
func Listener(name string, manager Object) Object {
	chain := Object{"filters": []any{Extension("envoy.filters.network.http_connection_manager",
		"filters.network.http_connection_manager.v3.HttpConnectionManager", manager)}}
	return Object{
		"name":          name,
		"address":       Object{"socket_address": Object{"address": "127.0.0.1", "port_value": 0}},
		"filter_chains": []any{chain},
	}
}

// Manager is a connection manager that routes every request to the same action,
// after the given HTTP filters.
func Manager(name string, action Object, filters ...any) Object {
	router := Extension("envoy.filters.http.router", "filters.http.router.v3.Router", Object{})
	route := Object{"name": "everything", "match": Object{"prefix": "/"}}
	for key, value := range action {
		route[key] = value
	}
	return Object{"stat_prefix": name, "route_config": Routes(route), "http_filters": append(filters, router)}
}

// ToCluster is the action of a route to a cluster, and Answer that of one where
// Envoy answers 200 itself.
var (
	ToCluster = func(name string) Object { return Object{"route": Object{"cluster": name}} }
	Answer    = Object{"direct_response": Object{"status": 200}}
)

// Routes are the routes of every host.
func Routes(all ...any) Object {
	return Object{"virtual_hosts": []any{Object{"name": "all", "domains": []any{"*"}, "routes": all}}}
}

// Extension is a named part of Envoy with the configuration of the given type.
func Extension(name, kind string, config Object) Object {
	config["@type"] = "type.googleapis.com/envoy.extensions." + kind
	return Object{"name": name, "typed_config": config}
}

// Wasm is the HTTP filter that runs a module, named as its root id, with a
// configuration of text.
func Wasm(name, module, configuration string) Object {
	return Extension("weir", "filters.http.wasm.v3.Wasm", Object{"config": Object{
		"name": name, "root_id": name, "failure_policy": "FAIL_RELOAD",
		"vm_config": Object{
			"vm_id": "weir", "runtime": "envoy.wasm.runtime.v8",
			"code": Object{"local": Object{"filename": module}},
		},
		"configuration": Object{
			"@type": "type.googleapis.com/google.protobuf.StringValue",
			"value": configuration,
		},
	}})
}

// Cluster is a service at host:port.
func Cluster(name, addr string) (Object, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("cluster %q: %w", name, err)
	}
	return ClusterAt(name, Object{"socket_address": Object{"address": host, "port_value": json.Number(port)}}), nil
}

// ClusterAt is a service at an address of any kind.
func ClusterAt(name string, address Object) Object {
	return Object{"name": name, "load_assignment": Object{"cluster_name": name, "endpoints": []any{
		Object{"lb_endpoints": []any{Object{"endpoint": Object{"address": address}}}}}}}
}
