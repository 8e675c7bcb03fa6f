package e2e

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"

	"github.com/weirproxy/weir/e2e/scenario"
	"github.com/weirproxy/weir/e2e/wasmhost"
	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// Twins are the built module and the core side by side, for every
// configuration: of the same seed, at the same time.
type twins struct {
	host    *wasmhost.Host
	vm      *wasmhost.VM
	filters []*twin
	stored  map[string]bool // the shards that the module has set since the last reset
	calls   int             // of the host, for the request under way
	most    uint32          // bytes of memory that the module may have
	metrics int             // that there are from the beginning
}

// A twin is one configuration in both.
type twin struct {
	file    string
	policy  *policy.Policy
	module  *wasmhost.PluginContext
	table   *limiter.Table // of the core, fresh for each sequence
	session nativeSession
}

// mostCalls bounds the calls of the host for one request, of whatever size.
const mostCalls = 100

// configurations is how many there are.
const configurations = 9

// newTwins starts all configurations in one VM, which outlives the test.
func newTwins(t testing.TB) *twins {
	t.Helper()
	ctx := context.Background()
	host, err := wasmhost.New(ctx, readModule(t))
	if err != nil {
		t.Fatal(err)
	}
	w := &twins{host: host, most: 64 << 20, stored: map[string]bool{}}
	host.Before = func(_ *wasmhost.VM, call, arg string) {
		if strings.HasPrefix(call, "proxy_") { // and is not Go's own clock
			w.calls++
		}
		if call == "proxy_set_shared_data" && strings.Contains(arg, "/table/") {
			w.stored[arg] = true
		}
	}
	if w.vm, err = host.NewVM(ctx, wasmhost.Plugin{RootID: "first", Configuration: []byte(`{"rules": []}`)}); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"testdata/fuzz/configurations/*.json", "../envoy/examples/*.json", "../limiter/policy/testdata/good/everything.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := w.start(ctx, file)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			w.filters = append(w.filters, f)
		}
	}
	if len(w.filters) != configurations {
		t.Fatalf("%d configurations, want %d", len(w.filters), configurations)
	}
	w.metrics = len(w.host.Metrics.Snapshot())
	return w
}

// start starts a configuration in both, on a table so small that it fills.
func (w *twins) start(ctx context.Context, file string) (*twin, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var config object
	if err := json.Unmarshal(data, &config); err != nil {
		return nil, err
	}
	if config["store"] == nil {
		config["store"] = object{"max_keys": 3}
	}
	if data, err = json.Marshal(config); err != nil {
		return nil, err
	}
	f := &twin{file: filepath.Base(file)}
	if f.policy, err = policy.Compile(data, f.file); err != nil {
		return nil, err
	}
	f.module, err = w.vm.AddPlugin(ctx, wasmhost.Plugin{RootID: f.file, Configuration: data})
	return f, err
}

func (w *twins) close() { _ = w.host.Close(context.Background()) }

// reset empties the tables of a configuration.
func (w *twins) reset(t *testing.T, f *twin) {
	t.Helper()
	for shard := range w.stored {
		w.host.Shared.Set(shard, nil, 0)
	}
	clear(w.stored)
	value, _, _ := w.host.Shared.Get("weir/1/seed")
	seed, err := limiter.ParseSeed(value)
	if err != nil {
		t.Fatal(err)
	}
	options := f.policy.TableOptions(seed)
	if f.table, err = limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options); err != nil {
		t.Fatal(err)
	}
	f.session = nativeSession{policy.NewEvaluator(f.policy, f.table)}
}

// tick lets the sweep of both have its turn.
func (w *twins) tick(t *testing.T, f *twin, at time.Duration) {
	t.Helper()
	w.host.SetNow(at)
	if err := f.module.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.table.Sweep(limiter.At(at), max(1, f.table.Shards()/64)); err != nil {
		t.Fatal(err)
	}
}

