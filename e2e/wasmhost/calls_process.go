package wasmhost

import "time"

// The host calls about the plugin and the process around it: the configuration,
// the log, the timer, shared data and metrics.

// The buffers of the ABI that are treated apart. The others, bodies among them,
// are empty here.
const (
	callResponseBuffer  = 4
	grpcMessageBuffer   = 5
	configurationBuffer = 7
	lastBuffer          = 8
)

var logLevels = []string{"trace", "debug", "info", "warn", "error", "critical"}

func log(c *hostCall) Status {
	if int(c.u32(0)) >= len(logLevels) {
		return BadArgument
	}
	c.vm.host.log(c.vm, logLevels[c.u32(0)], string(c.in[0]))
	return OK
}

func setTickPeriod(c *hostCall) Status {
	if plugin := c.vm.plugin(); plugin != nil {
		plugin.tickPeriod = time.Duration(c.u32(0)) * time.Millisecond
	}
	return OK
}

func setEffectiveContext(c *hostCall) Status {
	if !c.vm.isContext(c.u32(0)) {
		return BadArgument
	}
	c.vm.effective = c.u32(0)
	return OK
}

// getBufferBytes answers the part of a buffer that is there of what is asked for.
// The configuration is there while the plugin starts, not later.
func getBufferBytes(c *hostCall) Status {
	var buffer []byte
	switch kind := c.u32(0); {
	case kind > lastBuffer:
		return BadArgument
	case kind == callResponseBuffer:
		a := c.vm.answered()
		if a == nil || a.headers == nil {
			return NotFound
		}
		buffer = a.body
	case kind == grpcMessageBuffer && c.vm.answered() != nil:
		buffer = c.vm.answer.message
	case kind == configurationBuffer:
		plugin := c.vm.plugin()
		if plugin == nil || !plugin.configuring {
			return NotFound
		}
		buffer = plugin.plugin.Configuration
	}
	size := uint64(len(buffer))
	start := min(uint64(c.u32(1)), size)
	end := min(start+uint64(c.u32(2)), size)
	return c.put(3, buffer[start:end])
}

func getSharedData(c *hostCall) Status {
	value, cas, ok := c.vm.host.Shared.Get(string(c.in[0]))
	if !ok {
		return NotFound
	}
	if status := c.put(0, value); status != OK {
		return status
	}
	if version := c.vm.host.Version; version != nil {
		cas = version(c.arg, cas)
	}
	return c.put32(2, cas)
}

func setSharedData(c *hostCall) Status {
	return c.vm.host.Shared.Set(string(c.in[0]), c.in[1], c.u32(0))
}

func defineMetric(c *hostCall) Status {
	id, status := c.vm.host.Metrics.define(c.u32(0), string(c.in[0]))
	if status != OK {
		return status
	}
	return c.put32(1, id)
}

func incrementMetric(c *hostCall) Status {
	return c.vm.host.Metrics.increment(c.u32(0), int64(c.args[1]))
}

func recordMetric(c *hostCall) Status {
	return c.vm.host.Metrics.record(c.u32(0), c.args[1])
}

func getMetric(c *hostCall) Status {
	value, status := c.vm.host.Metrics.read(c.u32(0))
	if status != OK {
		return status
	}
	return c.put64(1, value)
}
