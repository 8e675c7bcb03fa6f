package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestFourWorkersAdmitExactly is B01 and B76 in a real Envoy: four workers, 32
// connections, keys in random order. Every key gets its limit and not one more,
// and no request fails.
func TestFourWorkersAdmitExactly(t *testing.T) {
	hundred := filter{"hundred", `{"rules": [{"name": "hundred", "key": [{"header": "x-key"}], "limits": [{"requests": 100, "window": "1h"}]}], "on_error": "deny"}`}
	one := filter{"one", `{"rules": [{"name": "one", "key": [{"header": "x-key"}], "limits": [{"requests": 1, "window": "1h"}]}], "on_error": "deny"}`}
	envoy := startEnvoy(t, bootstrap(t, startUpstream(t), hundred, one), 4)
	for _, test := range []struct {
		listener              string
		keys, requests, limit int
	}{{"hundred", 50, 200, 100}, {"one", 500, 8, 1}} {
		t.Run(test.listener, func(t *testing.T) {
			addr := listenerOf(t, envoy, test.listener)
			for key, n := range flood(t, addr, test.keys, test.requests) {
				if n != int64(test.limit) {
					t.Errorf("key %d: %d of %d admitted, want %d", key, n, test.requests, test.limit)
				}
			}
			sent, admitted := int64(test.keys*test.requests), int64(test.keys*test.limit)
			prefix := fmt.Sprintf("wasmcustom.weir.rule.%s.%s.", test.listener, test.listener)
			checkStats(t, envoy, map[string]int64{
				prefix + "allowed": admitted,
				prefix + "limited": sent - admitted, // B70: what is refused is counted
				prefix + "errors":  0,
			})
		})
	}
}

// flood sends so many requests for each of so many keys, in random order over
// 32 connections, and returns how many of each key were admitted.
func flood(t *testing.T, addr string, keys, requests int) []int64 {
	t.Helper()
	const connections = 32
	order := make(chan int, keys*requests)
	for _, i := range rand.Perm(keys * requests) {
		order <- i % keys
	}
	close(order)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	defer client.CloseIdleConnections()
	admitted := make([]int64, keys)
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for key := range order {
				switch status, err := get(client, "http://"+addr+"/", fmt.Sprint("key-", key)); {
				case err != nil || status != 200 && status != 429:
					t.Errorf("key %d: status %d, %v", key, status, err)
					return
				case status == 200:
					atomic.AddInt64(&admitted[key], 1)
				}
			}
		})
	}
	wg.Wait()
	return admitted
}

