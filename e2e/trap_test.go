package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/envoyconf"
	"github.com/weirproxy/weir/e2e/envoyproc"
	"github.com/weirproxy/weir/e2e/scenario"
)

// trapModule builds a module that traps on request, once for all tests, and
// returns it. The traps are laid over the package plugin, so that the package
// itself has no place for them: one more file, and a call of it at the beginning
// of each callback and of the store's Load.
var trapModule = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "trap-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := trapOverlay(dir)
	if err != nil {
		return nil, err
	}
	module := filepath.Join(dir, "trap.wasm")
	build := exec.Command("go", "build", "-overlay", overlay,
		"-trimpath", "-ldflags=-s -w", "-buildmode=c-shared", "-o", module, "../plugin")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the trap: %w\n%s", err, output)
	}
	return os.ReadFile(module)
})

// where is a function that is to call reach, with its own name.
var where = regexp.MustCompile(`(?m)^func (?:\(s \*sharedData\) )?(on\w+|Load)\(.*?\) ?.*?\{`)

// trapOverlay writes the files to lay over the package, and the list of them,
// whose name it returns.
func trapOverlay(dir string) (list string, err error) {
	replace := object{}
	for _, name := range []string{"trap.go", "callbacks.go", "store.go"} {
		inPlugin, err := filepath.Abs("../plugin/" + name)
		if err != nil {
			return "", err
		}
		source, err := os.ReadFile(cmp.Or(map[string]string{"trap.go": "testdata/trap/trap.go"}[name], inPlugin))
		if err != nil {
			return "", err
		}
		if name != "trap.go" {
			source = where.ReplaceAll(source, []byte(`$0 reach("$1");`))
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, source, 0o600); err != nil {
			return "", err
		}
		replace[inPlugin] = file
	}
	overlay, err := json.Marshal(object{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, overlay, 0o600)
}

// TestProductionHasNoTrap: what the tests use to kill a VM is not in the module
// that users load.
func TestProductionHasNoTrap(t *testing.T) {
	trap, err := trapModule()
	if err != nil {
		t.Fatal(err)
	}
	word := []byte("x-trap")
	if !bytes.Contains(trap, word) {
		t.Error("the trap would not be found where it is")
	}
	if bytes.Contains(readModule(t), word) {
		t.Error("the module has a trap in it")
	}
}

// trapEnvoy is an Envoy with a listener for each failure policy, named after
// it, whose VM traps on request. Every VM has an id of its own: filters that
// share one die together. Without an upstream Envoy answers itself.
func trapEnvoy(t *testing.T, upstream, configuration string, workers int, policies ...string) *envoyproc.Process {
	t.Helper()
	trap, err := trapModule()
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(t.TempDir(), "trap.wasm")
	if err := os.WriteFile(module, trap, 0o600); err != nil {
		t.Fatal(err)
	}
	var listeners []any
	for _, policy := range policies {
		listeners = append(listeners, listener(t, filter{policy, configuration}, func(_, manager object) {
			weir := envoyconf.Wasm(policy, module, configuration)["typed_config"].(object)["config"].(object)
			weir["failure_policy"] = policy
			if policy == "FAIL_RELOAD" { // the default is a second; 1 ms is an arithmetic error of Envoy's, which ends it
				weir["reload_config"] = object{"backoff": object{"base_interval": "0.010s"}}
			}
			weir["vm_config"].(object)["vm_id"] = policy
			manager["http_filters"].([]any)[0] = extension("weir", "filters.http.wasm.v3.Wasm", object{"config": weir})
			if upstream == "" {
				answerDirectly(nil, manager)
			}
			const format = "%REQ(X-KEY)% %RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS%\n"
			manager["access_log"] = []any{extension("envoy.access_loggers.stdout", "access_loggers.stream.v3.StdoutAccessLog", object{
				"log_format": object{"text_format_source": object{"inline_string": format}}})}
		}))
	}
	if upstream == "" {
		return startEnvoy(t, assemble(t, listeners), workers)
	}
	return startEnvoy(t, assemble(t, listeners, cluster(t, "upstream", upstream)), workers)
}

// twoAnHour limits every key; a panic that Weir recovers is a 503 of its own.
const twoAnHour = `{"rules": [{"name": "two", "key": [{"header": "x-key"}], "limits": [{"requests": 2, "window": "1h"}],
	"charge": {"when": "request"}}], "headers": ["ratelimit"], "on_error": "deny"}`

// traps are ways for a VM to die: where in the life of the request that asks
// for it, and how. The client of that request sees the status, and the access
// log the details. A VM that lives is not loaded anew.
var traps = []struct {
	name    string
	status  int
	details string
	lives   bool
}{
	// What ends the Go runtime, and a panic where nobody recovers it.
	{"onRequestHeaders-panic", 503, "wasm_fail_stream", false},
	{"onRequestHeaders-nil", 503, "wasm_fail_stream", false},
	{"onRequestHeaders-stack", 503, "wasm_fail_stream", false},
	{"onRequestHeaders-memory", 503, "wasm_fail_stream", false},
	{"onRequestHeaders-deadlock", 503, "wasm_fail_stream", false},
	{"Load-stack", 503, "wasm_fail_stream", false},
	{"Load-memory", 503, "wasm_fail_stream", false},
	// The upstream has answered 200, and the client does not see it.
	{"onResponseHeaders-panic", 503, "wasm_fail_stream", false},
	// Nobody waits for the VM any more, or not yet.
	{"onDelete-panic", 200, "via_upstream", false},
	{"onContextCreate-panic", 200, "via_upstream", false}, // by the request after it
	{"onTick-panic", 200, "via_upstream", false},
	// Inside Weir's callbacks a panic is an error like any other.
	{"Load-panic", 503, "local_rate_limit_error", true},
	{"Load-nil", 503, "local_rate_limit_error", true},
	// Envoy lets a guest that exits go on.
	{"onRequestHeaders-exit", 200, "via_upstream", true},
}

// TestTrapsUnderReload is B77 in a real Envoy: whatever kills the VM, the next
// requests get a new one, and a key at its limit stays refused all the while.
func TestTrapsUnderReload(t *testing.T) {
	envoy := trapEnvoy(t, startUpstream(t), twoAnHour, 1, "FAIL_RELOAD")
	addr := listenerOf(t, envoy, "FAIL_RELOAD")
	reloads, recovered := int64(0), int64(0)
	for _, trap := range traps {
		for i, want := range []int{200, 200, 429} {
			checkStatus(t, addr, trap.name+"-key", "", i, want)
		}
		checkStatus(t, addr, trap.name+"-own", trap.name, 0, trap.status)
		if !trap.lives {
			reloads++
			if trap.name == "onTick-panic" { // till the VM's timer has fired
				awaitStat(t, addr, envoy, trap.name+"-key", reloads)
			}
		} else if trap.details == "local_rate_limit_error" {
			recovered++
		}
		awaitRefusal(t, addr, trap.name+"-key")
		checkStatus(t, addr, trap.name+"-new", "", 0, 200)
		awaitStat(t, addr, envoy, trap.name+"-key", reloads)
	}
	checkStats(t, envoy, map[string]int64{"wasmcustom.weir.filter.FAIL_RELOAD.errors": recovered, "wasmcustom.weir.filter.FAIL_RELOAD.lost": 0})
	if err := envoy.Stop(); err != nil { // which makes Envoy write all of its log
		t.Fatal(err)
	}
	for _, trap := range traps {
		if want := fmt.Sprintf("\n%s-own %d - %s\n", trap.name, trap.status, trap.details); !strings.Contains(envoy.Log(), want) {
			t.Errorf("not in the access log: %q", want)
		}
	}
}

// ask sends one request of a key, which may ask for a trap.
func ask(t *testing.T, addr, key, trap string) int {
	t.Helper()
	r := scenario.Request{Method: "GET", Path: "/", Host: "weir.test", Headers: [][2]string{{"x-key", key}}}
	if trap != "" {
		r.Headers = append(r.Headers, [2]string{"x-trap", trap})
	}
	got, err := send(addr, r)
	if err != nil {
		t.Fatalf("key %s, trap %q: %v", key, trap, err)
	}
	return got.Status
}

func checkStatus(t *testing.T, addr, key, trap string, i, want int) {
	t.Helper()
	if got := ask(t, addr, key, trap); got != want {
		t.Errorf("request %d of key %s, trap %q: status %d, want %d", i, key, trap, got, want)
	}
}

// awaitRefusal asks for a key at its limit until a VM is there to refuse it;
// until then Envoy answers 503, and nobody 200.
func awaitRefusal(t *testing.T, addr, key string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		switch status := ask(t, addr, key, ""); status {
		case 429:
			return
		case 503:
		default:
			t.Errorf("key %s at its limit: status %d", key, status)
		}
	}
	t.Fatalf("key %s: no VM after 10 seconds", key)
}

// awaitStat waits for the number of reloads, while a key at its limit is
// refused.
func awaitStat(t *testing.T, addr string, envoy *envoyproc.Process, key string, reloads int64) {
	t.Helper()
	var stats map[string]int64
	for range 100 {
		awaitRefusal(t, addr, key)
		var err error
		if stats, err = envoy.Stats(t.Context(), `^wasm\.FAIL_RELOAD\.`); err != nil {
			t.Fatal(err)
		}
		if stats["wasm.FAIL_RELOAD.vm_reload_success"] == reloads {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("key %s: %v, want %d reloads", key, maps.Clone(stats), reloads)
}
