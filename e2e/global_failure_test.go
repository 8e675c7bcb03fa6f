package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/engine"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// fallbacks are what on_global_error may say, and what of ten requests of one key
// become where the engine has failed, with a shared limit of 6 for two proxies
// and a local one of 7.
var fallbacks = map[string]load.Tally{
	"local": {200: 3, 429: 7},
	"allow": {200: 7, 429: 3},
	"deny":  {503: 10},
}

// failingFilters are a filter for each policy, before one engine.
func failingFilters(cluster, timeout string) (filters []filter) {
	shared := `"global": {"limits": [{"requests": 6, "window": "1h"}]}`
	if cluster == "ratelimit" {
		shared = `"global": {}`
	}
	for policy := range fallbacks {
		filters = append(filters, filter{cluster + "-" + policy, `{
			"global": {` + strings.Replace(engineOf(cluster), `"10s"`, `"`+timeout+`"`, 1) + `},
			"on_global_error": "` + policy + `", "replicas": 2,
			"rules": [{"name": "one", "key": [{"header": "x-key"}], "limits": [{"requests": 14, "window": "1h"}], ` + shared + `}]}`})
	}
	return filters
}

// listen starts a server that does the same with every connection.
func listen(t *testing.T, serve func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

// garbage answers every request with the same, which is no answer of Redis.
func garbage(t *testing.T, status int, body string) (addr string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// TestGlobalFailures: an engine that hangs, refuses connections or answers
// nonsense. Each request gets what is declared, and each call is counted once,
// by its cause.
func TestGlobalFailures(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	failures := []struct{ name, addr, timeout, cause string }{
		{"hangs", listen(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }), "50ms", "timeout"},
		{"refuses", gone.Addr().String(), "10s", "unreachable"},
		{"hangs-up", listen(t, func(conn net.Conn) { _ = conn.Close() }), "10s", "unreachable"},
		{"noise", listen(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "\x00\xff noise\r\n\r\n"); _ = conn.Close() }), "10s", "rejected"}, // Envoy makes it a 502
		{"nonsense", garbage(t, 200, `{"EVALSHA":[1,2,"three"]}`), "10s", "malformed"},
		{"too-little", garbage(t, 200, `{"EVALSHA":[0,1,0]}`), "10s", "malformed"},
		{"broken", garbage(t, 500, "no"), "10s", "rejected"},
		{"overloaded", garbage(t, 503, "no"), "10s", "unreachable"},
	}
	var filters []filter
	var clusters []any
	for _, f := range failures {
		filters = append(filters, failingFilters(f.name, f.timeout)...)
		clusters = append(clusters, cluster(t, f.name, f.addr))
	}
	proxy := startProxies(t, 1, filters, clusters...)[0]
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			for policy, want := range fallbacks {
				name := f.name + "-" + policy
				wantTally(t, name, listenerOf(t, proxy, name), 10, requestOf("/", "x-key", "key"), want)
				prefix := "wasmcustom.weir.filter." + name + "."
				// What the local limit refuses makes no call.
				counters := map[string]int64{prefix + "lost": 0, prefix + "global_overflow": 0, prefix + "global_shielded": 0, prefix + "global_calls": 10}
				if policy == "allow" {
					counters[prefix+"global_calls"] = 7
				}
				for _, cause := range causes {
					counters[prefix+"global_"+cause] = 0
				}
				counters[prefix+"global_"+f.cause] = counters[prefix+"global_calls"]
				checkStats(t, proxy, counters)
			}
			idle(t, proxy, f.name)
		})
	}
}

// causes are what calls fail of.
var causes = []string{"timeout", "unreachable", "rejected", "malformed"}

// idle waits until no call to an engine is under way.
func idle(t *testing.T, proxy *envoyproc.Process, cluster string) {
	t.Helper()
	if _, err := proxy.Await(t.Context(), `^cluster\.`+cluster+`\.upstream_rq_(active|pending_active)$`, func(stats map[string]int64) bool {
		n := int64(0)
		for _, value := range stats {
			n += value
		}
		return len(stats) == 2 && n == 0
	}); err != nil {
		t.Error(err)
	}
}

// TestGlobalHangs: webdis stands still, and goes on: requests follow the policy,
// and then the engine again, by themselves.
func TestGlobalHangs(t *testing.T) {
	server := startRedis(t, 0)
	door := startWebdis(t, server)
	proxy := startProxies(t, 1, failingFilters("webdis", "200ms"), cluster(t, "webdis", door.Addr))[0]
	for policy, want := range fallbacks {
		t.Run(policy, func(t *testing.T) {
			addr := listenerOf(t, proxy, "webdis-"+policy)
			recovers(t, addr, policy+"before")
			signal(t, door.Process, syscall.SIGSTOP)
			wantTally(t, "while it hangs", addr, 10, requestOf("/", "x-key", policy), want)
			signal(t, door.Process, syscall.SIGCONT)
			recovers(t, addr, policy+"after")
			idle(t, proxy, "webdis")
		})
	}
}

// signal stops an engine or lets it go on. That is to happen in any case: one
// that is stopped obeys no SIGTERM.
func signal(t *testing.T, p *engine.Process, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.PID(), s); err != nil {
		t.Fatal(err)
	}
	if s == syscall.SIGSTOP {
		t.Cleanup(func() { _ = syscall.Kill(p.PID(), syscall.SIGCONT) })
	}
}

// recovers waits until the engine decides again: of a key that is new each time,
// 6 requests are admitted, where the policy would have it otherwise.
func recovers(t *testing.T, addr, key string) {
	t.Helper()
	var got load.Tally
	for attempt := range 100 {
		got = tally(drive(t, []lane{{addr, times(10, requestOf("/", "x-key", fmt.Sprint(key, attempt)))}}))
		if got[200] == 6 && got[429] == 4 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("answers by status %v: the engine does not decide", got)
}
