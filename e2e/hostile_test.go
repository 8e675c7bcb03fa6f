package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

// What hostile requests grow to: Envoy's default for all headers of a request
// together, less the rest of the request, and nearly the most it can be set to.
const (
	usualSize   = 60_000
	greatestKiB = 8192
	greatSize   = 8_000_000
)

// hostile are requests that grow with n, where a parser that goes back, copies
// what is left, or remembers what it has seen would take n² or worse.
var hostile = []struct {
	name   string
	regex  bool // asks an expression, whose cost is a product: not to be great
	header string
	path   string
	value  func(n int) string // of the header, or of what follows the path
}{
	{"long key", false, "x-user-id", "/", repeat("k")},
	{"invalid UTF-8", false, "x-user-id", "/", repeat("\xff\xc3\x28\xf0")},
	{"cookies", false, "cookie", "/", func(n int) string { return repeat("sie=; ")(n) + "sid=s" }},
	{"cookies without a value", false, "cookie", "/", repeat(`sid ; ,sid" `)},
	{"one cookie of equals signs", false, "cookie", "/", func(n int) string { return "sid" + repeat("=")(n) }},
	{"blanks before a token", false, "authorization", "/", func(n int) string { return "Bearer" + repeat(" ")(n) + "t" }},
	{"digits of a cost", false, "x-cost", "/", repeat("9")},
	{"ampersands", false, "", "/?", func(n int) string { return repeat("&")(n) + "q=v" }},
	{"escapes in a query", false, "", "/?", repeat("%71%zz=%71&")},
	{"escapes in a value", false, "", "/?q=", repeat("%26+%ff")},
	{"dot segments to the root", false, "", "/", repeat("../")},
	{"dot segments up and down", false, "", "/", repeat("a/%2e%2E/")},
	{"dot segments at the end", false, "", "/", func(n int) string { return repeat("a/")(n/2) + repeat("../")(n/2) }},
	{"segments before slashes", false, "", "/", func(n int) string { return repeat("a/")(n/2) + repeat("/")(n/2) }}, // was quadratic
	{"slashes", false, "", "/", repeat("/")},
	{"escaped percent signs", false, "", "/", repeat("%25%2525%2%")},
	{"escaped NULs and slashes", false, "", "/", repeat("%00%2f%5c/")},
	{"nested repeats", true, "", "/", repeat("a")},
	{"alternatives", true, "x-a", "/", repeat("a")},
	{"repeats", true, "x-b", "/", repeat("x")},
}

// repeat fills n bytes with a text.
func repeat(text string) func(int) string {
	return func(n int) string { return strings.Repeat(text, n/len(text)) }
}

// hostileRequest is the request of a row, of about n bytes.
func hostileRequest(row, n int) scenario.Request {
	h := hostile[row]
	r := scenario.Request{Method: "GET", Path: h.path, Host: "weir.test", Client: "192.0.2.1", Headers: [][2]string{{"x-api-key", "k"}}}
	if h.header == "" {
		r.Path += h.value(n)
		return r
	}
	r.Headers = append(r.Headers, [2]string{h.header, h.value(n)})
	return r
}

// TestHostileRequests: the module decides them as the core does, calls its host
// as often as for short ones, and takes no more memory than a bound. What each costs is logged; with a parser that is not linear the great ones
// would not come to an end.
func TestHostileRequests(t *testing.T) {
	w := newTwins(t)
	defer w.close()
	w.most = 256 << 20
	for row, h := range hostile {
		sizes := []int{600, usualSize, 8 * usualSize}
		if h.regex {
			sizes = sizes[:2]
		}
		calls := 0
		for _, size := range sizes {
			began := time.Now()
			if n := w.hostile(t, row, size); calls != 0 && n != calls {
				t.Errorf("%s: %d calls of the host for %d bytes, %d for 600", h.name, n, size, calls)
			} else {
				calls = n
			}
			t.Logf("%s, %d bytes: %v by the module and the core, %d calls of the host", h.name, size, time.Since(began), calls)
		}
	}
}

// TestHostileRequestsLeaveNoMemory: after one round of them the module has all
// the memory that it will have after seven.
func TestHostileRequestsLeaveNoMemory(t *testing.T) {
	w := newTwins(t)
	defer w.close()
	var after []uint32
	for range 7 {
		for row := range hostile {
			if !hostile[row].regex {
				w.hostile(t, row, usualSize)
			}
		}
		after = append(after, w.vm.MemoryBytes())
	}
	t.Logf("%d bytes of memory after each round", after)
	if after[6] > after[0]+4<<20 { // a third of what the rounds have sent
		t.Errorf("%d bytes of memory after the first round, %d after the last", after[0], after[6])
	}
}

// hostile sends a row of hostile to the two configurations that ask for
// everything, and returns the number of calls of the host.
func (w *twins) hostile(t *testing.T, row, size int) (calls int) {
	t.Helper()
	for _, f := range w.filters[:2] {
		w.reset(t, f)
		w.do(t, f, time.Hour, hostileRequest(row, size), scenario.Upstream{Status: 200})
		calls += w.calls
	}
	return calls
}

