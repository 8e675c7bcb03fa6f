package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

// TestReload changes the listeners of one Envoy with four workers while it runs.
func TestReload(t *testing.T) {
	l := startReloadable(t)
	t.Run("cold start", func(t *testing.T) { reloadColdStart(t, l) })
	t.Run("under load", func(t *testing.T) { reloadUnderLoad(t, l) })
	t.Run("changes", func(t *testing.T) { reloadChanges(t, l) })
	t.Run("refused", func(t *testing.T) { reloadRefused(t, l) })
	t.Run("builds", func(t *testing.T) { reloadBuilds(t, l) })
}

// perKey is a rule of so many requests an hour for each key.
func perKey(name string, requests int, more string) string {
	return fmt.Sprintf(`{"name": %q, "key": [{"header": "x-key"}], "limits": [{"requests": %d, "window": "1h"%s}]}`, name, requests, more)
}

// reloadColdStart is B76: one request on each of four connections, each at a
// worker of its own, first in their life and again after a reload.
func reloadColdStart(t *testing.T, l *lds) {
	balanced := func(listener, _ object) {
		listener["stat_prefix"] = "cold"
		listener["connection_balance_config"] = object{"exact_balance": object{}}
	}
	for i, want := range []map[string]int{{"a": 1}, {"a": 0, "b": 1}} {
		l.update(t, accepted, marked(t, "cold", fmt.Sprint(i), perKey("one", 1, ""), "", balanced))
		conns := onEachWorker(t, l, fmt.Sprint(i))
		for key, n := range want {
			if got := atOnce(t, conns, key); got != n {
				t.Errorf("configuration %d: %d of 4 requests for %s admitted, want %d", i, got, key, n)
			}
		}
		hangUp(t, l, conns)
	}
}

const coldConnections = `listener\.cold\.worker_.\.downstream_cx_active`

// onEachWorker returns four connections, one at each worker. Envoy gives a new
// one to the worker that has the fewest, among them those that are about to be
// closed, so that it may take more than one try.
func onEachWorker(t *testing.T, l *lds, mark string) []*pinned {
	t.Helper()
	for range 50 {
		var conns []*pinned
		for range 4 {
			conns = append(conns, l.live(t, "cold", mark))
		}
		for range 50 { // till the workers' counts are merged
			if stats, err := l.Stats(t.Context(), coldConnections); err == nil && equal(stats, 1) == 4 {
				return conns
			}
			time.Sleep(20 * time.Millisecond)
		}
		hangUp(t, l, conns)
	}
	t.Fatal("no four connections at four workers")
	return nil
}

// equal is the number of statistics that have the value.
func equal(stats map[string]int64, value int64) (n int) {
	for _, v := range stats {
		if v == value {
			n++
		}
	}
	return n
}

// hangUp closes connections and waits until no worker has any.
func hangUp(t *testing.T, l *lds, conns []*pinned) {
	t.Helper()
	for _, p := range conns {
		_ = p.Close()
	}
	l.await(t, coldConnections, 4, 0)
}

// atOnce asks on all connections at a time and counts who is admitted.
func atOnce(t *testing.T, conns []*pinned, key string) int {
	var admitted atomic.Int64
	var wg sync.WaitGroup
	for _, p := range conns {
		wg.Go(func() {
			switch got, err := p.ask("/", "x-key: "+key); {
			case err != nil || got.status != 200 && got.status != 429:
				t.Errorf("%+v, %v", got, err)
			case got.status == 200:
				admitted.Add(1)
			}
		})
	}
	wg.Wait()
	return int(admitted.Load())
}

// reloadUnderLoad is B51 and B71: updates of what must not matter, under load.
func reloadUnderLoad(t *testing.T, l *lds) {
	updates := 20
	if *long {
		updates = 100
	}
	newClientele(t, l, "load", updates, "").reload(t)
}

// reloadChanges holds envoy/configuration.md to what it says of a reload. Every
// row is one key through several configurations.
func reloadChanges(t *testing.T, l *lds) {
	three := perKey("a", 3, "")
	type stage struct{ rules, members, want string }
	spent := stage{three, "", "200 200 200 429"}
	for name, stages := range map[string][]stage{
		"raised":              {spent, {perKey("a", 5, ""), "", "200 200 429"}},
		"lowered":             {{perKey("a", 9, ""), "", "200 200 200"}, {three, "", "429"}, {perKey("a", 4, ""), "", "200 429"}},
		"reordered":           {spent, {perKey("b", 9, "") + "," + three, "", "429"}, {three + "," + perKey("b", 9, ""), "", "429"}},
		"renamed":             {spent, {perKey("b", 3, ""), "", "200 200 200 429"}, {three, "", "429"}},
		"taken out, put back": {spent, {perKey("b", 9, ""), "", "200"}, {three, "", "429"}},
		"another key": {spent, {`{"name": "a", "key": [{"header": "x-key"}, {"constant": "x"}], "limits": [{"requests": 3, "window": "1h"}]}`,
			"", "200 200 200 429"}},
		"another window":    {spent, {strings.Replace(three, "1h", "2h", 1), "", "200 200 200 429"}},
		"another algorithm": {spent, {perKey("a", 3, `, "algorithm": "token_bucket"`), "", "200 200 200 429"}},
		"other buckets": {{perKey("a", 3, `, "algorithm": "sliding_buckets", "buckets": 60`), "", "200 200 200 429"},
			{perKey("a", 3, `, "algorithm": "sliding_buckets", "buckets": 30`), "", "200 200 200 429"}},
		"another burst": {{perKey("a", 1, `, "algorithm": "token_bucket", "burst": 3`), "", "200 200 200 429"},
			{perKey("a", 1, `, "algorithm": "token_bucket", "burst": 5`), "", "200 200 429"}},
		"a limit more":  {spent, {strings.Replace(three, "]}", `, {"requests": 9, "window": "1m"}]}`, 1), "", "429"}, {three, "", "429"}},
		"another match": {spent, {strings.Replace(three, `"key"`, `"match": {"methods": ["GET"]}, "on_missing_key": "skip", "key"`, 1), "", "429"}},
		"into shadow":   {spent, {strings.Replace(three, `"key"`, `"shadow": true, "key"`, 1), "", "200"}, {three, "", "429"}},
		// A table has a power of two of shards, here 4096 up to 131071 keys.
		"a little more room": {spent, {three, `, "store": {"max_keys": 131071}`, "429"}},
		"much more room":     {spent, {three, `, "store": {"max_keys": 131072}`, "200 200 200 429"}, {three, "", "429"}},
		"another namespace":  {spent, {three, `, "namespace": "elsewhere"`, "200 200 200 429"}, {three, "", "429"}},
	} {
		for i, s := range stages {
			mark := fmt.Sprint(name, " ", i)
			l.update(t, accepted, marked(t, "changes", mark, s.rules, s.members))
			got := l.live(t, "changes", mark).statuses(t, name, 1+strings.Count(s.want, " "))
			if got != s.want {
				t.Errorf("%s: %s, want %s", mark, got, s.want)
			}
		}
	}
}

