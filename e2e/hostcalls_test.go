package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// everyCall is a configuration that makes each of the host calls that Weir
// makes at all: rules that charge with the request and with its response, a
// reply that names its rule, headers on both.
func everyCall(onError string) string {
	return fmt.Sprintf(`{"rules": [
		{"name": "two", "match": {"path": {"prefix": "/"}, "methods": ["GET"]}, "key": [{"header": "x-key"}, {"client_ip": true}],
		 "limits": [{"requests": 2, "window": "1h"}]},
		{"name": "logins", "key": [{"header": "x-key"}], "limits": [{"requests": 9, "window": "1h"}],
		 "charge": {"when": "response", "statuses": ["401"]}}],
		"headers": ["retry-after", "ratelimit"], "on_error": %q, "store": {"max_keys": 1000}}`, onError)
}

// A callFault is a host call that fails in one callback of the module, and what
// then becomes of a request of a fresh key and of one of a key at its limit.
type callFault struct {
	callback, call string
	fresh, full    fate
	errors         int64 // how often the filter's counter of errors moves; in a tick, once for each line
	logged         int   // lines, over both requests and within one tick
}

// A fate is what becomes of a request.
type fate int

const (
	usual fate = iota // what it would have got without the fault
	fails             // what on_error says
	hangs             // no answer: the proxy's timeout ends it
)

const (
	onConfigure = "proxy_on_configure"
	onRequest   = "proxy_on_request_headers"
	onResponse  = "proxy_on_response_headers"
	onTick      = "proxy_on_tick"
	onHTTP      = "proxy_on_http_call_response"
	onMessage   = "proxy_on_grpc_receive"
	onClose     = "proxy_on_grpc_close"
)

var callFaults = []callFault{
	{onRequest, "clock_time_get", fails, fails, 2, 1},
	{onRequest, "proxy_get_header_map_pairs", fails, fails, 2, 1},
	{onRequest, "proxy_get_property", fails, fails, 2, 1},
	{onRequest, "proxy_get_shared_data", fails, fails, 2, 1},
	{onRequest, "proxy_set_shared_data", fails, usual, 1, 1}, // a refusal stores nothing
	{onRequest, "proxy_increment_metric", usual, usual, 0, 0},
	{onRequest, "proxy_set_property", usual, usual, 1, 1},
	{onRequest, "proxy_send_local_response", usual, hangs, 1, 1},
	{onResponse, "clock_time_get", usual, usual, 1, 1}, // for a charge: a refused request has none left
	{onResponse, "proxy_get_header_map_value", usual, usual, 1, 1},
	{onResponse, "proxy_get_shared_data", usual, usual, 1, 1},
	{onResponse, "proxy_set_shared_data", usual, usual, 1, 1},
	{onResponse, "proxy_increment_metric", usual, usual, 0, 0},
	{onResponse, "proxy_replace_header_map_value", usual, usual, 2, 1},
	{onTick, "clock_time_get", usual, usual, 0, 1},
	{onTick, "proxy_get_shared_data", usual, usual, 0, 1},
	{onTick, "proxy_set_shared_data", usual, usual, 0, 1},
	{onTick, "proxy_record_metric", usual, usual, 0, 0},
}

// startFaults are the calls of a plugin's start, and whether it starts without.
var startFaults = map[string]bool{
	"proxy_get_buffer_bytes":             false,
	"proxy_get_property":                 false,
	"proxy_get_shared_data":              false,
	"proxy_set_shared_data":              false,
	"proxy_set_tick_period_milliseconds": false,
	"proxy_define_metric":                true,
	"proxy_log":                          false, // tried with a configuration that is refused
}

// notFaulted are imports that no case can reach, and why.
var notFaulted = map[string]string{
	// Go's runtime calls these, most while it starts. Where one fails that it
	// needs, it dies, and Envoy's failure policy applies.
	"args_get": "", "args_sizes_get": "", "environ_get": "", "environ_sizes_get": "", "random_get": "", "proc_exit": "",
	"sched_yield": "", "poll_oneoff": "", "fd_write": "", "fd_fdstat_get": "",
	"fd_fdstat_set_flags": "", "fd_prestat_get": "", "fd_prestat_dir_name": "",
}

// TestEveryImportHasAFaultCase: a host call that the module begins to use needs
// a case of its own here.
func TestEveryImportHasAFaultCase(t *testing.T) {
	cases := map[string]bool{}
	for _, f := range callFaults {
		cases[f.call] = true
	}
	for _, f := range answerFaults {
		cases[f.call] = true
	}
	for call := range startFaults {
		cases[call] = true
	}
	for call := range notFaulted {
		cases[call] = true
	}
	imports := newHost(t, readModule(t)).Imports()
	if want := slices.Sorted(maps.Keys(cases)); !slices.Equal(imports, want) {
		t.Errorf("the module imports\n%q, the cases are\n%q", imports, want)
	}
}

