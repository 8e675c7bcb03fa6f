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

// FuzzRequest lets a client send what it likes, as often and whenever it likes,
// to every configuration there is: the built module must decide as the core
// does, and keep the promises of [twins.do]. Headers, properties and the
// upstream's headers come as lines, "name: value"; of every step the low five
// bits say how far the clock goes, bit 6 that it steps back, bit 7 that the
// sweep has its turn, and bit 5 that another client is served in between.
func FuzzRequest(f *testing.F) {
	for _, s := range requestSeeds {
		for which := range uint8(configurations) {
			f.Add(which, s.method, s.path, s.host, s.client, s.headers, s.properties, uint16(s.status), s.answer, []byte(s.steps))
		}
	}
	w := newTwins(f) // now: an input has ten seconds
	f.Cleanup(func() {
		if w != nil {
			w.close()
		}
	})
	f.Fuzz(func(t *testing.T, which uint8, method, path, host, client, headers, properties string, status uint16, answer string, steps []byte) {
		if w == nil { // the last input broke them
			w = newTwins(t)
		}
		defer func() {
			if t.Failed() {
				w.close()
				w = nil
			}
		}()
		r := scenario.Request{Method: method, Path: path, Host: host, Client: client, Headers: headerLines(headers), Properties: map[string]string{}}
		for _, p := range lines(properties) {
			if slices.Contains(fuzzProperties, p[0]) {
				r.Properties[p[0]] = p[1]
			}
		}
		up := scenario.Upstream{Status: 200 + int(status)%400, Headers: headerLines(answer)}
		filter := w.filters[int(which)%len(w.filters)]
		w.reset(t, filter)
		at := 24 * time.Hour
		for _, step := range steps[:min(len(steps), 8)] {
			far := time.Microsecond << (step & 31)
			if step&64 != 0 {
				far = -far
			}
			at += far
			if step&128 != 0 {
				w.tick(t, filter, at)
			}
			if step&32 != 0 {
				w.do(t, filter, at, scenario.Request{Method: "GET", Path: "/api/other", Host: "other.test", Headers: [][2]string{{"x-user-id", "other"}}}, scenario.Upstream{Status: 401})
			}
			w.do(t, filter, at, r, up)
		}
	})
}

// lines reads "name: value" from each line.
func lines(text string) (pairs [][2]string) {
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			pairs = append(pairs, [2]string{name, strings.TrimPrefix(value, " ")})
		}
	}
	return pairs
}

// headerLines are lines whose names are those of headers: in lower case, as a
// proxy passes them, and none of its own pseudo headers.
func headerLines(text string) (headers [][2]string) {
	for _, p := range lines(text) {
		if name := strings.ToLower(p[0]); name != "" {
			headers = append(headers, [2]string{name, p[1]})
		}
	}
	return headers
}

// requestSeeds are where FuzzRequest begins; in each, a request comes often
// enough to be refused.
var requestSeeds = []struct {
	method, path, host, client, headers, properties string
	status                                          int
	answer, steps                                   string
}{
	{"GET", "/", "weir.test", "", "", "", 0, "", "\x00\x00\x00\x00\x14\x1f"},
	{"POST", "/api/x?q=%41+b&q=c", "API.weir.test:8080", "192.0.2.1:4711", "x-user-id: alice\ncookie: a=b; sid=\"s\"\nx-cost: 2\nx-api-key: k", "", 1, "retry-after: 9\nratelimit: x", "\x00\x20\x00\x00\x94\x00\x5f"},
	{"POST", "/login", "weir.test", "[2001:db9::1]:1", "authorization: Bearer t", "", 201, "x-units: 4", "\x00\x00\x00\x00\x00\x9f"},
	{"HEAD", "//a/./%2f%7eb", "WEIR.test.", "", "x-a: aaaaaaaac\nx-b: y\nx-b: xxxxy\nx-c: c\nx-d: d\nx-e: e\nx-g: g", "", 300, "", "\x00\x00\x00\x31\x00"},
	{"OPTIONS", "/aaaab", "cdn.weir.test", "@/tmp/socket", "origin: o\naccess-control-request-method: GET", "", 0, "", "\x00\x00\x40\x80"},
	{"GET", "/generate/.js", "cdn.weir.test", "", "authorization: bearer  \xff\nx-cost: 99999999999999999999\ncontent-type: application/grpc", "metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub: \x00\x00\x00\x00\x00\x00\x5e\x40\nmetadata.filter_metadata.envoy.filters.http.jwt_authn.payload.org.id: \x01", 0, "x-tokens-used: 999", "\x00\x00\x00\x00\x13\x13\x13"},
	{"GET", "/7", "", "10.0.0.1:1", "x-user-id: mallory", "connection.uri_san_peer_certificate: spiffe://a\nxds.route_name: r\nconnection.id: \x07\x00\x00\x00\x00\x00\x00\x00", 333, "x-units: -1", "\x00\x00\x00\x00"},
	{"GET", strings.Repeat("/a/..%2", 200) + "?" + strings.Repeat("q=%zz&", 200), "h", "fe80::1%eth0", "cookie: " + strings.Repeat("sid;,", 200) + "sid=" + strings.Repeat("v", 5000), "", 0, "x: y", "\x00\x00\x00"},
}
