package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestFirstWriteOfTwoWorkers is B01: worker A has loaded a fresh key, worker B
// admits a request of the same key before A stores. Exactly one may pass.
func TestFirstWriteOfTwoWorkers(t *testing.T) {
	module := readModule(t)
	for _, between := range []string{"proxy_get_shared_data", "proxy_set_shared_data"} {
		host := newHost(t, module)
		a, b := newVM(t, host, oneAMinute("deny")), newVM(t, host, oneAMinute("deny"))
		var second wasmhost.Response
		host.Before = func(vm *wasmhost.VM, call, arg string) {
			if vm == a && call == between && strings.Contains(arg, "/table/") {
				host.Before = nil
				var err error
				if second, err = b.Do(t.Context(), keyed("a")); err != nil {
					t.Fatal(err)
				}
			}
		}
		first, err := a.Do(t.Context(), keyed("a"))
		if err != nil {
			t.Fatal(err)
		}
		if first.Status != 429 || second.Status != 200 {
			t.Errorf("B before A's %s: A got %d, B %d, want 429 and 200", between, first.Status, second.Status)
		}
		wantConflicts := int64(0)
		if between == "proxy_set_shared_data" {
			wantConflicts = 1
		}
		if n, _ := host.Metrics.Get("weir.filter.e2e.conflicts"); n != wantConflicts {
			t.Errorf("B before A's %s: %d conflicts, want %d", between, n, wantConflicts)
		}
	}
}

// TestColdStartOfFourWorkers is B76: one request to each of four workers, then
// again after a reload, with one allowed in an hour.
func TestColdStartOfFourWorkers(t *testing.T) {
	host := newHost(t, readModule(t))
	const configuration = `{"rules": [{"name": "one", "key": [], "limits": [{"requests": 1, "window": "1h"}]}]}`
	admitted := 0
	for range 2 {
		for range 4 {
			got, err := newVM(t, host, configuration).Do(t.Context(), keyed("any"))
			if err != nil {
				t.Fatal(err)
			}
			if got.Status == 200 {
				admitted++
			}
		}
	}
	if admitted != 1 {
		t.Errorf("%d admitted, want 1", admitted)
	}
}

// TestOneSeedForAllWorkers lets a second VM start while the first draws the seed.
func TestOneSeedForAllWorkers(t *testing.T) {
	host := newHost(t, readModule(t))
	var second *wasmhost.VM
	host.Before = func(_ *wasmhost.VM, call, arg string) {
		if call == "proxy_set_shared_data" && arg == "weir/1/seed" {
			host.Before = nil
			second = newVM(t, host, oneAMinute("deny"))
		}
	}
	first := newVM(t, host, oneAMinute("deny"))
	for i, vm := range []*wasmhost.VM{second, first} {
		if got, err := vm.Do(t.Context(), keyed("a")); err != nil || (got.Status == 200) != (i == 0) {
			t.Errorf("vm %d: status %d, %v: the two do not share windows", i, got.Status, err)
		}
	}
}

// TestIdleKeysGiveTheirMemoryBack is B71: batches of keys come and go, and the
// host's memory does not follow them.
func TestIdleKeysGiveTheirMemoryBack(t *testing.T) {
	host := newHost(t, readModule(t))
	vm := newVM(t, host, `{"rules": [{"name": "one", "key": [{"header": "x-key"}], "limits": [{"requests": 5, "window": "1s"}]}], "store": {"max_keys": 5000}}`)
	if vm.TickPeriod() != time.Second {
		t.Errorf("tick period %v", vm.TickPeriod())
	}
	largest := 0
	for batch := range 5 {
		at := time.Duration(batch) * time.Hour
		host.SetNow(at + time.Second)
		for i := range 3000 {
			if got, err := vm.Do(t.Context(), keyed(fmt.Sprint(batch, i))); err != nil || got.Status != 200 {
				t.Fatal(got, err)
			}
		}
		largest = max(largest, host.Shared.Bytes())
		host.SetNow(at + time.Minute)
		for range 64 { // one round of the sweep
			if err := vm.Tick(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n, ok := host.Metrics.Get("weir.filter.e2e.tracked_keys"); !ok || n != 0 {
			t.Errorf("batch %d: %d keys are still tracked", batch, n)
		}
		if n := host.Shared.Bytes(); n > 16 {
			t.Errorf("batch %d: %d bytes are left, want the seed's 16", batch, n)
		}
	}
	if largest > 70*3000 {
		t.Errorf("%d bytes for 3000 keys of one request", largest)
	}
}

// TestBadConfigurations: each is refused with one line that says where and why.
func TestBadConfigurations(t *testing.T) {
	module := readModule(t)
	fixtures, err := filepath.Glob("../limiter/policy/testdata/bad/*.json")
	if err != nil || len(fixtures) < 20 {
		t.Fatalf("%d fixtures, %v", len(fixtures), err)
	}
	host := newHost(t, module)
	for _, fixture := range fixtures {
		configuration, err := os.ReadFile(fixture)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(fixture, ".json") + ".error")
		if err != nil {
			t.Fatal(err)
		}
		before := len(host.Logs())
		if _, err := host.NewVM(t.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: configuration}); err == nil {
			t.Errorf("%s: started", fixture)
		}
		line := "critical: weir: cannot start: the configuration is refused: " + strings.TrimSuffix(string(want), "\n")
		if logged := host.Logs()[before:]; len(logged) != 1 || logged[0] != line {
			t.Errorf("%s: logged %q, want %q", fixture, logged, line)
		}
	}
}
