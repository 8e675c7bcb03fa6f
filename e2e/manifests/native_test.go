package manifests

import (
	"maps"
	"path/filepath"
	"testing"
)

// TestNative runs Weir behind Envoy's own filter: each refuses what is its to refuse,
// and what Envoy's refuses is charged to nobody by Weir. A bucket for the whole proxy
// has 150 tokens, and alice has 100 requests.
func TestNative(t *testing.T) {
	p := start(t, filepath.Dir(filepath.Dir(module(t))), []byte(changed(t, "native.yaml", map[string]string{
		"port_value: 10000":         "port_value: 0",
		"route: {cluster: service}": "direct_response: {status: 200}",
		`"window": "1m"`:            `"window": "1h"`,
		"max_tokens: 500, tokens_per_fill: 500, fill_interval: 1s": "max_tokens: 150, tokens_per_fill: 150, fill_interval: 3600s",
	})))
	for _, step := range []struct {
		user  string
		count int
		want  tally
	}{
		{"alice", 120, tally{200: 100, 429: 20}}, // by Weir
		{"bob", 40, tally{200: 30, 429: 10}},     // by Envoy
	} {
		if got := ask(t, p, "ingress", "/api", step.count, "x-user-id", step.user); !maps.Equal(got, step.want) {
			t.Errorf("%s: answers %v, want %v", step.user, got, step.want)
		}
	}
	want := map[string]int64{
		"whole_proxy.http_local_rate_limit.rate_limited": 10,
		"wasmcustom.weir.rule.weir.per-user.allowed":     130,
		"wasmcustom.weir.rule.weir.per-user.limited":     20,
	}
	const counters = `^whole_proxy.*rate_limited$|weir\.per-user\.(allowed|limited)$`
	if got, err := p.Await(t.Context(), counters, func(s map[string]int64) bool { return maps.Equal(s, want) }); err != nil {
		t.Errorf("counted %v, want %v: %v", got, want, err)
	}
}
