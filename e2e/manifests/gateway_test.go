package manifests

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// gatewayListener is what Envoy Gateway makes of a policy, as its source says: the
// filter is in the chain, off, and on at the route; it has the name and rootID of the
// policy, and a vm_id made of the policy's name. The patches of the other manifests
// are applied to it, and to the labels of the bootstrap.
func gatewayListener(t *testing.T, policy document) (listener json.RawMessage, labels object) {
	t.Helper()
	plugin := document{value: policy.at("spec", "wasm").([]any)[0].(object)}
	const filter = "envoy.filters.http.wasm/envoyextensionpolicy/web/weir/wasm/0"
	format := one(t, "gateway/proxy.yaml", "EnvoyProxy").at("spec", "telemetry", "accessLog", "settings").([]any)[0].(object)["format"].(object)["json"]
	manager := object{
		"@type":              "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix":        "http",
		"use_remote_address": true,
		"access_log": []any{object{"name": "file", "typed_config": object{
			"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/stdout",
			"log_format": object{"json_format": format}}}},
		"route_config": object{"virtual_hosts": []any{object{"name": "all", "domains": []any{"*"}, "routes": []any{
			object{"match": object{"prefix": "/"}, "direct_response": object{"status": 200}, "typed_per_filter_config": object{
				filter: object{"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": object{}}}},
		}}}},
		"http_filters": []any{
			object{"name": filter, "disabled": true, "typed_config": object{
				"@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
				"config": object{
					"name": plugin.at("name"), "root_id": plugin.at("rootID"), "fail_open": plugin.at("failOpen"),
					"vm_config": object{"vm_id": "envoyextensionpolicy/web/weir/wasm/0", "runtime": "envoy.wasm.runtime.v8",
						"code": object{"local": object{"filename": module(t)}}},
					"configuration": object{"@type": "type.googleapis.com/google.protobuf.StringValue",
						"value": string(toJSON(t, plugin.at("config")))},
				}}},
			object{"name": "router", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}},
		},
	}
	patched, err := apply(toJSON(t, object{
		"name":    "web/web/http",
		"address": object{"socket_address": object{"address": "127.0.0.1", "port_value": 0}},
		"filter_chains": []any{object{"filters": []any{
			object{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}}}},
	}), one(t, "gateway/patch.yaml", "EnvoyPatchPolicy").at("spec", "jsonPatches").([]any)[0].(object)["operation"].(object))
	if err != nil {
		t.Fatal(err)
	}
	own, err := patchedBootstrap(one(t, "gateway/proxy.yaml", "EnvoyProxy"))
	if err != nil {
		t.Fatal(err)
	}
	return patched, fromProto(t, own.GetStatsConfig())
}

// gatewayBootstrapFor is an Envoy with that listener.
func gatewayBootstrapFor(t *testing.T, policy document) []byte {
	t.Helper()
	listener, labels := gatewayListener(t, policy)
	return toJSON(t, object{"stats_config": labels, "static_resources": object{"listeners": []any{listener}}})
}

// TestGatewayRuns lets the manifests of Envoy Gateway limit, count and log.
func TestGatewayRuns(t *testing.T) {
	policy := rewritten(t, one(t, "gateway/gateway.yaml", "EnvoyExtensionPolicy"), `"window":"1s"`, `"window":"1h"`)
	p := start(t, "", gatewayBootstrapFor(t, policy))
	if got, want := ask(t, p, "web/web/http", "/", 60), (tally{200: 50, 429: 10}); !maps.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	const counted = `weir_rule_limited{weir_namespace="weir",weir_rule="per-ip"} 10` + "\n"
	if got := admin(t, p, "/stats/prometheus?filter=weir"); !strings.Contains(got, counted) {
		t.Errorf("no %s in\n%s", counted, got)
	}
	if got := admin(t, p, "/config_dump"); !strings.Contains(got, `"failure_policy": "FAIL_RELOAD"`) {
		t.Error("the policy of failures is not FAIL_RELOAD")
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	config := policy.at("spec", "wasm").([]any)[0].(object)["config"]
	replays(t, config, logged(t, p.Log()), "Of 60 requests 10 (16.7 %) would have been refused")
}

// TestGatewayFailOpen holds patch.yaml to its word that a policy with failOpen: true
// must not be patched.
func TestGatewayFailOpen(t *testing.T) {
	policy := rewritten(t, one(t, "gateway/gateway.yaml", "EnvoyExtensionPolicy"), `"failOpen":false`, `"failOpen":true`)
	log, err := envoyproc.Validate(context.Background(), envoyproc.Options{Config: gatewayBootstrapFor(t, policy)})
	if err == nil || !strings.Contains(log, "fail_open") {
		t.Errorf("%v\n%s", err, log)
	}
}
