// Package wasmhost is a small proxy-wasm host on wazero, which behaves as Envoy
// does where a module can tell. It runs the very module that a proxy would load,
// in a test, with a clock that the test moves, and with every host call in the
// test's hands.
//
// A [Host] is one proxy process. Its VMs, one for each worker thread, share what
// the workers of a proxy share: the [SharedData], the [Metrics] and the clock.
// A [VM] has a memory of its own. What it is asked and what it answers are a
// [Request] and a [Response]:
//
//	host, err := wasmhost.New(ctx, module)
//	vm, err := host.NewVM(ctx, wasmhost.Plugin{RootID: "weir", Configuration: config})
//	host.SetNow(5 * time.Second)
//	reply, err := vm.Do(ctx, wasmhost.Request{Headers: [][2]string{{":path", "/"}}})
//
// A request that waits for a [Call] to another service is an [Exchange], and goes
// on when the test answers the call:
//
//	exchange, err := vm.Begin(ctx, request)
//	err = vm.AnswerHTTP(ctx, vm.Calls()[0].Token, 200, nil, body)
//	reply = exchange.Response()
//
// Three hooks put a test between the module and its host. Before runs ahead of a
// host call and may run another VM, which interleaves two workers at a point that
// real threads would meet once in a million requests. Fault answers a call with a
// failure in place of doing it. Tamper changes what a call is about to return, and
// Misplace and Version say wrong things of it.
//
// The behaviour follows proxy-wasm-cpp-host and Envoy's Context, as of ABI 0.2.0:
// a set with cas 0 overwrites, a header that is absent is NotFound while a header
// map that is absent is BadArgument, a counter does not move by 0, an empty value
// is a null pointer, no call but a log line or a clock is allowed while the host
// allocates in the guest, and a call to another service belongs to the plugin,
// whose context hears of the answer even if the request is gone by then. Stricter
// than Envoy, it ends a guest that decides a request twice. Bodies, trailers,
// queues and gRPC streams are not here: the calls exist and answer Unimplemented.
package wasmhost

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
)

// maxMemoryPages is the memory a VM may have, in pages of 64 KiB: Envoy's 1 GiB.
const maxMemoryPages = 1 << 14

// compiled keeps machine code for the life of the process, by the content of the
// module, so that a test which wants a fresh Host pays for the compiler once.
var compiled = wazero.NewCompilationCache()

// Host is one proxy process: what all its VMs share. Set the hooks before the
// first VM runs; they are called from the goroutine that drives the VM.
type Host struct {
	Shared  *SharedData
	Metrics *Metrics

	// Before, if set, runs before each host call. It may run other VMs, never
	// the one that is calling. The call is the name of the import, such as
	// "proxy_get_shared_data" or "clock_time_get". The arg is its first byte
	// string: the key, the header, the path of the property joined by dots, the
	// name of the metric, the details of a local response, the logged line; ""
	// where there is none. Of a clock it is the precision, unless that is 0, as
	// Go's own runtime asks for.
	Before func(vm *VM, call, arg string)
	// Fault, if set, is asked before each host call: a status that is not OK
	// is returned to the guest in place of doing the call.
	Fault func(call, arg string) Status
	// Tamper, if set, may replace the bytes that a get call is about to return.
	Tamper func(call, arg string, value []byte) []byte
	// Misplace, if set, may replace where a get call says that its bytes are, and
	// how many, after they have been put there.
	Misplace func(call, arg string, address, size uint32) (uint32, uint32)
	// Version, if set, may replace the version that a get of shared data returns.
	Version func(key string, cas uint32) uint32

	runtime wazero.Runtime
	module  wazero.CompiledModule
	now     atomic.Int64 // nanoseconds

	mu   sync.Mutex
	logs []logLine
}

// logLine is one line and the VM that logged it.
type logLine struct {
	vm   *VM
	text string
}

// New compiles the module for the VMs of a new proxy process.
func New(ctx context.Context, module []byte) (*Host, error) {
	config := wazero.NewRuntimeConfigCompiler().WithCompilationCache(compiled).WithMemoryLimitPages(maxMemoryPages)
	h := &Host{
		Shared:  newSharedData(),
		Metrics: newMetrics(),
		runtime: wazero.NewRuntimeWithConfig(ctx, config),
	}
	h.SetNow(0)
	if err := h.load(ctx, module); err != nil {
		_ = h.Close(ctx)
		return nil, err
	}
	return h, nil
}

// load gives the runtime the host's functions and the module.
func (h *Host) load(ctx context.Context, module []byte) (err error) {
	if err := exportWASI(ctx, h.runtime); err != nil {
		return fmt.Errorf("export wasi: %w", err)
	}
	if err := exportABI(ctx, h.runtime); err != nil {
		return fmt.Errorf("export proxy-wasm: %w", err)
	}
	if h.module, err = h.runtime.CompileModule(ctx, module); err != nil {
		return fmt.Errorf("compile module: %w", err)
	}
	return nil
}

// Imports are the host calls that the module imports, each once, in order.
func (h *Host) Imports() []string {
	var names []string
	for _, function := range h.module.ImportedFunctions() {
		_, name, _ := function.Import()
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Close ends the process with all its VMs.
func (h *Host) Close(ctx context.Context) error { return h.runtime.Close(ctx) }

// SetNow sets what the monotonic clock answers to every VM from here on. The
// wall clock is as far from its own fixed origin. A steady clock never reads 0,
// and Go's runtime does not start if it does: 0, where a Host begins, reads as 1 ns.
func (h *Host) SetNow(d time.Duration) { h.now.Store(int64(max(d, 1))) }

// Logs returns every line the VMs logged, oldest first, with the level in front:
// "error: no configuration". What the guest's runtime writes to standard error,
// such as the trace of a panic, is logged as errors, and standard output as info.
func (h *Host) Logs() []string { return h.logsOf(nil, 0) }

// logsOf returns the lines that the VM logged, or all VMs if it is nil, from a
// mark on.
func (h *Host) logsOf(vm *VM, mark int) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var lines []string
	for _, line := range h.logs[mark:] {
		if vm == nil || line.vm == vm {
			lines = append(lines, line.text)
		}
	}
	return lines
}

// logMark is the place in the log where the next line goes.
func (h *Host) logMark() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.logs)
}

func (h *Host) log(vm *VM, level, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs = append(h.logs, logLine{vm, level + ": " + text})
}
