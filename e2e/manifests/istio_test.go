package manifests

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	bootstrap "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"google.golang.org/protobuf/proto"
)

// An istioProxy is an Envoy with what Istio makes of a plugin, as its source says:
// the filter is named in the chain and comes by discovery, with the namespace and
// name of the resource for a name, the plugin's name as the root id, and no vm_id.
type istioProxy struct {
	*envoyproc.Process
	t    *testing.T
	file string // of the filter's configuration
}

// startIstio starts one, with the access log and the labels of the manifests, beside
// those of the mesh.
func startIstio(t *testing.T, plugin document) *istioProxy {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ecds.json")
	i := &istioProxy{t: t, file: file}
	i.write(plugin)
	merged, err := mergedFilter(one(t, "istio/access-log.yaml", "EnvoyFilter").at("spec", "configPatches").([]any)[0].(object)["patch"].(object)["value"])
	if err != nil {
		t.Fatal(err)
	}
	manager := fromProto(t, merged)
	manager["accessLog"] = append([]any{meshLog}, manager["accessLog"].([]any)...)
	i.Process = start(t, "", istioBootstrap(t, manager, object{
		"config_source": object{"path_config_source": object{"path": file}, "resource_api_version": "V3", "initial_fetch_timeout": "0s"},
	}))
	return i
}

