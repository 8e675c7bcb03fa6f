package main

import (
	"path/filepath"

	"github.com/weirproxy/weir/e2e/envoyconf"
)

// A contender is a listener whose filters are measured.
type contender struct {
	name    string
	filters func() []any
	keys    int // that the requests cycle through
	status  int // that they are answered with
}

// Names of those that others are compared with.
const (
	noFilter = "no filter"
	native   = "Envoy's ratelimit filter, service"
)

var contenders = []contender{
	{noFilter, func() []any { return nil }, 1000, 200},
	{native, func() []any { return []any{nativeFilter()} }, 1000, 200},
	{"Weir, service", weir("service", `"rls": {"cluster": "ratelimit", "domain": "bench", "timeout": "10s"}`,
		`{"descriptor": [{"name": "rule", "value": "bench"}, {"name": "user", "part": 0}]}`), 1000, 200},
	{"Weir, Redis", weir("redis", redis, `{"limits": [{"requests": 1000, "window": "1h"}]}`), 1000, 200},
	{"Weir, refused by the shield", weir("shield", redis, `{"limits": [{"requests": 1, "window": "1h"}]}`), 100, 429},
}

const redis = `"redis": {"cluster": "webdis", "timeout": "10s"}`

// limits are what the service has: as many as nobody reaches.
const limits = `
domain: bench
descriptors:
  - {key: rule, value: bench, descriptors: [{key: user, rate_limit: {unit: hour, requests_per_unit: 1000000}}]}
`

// weir is Weir with one rule that asks an engine. A failure shows: it refuses.
func weir(name, engine, rule string) func() []any {
	return func() []any {
		path, err := filepath.Abs("build/weir.wasm")
		if err != nil {
			path = "build/weir.wasm"
		}
		return []any{envoyconf.Wasm(name, path, `{"global": {`+engine+`}, "on_global_error": "deny",
			"rules": [{"name": "bench", "key": [{"header": "x-key"}], "global": `+rule+`}]}`)}
	}
}

// nativeFilter is Envoy's own, which refuses too where the service fails.
func nativeFilter() any {
	service := envoyconf.Object{"envoy_grpc": envoyconf.Object{"cluster_name": "ratelimit"}}
	return envoyconf.Extension("envoy.filters.http.ratelimit", "filters.http.ratelimit.v3.RateLimit", envoyconf.Object{
		"domain": "bench", "timeout": "10s", "failure_mode_deny": true,
		"rate_limit_service": envoyconf.Object{"transport_api_version": "V3", "grpc_service": service},
	})
}

// nativeActions make the descriptor of the native filter, the same as Weir's.
func nativeActions() []any {
	return []any{envoyconf.Object{"actions": []any{
		envoyconf.Object{"generic_key": envoyconf.Object{"descriptor_key": "rule", "descriptor_value": "bench"}},
		envoyconf.Object{"request_headers": envoyconf.Object{"header_name": "x-key", "descriptor_key": "user"}},
	}}}
}
