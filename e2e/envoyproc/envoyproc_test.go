package envoyproc_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// hello is a bootstrap with one listener that answers by itself. Its admin port
// cannot be bound, which shows that Start replaces it.
const hello = `
admin:
  address: {socket_address: {address: 192.0.2.1, port_value: 9901}}
static_resources:
  listeners:
  - name: ingress
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: hello
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
              - match: {prefix: "/"}
                direct_response: {status: 200, body: {inline_string: hello}}
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
          access_log:
          - name: envoy.access_loggers.stdout
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog
              log_format: {text_format_source: {inline_string: "asked for %REQ(:PATH)%\n"}}
`

func start(t *testing.T, o envoyproc.Options) *envoyproc.Process {
	t.Helper()
	p, err := envoyproc.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(p.Log())
		}
	})
	return p
}

func listener(t *testing.T, p *envoyproc.Process) string {
	t.Helper()
	addr, err := p.Listener(t.Context(), "ingress")
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// get asks for a page on a connection of its own and expects hello's answer.
func get(t *testing.T, url string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK || string(body) != "hello" {
		t.Fatalf("GET %s: got %d %q, want 200 %q", url, resp.StatusCode, body, "hello")
	}
}

func TestProcessServes(t *testing.T) {
	p := start(t, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	addr := listener(t, p)
	for range 3 {
		get(t, "http://"+addr+"/")
	}

	const filter = `^http\.hello\.downstream_(rq_2xx|rq_4xx|rq_time)$`
	want := map[string]int64{
		"http.hello.downstream_rq_2xx": 3,
		"http.hello.downstream_rq_4xx": 0,
		// rq_time is a histogram.
	}
	var got map[string]int64
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var err error
		if got, err = p.Stats(t.Context(), filter); err != nil {
			t.Fatal(err)
		}
		if maps.Equal(got, want) {
			return
		}
	}
	t.Errorf("Stats(%q) = %v, want %v", filter, got, want)
}

func TestProcessErrors(t *testing.T) {
	p := start(t, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	_, err := p.Listener(t.Context(), "egress")
	wantError(t, err, `envoy has no listener "egress", only ["ingress"]`)
	_, err = p.Stats(t.Context(), "(")
	wantError(t, err, `400 Bad Request`)
}

func TestProcessUsage(t *testing.T) {
	p := start(t, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.PID()))
	if err != nil || filepath.Base(exe) != "envoy" {
		t.Errorf("PID() = %d is %q (%v), want an envoy", p.PID(), exe, err)
	}
	cpu, err := p.CPU()
	if err != nil || cpu <= 0 || cpu > time.Minute {
		t.Errorf("CPU() = %v, %v, want a little", cpu, err)
	}
	rss, err := p.RSS()
	if err != nil || rss < 10<<20 || rss > 1<<30 {
		t.Errorf("RSS() = %d, %v, want between 10 MiB and 1 GiB", rss, err)
	}
}

func TestProcessStop(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	p := start(t, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	addr := listener(t, p)
	get(t, "http://"+addr+"/the-last-page")

	for range 2 {
		if err := p.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Errorf("%s still accepts connections after Stop", addr)
	}
	if _, err := p.CPU(); err == nil {
		t.Error("CPU after Stop: got no error")
	}
	for _, want := range []string{"starting main dispatch loop", "asked for /the-last-page"} {
		if !strings.Contains(p.Log(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("temporary files after Stop: %v, %v", left, err)
	}
}

func TestProcessStopReportsCrash(t *testing.T) {
	p, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	child, err := os.FindProcess(p.PID())
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Kill(); err != nil {
		t.Fatal(err)
	}
	wantError(t, p.Stop(), fmt.Sprintf("stop envoy (pid %d): signal: killed", p.PID()))
}

func TestTwoProcesses(t *testing.T) {
	a := start(t, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	b := start(t, envoyproc.Options{Config: []byte(hello), Concurrency: 1})
	if a.PID() == b.PID() || a.Admin() == b.Admin() || listener(t, a) == listener(t, b) {
		t.Errorf("two Envoys share a pid or an address: %d %s %s", a.PID(), a.Admin(), listener(t, a))
	}
	get(t, "http://"+listener(t, a))
	get(t, "http://"+listener(t, b))
	if err := a.Stop(); err != nil {
		t.Fatal(err)
	}
	get(t, "http://"+listener(t, b))
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one with %q", err, want)
	}
}