// istioBootstrap has one listener, where every request that passes gets 200, and has
// the bootstrap of the manifests merged over it, as Envoy does it.
func istioBootstrap(t *testing.T, manager, discovered object) []byte {
	t.Helper()
	discovered["type_urls"] = []any{
		"type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
		"type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
	}
	delete(manager, "rds")
	manager["@type"] = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	manager["use_remote_address"] = true
	manager["route_config"] = object{"virtual_hosts": []any{object{"name": "all", "domains": []any{"*"},
		"routes": []any{object{"match": object{"prefix": "/"}, "direct_response": object{"status": 200}}}}}}
	manager["http_filters"] = []any{
		object{"name": "weir", "config_discovery": discovered},
		object{"name": "router", "typed_config": object{"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}},
	}
	own, err := message(object{
		"node":         object{"id": "weir", "cluster": "weir"},
		"stats_config": object{"stats_tags": meshTags},
		"static_resources": object{"listeners": []any{object{
			"name":    "ingress",
			"address": object{"socket_address": object{"address": "127.0.0.1", "port_value": 0}},
			"filter_chains": []any{object{"filters": []any{
				object{"name": "envoy.filters.network.http_connection_manager", "typed_config": manager}}}},
		}}},
	}, new(bootstrap.Bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := bootstrapOverride(one(t, "istio/stats-tags.yaml", "ConfigMap"))
	if err != nil {
		t.Fatal(err)
	}
	proto.Merge(own, labels)
	return toJSON(t, own)
}

// write puts a plugin to use.
func (i *istioProxy) write(d document) {
	i.t.Helper()
	var text json.RawMessage = toJSON(i.t, d.at("spec", "pluginConfig"))
	replace(i.t, i.file, string(toJSON(i.t, object{"resources": []any{object{
		"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
		"name":  "weir",
		"typed_config": object{
			"@type": "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm",
			"config": object{
				"name":           "istio-ingress.weir",
				"root_id":        d.at("spec", "pluginName"),
				"failure_policy": d.at("spec", "failStrategy"),
				"vm_config": object{
					"runtime": "envoy.wasm.runtime.v8",
					"code":    object{"local": object{"filename": module(i.t)}},
				},
				"configuration": object{"@type": "type.googleapis.com/google.protobuf.StringValue", "value": string(text)},
			},
		},
	}}})))
}

// update puts a plugin to use, and waits until Envoy has counted what came of it.
func (i *istioProxy) update(d document, stat string) {
	i.t.Helper()
	const prefix = "extension_config_discovery.http_filter.weir."
	before, err := i.Stats(i.t.Context(), prefix)
	if err != nil {
		i.t.Fatal(err)
	}
	i.write(d)
	if _, err := i.Await(i.t.Context(), prefix, func(s map[string]int64) bool {
		return s[prefix+stat] > before[prefix+stat]
	}); err != nil {
		i.t.Fatal(err)
	}
}

// wants asks, and compares.
func (i *istioProxy) wants(count int, want tally, headers ...string) {
	i.t.Helper()
	if got := ask(i.t, i.Process, "ingress", "/", count, headers...); !maps.Equal(got, want) {
		i.t.Errorf("answers %v, want %v", got, want)
	}
}

// TestIstioRuns lets the gateway's manifests limit, count and log, and then changes
// the limit while Envoy runs: the window survives, and what Weir refuses changes
// nothing. A window of an hour, so that none ends meanwhile.
func TestIstioRuns(t *testing.T) {
	plugin := rewritten(t, one(t, "istio/gateway.yaml", "WasmPlugin"), `"requests":50,"window":"1s"`, `"requests":50,"window":"1h"`)
	i := startIstio(t, plugin)
	i.wants(60, tally{200: 50, 429: 10})
	const counted = `weir_rule_limited{weir_namespace="weir",weir_rule="per-ip"}`
	if got := admin(t, i.Process, "/stats/prometheus?filter=weir"); !strings.Contains(got, counted+" 10\n") {
		t.Errorf("no %s 10 in\n%s", counted, got)
	}

	// Statistics that the pages name.
	there := admin(t, i.Process, "/"+isItThere(t))
	for _, name := range []string{
		"wasm.envoy.wasm.runtime.v8.active: ", "wasm.istio-ingress.weir.vm_reload_success: ", "wasmcustom.weir.rule.weir.per-ip.allowed: 50",
	} {
		if !strings.Contains(there, "\n"+name) {
			t.Errorf("no %s in\n%s", name, there)
		}
	}

	i.update(rewritten(t, plugin, `"limits"`, `"limit"`), "config_fail")
	i.wants(5, tally{429: 5})
	i.update(rewritten(t, plugin, `"requests":50`, `"requests":60`), "config_reload")
	i.wants(20, tally{200: 10, 429: 10})

	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	limits := plugin.at("spec", "pluginConfig")
	var both []string
	for line := range strings.Lines(i.Log()) {
		if strings.HasPrefix(line, "{") {
			both = append(both, line)
		}
	}
	replays(t, limits, both, "Of 170 requests")
	lines := logged(t, keptOfLog(t, i.Log()))
	if len(lines) != 85 {
		t.Errorf("%d lines logged, want 85", len(lines))
	}
	replays(t, limits, lines, "Of 85 requests 35 (41.2 %) would have been refused")
}

// TestIstioCannotFetch runs what Istio's agent puts in the place of a module that it
// cannot fetch: it refuses everybody, and says so in the words of the pages.
func TestIstioCannotFetch(t *testing.T) {
	i := startIstio(t, rewritten(t, one(t, "istio/gateway.yaml", "WasmPlugin"), `"requests":50,"window":"1s"`, `"requests":50,"window":"1h"`))
	replace(t, i.file, string(toJSON(t, object{"resources": []any{object{
		"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
		"name":  "weir",
		"typed_config": object{
			"@type":             "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
			"rules":             object{},
			"rules_stat_prefix": "wasm-default-deny",
		},
	}}})))
	if _, err := i.Await(t.Context(), "extension_config_discovery.*config_reload$", func(s map[string]int64) bool {
		for _, n := range s {
			if n > 1 {
				return true
			}
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	i.wants(3, tally{403: 3})
	stats, err := i.Stats(t.Context(), "wasm-default-deny")
	if err != nil || len(stats) == 0 {
		t.Errorf("no statistics of wasm-default-deny: %v, %v", stats, err)
	}
}

// TestIstioFirstRefused is what the pages warn of: the first configuration of a
// filter that comes by discovery has none before it to keep. If Weir refuses it,
// every request gets 500, until a right one comes.
func TestIstioFirstRefused(t *testing.T) {
	plugin := rewritten(t, one(t, "istio/gateway.yaml", "WasmPlugin"), `"requests":50,"window":"1s"`, `"requests":2,"window":"1h"`)
	i := startIstio(t, rewritten(t, plugin, `"limits"`, `"limit"`))
	i.wants(3, tally{500: 3})
	i.update(plugin, "config_reload")
	i.wants(3, tally{200: 2, 429: 1})
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"weir: cannot start: the configuration is refused", `"response_flags":"NFCF"`} {
		if !strings.Contains(i.Log(), words) {
			t.Errorf("no %s in the log:\n%s", words, i.Log())
		}
	}
}