// policies are what Envoy may do when a VM fails.
var policies = []string{"FAIL_OPEN", "FAIL_CLOSED", "FAIL_RELOAD"}

// reloadRefused is B55: whatever the failure policy, a configuration that Weir
// refuses is not put to use, neither as the first of a listener nor after a good
// one, whose limits and counts then stay.
func reloadRefused(t *testing.T, l *lds) {
	for i, policy := range policies {
		with := configuring(func(plugin object) { plugin["failure_policy"] = policy })
		window := fmt.Sprintf("%dx", i)
		bad := func(name string) object {
			return marked(t, name, "bad", strings.Replace(perKey("a", 3, ""), "1h", window, 1), "", with)
		}
		why := fmt.Sprintf(`rules[0].limits[0].window: %q: not a duration: want numbers with units, such as "500ms", "1m", "1h30m" or "1d"`, window)
		l.update(t, rejected, bad("new"))
		if addr, err := l.Listener(t.Context(), "new"); err == nil {
			t.Errorf("%s: a listener is served at %s", policy, addr)
		}
		delete(l.listeners, "new")
		l.update(t, accepted, marked(t, "refused", "good", perKey("a", 3, ""), "", with))
		p := l.live(t, "refused", "good")
		if got := p.statuses(t, policy, 2); got != "200 200" {
			t.Errorf("%s: %s before", policy, got)
		}
		l.update(t, rejected, bad("refused"))
		if got := p.statuses(t, policy, 2); got != "200 429" {
			t.Errorf("%s: %s after a bad update, want 200 429", policy, got)
		}
		if got := l.live(t, "refused", "good").statuses(t, policy, 1); got != "429" {
			t.Errorf("%s: %s on a new connection after a bad update, want 429", policy, got)
		}
		l.update(t, accepted, marked(t, "refused", "better", perKey("a", 4, ""), "", with))
		if got := l.live(t, "refused", "better").statuses(t, policy, 2); got != "200 429" {
			t.Errorf("%s: %s after the next good update, want 200 429", policy, got)
		}
		if n := l.refusals(why, 2); n != 2 {
			t.Errorf("%s: %d lines with %q, want one for each of two updates", policy, n, why)
		}
	}
}

// TestEnvoyRefusesToStartUnderEveryPolicy: FAIL_OPEN too does not let a bad
// configuration pass traffic. FAIL_RELOAD is in TestEnvoyRefusesBadConfigurations.
func TestEnvoyRefusesToStartUnderEveryPolicy(t *testing.T) {
	for _, policy := range policies[:2] {
		t.Run(policy, func(t *testing.T) {
			with := configuring(func(plugin object) { plugin["failure_policy"] = policy })
			config := assemble(t, []any{listener(t, filter{"bad", `{"rulez": []}`}, answerDirectly, with)})
			envoy, err := envoyproc.Start(t.Context(), envoyproc.Options{Config: config, Concurrency: 1, LogLevel: "error"})
			if err == nil {
				_ = envoy.Stop()
				t.Fatal("envoy started")
			}
			if !strings.Contains(err.Error(), `rulez: unknown field, did you mean "rules"?`) {
				t.Error(err)
			}
		})
	}
}

// reloadBuilds lets two builds of the module, with one vm_id, share windows:
// side by side, and one after the other under load.
func reloadBuilds(t *testing.T, l *lds) {
	other := anotherBuild(t)
	with := configuring(func(plugin object) { plugin["vm_config"].(object)["code"] = object{"local": object{"filename": other}} })
	shared := `, "namespace": "shared"`
	l.update(t, accepted, marked(t, "first", "1", perKey("a", 9, ""), shared), marked(t, "second", "2", perKey("a", 9, ""), shared, with))
	for key := range 20 {
		conns := []*pinned{l.live(t, "first", "1"), l.live(t, "second", "2")}
		admitted := 0
		for range 9 {
			admitted += atOnce(t, conns, fmt.Sprint(key))
		}
		if admitted != 9 {
			t.Errorf("key %d: two builds admitted %d, want 9", key, admitted)
		}
	}
	newClientele(t, l, "builds", 4, other).reload(t)
}

// anotherBuild builds the module anew, so that its bytes differ.
func anotherBuild(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weir.wasm")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w -buildid=another", "-buildmode=c-shared", "-o", path, "../plugin")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(module, readModule(t)) {
		t.Fatal("the two builds are the same")
	}
	return path
}
