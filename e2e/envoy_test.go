package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/scenario"
)

// TestEnvoy runs every scenario that a real clock allows, each on a listener
// of its own in one Envoy with two workers.
func TestEnvoy(t *testing.T) {
	var fitting []scenario.Scenario
	var filters []filter
	for _, s := range scenarios(t, shortUnit) {
		if !s.Exact {
			fitting = append(fitting, s)
			filters = append(filters, filter{s.Name, string(s.Config)})
		}
	}
	envoy := startEnvoy(t, bootstrap(t, startUpstream(t), filters...), 2)
	for _, s := range fitting {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			scenario.Run(t, realEnvoy{envoy}, s)
		})
	}
}

// shortUnit lets every trace last about a second: the time unit of those with
// a window of thousands is a millisecond.
func shortUnit(window int64) time.Duration {
	if window >= 1000 {
		return time.Millisecond
	}
	return 100 * time.Millisecond
}

func startEnvoy(t testing.TB, config []byte, workers int, arguments ...string) *envoyproc.Process {
	t.Helper()
	envoy, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: workers, LogLevel: "warning", ExtraArgs: arguments})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := envoy.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(envoy.Log())
		}
	})
	return envoy
}

// listenerOf returns host:port of a listener.
func listenerOf(t *testing.T, envoy *envoyproc.Process, name string) string {
	t.Helper()
	addr, err := envoy.Listener(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// realEnvoy runs scenarios on the listeners of an Envoy that are named after
// them.
type realEnvoy struct{ process *envoyproc.Process }

func (e realEnvoy) Open(t *testing.T, s scenario.Scenario) scenario.Session {
	t.Helper()
	addr, err := e.process.Listener(t.Context(), s.Name)
	if err != nil {
		t.Fatal(err)
	}
	return &envoySession{addr: addr, start: time.Now()}
}

type envoySession struct {
	addr  string
	start time.Time
	late  time.Duration // by which the steps so far were late, and the others are to be
	step  int
}

// Do waits until the step is due. Each is 3 ms later than the one before would
// have it, so that a window's end at the time of a step is behind it; and as
// much later as those before it were, so that no gap between two steps is less
// than the scenario has it.
func (e *envoySession) Do(at time.Duration, r scenario.Request, up scenario.Upstream) (scenario.Response, error) {
	r.Headers = append(r.Headers[:len(r.Headers):len(r.Headers)], [2]string{upstreamStatus, strconv.Itoa(up.Status)})
	for _, h := range up.Headers {
		r.Headers = append(r.Headers, [2]string{upstreamHeader, h[0] + "=" + h[1]})
	}
	due := e.start.Add(at + e.late + time.Duration(e.step)*3*time.Millisecond)
	time.Sleep(time.Until(due))
	e.step++
	response, err := send(e.addr, r)
	e.late += time.Since(due)
	response.Late = time.Since(e.start.Add(at))
	return response, err
}

// startUserEnvoy starts the file that users copy, with its ports patched and
// whatever else is to be replaced, before a service that says hello. It returns
// the address of its listener.
func startUserEnvoy(t *testing.T, replace map[string]string) (envoy *envoyproc.Process, addr string) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello\n") }))
	t.Cleanup(service.Close)
	patches := map[string]string{
		"port_value: 10000":         "port_value: 0",
		"port_value: 8000":          "port_value: " + service.URL[strings.LastIndex(service.URL, ":")+1:],
		"filename: build/weir.wasm": "filename: " + modulePath,
	}
	maps.Copy(patches, replace)
	file, err := os.ReadFile("../envoy/envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config, err := envoyproc.Patch(file, patches)
	if err != nil {
		t.Fatal(err)
	}
	envoy = startEnvoy(t, config, 2)
	return envoy, listenerOf(t, envoy, "ingress")
}

// TestUserConfiguration loads the file that users copy, with its ports patched.
func TestUserConfiguration(t *testing.T) {
	envoy, addr := startUserEnvoy(t, nil)
	alice := scenario.Request{Method: "GET", Path: "/api/x", Host: "weir.test", Headers: [][2]string{{"x-user-id", "alice"}}}
	bob := scenario.Request{Method: "GET", Path: "/api/x", Host: "weir.test", Headers: [][2]string{{"x-user-id", "bob"}}}
	other := scenario.Request{Method: "GET", Path: "/", Host: "weir.test", Headers: alice.Headers}
	for i, step := range []struct {
		request scenario.Request
		status  int
		body    string
	}{{alice, 200, "hello\n"}, {alice, 200, "hello\n"}, {alice, 200, "hello\n"}, {alice, 429, "local_rate_limited"}, {bob, 200, "hello\n"}, {other, 200, "hello\n"}} {
		got, err := send(addr, step.request)
		if err != nil || got.Status != step.status || got.Body != step.body {
			t.Errorf("request %d: %+v, %v, want %d %q", i, got, err, step.status, step.body)
		}
		if wait := got.Headers["retry-after"]; step.status == 429 && (len(wait) != 1 || !scenario.Near(wait[0], "10", slow)) {
			t.Errorf("request %d: retry-after %q, want 10", i, wait)
		}
	}
	checkStats(t, envoy, map[string]int64{
		"wasmcustom.weir.rule.weir.per-user.allowed": 4,
		"wasmcustom.weir.rule.weir.per-user.limited": 1,
		"wasmcustom.weir.rule.weir.per-user.errors":  0,
		"wasmcustom.weir.filter.weir.errors":         0,
	})
}

// checkStats compares counters, which the workers may take a moment to merge.
func checkStats(t *testing.T, envoy *envoyproc.Process, want map[string]int64) {
	t.Helper()
	var wrong []string
	for range 50 {
		got, err := envoy.Stats(t.Context(), "wasmcustom")
		if err != nil {
			t.Fatal(err)
		}
		wrong = nil
		for name, n := range want {
			if got[name] != n {
				wrong = append(wrong, fmt.Sprintf("%s = %d, want %d", name, got[name], n))
			}
		}
		if wrong == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error(strings.Join(wrong, "; "))
}

// TestEnvoyRefusesBadConfigurations: Envoy does not start, and its log has one
// line of ours that names the path.
func TestEnvoyRefusesBadConfigurations(t *testing.T) {
	for name, test := range map[string]struct{ configuration, want string }{
		"unknown field": {`{"rules": [], "on_eror": "deny"}`, `on_eror: unknown field, did you mean "on_error"?`},
		"wrong type":    {`{"rules": [{"name": "a", "key": [], "limits": [{"requests": "5", "window": "1s"}]}]}`, `rules[0].limits[0].requests: "5": want a whole number`},
		"limit 0":       {`{"rules": [{"name": "a", "key": [], "limits": [{"requests": 0, "window": "1s"}]}]}`, `rules[0].limits[0].requests: 0: want a whole number`},
		"window 5x":     {`{"rules": [{"name": "a", "key": [], "limits": [{"requests": 1, "window": "5x"}]}]}`, `rules[0].limits[0].window: "5x": not a duration`},
		"not JSON":      {`rules: []`, `not valid JSON at byte 0`},
		"empty":         {``, `the configuration is empty`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := bootstrap(t, "127.0.0.1:1", filter{"bad", test.configuration})
			envoy, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: 1, LogLevel: "error"})
			if err == nil {
				_ = envoy.Stop()
				t.Fatal("envoy started")
			}
			if n := strings.Count(err.Error(), "the configuration is refused: "+test.want); n != 1 {
				t.Errorf("%d lines with %q in %v", n, test.want, err)
			}
		})
	}
}
