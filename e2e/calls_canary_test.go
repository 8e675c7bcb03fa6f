package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// secretEngines are engines with secrets.
var secretEngines = map[string]string{
	"redis": sharedByRedis(`, "token": "cAnArY-token", "secret": "cAnArY-secret-of-keys"`, `"on_error": "deny", "on_global_error": "deny",`),
	"rls":   sharedByRLS(`, "secret": "cAnArY-secret-of-keys"`, `"on_error": "deny", "on_global_error": "deny",`),
}

// TestCanariesOfEngines: the token and the secret of an engine, the keys of
// clients, and what an engine says besides its answer, whatever fails.
func TestCanariesOfEngines(t *testing.T) {
	for engine, configuration := range secretEngines {
		c := newCaller(t, configuration)
		for i, failing := range []string{"", "proxy_http_call", "proxy_grpc_call", "clock_time_get", "proxy_get_buffer_bytes", "proxy_get_header_map_value",
			"proxy_set_effective_context", "proxy_continue_stream", "proxy_send_local_response", "proxy_set_property", "proxy_get_shared_data"} {
			c.host.SetNow(time.Duration(i+1) * 2 * time.Hour)
			c.must(c.vm.Tick(t.Context())) // after which an error is logged again
			for way := range 4 {
				c.canaries(failing, way)
			}
		}
		logged := strings.Join(c.host.Logs(), "\n")
		if len(c.host.Logs()) < 6 {
			t.Errorf("%s: the faults did not bite: %q", engine, logged)
		}
		noCanary(t, "the log", logged)
		noCanary(t, "the metrics", fmt.Sprint(c.host.Metrics.Snapshot()))
		for _, key := range c.host.Shared.Keys() {
			value, _, _ := c.host.Shared.Get(key)
			noCanary(t, "the shared data", key+string(value))
		}
	}
}

// canaries sends a request of a secret key, whose call ends in one of four ways
// while a host call fails.
func (c *caller) canaries(failing string, way int) {
	c.Helper()
	c.host.Fault = func(call, _ string) wasmhost.Status {
		if call == failing {
			return wasmhost.InternalFailure
		}
		return wasmhost.OK
	}
	defer func() { c.host.Fault = nil }()
	r := keyed(fmt.Sprint(canary, "key-", way))
	r.Headers = append(r.Headers, [2]string{"authorization", "Bearer " + canary + "bearer"})
	e, err := c.vm.Begin(c.Context(), r)
	c.must(err)
	for _, call := range c.vm.Calls() {
		noCanary(c.T, "what the engine is sent", string(call.Body))
		c.must(c.endWithCanaries(call, way))
	}
	c.must(e.Leave(c.Context()))
	got := e.Response()
	noCanary(c.T, "a response", fmt.Sprintf("%q %s", got.Headers, got.Body))
	noCanary(c.T, "what the access log may use", fmt.Sprintf("%q %s", got.Properties, got.Details))
}

func (c *caller) endWithCanaries(call *wasmhost.Call, way int) error {
	http, theirs := call.Cluster != "", [][2]string{{"x-a", canary + "answer"}, {"ratelimit", canary + "answer"}}
	switch {
	case http && way == 0:
		return c.vm.AnswerHTTP(c.Context(), call.Token, 200, theirs, []byte(reply(refuses)))
	case http && way == 1:
		return c.vm.AnswerHTTP(c.Context(), call.Token, 200, theirs, []byte(`{"EVALSHA":[false,"ERR `+canary+`answer"]}`))
	case http && way == 2:
		return c.vm.AnswerHTTP(c.Context(), call.Token, 401, theirs, []byte(canary+"answer"))
	case http:
		return c.vm.AnswerHTTP(c.Context(), call.Token, 200, theirs, []byte(canary+"answer"))
	case way == 0:
		return c.vm.AnswerGRPC(c.Context(), call.Token, c.message(statusOf(rlsOverLimit, 0)))
	case way == 1:
		return c.vm.AnswerGRPC(c.Context(), call.Token, []byte(canary+"answer"))
	default:
		return c.vm.CloseGRPC(c.Context(), call.Token, 14+way%2)
	}
}

// TestCanariesInConfigurationsOfEngines: an error about an engine quotes neither
// its secrets nor an address that may have a password in it.
func TestCanariesInConfigurationsOfEngines(t *testing.T) {
	host := newHost(t, readModule(t))
	tried := 0
	for _, configuration := range secretEngines {
		for _, wrong := range [][2]string{
			{`"cluster": `, `"cluster": 7, "x": `},
			{`"secret": "cAnArY-secret-of-keys"`, `"secret": "cAnArY-short"`},
			{`"secret": "cAnArY-secret-of-keys"`, `"secret": ["cAnArY-secret-of-keys"]`},
			{`"secret": "cAnArY-secret-of-keys"`, `"secret": "cAnArY-secret-of-keys", "timeout": "never"`},
			{`"secret": "cAnArY-secret-of-keys"`, `"secret": "cAnArY-secret-of-keys`},
			{`"token": "cAnArY-token"`, `"token": "cAnArY-token\u000a"`},
			{`"token": "cAnArY-token"`, `"token": {"cAnArY-token": "cAnArY-token"}`},
			{`"token": "cAnArY-token"`, `"token": "cAnArY-token", "authority": "user:cAnArY@redis"`},
			{`"global": {`, `"global": "redis://:cAnArY-password@redis", "x": {`},
		} {
			changed := strings.Replace(configuration, wrong[0], wrong[1], 1)
			if changed == configuration {
				continue // the other engine has no token
			}
			tried++
			if _, err := host.NewVM(t.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: []byte(changed)}); err == nil {
				t.Errorf("%s: started", wrong[1])
			}
		}
	}
	noCanary(t, "the log", strings.Join(host.Logs(), "\n"))
	if tried != 15 || len(host.Logs()) != tried {
		t.Errorf("%d tried, logged %q", tried, host.Logs())
	}
}
