package e2e

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestGlobalBodies sends uploads, whose bodies come while the engine is asked:
// nothing of a request goes on before it is admitted, and then all of it does.
func TestGlobalBodies(t *testing.T) {
	const size = 3 << 20 // more than Envoy buffers
	var begun, whole atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		if n, err := io.Copy(io.Discard, r.Body); n == size && err == nil {
			whole.Add(1)
		}
	}))
	t.Cleanup(upstream.Close)
	webdis := startWebdis(t, startRedis(t, 0))
	limit := globalFilter("webdis", `{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 2, "window": "1h"}]}}`)
	envoy := startEnvoy(t, assemble(t, []any{listener(t, limit)},
		cluster(t, "upstream", strings.TrimPrefix(upstream.URL, "http://")), cluster(t, "webdis", webdis.Addr)), 1)
	addr := listenerOf(t, envoy, "webdis")
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(h2.CloseIdleConnections)
	upload := func(over http.RoundTripper, key string) int {
		r, err := http.NewRequest("POST", "http://"+addr+"/", bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Error(err)
			return 0
		}
		r.Header.Set("x-k", key)
		got, err := over.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		_, _ = io.Copy(io.Discard, got.Body)
		_ = got.Body.Close()
		return got.StatusCode
	}
	for protocol, over := range map[string]http.RoundTripper{"HTTP/1.1": http.DefaultTransport, "HTTP/2": h2} {
		before, key := whole.Load(), protocol
		signal(t, webdis.Process, syscall.SIGSTOP)
		first := make(chan int)
		go func() { first <- upload(over, key) }()
		time.Sleep(300 * time.Millisecond) // in which nothing may happen
		if n := begun.Load() - before; n != 0 {
			t.Errorf("%s: the upstream has begun on %d requests that nobody has admitted", protocol, n)
		}
		signal(t, webdis.Process, syscall.SIGCONT)
		for i, got := range []int{<-first, upload(over, key), upload(over, key)} {
			if want := []int{200, 200, 429}[i]; got != want {
				t.Errorf("%s: upload %d has status %d, want %d", protocol, i, got, want)
			}
		}
		if n := whole.Load() - before; n != 2 || begun.Load() != whole.Load() {
			t.Errorf("%s: %d uploads came through whole, of %d begun", protocol, n, begun.Load())
		}
	}
}
