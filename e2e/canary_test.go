package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/scenario"
	"github.com/weirproxy/weir/e2e/wasmhost"
)

// canary is in every secret of these tests, each of which has its own end: no
// log line, metric, answer or shared value may have it.
const canary = "cAnArY-"

// canaryRules ask for every secret that a request can have, refuse its second
// request and, by each way to lack a key, its first.
const canaryRules = `{
	"rules": [
		{"name": "bearer", "key": [{"bearer_token": true}], "limits": [{"requests": 1, "window": "1h"}]},
		{"name": "cookie", "key": [{"cookie": "sid"}], "on_missing_key": "shared", "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "api-key", "key": [{"header": "x-api-key"}], "on_missing_key": "skip", "limits": [{"requests": 2, "window": "1h"}],
		 "overrides": [{"key": ["cAnArY-override"], "block": true}, {"key": ["cAnArY-probe"], "limits": [{"requests": 9, "window": "1h"}]}]},
		{"name": "query", "match": {"path": {"prefix": "/reject"}}, "key": [{"query": "token"}], "on_missing_key": "reject", "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "claim", "key": [{"jwt_claim": "sub"}], "on_missing_key": "skip", "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "peer", "key": [{"peer_identity": true}, {"path": true}], "on_missing_key": "skip", "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "trial", "key": [{"header": "cookie"}], "shadow": true, "cost": {"header": "x-cost", "default": 1, "max": 5}, "limits": [{"requests": 1, "window": "1h"}]},
		{"name": "failures", "key": [{"header": "authorization"}], "limits": [{"requests": 9, "window": "1h"}], "charge": {"when": "response", "statuses": ["401"], "cost": {"header": "x-units", "default": 1, "max": 2}}}
	],
	"reply": {"body": {"format": "problem"}}, "headers": ["retry-after", "ratelimit", "x-ratelimit"], "on_error": "deny"
}`

// canaryRequests are sent twice each. The path is a secret too: of its query,
// at least, it often is.
func canaryRequests(token string) (requests []scenario.Request) {
	secret := func(path string, headers ...[2]string) {
		requests = append(requests, scenario.Request{Method: "GET", Path: path, Host: "weir.test", Headers: headers})
	}
	header := func(name, value string) [2]string { return [2]string{name, value} }
	secret("/"+canary+"path?token="+canary+"query", header("authorization", "Bearer "+token), header("cookie", "a=b; sid="+canary+"cookie"),
		header("x-api-key", canary+"key"), header("x-cost", canary+"cost"), header(upstreamStatus, "401"), header(upstreamHeader, "x-units="+canary+"units"))
	secret("/", header("x-api-key", canary+"override"))
	secret("/reject?Token="+canary+"query", header("authorization", "Basic "+canary+"basic"), header("cookie", canary+"cookie"))
	secret("/", header("authorization", "Bearer "+canary+"malformed.."), header("cookie", "sid="+strings.Repeat(canary, 1000)))
	secret("/%zz"+canary+"path", header("authorization", "Bearer "+canary+"\xff"), header("x-api-key", canary+"\xfe"))
	return requests
}

// TestCanariesUnderFaults is the module without a proxy around it: whatever it
// logs, counts, answers and stores is seen here, and every call of the host
// fails in its turn.
func TestCanariesUnderFaults(t *testing.T) {
	host := newHost(t, readModule(t))
	vm := newVM(t, host, canaryRules)
	at, answers := time.Hour, 0
	for _, failing := range []string{"", "clock_time_get", "proxy_get_header_map_pairs", "proxy_get_property", "proxy_get_shared_data",
		"proxy_set_shared_data", "proxy_set_property", "proxy_send_local_response", "proxy_replace_header_map_value"} {
		for _, r := range append(canaryRequests(canary+"token"), canaryRequests(canary+"other")...) {
			at += time.Second
			host.SetNow(at)
			if err := vm.Tick(t.Context()); err != nil { // after which an error is logged again
				t.Fatal(err)
			}
			host.Fault = func(call, _ string) wasmhost.Status {
				if call == failing {
					return wasmhost.InternalFailure
				}
				return wasmhost.OK
			}
			request := clientRequest(r, scenario.Upstream{Status: 401, Headers: [][2]string{{"x-units", canary + "units"}}})
			request.Properties["source.address"] = []byte(canary + "address")
			request.Properties["metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub"] = []byte(canary + "claim")
			request.Properties["connection.subject_peer_certificate"] = []byte("CN=" + canary + "subject")
			got, err := vm.Do(t.Context(), request)
			host.Fault = nil
			if err != nil {
				t.Fatal(err)
			}
			if got.Local {
				noCanary(t, "an answer", fmt.Sprintf("%q %s", got.Headers, got.Body))
				answers++
			}
			noCanary(t, "what the access log may use", fmt.Sprintf("%q %s", got.Properties, got.Details))
		}
	}
	if len(host.Logs()) < 40 || answers < 50 {
		t.Errorf("%d answers of the module and %d lines logged: the faults did not bite: %q", answers, len(host.Logs()), host.Logs())
	}
	noCanary(t, "the log", strings.Join(host.Logs(), "\n"))
	noCanary(t, "the metrics", fmt.Sprint(host.Metrics.Snapshot()))
	for _, key := range host.Shared.Keys() {
		value, _, _ := host.Shared.Get(key)
		noCanary(t, "the shared data", key+string(value))
	}
	if host.Shared.Len() < 2 {
		t.Error("nothing is stored")
	}
}

