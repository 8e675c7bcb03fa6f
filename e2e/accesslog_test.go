package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
)

// TestAccessLog reads what the operator sees of a refusal: response code
// details that name the rule, and the rule alone in the filter state.
func TestAccessLog(t *testing.T) {
	const configuration = `{
		"rules": [
			{"name": "per-user", "match": {"path": {"prefix": "/api"}}, "key": [{"header": "x-user-id"}], "on_missing_key": "reject",
			 "limits": [{"requests": 1, "window": "1h"}], "overrides": [{"key": ["mallory"], "block": true}]},
			{"name": "on-trial", "key": [], "shadow": true, "limits": [{"requests": 1, "window": "1h"}]}
		]}`
	file := filepath.Join(t.TempDir(), "access.log")
	// One key fills this table, at its limit and so not to be dropped.
	const full = `{"rules": [{"name": "r", "key": [{"header": "x-user-id"}], "limits": [{"requests": 1, "window": "1h"}]}], "store": {"max_keys": 1, "on_full": "deny"}}`
	envoy := startEnvoy(t, assemble(t, []any{
		listener(t, filter{"limits", configuration}, logTo(file)), listener(t, filter{"full", full}, logTo(file)),
	}, cluster(t, "upstream", startUpstream(t))), 2)
	steps := []struct {
		listener, path, user string
		want                 string // in the log: code, details, rule
	}{
		{"limits", "/api/x", "alice", "200 via_upstream -"},
		{"limits", "/api/x", "alice", "429 local_rate_limited{per-user} per-user"},
		{"limits", "/api/x", "mallory", "429 local_rate_limited{per-user} per-user"},
		{"limits", "/api/x", "", "429 local_rate_limited{per-user} per-user"},
		{"limits", "/other", "alice", "200 via_upstream -"}, // refused in shadow alone
		{"full", "/", "alice", "200 via_upstream -"},
		{"full", "/", "alice", "429 local_rate_limited{r} r"},
		{"full", "/", "bob", "503 local_rate_limit_error -"},
	}
	var want []string
	for _, step := range steps {
		addr := listenerOf(t, envoy, step.listener)
		r := scenario.Request{Method: "GET", Path: step.path, Host: "weir.test", Headers: [][2]string{{"x-user-id", step.user}}}
		if _, err := send(addr, r); err != nil {
			t.Fatal(err)
		}
		want = append(want, step.path+" "+step.want)
	}
	if err := envoy.Stop(); err != nil { // which makes Envoy write all of it
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != strings.Join(want, "\n")+"\n" {
		t.Errorf("logged, %v:\n%s\nwant:\n%s", err, got, strings.Join(want, "\n"))
	}
}

// logTo has a listener log its requests.
func logTo(file string) setting {
	const format = "%REQ(:PATH)% %RESPONSE_CODE% %RESPONSE_CODE_DETAILS% %FILTER_STATE(wasm.weir.rule:PLAIN)%\n"
	return func(_, manager object) {
		manager["access_log"] = []any{extension("envoy.access_loggers.file", "access_loggers.file.v3.FileAccessLog", object{
			"path": file, "log_format": object{"text_format_source": object{"inline_string": format}},
		})}
	}
}

// TestProperties keys by what Envoy knows of a request.
func TestProperties(t *testing.T) {
	steps := []struct {
		key  string
		send func(string, scenario.Request) (scenario.Response, error)
		path string
		want int
	}{
		{`{"route": true}`, send, "/a/1", 200}, {`{"route": true}`, send, "/a/2", 429}, {`{"route": true}`, send, "/b", 200}, {`{"route": true}`, sendHTTP2, "/b", 429},
		{`{"route": true}`, send, "/unnamed", 429}, // no name is no key
		{`{"property": ["request", "protocol"]}`, send, "/a", 200}, {`{"property": ["request", "protocol"]}`, sendHTTP2, "/a", 200}, {`{"property": ["request", "protocol"]}`, send, "/b", 429},
		{`{"property": ["request", "headers", "x-upstream-status"]}`, send, "/a", 200},
		{`{"property": ["destination", "port"]}`, send, "/a", 200}, {`{"property": ["destination", "port"]}`, send, "/b", 429}, // a number
		{`{"property": ["connection", "mtls"]}`, send, "/a", 200}, {`{"property": ["connection", "mtls"]}`, send, "/b", 429}, // a boolean
		{`{"property": ["connection", "requested_server_name"]}`, send, "/a", 429}, // empty
		{`{"property": ["no", "such", "thing"]}`, send, "/a", 429},
		{`{"property": ["request", "protocol", "deeper"]}`, send, "/a", 429},
	}
	var listeners []any
	seen := map[string]bool{}
	for _, step := range steps {
		if !seen[step.key] {
			seen[step.key] = true
			configuration := `{"rules": [{"name": "r", "key": [` + step.key + `], "on_missing_key": "reject", "limits": [{"requests": 1, "window": "1h"}]}], "on_error": "deny"}`
			listeners = append(listeners, listener(t, filter{step.key, configuration}, func(_, manager object) {
				manager["route_config"] = routes(
					object{"name": "a", "match": object{"prefix": "/a"}, "route": object{"cluster": "upstream"}},
					object{"name": "b", "match": object{"prefix": "/b"}, "route": object{"cluster": "upstream"}},
					object{"match": object{"prefix": "/"}, "route": object{"cluster": "upstream"}})
			}))
		}
	}
	envoy := startEnvoy(t, assemble(t, listeners, cluster(t, "upstream", startUpstream(t))), 2)
	for _, step := range steps {
		addr := listenerOf(t, envoy, step.key)
		r := scenario.Request{Method: "GET", Path: step.path, Host: "weir.test", Headers: [][2]string{{upstreamStatus, "200"}}}
		if got, err := step.send(addr, r); err != nil || got.Status != step.want {
			t.Errorf("%s, %s: %+v, %v, want %d", step.key, step.path, got, err, step.want)
		}
	}
}
