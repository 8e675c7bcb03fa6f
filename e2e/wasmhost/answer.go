package wasmhost

import (
	"context"
	"fmt"
	"strconv"
)

// answer is what a call has brought, while the guest hears of it.
type answer struct {
	plugin  *PluginContext
	headers headers // nil if there are none
	body    []byte
	message []byte
}

// AnswerHTTP answers an HTTP call. The error says that the guest trapped, as it
// does for the other answers.
func (vm *VM) AnswerHTTP(ctx context.Context, token uint32, status int, headers [][2]string, body []byte) error {
	h := append(lowered([][2]string{{":status", strconv.Itoa(status)}}), lowered(headers)...)
	return vm.answerCall(ctx, token, httpToken, "proxy_on_http_call_response", answer{headers: h, body: body},
		uint64(len(h)), uint64(len(body)), 0)
}

// FailHTTP ends an HTTP call without an answer: the connection was reset. (One
// that takes too long is answered with status 504, and one that finds no host
// with 503, by Envoy itself.)
func (vm *VM) FailHTTP(ctx context.Context, token uint32) error {
	return vm.answerCall(ctx, token, httpToken, "proxy_on_http_call_response", answer{}, 0, 0, 0)
}

// AnswerGRPC answers a gRPC call. It is not closed as well.
func (vm *VM) AnswerGRPC(ctx context.Context, token uint32, message []byte) error {
	return vm.answerCall(ctx, token, grpcToken, "proxy_on_grpc_receive", answer{message: message}, uint64(len(message)))
}

// CloseGRPC ends a gRPC call with a status of gRPC in place of a message.
func (vm *VM) CloseGRPC(ctx context.Context, token uint32, code int) error {
	return vm.answerCall(ctx, token, grpcToken, "proxy_on_grpc_close", answer{}, uint64(uint32(code)))
}

// answerCall lets the guest hear of a call, in the context of the plugin that it
// was made by, and then carries out what the guest wants done with requests.
func (vm *VM) answerCall(ctx context.Context, token, kind uint32, callback string, a answer, args ...uint64) error {
	call := vm.calls[token]
	if call == nil || call.kind() != kind {
		return fmt.Errorf("%s: no such call has the token %d", callback, token)
	}
	delete(vm.calls, token)
	a.plugin = call.plugin
	vm.answer = &a
	_, err := vm.call(ctx, callback, 0, call.plugin.id, append([]uint64{uint64(token)}, args...)...)
	vm.answer = nil
	if err != nil {
		return err
	}
	return vm.carryOn(ctx)
}

// answered is the answer that the guest may read, or nil.
func (vm *VM) answered() *answer {
	if a := vm.answer; a != nil && a.plugin == vm.plugin() {
		return a
	}
	return nil
}

// Stray lets the first plugin hear of the end of calls of a token that it does
// not know. Envoy does that to a gRPC call which fails at once: the guest has
// been told that it could not be made.
func (vm *VM) Stray(ctx context.Context, token uint32) error {
	const unavailable = 14
	for callback, args := range map[string][]uint64{
		"proxy_on_http_call_response": {0, 0, 0}, "proxy_on_grpc_receive": {0}, "proxy_on_grpc_close": {unavailable},
	} {
		if _, err := vm.call(ctx, callback, 0, vm.first.id, append([]uint64{uint64(token)}, args...)...); err != nil {
			return err
		}
	}
	return vm.carryOn(ctx)
}
