package e2e

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	wasm "github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// The calls of a request, with what each is about.
var floorCalls = map[string][]string{
	"admit":  {"proxy_get_header_map_value x-key", "clock_time_get 1", "proxy_get_shared_data alice", "proxy_set_shared_data alice"},
	"refuse": {"proxy_get_header_map_value x-key", "clock_time_get 1", "proxy_send_local_response local_rate_limited"},
}

var floorRequest = wasmhost.Request{Headers: [][2]string{{":method", "GET"}, {":path", "/"}, {":authority", "weir.test"}, {"x-key", "alice"}}}

func readFloor(t *testing.T, name string) []byte {
	t.Helper()
	module, err := os.ReadFile("floor/" + name + ".wasm")
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// callsOf returns the calls that a VM makes in its requests, as they come.
func callsOf(t *testing.T, host *wasmhost.Host) *[]string {
	t.Helper()
	calls := new([]string)
	host.Before = func(vm *wasmhost.VM, call, arg string) {
		if vm.Callback() != "proxy_on_request_headers" {
			t.Errorf("%s in %s", call, vm.Callback())
		}
		*calls = append(*calls, strings.TrimSpace(call+" "+arg))
	}
	return calls
}

// TestAdmitFloor: each request costs its four calls and passes, and the time is
// stored under the key, at the version that was read.
func TestAdmitFloor(t *testing.T) {
	host := newHost(t, readFloor(t, "admit"))
	vm := newVM(t, host, "")
	calls := callsOf(t, host)
	for i := range 3 {
		*calls = nil
		now := time.Duration(i+1) * time.Second
		host.SetNow(now)
		got, err := vm.Do(t.Context(), floorRequest)
		if err != nil || got.Status != 200 || got.Local || got.Paused {
			t.Errorf("request %d: %+v, %v, want the upstream's 200", i, got, err)
		}
		if want := floorCalls["admit"]; !slices.Equal(*calls, want) {
			t.Errorf("request %d: calls %q, want %q", i, *calls, want)
		}
		value, _, _ := host.Shared.Get("alice")
		if want := binary.LittleEndian.AppendUint64(nil, uint64(now)); string(value) != string(want) {
			t.Errorf("request %d: stored %x, want %x", i, value, want)
		}
	}
	// Another worker is faster between the get and the set, which then fails.
	host.Before = func(_ *wasmhost.VM, call, key string) {
		if call == "proxy_set_shared_data" {
			host.Shared.Set(key, []byte("faster"), 0)
		}
	}
	if got, err := vm.Do(t.Context(), floorRequest); err != nil || got.Status != 200 {
		t.Errorf("in a conflict: %+v, %v", got, err)
	}
	if value, _, _ := host.Shared.Get("alice"); string(value) != "faster" {
		t.Errorf("in a conflict: %q is stored", value)
	}
	if keys := host.Shared.Keys(); !slices.Equal(keys, []string{"alice"}) {
		t.Errorf("keys %q are stored", keys)
	}
}

// TestRefuseFloor: each request costs its three calls and is answered 429, as
// Weir does it.
func TestRefuseFloor(t *testing.T) {
	host := newHost(t, readFloor(t, "refuse"))
	vm := newVM(t, host, "")
	calls := callsOf(t, host)
	for i := range 3 {
		*calls = nil
		got, err := vm.Do(t.Context(), floorRequest)
		if err != nil || got.Status != 429 || !got.Local || string(got.Body) != "local_rate_limited" ||
			got.Details != "local_rate_limited" || got.GRPCStatus != -1 || !slices.Contains(got.Headers, [2]string{"retry-after", "1"}) {
			t.Errorf("request %d: %+v, %v, want 429 with retry-after: 1", i, got, err)
		}
		if want := floorCalls["refuse"]; !slices.Equal(*calls, want) {
			t.Errorf("request %d: calls %q, want %q", i, *calls, want)
		}
	}
	if n := host.Shared.Len(); n != 0 {
		t.Errorf("%d keys are stored", n)
	}
}

// TestFloorsInEnvoy: a real Envoy takes the floors, too.
func TestFloorsInEnvoy(t *testing.T) {
	want := map[string]int{"admit": 200, "refuse": 429}
	var listeners []any
	for name := range want {
		path, err := filepath.Abs("floor/" + name + ".wasm")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, listener(t, filter{name, ""}, answerDirectly, func(_, manager object) {
			vm := vmConfig(manager)
			vm["vm_id"], vm["code"] = name, object{"local": object{"filename": path}}
		}))
	}
	envoy := startEnvoy(t, assemble(t, listeners), 1)
	for name, status := range want {
		const requests = 100
		if tally := pour(t, listenerOf(t, envoy, name), each(0, requests, crowds[0].ordinary)); tally[status] != requests {
			t.Errorf("%s: %v, want %d times %d", name, tally, requests, status)
		}
	}
}

