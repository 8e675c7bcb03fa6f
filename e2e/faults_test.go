package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
	"github.com/weirproxy/weir/e2e/wasmhost"
)

// oneAMinute is a configuration that uses every host call of the request path.
func oneAMinute(onError string) string {
	return fmt.Sprintf(`{"rules": [{"name": "one", "match": {"path": {"prefix": "/"}, "methods": ["GET"]},
		"key": [{"header": "x-key"}, {"client_ip": true}], "limits": [{"requests": 1, "window": "1m"}]}], "on_error": %q}`, onError)
}

// faults are host calls that fail while a request is decided. Whether the rule
// had been matched by then decides if its error counter can move.
var faults = []struct {
	call    string
	arg     string // a part of it; of the clock, the precision that Weir asks for
	status  wasmhost.Status
	matched bool
}{
	{"clock_time_get", "1", 1, false},
	{"proxy_get_header_map_pairs", "", wasmhost.InternalFailure, false},
	{"proxy_get_header_map_pairs", "", wasmhost.BadArgument, false},
	{"proxy_get_property", "source.address", wasmhost.InternalFailure, true},
	{"proxy_get_property", "source.address", wasmhost.SerializationFailure, true},
	{"proxy_get_shared_data", "weir/1/table/", wasmhost.InternalFailure, true},
	{"proxy_get_shared_data", "weir/1/table/", wasmhost.Unimplemented, true},
	{"proxy_set_shared_data", "weir/1/table/", wasmhost.InternalFailure, true},
	{"proxy_set_shared_data", "weir/1/table/", wasmhost.CasMismatch, true}, // never succeeds
}

func TestHostFaultsFollowOnError(t *testing.T) {
	module := readModule(t)
	for _, f := range faults {
		for onError, want := range map[string]int{"allow": 200, "deny": 503} {
			t.Run(fmt.Sprintf("%s(%s)=%v/%s", f.call, f.arg, f.status, onError), func(t *testing.T) {
				host := newHost(t, module)
				vm := newVM(t, host, oneAMinute(onError))
				host.Fault = func(call, arg string) wasmhost.Status {
					if call == f.call && strings.Contains(arg, f.arg) {
						return f.status
					}
					return wasmhost.OK
				}
				got, err := vm.Do(t.Context(), keyed("a"))
				if err != nil {
					t.Fatal(err)
				}
				if got.Status != want || got.Paused {
					t.Errorf("status %d, paused %v, want %d", got.Status, got.Paused, want)
				}
				if want == 503 && got.Details != "local_rate_limit_error" {
					t.Errorf("details %q", got.Details)
				}
				checkErrorMetrics(t, host, f.matched)
				host.Fault = nil
				checkRecovery(t, vm)
			})
		}
	}
}

// checkErrorMetrics checks that the right counter moved, and that one line was
// logged, in which there is nothing of the request.
func checkErrorMetrics(t *testing.T, host *wasmhost.Host, matched bool) {
	t.Helper()
	ofRule := int64(0)
	if matched {
		ofRule = 1
	}
	for name, want := range map[string]int64{"weir.filter.e2e.errors": 1, "weir.rule.e2e.one.errors": ofRule} {
		if n, ok := host.Metrics.Get(name); !ok || n != want {
			t.Errorf("%s = %d, want %d", name, n, want)
		}
	}
	logged := strings.Join(host.Logs(), "\n")
	if strings.Count(logged, "error: weir: ") != 1 {
		t.Errorf("logged %q, want one error", logged)
	}
	if strings.Contains(logged, "canary") {
		t.Errorf("logged what the client sent: %q", logged)
	}
}

// checkRecovery checks that the failed request left no trace and that the VM
// works as before.
func checkRecovery(t *testing.T, vm *wasmhost.VM) {
	t.Helper()
	for i, want := range []int{200, 429} {
		got, err := vm.Do(t.Context(), keyed("a"))
		if err != nil || got.Status != want {
			t.Errorf("request %d after the fault: status %d, %v, want %d", i, got.Status, err, want)
		}
	}
}

// keyed is a request of a client with a key, which no log may show.
func keyed(key string) wasmhost.Request {
	r := scenario.Request{Method: "GET", Path: "/canary", Client: "192.0.2.1", Host: "weir.test", Headers: [][2]string{{"x-key", "canary-" + key}}}
	return moduleRequest(r)
}

func TestAReplyThatFailsIsNotAnAdmission(t *testing.T) {
	host := newHost(t, readModule(t))
	vm := newVM(t, host, oneAMinute("allow"))
	if _, err := vm.Do(t.Context(), keyed("a")); err != nil {
		t.Fatal(err)
	}
	host.Fault = func(call, _ string) wasmhost.Status {
		if call == "proxy_send_local_response" {
			return wasmhost.InternalFailure
		}
		return wasmhost.OK
	}
	got, err := vm.Do(t.Context(), keyed("a"))
	if err != nil || !got.Paused {
		t.Errorf("%+v, %v, want a request that does not go on", got, err)
	}
}

// TestFaultsOfMetricsHurtNobody: a metric that cannot be defined or moved is no
// reason to fail a request.
func TestFaultsOfMetricsHurtNobody(t *testing.T) {
	for _, call := range []string{"proxy_define_metric", "proxy_increment_metric", "proxy_record_metric", "proxy_log"} {
		host := newHost(t, readModule(t))
		host.Fault = func(name, _ string) wasmhost.Status {
			if name == call {
				return wasmhost.InternalFailure
			}
			return wasmhost.OK
		}
		vm := newVM(t, host, oneAMinute("deny"))
		checkRecovery(t, vm)
		for range 64 {
			if err := vm.Tick(t.Context()); err != nil {
				t.Errorf("%s: %v", call, err)
			}
		}
	}
}

func TestASweepThatFailsIsReported(t *testing.T) {
	host := newHost(t, readModule(t))
	vm := newVM(t, host, oneAMinute("allow"))
	host.Fault = func(call, _ string) wasmhost.Status {
		if call == "proxy_get_shared_data" {
			return wasmhost.InternalFailure
		}
		return wasmhost.OK
	}
	if err := vm.Tick(t.Context()); err != nil {
		t.Fatal(err)
	}
	if logged := host.Logs(); len(logged) != 1 || logged[0] != "error: weir: sweep: proxy_get_shared_data: status 10" {
		t.Errorf("logged %q", logged)
	}
}
