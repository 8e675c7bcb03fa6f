package wasmhost

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// hostFunction is a function that the module may import. Its signature has a
// letter for each argument: b for bytes (a pointer and a size), i for 32 bits,
// I for 64 bits.
type hostFunction struct {
	name      string
	signature string
	do        func(c *hostCall) Status
}

// hostCall is one call of a host function that is under way.
type hostCall struct {
	ctx  context.Context // of the guest's call, to call back with
	vm   *VM
	name string
	arg  string   // the first bytes, for the hooks
	in   [][]byte // the bytes, in order, copied
	args []uint64 // the other arguments, in order
}

// export makes the function available to modules.
func (f hostFunction) export(builder wazero.HostModuleBuilder) {
	var params []api.ValueType
	for _, letter := range f.signature {
		switch letter {
		case 'b':
			params = append(params, api.ValueTypeI32, api.ValueTypeI32)
		case 'i':
			params = append(params, api.ValueTypeI32)
		case 'I':
			params = append(params, api.ValueTypeI64)
		}
	}
	builder.NewFunctionBuilder().
		WithGoFunction(api.GoFunc(f.serve), params, []api.ValueType{api.ValueTypeI32}).
		Export(f.name)
}

// serve runs one call, with the hooks around it.
func (f hostFunction) serve(ctx context.Context, stack []uint64) {
	vm := ctx.Value(vmKey{}).(*VM)
	if vm.restricted && f.name != "proxy_log" && f.name != "clock_time_get" {
		panic(fmt.Errorf("restricted_callback: %s during initialisation or allocation", f.name))
	}
	c := &hostCall{ctx: ctx, vm: vm, name: f.name}
	status := OK
	if !c.decode(f.signature, stack) {
		status = InvalidMemoryAccess
	}
	if before := vm.host.Before; before != nil {
		before(vm, c.name, c.arg)
	}
	if fault := vm.host.Fault; fault != nil && status == OK {
		status = fault(c.name, c.arg)
	}
	if status == OK {
		status = f.do(c)
	}
	stack[0] = uint64(status)
}

// decode takes the arguments apart; false says that bytes are not in the memory.
func (c *hostCall) decode(signature string, stack []uint64) bool {
	for _, letter := range signature {
		if letter != 'b' {
			c.args, stack = append(c.args, stack[0]), stack[1:]
			continue
		}
		view, ok := c.vm.module.Memory().Read(uint32(stack[0]), uint32(stack[1]))
		if !ok {
			return false
		}
		c.in, stack = append(c.in, append([]byte{}, view...)), stack[2:]
	}
	if len(c.in) > 0 {
		c.arg = string(c.in[0])
	}
	if strings.HasSuffix(c.name, "_property") {
		c.arg = dotted(c.arg)
	}
	if c.name == "clock_time_get" && c.args[1] != 0 {
		c.arg = strconv.FormatUint(c.args[1], 10)
	}
	return true
}

func (c *hostCall) u32(i int) uint32 { return uint32(c.args[i]) }

// put32 writes to the address that argument i is.
func (c *hostCall) put32(i int, value uint32) Status {
	return c.wrote(c.vm.module.Memory().WriteUint32Le(c.u32(i), value))
}

// put64 writes to the address that argument i is.
func (c *hostCall) put64(i int, value uint64) Status {
	return c.wrote(c.vm.module.Memory().WriteUint64Le(c.u32(i), value))
}

// wrote is the status of a write to the guest's memory.
func (c *hostCall) wrote(ok bool) Status {
	if !ok {
		return InvalidMemoryAccess
	}
	return OK
}

// put hands the guest bytes, in memory that the guest allocates, with their
// address and size where arguments i and i+1 say. No bytes are a null pointer.
func (c *hostCall) put(i int, value []byte) Status {
	if tamper := c.vm.host.Tamper; tamper != nil {
		value = tamper(c.name, c.arg, value)
	}
	var address uint32
	if len(value) > 0 {
		address = c.allocate(len(value))
		if address == 0 || !c.vm.module.Memory().Write(address, value) {
			return InvalidMemoryAccess
		}
	}
	size := uint32(len(value))
	if misplace := c.vm.host.Misplace; misplace != nil {
		address, size = misplace(c.name, c.arg, address, size)
	}
	if status := c.put32(i, address); status != OK {
		return status
	}
	return c.put32(i+1, size)
}

// allocate calls back into the guest. The answer is 0 if it has no memory to give.
func (c *hostCall) allocate(size int) uint32 {
	c.vm.restricted = true
	defer func() { c.vm.restricted = false }()
	results, err := c.vm.malloc.Call(c.ctx, uint64(size))
	if err != nil {
		panic(fmt.Errorf("allocate %d bytes: %w", size, err))
	}
	return uint32(results[0])
}

// dotted joins the elements of a property's path by dots.
func dotted(path string) string { return strings.ReplaceAll(path, "\x00", ".") }
