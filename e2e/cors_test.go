package e2e

import (
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
)

// TestCORS is B62: preflights cost nothing, whether Weir exempts them or Envoy's
// cors filter answers them before Weir, and a script may read the refusal of a
// request that is none. A bare OPTIONS is a request like any other.
func TestCORS(t *testing.T) {
	const rules = `"rules": [{"name": "r", "key": [], "limits": [{"requests": 2, "window": "1h"}]}]`
	exempt := listener(t, filter{"exempt", `{` + rules + `, "exempt": [{"preflight": true}],
		"reply": {"headers": {"access-control-allow-origin": "https://app.test", "access-control-expose-headers": "retry-after"}}}`})
	cors := listener(t, filter{"cors", `{` + rules + `}`},
		beforeWeir(extension("envoy.filters.http.cors", "filters.http.cors.v3.Cors", object{})),
		func(_, manager object) {
			all := routes(object{"match": object{"prefix": "/"}, "route": object{"cluster": "upstream"}})
			all["typed_per_filter_config"] = object{"envoy.filters.http.cors": extension("", "filters.http.cors.v3.CorsPolicy", object{
				"allow_origin_string_match": []any{object{"exact": "https://app.test"}},
				"allow_methods":             "GET", "expose_headers": "retry-after",
			})["typed_config"]}
			manager["route_config"] = all
		})
	envoy := startEnvoy(t, assemble(t, []any{exempt, cors}, cluster(t, "upstream", startUpstream(t))), 2)

	origin := [2]string{"origin", "https://app.test"}
	preflight := scenario.Request{Method: "OPTIONS", Headers: [][2]string{origin, {"access-control-request-method", "GET"}}}
	bare := scenario.Request{Method: "OPTIONS"}
	get := scenario.Request{Method: "GET", Headers: [][2]string{origin}}
	for _, name := range []string{"exempt", "cors"} {
		addr := listenerOf(t, envoy, name)
		for i, step := range []struct {
			request scenario.Request
			want    int
		}{{preflight, 200}, {preflight, 200}, {preflight, 200}, {get, 200}, {bare, 200}, {bare, 429}, {get, 429}, {preflight, 200}} {
			step.request.Path, step.request.Host = "/", "weir.test"
			got, err := send(addr, step.request)
			if err != nil || got.Status != step.want {
				t.Errorf("%s, step %d: %+v, %v, want %d", name, i, got, err, step.want)
			}
			if step.want == 429 && step.request.Method == "GET" {
				for header, want := range map[string]string{"access-control-allow-origin": "https://app.test", "access-control-expose-headers": "retry-after", "retry-after": "3600"} {
					if values := got.Headers[header]; len(values) != 1 || !scenario.Near(values[0], want, slow) {
						t.Errorf("%s: %s %q, want %q", name, header, values, want)
					}
				}
			}
		}
	}
}
