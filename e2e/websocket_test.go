package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
)

// TestWebSocket is B65, over HTTP/1.1 and over the extended CONNECT of HTTP/2:
// an upgrade is a request like any other and its frames are none; over the limit
// it is refused before the protocol changes, and the 101 is left as it is.
func TestWebSocket(t *testing.T) {
	const configuration = `{"headers": ["retry-after", "ratelimit"], "rules": [{"name": "upgrades", "key": [], "limits": [{"requests": 2, "window": "1h"}]}], "namespace": %q}`
	direct := listener(t, filter{"HTTP/1.1", fmt.Sprintf(configuration, "one")}, allowUpgrades)
	// One listener passes everything on over HTTP/2, to another that has Weir.
	socket := object{"pipe": object{"path": filepath.Join(t.TempDir(), "socket")}}
	front := listener(t, filter{"HTTP/2", ""}, allowUpgrades, func(_, manager object) {
		manager["http_filters"] = manager["http_filters"].([]any)[1:]
		manager["route_config"] = routes(object{"match": object{"prefix": "/"}, "route": object{"cluster": "behind"}})
	})
	behind := listener(t, filter{"behind", fmt.Sprintf(configuration, "two")}, allowUpgrades, func(listener, manager object) {
		listener["address"] = socket
		manager["http2_protocol_options"] = object{"allow_connect": true}
	})
	envoy := startEnvoy(t, assemble(t, []any{direct, front, behind},
		cluster(t, "upstream", startEcho(t)), overHTTP2(clusterAt("behind", socket))), 2)
	for _, name := range []string{"HTTP/1.1", "HTTP/2"} {
		t.Run(name, func(t *testing.T) {
			addr := listenerOf(t, envoy, name)
			for range 2 {
				got, stream := upgrade(t, addr)
				// What our filter would replace is the upstream's, and alone.
				if limit := got.Header["Ratelimit"]; got.StatusCode != 101 || len(limit) != 1 || limit[0] != "theirs" || got.Header["Ratelimit-Policy"] != nil {
					t.Fatalf("%s %v, want a bare 101", got.Status, got.Header)
				}
				echo(t, stream, 1000)
			}
			got, _ := upgrade(t, addr)
			body, err := io.ReadAll(got.Body)
			if got.StatusCode != 429 || !scenario.Near(got.Header.Get("Retry-After"), "3600", slow) || !scenario.Near(got.Header.Get("RateLimit"), `"upgrades";r=0;t=3600`, slow) || string(body) != "local_rate_limited" || err != nil {
				t.Errorf("refused: %s %v %q, %v", got.Status, got.Header, body, err)
			}
		})
	}
	const overHTTP2 = "http.behind.downstream_cx_http2_total"
	if stats, err := envoy.Stats(t.Context(), overHTTP2); err != nil || stats[overHTTP2] == 0 {
		t.Errorf("no connection over HTTP/2: %v, %v", stats, err)
	}
}

// upgrade asks for a WebSocket on a connection of its own.
func upgrade(t *testing.T, addr string) (*http.Response, io.ReadWriter) {
	t.Helper()
	conn, err := write(addr, "GET /chat HTTP/1.1\r\nHost: weir.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	reader := bufio.NewReader(conn)
	got, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got, struct {
		io.Reader
		io.Writer
	}{reader, conn}
}

// echo sends so many frames, and expects them back: a proxy does not look into
// them, and so anything will do.
func echo(t *testing.T, stream io.ReadWriter, frames int) {
	t.Helper()
	for i := range frames {
		frame := fmt.Sprintf("frame %4d", i)
		if _, err := io.WriteString(stream, frame); err != nil {
			t.Fatal(err)
		}
		back := make([]byte, len(frame))
		if _, err := io.ReadFull(stream, back); err != nil || string(back) != frame {
			t.Fatalf("got %q, %v, want %q", back, err, frame)
		}
	}
}

// startEcho starts a service that accepts every upgrade and sends back what
// comes.
func startEcho(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, stream, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = conn.Close() }()
		if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nRateLimit: theirs\r\n\r\n"); err == nil {
			_, _ = io.Copy(conn, stream)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func allowUpgrades(_, manager object) {
	manager["upgrade_configs"] = []any{object{"upgrade_type": "websocket"}}
}
