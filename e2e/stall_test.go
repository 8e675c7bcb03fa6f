package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// TestAStalledWorkerMintsNothing holds worker a up after it has read the clock,
// for longer than the window, while b uses most of the key or all. When a then
// decided with the old time, the table took the clock for set back, moved what b
// had used to that time, and b got all of it again.
func TestAStalledWorkerMintsNothing(t *testing.T) { // B30
	for _, l := range clockLimits {
		for _, between := range []string{"proxy_get_shared_data", "proxy_set_shared_data"} {
			for used := 4; used <= 5; used++ {
				t.Run(fmt.Sprint(l.algorithm, "/", between, "/", used), func(t *testing.T) {
					host := newHost(t, readModule(t))
					a, b := newVM(t, host, fivePerTen()), newVM(t, host, fivePerTen())
					host.SetNow(clockStart)
					host.Before = func(vm *wasmhost.VM, call, arg string) {
						if vm == a && call == between && strings.Contains(arg, "/table/") {
							host.Before = nil
							host.SetNow(clockStart + 25*time.Second)
							if n := admittedOf(t, b, l.algorithm, used); n != used {
								t.Fatalf("b got %d, want %d", n, used)
							}
						}
					}
					if n := admittedOf(t, a, l.algorithm, 1); n != 5-used {
						t.Errorf("a got %d, want %d", n, 5-used)
					}
					if host.Before != nil {
						t.Fatal("a was not held up")
					}
					if n := admittedOf(t, b, l.algorithm, 20); n > 0 {
						t.Errorf("b got %d more at the same time", n)
					}
				})
			}
		}
	}
}

// admittedOf sends requests of one key under the rule of an algorithm, one after
// another, and counts the admitted.
func admittedOf(t *testing.T, vm *wasmhost.VM, algorithm string, requests int) (n int) {
	t.Helper()
	request := moduleRequest(clockRequest(algorithm))
	for range requests {
		got, err := vm.Do(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status == 200 {
			n++
		}
	}
	return n
}