// TestOddRequestsInEnvoy sends requests as no client library would. Envoy
// answers 400 itself to what is no HTTP; everything else Weir must decide.
func TestOddRequestsInEnvoy(t *testing.T) {
	envoy := hostileEnvoy(t)
	many := func(n int, name, value string) (headers [][2]string) {
		for range n {
			headers = append(headers, [2]string{name, value})
		}
		return headers
	}
	for _, c := range []struct {
		name    string
		path    string
		headers [][2]string
		refused bool // by Envoy
	}{
		{"NUL in a path", "/a\x00b", nil, true},
		{"NUL in a header", "/", [][2]string{{"x-user-id", "a\x00b"}}, true},
		{"escaped NUL", "/a%00b?q=%00", nil, false},
		{"bytes above ASCII in a path", "/\xff\xc3\x28", nil, true},
		{"bytes above ASCII in headers", "/", [][2]string{{"x-user-id", "\xff\xc3\x28"}, {"cookie", "sid=\x80"}, {"authorization", "Bearer \xfe"}}, false},
		{"empty headers", "/", [][2]string{{"x-user-id", ""}, {"cookie", ""}, {"authorization", ""}, {"x-cost", ""}, {"x-a", ""}}, false},
		{"no path", "?q=v", nil, true},
		{"dots and slashes", "//..//./%2e%2e/%2F..;/..", nil, false},
		{"cut escapes", "/%?q=%&%=%1&q", nil, false},
		{"many headers of one name", "/", many(9000, "x-user-id", "k"), false},
		{"many cookies", "/", many(9000, "cookie", "sid=s; a"), false},
		{"more headers than the proxy takes", "/", many(10_001, "x", ""), true},
	} {
		r := scenario.Request{Method: "GET", Path: c.path, Host: "weir.test", Client: "192.0.2.1", Headers: c.headers}
		envoy.answers(t, c.name, r, c.refused)
	}
	envoy.checkAllDecided(t)
}

// TestHostileRequestsInEnvoy sends the hostile requests to an Envoy that takes
// headers of any size that one can be set to take. None may fail, and Envoy
// must be well afterwards.
func TestHostileRequestsInEnvoy(t *testing.T) {
	envoy := hostileEnvoy(t)
	for row, h := range hostile {
		sizes := []int{600, usualSize, greatSize}
		if h.regex {
			sizes = sizes[:2]
		}
		for _, size := range sizes {
			before, err := envoy.process.CPU()
			if err != nil {
				t.Fatal(err)
			}
			envoy.answers(t, h.name, hostileRequest(row, size), false)
			after, err := envoy.process.CPU()
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d bytes: %v of CPU in two filters", h.name, size, after-before)
		}
	}
	envoy.checkAllDecided(t)
	rss, err := envoy.process.RSS()
	t.Logf("%d MB, %v", rss>>20, err)
}

// A hostileTarget is an Envoy with the configurations sources and matchers.
type hostileTarget struct {
	realEnvoy
	addrs   []string
	decided int64 // requests that came to sources
}

func hostileEnvoy(t *testing.T) *hostileTarget {
	t.Helper()
	var listeners []any
	names := []string{"sources", "matchers"}
	for _, name := range names {
		config, err := os.ReadFile("testdata/fuzz/configurations/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener(t, filter{name, string(config)}, answerDirectly, func(listener, manager object) {
			listener["per_connection_buffer_limit_bytes"] = 32 << 20
			manager["max_request_headers_kb"] = greatestKiB
			manager["common_http_protocol_options"] = object{"max_headers_count": 10_000}
		}))
	}
	envoy := &hostileTarget{realEnvoy: realEnvoy{startEnvoy(t, assemble(t, listeners), 1)}}
	for _, name := range names {
		addr, err := envoy.process.Listener(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		envoy.addrs = append(envoy.addrs, addr)
	}
	return envoy
}

// answers sends a request to both listeners. What comes to Weir is admitted or
// refused by a rule, and says so; a failure has no such header.
func (e *hostileTarget) answers(t *testing.T, name string, r scenario.Request, byEnvoy bool) {
	t.Helper()
	for i, addr := range e.addrs {
		got, err := send(addr, r)
		switch {
		case err != nil:
			t.Fatalf("%s: %v", name, err)
		case byEnvoy && (got.Status == 400 || got.Status == 431):
			continue
		case byEnvoy || got.Status != 200 && got.Status != []int{429, 503}[i] || got.Status != 200 && got.Headers["ratelimit"] == nil:
			t.Errorf("%s: %.300v", name, fmt.Sprint(got))
		}
		if i == 0 {
			e.decided++
		}
	}
}

// checkAllDecided: each request was counted by the rule that all match, and
// none was an error.
func (e *hostileTarget) checkAllDecided(t *testing.T) {
	t.Helper()
	checkStats(t, e.process, map[string]int64{
		"wasmcustom.weir.rule.sources.trial.allowed":        1,
		"wasmcustom.weir.rule.sources.trial.shadow_limited": e.decided - 1,
		"wasmcustom.weir.filter.sources.errors":             0,
		"wasmcustom.weir.filter.matchers.errors":            0,
	})
}
