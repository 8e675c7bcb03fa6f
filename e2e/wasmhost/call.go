package wasmhost

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Call is a call to another service that the guest has made, and that waits for
// the test to answer it: see [VM.AnswerHTTP] and [VM.AnswerGRPC].
type Call struct {
	Token   uint32
	Timeout time.Duration

	// Of an HTTP call.
	Cluster string
	Headers [][2]string

	// Of a gRPC call: the serialised envoy.config.core.v3.GrpcService, and the
	// method of it that is called.
	Target          []byte
	Service, Method string

	// Body is what is sent, the message of a gRPC call.
	Body []byte

	plugin *PluginContext
}

// Tokens say by their low two bits what they are of, and none is 0.
const (
	httpToken      = 0
	grpcToken      = 1
	tokenIncrement = 4
)

// Calls are those that wait for an answer: HTTP first, and then in the order
// that they were made in. Like Envoy's, a call belongs to the plugin, and goes
// on when the request that it was made for is gone.
func (vm *VM) Calls() []*Call {
	return slices.SortedFunc(maps.Values(vm.calls), func(a, b *Call) int {
		return cmp.Or(cmp.Compare(a.kind(), b.kind()), cmp.Compare(a.Token, b.Token))
	})
}

func (c *Call) kind() uint32 { return c.Token % tokenIncrement }

// place makes a call, and gives the guest its token where argument 1 says.
func (c *hostCall) place(call *Call, kind uint32) Status {
	timeout := int32(c.u32(0))
	call.plugin = c.vm.plugin()
	if timeout < 0 || call.plugin == nil {
		return BadArgument
	}
	call.Timeout = time.Duration(timeout) * time.Millisecond
	c.vm.lastToken[kind] += tokenIncrement
	call.Token = c.vm.lastToken[kind] + kind
	if status := c.put32(1, call.Token); status != OK {
		return status
	}
	c.vm.calls[call.Token] = call
	return OK
}

// cancel ends the calls of a plugin, of which the guest does not hear.
func (p *PluginContext) cancel() {
	maps.DeleteFunc(p.vm.calls, func(_ uint32, call *Call) bool { return call.plugin == p })
}
