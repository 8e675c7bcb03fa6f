package wasmhost

import (
	"context"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The clocks of WASI, and the errno for those that a proxy does not have.
const (
	clockRealtime  = 0
	clockMonotonic = 1

	errnoNotSupported Status = 58
)

// epoch is the wall clock's time when the monotonic clock is at 0.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// exportWASI makes wazero's WASI for the modules of the runtime, except for the
// clock, which is the Host's.
func exportWASI(ctx context.Context, runtime wazero.Runtime) error {
	builder := runtime.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	hostFunction{"clock_time_get", "iIi", clockTimeGet}.export(builder)
	_, err := builder.Instantiate(ctx)
	return err
}

func clockTimeGet(c *hostCall) Status {
	now := c.vm.host.now.Load()
	switch c.u32(0) {
	case clockRealtime:
		now += epoch.UnixNano()
	case clockMonotonic:
	default:
		return errnoNotSupported
	}
	return c.put64(2, uint64(now))
}

// getCurrentTime is the wall clock by its older name.
func getCurrentTime(c *hostCall) Status {
	return c.put64(0, uint64(epoch.UnixNano()+c.vm.host.now.Load()))
}
