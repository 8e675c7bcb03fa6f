package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/load"
)

// TestGlobalWhoLeaves: in a real Envoy too, the answer is heard when the client has
// left. It gives back what he was charged of a limit that he shares, and a client
// whom the engine has refused is refused without a call.
func TestGlobalWhoLeaves(t *testing.T) {
	const leavers = 5
	var calls atomic.Int64
	answer := make(chan decided, 1)
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, reply(<-answer))
	}))
	t.Cleanup(door.Close)
	t.Cleanup(func() { close(answer) })
	f := filter{"leave", `{"global": {"redis": {"cluster": "door", "timeout": "60s"}}, "on_global_error": "deny", "rules": [
		{"name": "tenant", "key": [{"header": "x-tenant"}], "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "user", "key": [{"header": "x-user"}], "global": {"limits": [{"requests": 2, "window": "1h"}]}}]}`}
	proxy := startEnvoy(t, assemble(t, []any{listener(t, f, answerDirectly)}, cluster(t, "door", door.Listener.Addr().String())), 1)
	addr := listenerOf(t, proxy, "leave")
	for i := range leavers {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET / HTTP/1.1\r\nhost: weir.test\r\nx-tenant: acme\r\nx-user: %d\r\n\r\n", i)
		awaitCount(t, proxy, "wasmcustom.weir.filter.leave.global_calls", int64(i+1))
		_ = conn.Close()
		awaitCount(t, proxy, "http.leave.downstream_rq_active", 0)
		answer <- refuses
		awaitCount(t, proxy, "wasmcustom.weir.rule.leave.user.limited", int64(i+1))
	}
	for i := range leavers {
		wantTally(t, "who has left", addr, 1, requestOf("/", "x-tenant", "acme", "x-user", fmt.Sprint(i)), load.Tally{429: 1})
	}
	if n := calls.Load(); n != leavers {
		t.Errorf("%d calls for %d keys that are refused", n, leavers)
	}
	answer <- admits
	wantTally(t, "a colleague", addr, 1, requestOf("/", "x-tenant", "acme", "x-user", "alice"), load.Tally{200: 1})
}

// awaitCount waits until a metric of a proxy has a value.
func awaitCount(t *testing.T, proxy *envoyproc.Process, name string, value int64) {
	t.Helper()
	_, err := proxy.Await(t.Context(), "^"+regexp.QuoteMeta(name)+"$", func(stats map[string]int64) bool { return stats[name] == value })
	if err != nil {
		t.Fatal(err)
	}
}
