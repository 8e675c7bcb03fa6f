package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
)

// simulateJSON runs the command on a configuration and returns its report.
func simulateJSON(t *testing.T, config string, args ...string) (r report.Report, stderr string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "weir.json")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, err bytes.Buffer
	args = append([]string{"simulate", "-c", file, "--json", "-"}, args...)
	if status := run(args, nil, &out, &err); status != 0 {
		t.Fatalf("status %d: %s", status, err.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return r, err.String()
}

// TestSimulateWorstWindow lets a burst across the boundary of a window of the
// clock find out what each algorithm lets through: a limit of 50 in 10 s, 400
// requests within half a second.
func TestSimulateWorstWindow(t *testing.T) {
	r, stderr := simulateJSON(t, `{"rules":[{"name":"r","key":[{"header":"x-user-id"}],"limits":[{"requests":50,"window":"10s"}]}]}`,
		"--traffic", "burst,size=400,spread=500ms,start=9750ms,clients=2")
	if stderr != "" {
		t.Errorf("standard error: %s", stderr)
	}
	want := map[string]int64{
		"as configured": 50, "sliding_log": 50, "sliding_buckets": 50, "sliding_counter": 51,
		"token_bucket": 52, "leaky_bucket": 52, "fixed_window": 100,
	}
	if len(r.Runs) != len(want) || r.Input.Lines != 400 || r.Command != "simulate" {
		t.Errorf("%d runs of %d requests by %q", len(r.Runs), r.Input.Lines, r.Command)
	}
	for i, x := range r.Runs {
		worst := x.Rules[0].Limits[0].WorstWindow
		if worst != want[x.Name] || x.Requests != 400 {
			t.Errorf("%s: the worst window has %d units, want %d; %d requests", x.Name, worst, want[x.Name], x.Requests)
		}
		if algorithm := x.Rules[0].Limits[0].Algorithm; i > 0 && algorithm != x.Name {
			t.Errorf("%s runs %s", x.Name, algorithm)
		}
	}
	if from, to := r.Input.From.Format("15:04:05.000"), r.Input.To.Format("15:04:05.000"); from != "00:00:09.750" || to != "00:00:10.248" {
		t.Errorf("from %s to %s", from, to)
	}
}

// TestSimulateOpenLoop gives all runs the same requests, and the same report
// for the same seed.
func TestSimulateOpenLoop(t *testing.T) {
	const config = `{"rules":[{"name":"r","key":[{"client_ip":true}],"limits":[{"requests":5,"window":"1s"}]}]}`
	args := []string{"--traffic", "poisson,rate=200,clients=20,skew=1", "--for", "20s"}
	a, _ := simulateJSON(t, config, args...)
	for _, x := range a.Runs {
		if x.Requests != a.Input.Lines || x.Requests == 0 || x.Refused == 0 || x.Rules[0].Clients != 20 {
			t.Errorf("%s: %d requests of %d, %d refused, %d clients", x.Name, x.Requests, a.Input.Lines, x.Refused, x.Rules[0].Clients)
		}
	}
	counts := func(r report.Report) (list []int64) {
		for _, x := range r.Runs {
			list = append(list, x.Requests, x.Admitted, x.Refused, x.Rules[0].Limits[0].WorstWindow)
		}
		return list
	}
	b, _ := simulateJSON(t, config, args...)
	c, _ := simulateJSON(t, config, append(args, "--seed", "2")...)
	if !slices.Equal(counts(a), counts(b)) || slices.Equal(counts(a), counts(c)) {
		t.Errorf("counts: %v, with the same seed %v, with another %v", counts(a), counts(b), counts(c))
	}
}

// TestSimulateClosedLoop has a client obey: it meets a limit of 10 in 10 s, and
// then waits for what it was told. One that does not obey tries again and again.
func TestSimulateClosedLoop(t *testing.T) {
	const config = `{"rules":[{"name":"r","key":[{"client_ip":true}],"limits":[{"requests":10,"window":"10s"}]}]}`
	for obey, want := range map[string]int64{"true": 10, "false": 900} {
		r, _ := simulateJSON(t, config, "--traffic", "retry,rate=10,latency=1ms,obey="+obey, "--for", "100s", "--algorithms", "sliding_log")
		x := r.Runs[0]
		if x.Admitted != 100 || x.Refused != want {
			t.Errorf("obey=%s: %d admitted, %d refused", obey, x.Admitted, x.Refused)
		}
	}
}

// TestSimulateCharge settles charges by the responses: logins that fail.
func TestSimulateCharge(t *testing.T) {
	const config = `{"rules":[{"name":"r","key":[{"client_ip":true}],"limits":[{"requests":3,"window":"1h"}],
		"charge":{"when":"response","statuses":["401"]}}]}`
	for status, admitted := range map[string]int64{"401": 3, "200": 10} {
		r, _ := simulateJSON(t, config, "--traffic", "burst,size=10,spread=10s,status="+status, "--algorithms", "fixed_window")
		for _, x := range r.Runs {
			if x.Admitted != admitted || x.Rules[0].Limits[0].WorstWindow != 0 {
				t.Errorf("%s, status %s: %d admitted, want %d", x.Name, status, x.Admitted, admitted)
			}
		}
	}
}

// TestSimulateSecrets looks for a secret in the text, the JSON and the page.
func TestSimulateSecrets(t *testing.T) {
	file, page, data := filepath.Join(t.TempDir(), "weir.json"), filepath.Join(t.TempDir(), "x.html"), filepath.Join(t.TempDir(), "x.json")
	config := `{"rules":[{"name":"r","key":[{"bearer_token":true},{"cookie":"sid"},{"header":"x-api-key"}],"limits":[{"requests":1,"window":"1h"}]}]}`
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	status := run([]string{"simulate", "-c", file, "--json", data, "--html", page, "--traffic",
		"burst,size=9,path=/x?token=s3cret,header=authorization:Bearer s3cret,header=cookie:sid=s3cret,header=x-api-key:s3cret"}, nil, &out, &stderr)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	texts := []string{out.String(), stderr.String()}
	for _, name := range []string{page, data} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for i, text := range texts {
		if strings.Contains(text, "s3cret") {
			t.Errorf("text %d has the secret: %s", i, text)
		}
	}
	if !strings.Contains(texts[0], "88.9 %") || len(texts[2]) < 1000 || len(texts[3]) < 1000 {
		t.Errorf("the reports have %d, %d and %d bytes", len(texts[0]), len(texts[2]), len(texts[3]))
	}
}
