package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

// recorded is what the recorded run is limited by: a window, a bucket that
// hardly refills in the time, and failures, which are charged when the response
// comes. A request that one of them refuses is charged to none.
const recorded = `{"rules": [
	{"name": "window", "key": [{"client_ip": true}], "limits": [{"requests": 6, "window": "1700ms"}]},
	{"name": "bucket", "key": [{"path": true}, {"method": true}], "limits": [{"requests": 4, "window": "1h", "algorithm": "token_bucket", "burst": 9}]},
	{"name": "failures", "key": [{"client_ip": true}, {"constant": "failures"}], "charge": {"when": "response", "statuses": ["401"]},
	 "limits": [{"requests": 2, "window": "1700ms"}]}]}`

// recordedFormats are the access logs of the run. "" is Envoy's own format.
var recordedFormats = []struct{ name, text, flag string }{
	{"default", "", ""},
	{"text", "%START_TIME(%Y-%m-%dT%H:%M:%S.%6fZ)% %REQ(:METHOD)% %REQ(:PATH)% %REQ(X-FORWARDED-FOR)% %DURATION% %RESPONSE_CODE% %FILTER_STATE(wasm.weir.rule:PLAIN)%\n", "--format"},
	{"json", "json", ""},
}

// TestReplayDecidesAsTheProxy plays a run that a real Envoy has recorded, and
// holds every line of its access log to what the proxy answered: the same
// verdict, and by the same rule.
//
// A log tells when a request began, to the millisecond, and the proxy decides a
// little later. So each client sends one request at a time, and none within 200
// milliseconds of the end of a window that an earlier one began.
func TestReplayDecidesAsTheProxy(t *testing.T) {
	dir := t.TempDir()
	var listeners []any
	for _, f := range recordedFormats {
		listeners = append(listeners, listener(t, filter{f.name, recorded}, logAs(filepath.Join(dir, f.name), f.text)))
	}
	envoy := startEnvoy(t, assemble(t, listeners, cluster(t, "upstream", startUpstream(t))), 2)
	var run recording
	for _, f := range recordedFormats {
		run.addrs = append(run.addrs, listenerOf(t, envoy, f.name))
	}
	run.play(t, 9)
	if err := envoy.Stop(); err != nil { // which makes Envoy write all of it
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "weir")
	if out, err := exec.Command("go", "build", "-o", tool, "../limiter/cmd/weir").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config := filepath.Join(dir, "config.json")
	if err := os.WriteFile(config, []byte(recorded), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range recordedFormats {
		t.Run(f.name, func(t *testing.T) {
			args := []string{"replay", "-c", config, "--decisions", filepath.Join(dir, "decisions")}
			if f.flag != "" {
				args = append(args, f.flag, f.text)
			}
			if out, err := exec.Command(tool, append(args, filepath.Join(dir, f.name))...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			compareDecisions(t, filepath.Join(dir, f.name), filepath.Join(dir, "decisions"), run.sent)
		})
	}
}

// logAs has a listener log its requests in a text format, as JSON, or as Envoy
// does if nothing is said.
func logAs(file, format string) setting {
	config := object{"path": file}
	switch format {
	case "":
	case "json":
		fields := object{}
		for name, operator := range map[string]string{
			"start_time": "%START_TIME%", "method": "%REQ(:METHOD)%", "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%", "response_code": "%RESPONSE_CODE%",
			"duration": "%DURATION%", "x_forwarded_for": "%REQ(X-FORWARDED-FOR)%", "user_agent": "%REQ(USER-AGENT)%",
		} {
			fields[name] = operator
		}
		config["log_format"] = object{"json_format": fields}
	default:
		config["log_format"] = object{"text_format_source": object{"inline_string": format}}
	}
	return func(_, manager object) {
		manager["access_log"] = []any{extension("envoy.access_loggers.file", "access_loggers.file.v3.FileAccessLog", config)}
	}
}

// A recording is a run that is played to every listener alike.
type recording struct {
	addrs  []string
	sent   int // to each
	rounds [][2]time.Time
}

// play sends rounds of requests, in which each client sends some, one after the
// other.
func (r *recording) play(t *testing.T, rounds int) {
	t.Helper()
	const clients = 8
	rng := rand.New(rand.NewPCG(8, 8))
	for range rounds {
		r.waitOut()
		begun := time.Now()
		var all sync.WaitGroup
		for client := range clients {
			n, seed := rng.IntN(7), rng.Uint64()
			r.sent += n
			for _, addr := range r.addrs {
				all.Go(func() { requests(t, addr, client, n, rand.New(rand.NewPCG(seed, 0))) })
			}
		}
		all.Wait()
		r.rounds = append(r.rounds, [2]time.Time{begun, time.Now()})
	}
}

// waitOut waits a while, and on until no window ends soon that a round before
// has begun.
func (r *recording) waitOut() {
	const window, margin = 1700 * time.Millisecond, 200 * time.Millisecond
	time.Sleep(2 * margin)
	for _, round := range r.rounds {
		if now := time.Now(); now.After(round[0].Add(window-margin)) && now.Before(round[1].Add(window+margin)) {
			time.Sleep(time.Until(round[1].Add(window + margin)))
		}
	}
}

// requests sends some of one client, a few of which fail.
func requests(t *testing.T, addr string, client, n int, rng *rand.Rand) {
	for range n {
		status := "200"
		if rng.IntN(9) == 0 {
			status = "401"
		}
		_, err := send(addr, scenario.Request{Method: "GET", Path: fmt.Sprintf("/of/%d?q=%d", client, rng.IntN(100)), Host: "weir.test",
			Headers: [][2]string{{"x-forwarded-for", fmt.Sprintf("192.0.2.%d", client)}, {upstreamStatus, status}}})
		if err != nil {
			t.Error(err)
		}
	}
}

// compareDecisions holds the decisions of a replay to the answers in the log.
func compareDecisions(t *testing.T, log, decisions string, sent int) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	got, err := os.ReadFile(decisions)
	if err != nil {
		t.Fatal(err)
	}
	seen, refused := 0, map[string]int{}
	for d := json.NewDecoder(bytes.NewReader(got)); d.More(); seen++ {
		var line struct {
			Line   int
			Status string
			Runs   []struct{ Decision, Rule string }
		}
		if err := d.Decode(&line); err != nil {
			t.Fatal(err)
		}
		want := map[bool]string{true: "refuse", false: "admit"}[line.Status == "429"]
		run, logged := line.Runs[0], lines[line.Line-1]
		if run.Decision != want || !strings.Contains(logged, line.Status) {
			t.Errorf("replay says %s %s of the line, whose status is %s:\n%s", run.Decision, run.Rule, line.Status, logged)
		}
		if words := strings.Fields(logged); filepath.Base(log) == "text" && run.Rule != strings.Trim(words[len(words)-1], "-") {
			t.Errorf("replay says the rule %q refuses, and the log has:\n%s", run.Rule, logged)
		}
		refused[run.Rule]++
	}
	if seen != sent || len(lines) != sent {
		t.Errorf("%d decisions on %d lines of %d requests", seen, len(lines), sent)
	}
	for _, rule := range []string{"window", "bucket", "failures", ""} {
		if refused[rule] < 3 {
			t.Errorf("refused %v: want each rule to refuse some, and some admitted", refused)
			break
		}
	}
}
