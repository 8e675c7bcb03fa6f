package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/load"
	"github.com/weirproxy/weir/e2e/scenario"
)

// TestTrapsUnderOtherPolicies: a VM that is not loaded anew is gone for good,
// and the policy says what that means for everybody whom its worker serves. The
// request that it died on fails in any case.
func TestTrapsUnderOtherPolicies(t *testing.T) {
	envoy := trapEnvoy(t, startUpstream(t), twoAnHour, 1, "FAIL_OPEN", "FAIL_CLOSED")
	for policy, after := range map[string]int{"FAIL_OPEN": 200, "FAIL_CLOSED": 503} {
		addr := listenerOf(t, envoy, policy)
		for i, want := range []int{200, 200, 429} {
			checkStatus(t, addr, "key", "", i, want)
		}
		checkStatus(t, addr, policy, "onRequestHeaders-panic", 0, 503)
		for i := range 5 { // of a key at its limit
			checkStatus(t, addr, "key", "", i, after)
		}
		checkStatus(t, addr, "new", "", 0, after)
	}
	if err := envoy.Stop(); err != nil { // which makes Envoy write all of its log
		t.Fatal(err)
	}
	for _, want := range []string{
		"FAIL_OPEN 503 - wasm_fail_stream", "new 200 - via_upstream",
		"FAIL_CLOSED 503 - wasm_fail_stream", "new 503 - wasm_fail_stream",
	} {
		if !strings.Contains(envoy.Log(), "\n"+want+"\n") {
			t.Errorf("not in the access log: %q", want)
		}
	}
}

// TestTrapWhileOthersAreUnderWay: requests that wait for the upstream on the
// worker whose VM dies fail, whatever the policy. They have been charged.
func TestTrapWhileOthersAreUnderWay(t *testing.T) {
	arrived, release := make(chan bool), make(chan bool)
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		arrived <- true
		<-release
	}))
	t.Cleanup(upstream.Close)
	policies := []string{"FAIL_RELOAD", "FAIL_OPEN", "FAIL_CLOSED"}
	envoy := trapEnvoy(t, strings.TrimPrefix(upstream.URL, "http://"), twoAnHour, 1, policies...)
	for _, policy := range policies {
		addr := listenerOf(t, envoy, policy)
		answer := make(chan int)
		go func() {
			got, err := send(addr, scenario.Request{Method: "GET", Path: "/", Host: "weir.test", Headers: [][2]string{{"x-key", "waits"}}})
			if err != nil {
				t.Errorf("%s: %v", policy, err)
			}
			answer <- got.Status
		}()
		var got int
		select {
		case <-arrived:
			checkStatus(t, addr, "other", "onRequestHeaders-panic", 0, 503)
			release <- true
			got = <-answer
		case got = <-answer: // without the upstream's help
		}
		if got != 503 { // FAIL_OPEN is for those who come after
			t.Errorf("%s: status %d, want 503", policy, got)
		}
	}
}

// TestTrapOfOneWorker: the other workers go on, each with a VM of its own.
func TestTrapOfOneWorker(t *testing.T) {
	envoy := trapEnvoy(t, startUpstream(t), twoAnHour, 2, "FAIL_CLOSED")
	addr := listenerOf(t, envoy, "FAIL_CLOSED")
	var conns []*load.Conn // the kernel spreads them over the workers
	for range 32 {
		conn, err := load.Dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		conns = append(conns, conn)
	}
	do := func(conn int, key, trap string) int {
		status, err := conns[conn].Do(keyTrap(key, trap))
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	for i, want := range []int{200, 200, 429} {
		if status := do(i, "key", ""); status != want {
			t.Errorf("request %d: status %d, want %d", i, status, want)
		}
	}
	if status := do(0, "own", "onRequestHeaders-panic"); status != 503 {
		t.Errorf("the trap: status %d", status)
	}
	count := map[int]int{}
	for i := range conns {
		status := do(i, "key", "")
		if again := do(i, "key", ""); again != status || i == 0 && status != 503 {
			t.Errorf("connection %d: status %d, then %d", i, status, again)
		}
		count[status]++
	}
	if count[503] == 0 || count[429] == 0 || count[503]+count[429] != len(conns) {
		t.Errorf("connections by status: %v, want 503 on one worker and 429 on the other", count)
	}
}

// TestTrapsKeepTheLimit: both workers die again and again while a key is
// flooded. It gets its limit in all and not one more, and not one less, since
// Envoy answers at once and no request of the key is under way in a VM that dies.
func TestTrapsKeepTheLimit(t *testing.T) {
	const limit, connections, requests, aTrap = 100, 16, 4000, 200
	configuration := fmt.Sprintf(`{"rules": [{"name": "r", "key": [{"header": "x-key"}], "limits": [{"requests": %d, "window": "1h"}]}], "on_error": "deny"}`, limit)
	envoy := trapEnvoy(t, "", configuration, 2, "FAIL_RELOAD")
	addr := listenerOf(t, envoy, "FAIL_RELOAD")
	var sent atomic.Int64
	tally, err := load.Flood(t.Context(), addr, connections, 1, func(int) (load.Request, bool) {
		n := sent.Add(1)
		if n%aTrap == 10 {
			return keyTrap("other", "onRequestHeaders-panic"), true
		}
		return keyTrap("key", ""), n <= requests
	})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for status := 0; status != 429 && time.Now().Before(deadline); { // the flood may be over before a VM is back
		status = ask(t, addr, "key", "")
		tally[status]++
	}
	if tally[200] != limit || tally.Total() != tally[200]+tally[429]+tally[503] || tally[503] < requests/aTrap {
		t.Errorf("answers %v, want 200 %d times, and else 429 and 503", tally, limit)
	}
	t.Logf("answers %v", tally)
}

// keyTrap is what ask sends, for a connection.
func keyTrap(key, trap string) load.Request {
	r := load.Request{Path: "/", Headers: [][2]string{{"x-key", key}}}
	if trap != "" {
		r.Headers = append(r.Headers, [2]string{"x-trap", trap})
	}
	return r
}