// The imports, exports and data of a text of WebAssembly.
var (
	watImport = regexp.MustCompile(`\(import "(\w+)" "(\w+)"\s+\(func \$\w+ \(param ([^)]*)\) \(result (\w+)\)\)\)`)
	watExport = regexp.MustCompile(`\((?:func|memory) \(export "(\w+)"\)`)
	watData   = regexp.MustCompile(`\(data \(i32\.const \d+\) "([^"\\]+)"`) // without escapes
)

// TestFloorsAreAssembled: the modules import, export and hold what the texts
// beside them say. What they do is above. It needs no assembler; make floors does.
func TestFloorsAreAssembled(t *testing.T) {
	for name, calls := range floorCalls {
		source, err := os.ReadFile("floor/" + name + ".wat")
		if err != nil {
			t.Fatal(err)
		}
		var imports, exports []string
		for _, m := range watImport.FindAllStringSubmatch(string(source), -1) {
			imports = append(imports, fmt.Sprintf("%s %s(%s) %s", m[1], m[2], m[3], m[4]))
		}
		for _, m := range watExport.FindAllStringSubmatch(string(source), -1) {
			exports = append(exports, m[1])
		}
		slices.Sort(exports)
		gotImports, gotExports := interfaceOf(t, readFloor(t, name))
		if !slices.Equal(gotImports, imports) || len(imports) != len(calls) {
			t.Errorf("%s imports\n%q, and its text says\n%q", name, gotImports, imports)
		}
		if !slices.Equal(gotExports, exports) {
			t.Errorf("%s exports %q, and its text says %q", name, gotExports, exports)
		}
		data := watData.FindAllStringSubmatch(string(source), -1)
		for _, m := range data {
			if !strings.Contains(string(readFloor(t, name)), m[1]) {
				t.Errorf("%s does not hold %q", name, m[1])
			}
		}
		if len(data) == 0 {
			t.Errorf("%s: no data in its text", name)
		}
	}
}

// interfaceOf returns what a module imports, in order, and exports, sorted.
func interfaceOf(t *testing.T, code []byte) (imports, exports []string) {
	t.Helper()
	runtime := wasm.NewRuntime(t.Context())
	t.Cleanup(func() { _ = runtime.Close(t.Context()) })
	module, err := runtime.CompileModule(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range module.ImportedFunctions() {
		from, name, _ := f.Import()
		imports = append(imports, fmt.Sprintf("%s %s(%s) %s", from, name, typeNames(f.ParamTypes()), typeNames(f.ResultTypes())))
	}
	exports = slices.AppendSeq(slices.Collect(maps.Keys(module.ExportedFunctions())), maps.Keys(module.ExportedMemories()))
	slices.Sort(exports)
	return imports, exports
}

// typeNames are the types as a text has them.
func typeNames(types []api.ValueType) string {
	var names []string
	for _, each := range types {
		names = append(names, api.ValueTypeName(each))
	}
	return strings.Join(names, " ")
}