// noCanary looks for the canary, also as it would be escaped.
func noCanary(t *testing.T, where, text string) {
	t.Helper()
	if i := strings.Index(strings.ToLower(text), strings.ToLower(canary)); i >= 0 {
		t.Errorf("in %s: %q", where, text[max(0, i-100):min(len(text), i+100)])
	}
}

// TestCanariesInEnvoy looks at all that an operator, or whoever reads along,
// gets to see of requests full of secrets: Envoy's log with Weir's logger at
// trace, its metrics, the access log and the answers.
func TestCanariesInEnvoy(t *testing.T) {
	issuer, ca := newIssuer(t), newAuthority(t)
	file := filepath.Join(t.TempDir(), "access.log")
	config := assemble(t, []any{listener(t, filter{"canary", canaryRules}, ca.downstream(t, true), beforeWeir(issuer.filter()), logWithoutPath(file))},
		cluster(t, "upstream", startUpstream(t)))
	envoy, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: 2, LogLevel: "info", ComponentLogLevel: "wasm:trace"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = envoy.Stop() })
	addr := listenerOf(t, envoy, "canary")
	client := ca.issue(t, "", "", canary+"subject")
	requests := canaryRequests(issuer.sign(t, `{"sub": "`+canary+`claim"}`))
	refused := 0
	for range 2 {
		for _, r := range requests {
			got := sendTLS(t, addr, client, r)
			if got.Status == 429 {
				refused++
				noCanary(t, "an answer", fmt.Sprint(got))
			}
		}
	}
	if refused < len(requests) {
		t.Errorf("%d of %d were refused", refused, 2*len(requests))
	}
	for _, page := range []string{"/stats", "/stats/prometheus"} {
		noCanary(t, page, admin(t, envoy, page))
	}
	if err := envoy.Stop(); err != nil { // which makes Envoy write all of it
		t.Fatal(err)
	}
	logged, err := os.ReadFile(file)
	if err != nil || strings.Count(string(logged), "local_rate_limited{") != refused {
		t.Errorf("%v, access log:\n%s", err, logged)
	}
	noCanary(t, "the access log", string(logged))
	if !strings.Contains(envoy.Log(), "[trace][wasm]") {
		t.Errorf("no trace of the module: %s", envoy.Log())
	}
	noCanary(t, "Envoy's log", envoy.Log())
}

// logWithoutPath logs what Weir says of a request.
func logWithoutPath(file string) setting {
	const format = "%RESPONSE_CODE% %RESPONSE_CODE_DETAILS% %FILTER_STATE(wasm.weir.rule:PLAIN)% %DYNAMIC_METADATA(weir)%\n"
	return func(_, manager object) {
		manager["access_log"] = []any{extension("envoy.access_loggers.file", "access_loggers.file.v3.FileAccessLog", object{
			"path": file, "log_format": object{"text_format_source": object{"inline_string": format}},
		})}
	}
}

// sendTLS is send over a connection with a certificate.
func sendTLS(t *testing.T, addr string, certificate tls.Certificate, r scenario.Request) scenario.Response {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{certificate}}) //nolint:gosec // of this test
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.Method, r.Path, r.Host)
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
	}
	if _, err := io.WriteString(conn, b.String()+"\r\n"); err != nil {
		t.Fatal(err)
	}
	got, err := receive(conn, r.Method)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestCanariesInConfigurations: an error names the place, and may quote the
// operator's own value there, but nothing from anywhere else, least of all the
// keys of overrides.
func TestCanariesInConfigurations(t *testing.T) {
	host := newHost(t, readModule(t))
	for _, wrong := range []string{
		`"windov": 1, `, // an unknown field
		`"on_error": 5, `,
		`"rules": [], `, // twice
		`"namespace": "a` + "\n" + `b", `,
		`"store": {"max_keys": -1}, `,
	} {
		configuration := strings.Replace(canaryRules, "{", "{"+wrong, 1)
		if _, err := host.NewVM(t.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: []byte(configuration)}); err == nil {
			t.Errorf("%s: started", wrong)
		}
	}
	truncated := canaryRules[:strings.Index(canaryRules, canary+"override")+len(canary)+3]
	for _, configuration := range []string{truncated, strings.Replace(canaryRules, `"block": true`, `"block": 7`, 1), strings.ReplaceAll(canaryRules, `", "`, `" "`)} {
		if _, err := host.NewVM(t.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: []byte(configuration)}); err == nil {
			t.Error("started")
		}
	}
	noCanary(t, "the log", strings.Join(host.Logs(), "\n"))
	if len(host.Logs()) < 8 {
		t.Errorf("logged %q", host.Logs())
	}
	t.Logf("%q", host.Logs())
}
