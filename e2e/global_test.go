package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// The engines of the tests. A cluster of Envoy is called as its engine.
const (
	webdisToken  = "weir:" + canary + "password"
	upstashToken = canary + "token"
	globalSecret = canary + "secret-of-all-proxies"
)

// engineOf is what a configuration says of its engine. A call has the time that
// a busy machine needs.
func engineOf(cluster string) string {
	const common = `"timeout": "10s", "secret": "` + globalSecret + `", "cluster": "`
	switch cluster {
	case "upstash":
		return `"redis": {` + common + `upstash", "dialect": "upstash", "token": "` + upstashToken + `"}`
	case "ratelimit":
		return `"rls": {` + common + `ratelimit", "domain": "weir"}`
	default:
		return `"redis": {` + common + cluster + `", "token": "` + webdisToken + `"}`
	}
}

// globalFilter is a filter whose rules ask an engine. If that fails the answer
// is 503, which no test of limits takes for one of a limit.
func globalFilter(cluster, rules string) filter {
	return filter{cluster, `{"global": {` + engineOf(cluster) + `}, "on_global_error": "deny", "rules": [` + rules + `]}`}
}

// startRedis starts a Redis server, on the port of one that was killed or on any.
func startRedis(t *testing.T, port int) *engine.Redis {
	t.Helper()
	r, err := engine.StartRedis(t.Context(), engine.RedisOptions{Port: port})
	stopAfter(t, r, err)
	return r
}

func startWebdis(t *testing.T, r *engine.Redis) *engine.Webdis {
	t.Helper()
	w, err := engine.StartWebdis(t.Context(), engine.WebdisOptions{Redis: r, Credentials: webdisToken})
	stopAfter(t, w, err)
	return w
}

func startUpstash(t *testing.T, r *engine.Redis) *engine.Upstash {
	t.Helper()
	u, err := engine.StartUpstash(r, upstashToken)
	stopAfter(t, u, err)
	return u
}

func startRatelimit(t *testing.T, r *engine.Redis, config string, port int) *engine.Ratelimit {
	t.Helper()
	s, err := engine.StartRatelimit(t.Context(), engine.RatelimitOptions{
		Executable: "../build/service_cmd", Redis: r, Config: []byte(config), Port: port,
	})
	stopAfter(t, s, err)
	return s
}

// stopAfter stops what was started, if it was, when the test is over.
func stopAfter(t *testing.T, started interface{ Stop() error }, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := started.Stop(); err != nil {
			t.Error(err)
		}
	})
}

// http2 lets a cluster speak HTTP/2.
func http2(cluster object) object {
	const kind = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
	cluster["typed_extension_protocol_options"] = object{kind: object{
		"@type":                "type.googleapis.com/" + kind,
		"explicit_http_config": object{"http2_protocol_options": object{}},
	}}
	return cluster
}

// startProxies starts so many Envoys of two workers with the same filters.
func startProxies(t *testing.T, n int, filters []filter, clusters ...any) []*envoyproc.Process {
	t.Helper()
	var listeners []any
	for _, f := range filters {
		listeners = append(listeners, listener(t, f, answerDirectly))
	}
	config := assemble(t, listeners, clusters...)
	proxies := make([]*envoyproc.Process, n)
	for i := range proxies {
		proxies[i] = startEnvoy(t, config, 2)
	}
	return proxies
}

// addresses are where the proxies serve a filter.
func addresses(t *testing.T, proxies []*envoyproc.Process, name string) (addrs []string) {
	t.Helper()
	for _, p := range proxies {
		addrs = append(addrs, listenerOf(t, p, name))
	}
	return addrs
}

// A lane is one connection to a proxy, with one request in flight on it, and
// what it sends, until that says no more.
type lane struct {
	addr string
	next load.Source
}

// drive sends what all lanes have, all at once, and returns the answers by their
// status. Every request is answered, or the test has failed.
func drive(t *testing.T, lanes []lane) map[int][]span {
	t.Helper()
	return driveSince(t, time.Now(), lanes)
}

// driveSince is drive with times since a start of the caller's.
func driveSince(t *testing.T, start time.Time, lanes []lane) map[int][]span {
	t.Helper()
	each := make([]map[int][]span, len(lanes))
	var wg sync.WaitGroup
	for i, l := range lanes {
		each[i] = map[int][]span{}
		wg.Go(func() {
			conn, err := load.Dial(l.addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			for r, more := l.next(i); more; r, more = l.next(i) {
				s := span{sent: time.Since(start)}
				status, err := conn.Do(r)
				s.answered = time.Since(start)
				if err != nil {
					t.Errorf("a request without an answer: %v", err)
					return
				}
				each[i][status] = append(each[i][status], s)
			}
		})
	}
	wg.Wait()
	all := map[int][]span{}
	for _, answers := range each {
		for status, spans := range answers {
			all[status] = append(all[status], spans...)
		}
	}
	return all
}

// requestOf is a request to a path, with the values of x-key, x-user and so on.
func requestOf(path string, headers ...string) load.Request {
	r := load.Request{Path: path}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Headers = append(r.Headers, [2]string{headers[i], headers[i+1]})
	}
	return r
}

// times sends the same request so many times.
func times(n int, r load.Request) load.Source {
	return func(int) (load.Request, bool) {
		n--
		return r, n >= 0
	}
}

// lasting sends the same request for some time, with a pause after each that
// leaves the machine to others.
func lasting(d time.Duration, r load.Request) load.Source {
	start := time.Now()
	return func(int) (load.Request, bool) {
		time.Sleep(500 * time.Microsecond)
		return r, time.Since(start) < d
	}
}

// tally counts answers by their status.
func tally(answers map[int][]span) load.Tally {
	t := load.Tally{}
	for status, spans := range answers {
		t[status] += int64(len(spans))
	}
	return t
}

// wantTally checks the answers of requests one after the other.
func wantTally(t *testing.T, what, addr string, n int, r load.Request, want load.Tally) {
	t.Helper()
	if got := tally(drive(t, []lane{{addr, times(n, r)}})); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: answers by status %v, want %v", what, got, want)
	}
}

// checkShared holds the answers of all proxies to one limit: no window has more,
// nobody was refused while there was room, and of one window all is used.
func checkShared(t *testing.T, answers map[int][]span, b bound) {
	t.Helper()
	admitted, refused := answers[200], answers[429]
	checkBound(t, admitted, b)
	if n := needless(admitted, refused, []bound{b}); n > 0 {
		t.Errorf("%d of %d refusals came while there was room", n, len(refused))
	}
	var all []span
	for status, spans := range answers {
		if all = append(all, spans...); status != 200 && status != 429 {
			t.Errorf("%d answers have status %d", len(spans), status)
		}
	}
	if from, to := ends(all); to-from < b.window && len(admitted) != b.limit {
		t.Errorf("%d admitted within a window, want %d", len(admitted), b.limit)
	}
	t.Logf("%v", tally(answers))
}
