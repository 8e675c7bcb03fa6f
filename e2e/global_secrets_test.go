package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/scenario"
)

// TestGlobalSecrets: neither the secret nor the tokens of the engines, nor a
// key that is a credential, is in Envoy's log with Weir's logger at trace and the
// calls' at debug, in a metric, in an answer, or in what Redis has: when the
// engine admits, refuses, wants another token, and is gone.
func TestGlobalSecrets(t *testing.T) {
	const rules = `{"name": "bearer", "key": [{"bearer_token": true}], "global": `
	server := startRedis(t, 0)
	webdis, upstash := startWebdis(t, server), startUpstash(t, server)
	service := startRatelimit(t, server, strings.NewReplacer("one", "bearer", "header x-key", "bearer_token").Replace(killedLimits), 0)
	var listeners []any
	for _, f := range []filter{
		globalFilter("webdis", rules+`{"limits": [{"requests": 6, "window": "1h"}]}}`),
		globalFilter("upstash", rules+`{"limits": [{"requests": 6, "window": "1h"}]}}`),
		globalFilter("ratelimit", rules+`{}}`),
	} {
		f.configuration = strings.Replace(f.configuration, "{", `{"headers": ["retry-after", "ratelimit", "x-ratelimit"], "reply": {"body": {"format": "problem"}}, `, 1)
		wrong := filter{f.name + "-wrong", strings.NewReplacer("password", "another", canary+"token", canary+"another").Replace(f.configuration)}
		listeners = append(listeners, listener(t, f, answerDirectly), listener(t, wrong, answerDirectly))
	}
	config := assemble(t, listeners, cluster(t, "webdis", webdis.Addr), cluster(t, "upstash", upstash.Addr), http2(cluster(t, "ratelimit", service.Addr)))
	envoy, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: 1, LogLevel: "info", ComponentLogLevel: "wasm:trace,upstream:debug,pool:debug"})
	stopAfter(t, envoy, err)
	addrs := map[string]string{}
	for _, name := range []string{"webdis", "webdis-wrong", "upstash", "upstash-wrong", "ratelimit"} {
		addrs[name] = listenerOf(t, envoy, name)
	}
	check := func(name, user string, want map[int]int) {
		t.Helper()
		got := map[int]int{}
		for range 8 {
			r, err := send(addrs[name], scenario.Request{Method: "GET", Path: "/", Host: "weir.test", Headers: [][2]string{{"authorization", "Bearer " + canary + user}}})
			if err != nil {
				t.Fatal(err)
			}
			got[r.Status]++
			noCanary(t, "an answer", fmt.Sprint(r))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: answers by status %v, want %v", name, got, want)
		}
	}
	for _, engine := range []string{"webdis", "upstash", "ratelimit"} {
		check(engine, engine, map[int]int{200: 6, 429: 2})
	}
	for _, door := range []string{"webdis", "upstash"} { // with a token that the door refuses
		check(door+"-wrong", door, map[int]int{503: 8})
	}
	keys, err := clientOf(t, server).Keys(t.Context(), "*").Result()
	if err != nil || len(keys) < 3 {
		t.Errorf("the keys in Redis: %q, %v", keys, err)
	}
	noCanary(t, "Redis", strings.Join(keys, " "))
	service.Kill()
	server.Kill()
	for name := range addrs {
		check(name, "later", map[int]int{503: 8})
	}
	for _, page := range []string{"/stats", "/stats/prometheus", "/clusters"} {
		noCanary(t, page, admin(t, envoy, page))
	}
	if err := envoy.Stop(); err != nil { // which makes Envoy write all of it
		t.Fatal(err)
	}
	if log := envoy.Log(); !strings.Contains(log, "[trace][wasm]") || !strings.Contains(log, "proxy_http_call") && !strings.Contains(log, "httpCall") && !strings.Contains(log, "[debug][pool]") {
		t.Errorf("the log has too little: %.2000s", log)
	}
	noCanary(t, "Envoy's log", envoy.Log())
}
