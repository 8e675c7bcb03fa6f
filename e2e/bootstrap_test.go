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
	module, err := filepath.Abs(modulePath)
	if err != nil {
		t.Fatal(err)
	}
	var listeners []any
	for _, f := range filters {
		listeners = append(listeners, object{
			"name":    f.name,
			"address": object{"socket_address": object{"address": "127.0.0.1", "port_value": 0}},
			"filter_chains": []any{object{"filters": []any{object{
				"name":         "envoy.filters.network.http_connection_manager",
				"typed_config": connectionManager(f, module),
			}}}},
		})
	}
	host, port, err := net.SplitHostPort(upstream)
	if err != nil {
		t.Fatal(err)
	}
	cluster := object{"name": "upstream", "load_assignment": object{"cluster_name": "upstream", "endpoints": []any{object{
		"lb_endpoints": []any{object{"endpoint": object{"address": object{"socket_address": object{"address": host, "port_value": json.Number(port)}}}}}}}}}
	config, err := json.Marshal(object{"static_resources": object{"listeners": listeners, "clusters": []any{cluster}}})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func connectionManager(f filter, module string) object {
	return object{
		"@type":       "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": f.name,
		"route_config": object{"virtual_hosts": []any{object{
			"name": "all", "domains": []any{"*"},
			"routes": []any{object{"name": "everything", "match": object{"prefix": "/"}, "route": object{"cluster": "upstream"}}},
		}}},
		"http_filters": []any{
			object{"name": "weir", "typed_config": object{
				"@type":  "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
				"config": pluginConfig(f, module),
			}},
			object{"name": "envoy.filters.http.router", "typed_config": object{
				"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}},
		},
	}
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
