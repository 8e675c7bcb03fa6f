package wasmhost

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

const pageSize = 64 << 10

// VM is one worker thread's instance of the module. One goroutine at a time may
// drive it; different VMs may run at the same time, and one from within another
// by the hook Before.
type VM struct {
	host    *Host
	module  api.Module
	exports map[string]api.Function
	malloc  api.Function // the guest's own, or the SDK's
	dead    error        // why it trapped

	plugins map[uint32]*PluginContext // by context id
	streams map[uint32]*stream        // by context id
	lastID  uint32

	calls     map[uint32]*Call // by token
	lastToken [2]uint32        // of HTTP and of gRPC
	answer    *answer          // that the guest hears of

	current    uint32 // the context that the guest was called for
	effective  uint32 // the context that the guest chose instead, or 0
	restricted bool   // the host allocates or initialises: few calls are allowed
	callback   string // the export that runs, or ran last

	first *PluginContext
}

// vmKey finds the calling VM in the context of a host call.
type vmKey struct{}

// NewVM starts one worker's VM with a plugin in it. The error of a plugin that
// refuses its configuration, or traps, carries the lines it logged.
func (h *Host) NewVM(ctx context.Context, plugin Plugin) (*VM, error) {
	vm := &VM{host: h, plugins: map[uint32]*PluginContext{}, streams: map[uint32]*stream{}, calls: map[uint32]*Call{}}
	stdout, stderr := &lineLogger{vm: vm, level: "info"}, &lineLogger{vm: vm, level: "error"}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithRandSource(rand.Reader).WithStdout(stdout).WithStderr(stderr)
	module, err := h.runtime.InstantiateModule(ctx, h.module, config)
	if err != nil {
		return nil, fmt.Errorf("instantiate module: %w", err)
	}
	vm.module, vm.exports = module, map[string]api.Function{}
	for name := range h.module.ExportedFunctions() {
		vm.exports[name] = module.ExportedFunction(name)
	}
	if err := vm.start(ctx, plugin); err != nil {
		_ = module.Close(ctx)
		return nil, err
	}
	return vm, nil
}

// start initialises the guest's runtime and brings up its first plugin.
func (vm *VM) start(ctx context.Context, plugin Plugin) (err error) {
	vm.malloc = cmp.Or(vm.exports["malloc"], vm.exports["proxy_on_memory_allocate"])
	if vm.malloc == nil {
		return errors.New("module exports neither malloc nor proxy_on_memory_allocate")
	}
	vm.restricted = true
	_, err = vm.call(ctx, "_initialize", 0, 0)
	vm.restricted = false
	if err != nil {
		return err
	}
	vm.first, err = vm.AddPlugin(ctx, plugin)
	return err
}

// Do runs one request through the filter of the VM's first plugin.
func (vm *VM) Do(ctx context.Context, request Request) (Response, error) {
	return vm.first.Do(ctx, request)
}

// Begin lets the VM's first plugin see a request: see [PluginContext.Begin].
func (vm *VM) Begin(ctx context.Context, request Request) (*Exchange, error) {
	return vm.first.Begin(ctx, request)
}

// Tick lets the timer of the VM's first plugin fire.
func (vm *VM) Tick(ctx context.Context) error { return vm.first.Tick(ctx) }

// TickPeriod is the period the first plugin asked for, or 0.
func (vm *VM) TickPeriod() time.Duration { return vm.first.TickPeriod() }

// Dead reports whether the guest trapped. Such a VM runs nothing more.
func (vm *VM) Dead() bool { return vm.dead != nil }

// Callback is the export that the VM runs, for the hooks: "proxy_on_tick".
func (vm *VM) Callback() string { return vm.callback }

// MemoryBytes is the size of the guest's memory.
func (vm *VM) MemoryBytes() uint32 { return vm.module.Memory().Size() }

// MemoryPages is the same in pages of 64 KiB.
func (vm *VM) MemoryPages() uint32 { return vm.MemoryBytes() / pageSize }

// call calls an export for a context, which most exports take as their first
// argument. What the module does not export answers ifMissing. A trap is the end
// of the VM, and its error carries what the guest logged on the way there.
func (vm *VM) call(ctx context.Context, export string, ifMissing uint64, id uint32, args ...uint64) (uint64, error) {
	if vm.dead != nil {
		return 0, fmt.Errorf("%s: the vm is dead: %w", export, vm.dead)
	}
	function, ok := vm.exports[export]
	if !ok {
		return ifMissing, nil
	}
	if len(function.Definition().ParamTypes()) > 0 {
		args = append([]uint64{uint64(id)}, args...)
	}
	vm.current, vm.effective, vm.callback = id, 0, export
	mark := vm.host.logMark()
	results, err := function.Call(context.WithValue(ctx, vmKey{}, vm), args...)
	if err != nil {
		vm.dead = fmt.Errorf("%s trapped: %w%s", export, err, vm.loggedSince(mark))
		return 0, vm.dead
	}
	if len(results) == 0 {
		return 0, nil
	}
	return results[0], nil
}

// loggedSince renders the lines the VM logged since the mark, as the end of an error.
func (vm *VM) loggedSince(mark int) string {
	lines := vm.host.logsOf(vm, mark)
	if len(lines) == 0 {
		return ""
	}
	return "; it logged:\n\t" + strings.Join(lines, "\n\t")
}

// nextID returns the id of a new context.
func (vm *VM) nextID() uint32 {
	vm.lastID++
	return vm.lastID
}

// context is the id of the context that host calls are about.
func (vm *VM) context() uint32 {
	if vm.isContext(vm.effective) {
		return vm.effective
	}
	return vm.current
}

func (vm *VM) isContext(id uint32) bool { return vm.plugins[id] != nil || vm.streams[id] != nil }

// stream is the stream that host calls are about, or nil in a plugin's context.
func (vm *VM) stream() *stream { return vm.streams[vm.context()] }

// plugin is the plugin that host calls are about, or nil while the VM starts.
func (vm *VM) plugin() *PluginContext {
	if s := vm.stream(); s != nil {
		return s.plugin
	}
	return vm.plugins[vm.context()]
}

// lineLogger logs what the guest's runtime writes, line by line: Go prints the
// message of a panic in many small pieces.
type lineLogger struct {
	vm    *VM
	level string
	rest  string
}

func (l *lineLogger) Write(p []byte) (int, error) {
	lines := strings.Split(l.rest+string(p), "\n")
	for _, line := range lines[:len(lines)-1] {
		l.vm.host.log(l.vm, l.level, line)
	}
	l.rest = lines[len(lines)-1]
	return len(p), nil
}
