package e2e

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestRefusedRequestsCostNothingUnderContention lets four workers charge two
// rules at once, in both orders of the rules. The narrow one refuses most of
// the requests; what the wide one has left afterwards is what was admitted,
// less nothing.
func TestRefusedRequestsCostNothingUnderContention(t *testing.T) {
	const workers, requests, narrow, wide = 4, 150, 40, 100
	rules := []string{
		fmt.Sprintf(`{"name": "narrow", "key": [{"header": "x-narrow"}], "on_missing_key": "skip", "limits": [{"requests": %d, "window": "1h"}]}`, narrow),
		fmt.Sprintf(`{"name": "wide", "key": [{"header": "x-wide"}], "limits": [{"requests": %d, "window": "1h"}]}`, wide),
	}
	module := readModule(t)
	for _, order := range [][]string{{rules[0], rules[1]}, {rules[1], rules[0]}} {
		host := newHost(t, module)
		configuration := `{"on_error": "deny", "rules": [` + strings.Join(order, ",") + `]}`
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for range workers {
			vm := newVM(t, host, configuration)
			wg.Go(func() {
				for range requests {
					if got := do(t, vm, [2]string{"x-narrow", "n"}, [2]string{"x-wide", "w"}); got.Status == 200 {
						admitted.Add(1)
					}
				}
			})
		}
		wg.Wait()
		if n := admitted.Load(); n != narrow {
			t.Errorf("%d admitted, want %d", n, narrow)
		}
		left := 0
		for vm := newVM(t, host, configuration); do(t, vm, [2]string{"x-wide", "w"}).Status == 200; left++ {
		}
		if want := wide - narrow; left != want {
			t.Errorf("%d left of the wide rule, want %d", left, want)
		}
		if n, _ := host.Metrics.Get("weir.filter.e2e.lost"); n != 0 {
			t.Errorf("%d charges were lost", n)
		}
	}
}

// do makes a request with the given headers, which must not trap the module.
func do(t *testing.T, vm *wasmhost.VM, headers ...[2]string) wasmhost.Response {
	t.Helper()
	got, err := vm.Do(t.Context(), moduleRequest(scenario.Request{Method: "GET", Path: "/", Host: "weir.test", Client: "192.0.2.1", Headers: headers}))
	if err != nil {
		t.Error(err)
	}
	return got
}