// TestEveryCallHasAFaultCase holds the tables to the calls that are made.
func TestEveryCallHasAFaultCase(t *testing.T) {
	w := newWorld(t, "deny")
	made := map[string]bool{}
	note := func(vm *wasmhost.VM, call, arg string) {
		if call != "clock_time_get" || arg != "" { // which is the runtime's
			made[vm.Callback()+" "+call] = true
		}
	}
	w.host.Before = note
	newVM(t, w.host, everyCall("deny"))
	w.run(t, "any")
	w.sweep(t)
	for engine := range engines {
		c := newAnswerCaller(t, engine, "deny")
		c.host.Before = note
		c.answered("any")
	}
	want := map[string]bool{}
	for _, f := range callFaults {
		want[f.callback+" "+f.call] = true
	}
	for _, f := range answerFaults {
		want[f.callback+" "+f.call] = true
	}
	for call := range startFaults {
		want[onConfigure+" "+call] = true
	}
	// What only a fault or a foreign value brings about.
	delete(want, onConfigure+" proxy_log")
	delete(want, onConfigure+" proxy_set_shared_data") // the seed: it is there
	if got, want := slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, want) {
		t.Errorf("calls made:\n%q, cases:\n%q", got, want)
	}
}

// statuses are all that the ABI knows, and one that it does not.
func statuses() (all []wasmhost.Status) {
	for s := wasmhost.NotFound; s <= wasmhost.Unimplemented; s++ {
		all = append(all, s)
	}
	return append(all, 255)
}

// TestEveryCallFails is B77 and the failure policy for host calls: each of them
// fails with every status, in each callback, and no request is harmed by more
// than on_error says.
func TestEveryCallFails(t *testing.T) {
	for _, f := range callFaults {
		for _, onError := range []string{"allow", "deny"} {
			w := newWorld(t, onError)
			for _, status := range statuses() {
				t.Run(fmt.Sprintf("%s/%s=%v/%s", f.callback, f.call, status, onError), func(t *testing.T) {
					if f.callback == onTick {
						w.tickFault(t, f, status)
					} else {
						w.fault(t, f, status)
					}
				})
			}
		}
	}
}

// TestEveryCallOfTheStartFails: the plugin starts, or says in one line why not,
// and leaves nothing that the next start would stumble over.
func TestEveryCallOfTheStartFails(t *testing.T) {
	module := readModule(t)
	for call, starts := range startFaults {
		host := newHost(t, module)
		for _, status := range statuses() {
			t.Run(fmt.Sprintf("%s=%v", call, status), func(t *testing.T) {
				starts := starts || call == "proxy_get_property" && status == wasmhost.NotFound // no root id
				configuration, lines := everyCall("deny"), 1
				if call == "proxy_log" {
					configuration, starts, lines = "refuse this", false, 0
				}
				host.Before = faultIn(host, onConfigure, call, status)
				mark := len(host.Logs())
				_, err := host.NewVM(t.Context(), wasmhost.Plugin{RootID: "e2e", Configuration: []byte(configuration)})
				logged := host.Logs()[mark:]
				switch {
				case starts && (err != nil || len(logged) != 0):
					t.Errorf("%v, logged %q, want a start", err, logged)
				case starts:
				case err == nil || strings.Contains(err.Error(), "trapped"):
					t.Errorf("%v, want a refusal", err)
				case len(logged) != lines || lines == 1 && !strings.HasPrefix(logged[0], "critical: weir: cannot start: "):
					t.Errorf("logged %q, want %d line", logged, lines)
				}
			})
		}
		host.Before, host.Fault = nil, nil
		vm := newVM(t, host, everyCall("deny"))
		for i, want := range []int{200, 200, 429} {
			checkKeyed(t, vm, "after", i, want)
		}
	}
}

// faultIn is a hook that sets another: the call fails in the callback, for Weir.
func faultIn(host *wasmhost.Host, callback, name string, status wasmhost.Status) func(*wasmhost.VM, string, string) {
	return func(vm *wasmhost.VM, _, _ string) {
		host.Fault = func(call, arg string) wasmhost.Status {
			if call == name && vm.Callback() == callback && (call != "clock_time_get" || arg != "") {
				return status
			}
			return wasmhost.OK
		}
	}
}

func checkKeyed(t *testing.T, vm *wasmhost.VM, key string, i, want int) {
	t.Helper()
	if got, err := vm.Do(t.Context(), keyed(key)); err != nil || got.Status != want {
		t.Errorf("request %d of key %s: status %d, %v, want %d", i, key, got.Status, err, want)
	}
}

// sweepTicks is more than a sweep takes.
const sweepTicks = 130