// do sends a request to both, which must answer alike. Whatever the request
// says, the module neither traps nor fails nor logs, and makes no metric of it.
func (w *twins) do(t *testing.T, f *twin, at time.Duration, r scenario.Request, up scenario.Upstream) wasmhost.Response {
	t.Helper()
	w.host.SetNow(at)
	w.calls = 0
	answer, err := f.module.Do(t.Context(), clientRequest(r, up))
	if err != nil {
		t.Fatalf("%s: %v", f.file, err)
	}
	want, err := f.session.Do(at, r, up)
	if err != nil {
		t.Fatalf("%s: the core: %v", f.file, err)
	}
	if answer.Local && isGRPC(r) { // the proxy makes trailers of it
		want.Status, want.Body = 200, ""
	}
	got := scenario.Response{Status: answer.Status, Headers: map[string][]string{}, Body: string(answer.Body)}
	addHeaders(got, answer.Headers)
	checkAnswer(t, f, answer, got.Headers)
	for _, name := range proxysOwn(answer.Local) {
		delete(got.Headers, name)
		delete(want.Headers, name)
	}
	if answer.Paused || got.Status != want.Status || got.Body != want.Body || !maps.EqualFunc(got.Headers, want.Headers, slices.Equal) {
		t.Errorf("%s: got %+v, paused %t, the core says %+v", f.file, got, answer.Paused, want)
	}
	w.checkHealth(t)
	return answer
}

// checkHealth is what no request may change.
func (w *twins) checkHealth(t *testing.T) {
	t.Helper()
	metrics := w.host.Metrics.Snapshot()
	for name, n := range metrics {
		if n != 0 && (strings.HasSuffix(name, ".errors") || strings.HasSuffix(name, ".corrupt") || strings.HasSuffix(name, ".lost")) {
			t.Errorf("%s = %d", name, n)
		}
	}
	if logged := w.host.Logs(); len(logged) > 0 || len(metrics) != w.metrics {
		t.Errorf("logged %q; %d metrics, of which %d were there before", logged, len(metrics), w.metrics)
	}
	if w.calls > mostCalls || w.vm.MemoryBytes() > w.most {
		t.Errorf("%d calls of the host, %d bytes of memory", w.calls, w.vm.MemoryBytes())
	}
}

var wholeWait = regexp.MustCompile(`^[1-9][0-9]{0,7}$`) // up to 366 days

// checkAnswer checks what a local reply consists of.
func checkAnswer(t *testing.T, f *twin, got wasmhost.Response, headers map[string][]string) {
	t.Helper()
	if !got.Local {
		return
	}
	rule := string(got.Properties["weir.rule"])
	named := slices.ContainsFunc(f.policy.Rules, func(r *policy.Rule) bool { return r.Name == rule })
	refused := named && got.Details == "local_rate_limited{"+rule+"}"
	failed := rule == "" && got.Details == "local_rate_limit_error"
	if !refused && !failed || !slices.Contains([]int{200, 429, 503}, got.Status) {
		t.Errorf("%s: status %d, details %q, rule %q", f.file, got.Status, got.Details, rule)
	}
	if wait := headers["retry-after"]; len(wait) > 1 || len(wait) == 1 && !wholeWait.MatchString(wait[0]) {
		t.Errorf("%s: retry-after %q", f.file, wait)
	}
	for _, name := range []string{"ratelimit", "ratelimit-policy"} {
		if values := headers[name]; len(values) > 0 {
			if _, err := httpsfv.UnmarshalList(values); err != nil || len(values) > 1 {
				t.Errorf("%s: %s %q: %v", f.file, name, values, err)
			}
		}
	}
}

// proxysOwn are headers that the proxy has the last word on.
func proxysOwn(local bool) []string {
	if local {
		return []string{":status", "content-length", "content-type", "grpc-status", "grpc-message"}
	}
	return []string{":status"}
}

func isGRPC(r scenario.Request) bool {
	for _, h := range r.Headers {
		if h[0] == "content-type" {
			rest, ok := strings.CutPrefix(h[1], "application/grpc")
			return ok && (rest == "" || rest[0] == '+')
		}
	}
	return false
}

// clientRequest is a request exactly as the client has it.
func clientRequest(r scenario.Request, up scenario.Upstream) wasmhost.Request {
	headers := append([][2]string{{":method", r.Method}, {":path", r.Path}, {":authority", r.Host}}, r.Headers...)
	properties := map[string][]byte{"source.address": []byte(r.Client)}
	for path, value := range r.Properties {
		properties[path] = []byte(value)
	}
	return wasmhost.Request{Headers: headers, Properties: properties, Upstream: wasmhost.Upstream{Status: up.Status, Headers: up.Headers}}
}

// fuzzProperties are what a request of FuzzRequest may know besides its
// headers.
var fuzzProperties = []string{
	"xds.route_name", "connection.id",
	"connection.uri_san_peer_certificate", "connection.dns_san_peer_certificate", "connection.subject_peer_certificate",
	"metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub",
	"metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.org.id",
	"metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.tenant",
	"metadata.filter_metadata.envoy.filters.http.jwt_authn.jwt.realm.id",
}
