package e2e

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/scenario"
)

// TestMetrics is B70, in the file that users copy: what Prometheus reads from
// Envoy adds up, has rules as labels and nothing of the clients.
func TestMetrics(t *testing.T) {
	envoy, addr := startUserEnvoy(t, map[string]string{
		`"requests": 3,`:  `"requests": 10,`,
		`"window": "10s"`: `"window": "10m"`,
		`"rules": [`: `"rules": [` +
			`{"name": "on-trial", "match": {"path": {"prefix": "/trial"}}, "key": [], "shadow": true, "limits": [{"requests": 2, "window": "1h"}]}, ` +
			`{"name": "needs-key", "match": {"path": {"prefix": "/key"}}, "key": [{"header": "x-api-key"}], "on_missing_key": "reject", "limits": [{"requests": 9, "window": "1h"}]},`,
	})
	const secret = "s3cr3t"
	for _, requests := range []struct {
		path         string
		sent, passed int
	}{{"/api/", 30, 10}, {"/trial/", 5, 5}, {"/key/", 4, 0}} {
		passed := 0
		for range requests.sent {
			got, err := send(addr, scenario.Request{Method: "GET", Path: requests.path + secret + "?q=" + secret, Host: secret + ".test",
				Headers: [][2]string{{"x-user-id", secret}, {"cookie", "sid=" + secret}, {"authorization", "Bearer " + secret}}})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != 429 {
				passed++
			}
		}
		if passed != requests.passed {
			t.Errorf("%s: %d of %d passed, want %d", requests.path, passed, requests.sent, requests.passed)
		}
	}
	counters := func(rule string, values map[string]int) (lines []string) {
		for _, outcome := range []string{"allowed", "limited", "shadow_limited", "missing_key", "errors", "full", "evicted", "charged"} {
			lines = append(lines, fmt.Sprintf("weir_rule_%s{weir_namespace=\"weir\",weir_rule=%q} %d\n", outcome, rule, values[outcome]))
		}
		return lines
	}
	want := counters("per-user", map[string]int{"allowed": 10, "limited": 20}) // and so 30
	want = append(want, counters("on-trial", map[string]int{"allowed": 2, "shadow_limited": 3})...)
	want = append(want, counters("needs-key", map[string]int{"missing_key": 4})...)
	for _, what := range []string{"errors", "conflicts", "corrupt", "lost"} {
		want = append(want, "weir_filter_"+what+"{weir_namespace=\"weir\"} 0\n")
	}
	checkPrometheus(t, envoy, want)
	for _, page := range []string{"/stats", "/stats/prometheus"} {
		if strings.Contains(admin(t, envoy, page), secret) {
			t.Errorf("%s has what a client sent", page)
		}
	}
}

// checkPrometheus waits for the lines, as the workers merge their counters.
func checkPrometheus(t *testing.T, envoy *envoyproc.Process, want []string) {
	t.Helper()
	var text string
	var absent []string
	for range 50 {
		text, absent = admin(t, envoy, "/stats/prometheus"), nil
		for _, line := range want {
			if !strings.Contains(text, "\n"+line) {
				absent = append(absent, line)
			}
		}
		if absent == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "weir_") {
			t.Log(line)
		}
	}
	t.Errorf("absent: %q", absent)
}

// admin returns a page of the admin interface.
func admin(t *testing.T, envoy *envoyproc.Process, page string) string {
	t.Helper()
	got, err := http.Get("http://" + envoy.Admin() + page)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = got.Body.Close() }()
	body, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != 200 {
		t.Fatalf("%s: %s, %v", page, got.Status, err)
	}
	return string(body)
}