func get(client *http.Client, url, key string) (status int, err error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("x-key", key)
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// TestGiveUpAfterRealConflicts lets another worker admit a request of the same
// shard before each swap, so that none succeeds. After 64 the request follows
// on_error, and nothing of it is charged.
func TestGiveUpAfterRealConflicts(t *testing.T) {
	module := readModule(t)
	for onError, want := range map[string]int{"allow": 200, "deny": 503} {
		host := newHost(t, module)
		a, b := newVM(t, host, inOneShard(65, onError)), newVM(t, host, inOneShard(65, onError))
		swaps := meddle(t, host, a, b, "other")
		got, err := a.Do(t.Context(), keyed("a"))
		if err != nil || got.Status != want || got.Paused {
			t.Errorf("status %d, paused %v, %v, want %d", got.Status, got.Paused, err, want)
		}
		if *swaps != 64 {
			t.Errorf("%d swaps were tried, want 64", *swaps)
		}
		checkModuleMetrics(t, host, map[string]int64{"filter.e2e.conflicts": 64, "filter.e2e.errors": 1, "filter.e2e.lost": 0,
			"rule.e2e.all.errors": 1, "rule.e2e.all.allowed": 64, "rule.e2e.all.limited": 0})
		host.Before = nil
		for i := range 66 { // all of the quota is there still, and no more
			got, err := a.Do(t.Context(), keyed("a"))
			if err != nil || (got.Status == 200) != (i < 65) {
				t.Fatalf("on_error %s, request %d afterwards: status %d, %v", onError, i, got.Status, err)
			}
		}
	}
}

// TestConflictsOverTheLastUnit lets the other worker use up the very key that
// is being decided: the request is refused by its limit, not by on_error, as
// soon as nothing is left.
func TestConflictsOverTheLastUnit(t *testing.T) {
	host := newHost(t, readModule(t))
	a, b := newVM(t, host, inOneShard(10, "allow")), newVM(t, host, inOneShard(10, "allow"))
	meddle(t, host, a, b, "a")
	got, err := a.Do(t.Context(), keyed("a"))
	if err != nil || got.Status != 429 {
		t.Errorf("status %d, %v, want 429", got.Status, err)
	}
	checkModuleMetrics(t, host, map[string]int64{"filter.e2e.conflicts": 10, "filter.e2e.errors": 0,
		"rule.e2e.all.allowed": 10, "rule.e2e.all.limited": 1})
}

// TestGiveUpGivesBack is a request of two rules, whose second shard conflicts
// to the end: what the first was charged is given back, or if that conflicts to
// the end as well, counted as lost.
func TestGiveUpGivesBack(t *testing.T) {
	const two = `{"rules": [{"name": "first", "key": [{"header": "x-key"}], "limits": [{"requests": 1, "window": "1h"}]},
		{"name": "second", "key": [{"header": "x-key"}], "limits": [{"requests": 1, "window": "1h"}]}], "on_error": "allow"}`
	for _, test := range []struct {
		both                   bool
		conflicts, lost, after int64
	}{{false, 64, 0, 200}, {true, 128, 1, 429}} {
		host := newHost(t, readModule(t))
		host.Shared.Set("weir/1/seed", []byte("0123456789abcdef"), 0) // under which the two keys have different shards
		vm := newVM(t, host, two)
		first := ""
		host.Before = func(_ *wasmhost.VM, call, arg string) {
			switch {
			case call != "proxy_set_shared_data" || !strings.Contains(arg, "/table/"):
			case first == "":
				first = arg
			case arg != first || test.both:
				value, _, _ := host.Shared.Get(arg)
				host.Shared.Set(arg, value, 0) // as it was, with another version
			}
		}
		got, err := vm.Do(t.Context(), keyed("a"))
		if err != nil || got.Status != 200 {
			t.Errorf("status %d, %v, want on_error's 200", got.Status, err)
		}
		checkModuleMetrics(t, host, map[string]int64{"filter.e2e.conflicts": test.conflicts, "filter.e2e.errors": 1, "filter.e2e.lost": test.lost})
		host.Before = nil
		if got, err := vm.Do(t.Context(), keyed("a")); err != nil || int64(got.Status) != test.after {
			t.Errorf("both %v: afterwards status %d, %v, want %d", test.both, got.Status, err, test.after)
		}
	}
}

// inOneShard is a configuration whose keys all lie in one shard.
func inOneShard(limit int, onError string) string {
	return fmt.Sprintf(`{"rules": [{"name": "all", "key": [{"header": "x-key"}], "limits": [{"requests": %d, "window": "1h"}]}],
		"store": {"max_keys": 20}, "on_error": %q}`, limit, onError)
}

// meddle lets b make a request of the key before each swap of a, and counts those.
func meddle(t *testing.T, host *wasmhost.Host, a, b *wasmhost.VM, key string) (swaps *int) {
	swaps = new(int)
	host.Before = func(vm *wasmhost.VM, call, arg string) {
		if vm != a || call != "proxy_set_shared_data" || !strings.Contains(arg, "/table/") {
			return
		}
		*swaps++
		if got, err := b.Do(t.Context(), keyed(key)); err != nil || got.Status != 200 {
			t.Errorf("b before swap %d of a: status %d, %v", *swaps, got.Status, err)
		}
	}
	return swaps
}

// checkModuleMetrics compares metrics, whose names are given without "weir.".
func checkModuleMetrics(t *testing.T, host *wasmhost.Host, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if got, ok := host.Metrics.Get("weir." + name); !ok || got != n {
			t.Errorf("%s = %d, want %d", name, got, n)
		}
	}
}
