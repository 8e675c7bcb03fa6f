//go:build wasip1

package main

import "unsafe"

// These are the callbacks of the proxy-wasm ABI 0.2.0 that Weir needs. The
// proxy calls, at a price, every one that a module exports, so there are no
// others: a stream takes four, and those about calls cost nothing where none is
// made.

//go:wasmexport proxy_abi_version_0_2_0
func abiVersion() {}

// malloc is asked, from within a host call, for memory for what that returns.
//
//go:wasmexport malloc
func malloc(size uint32) unsafe.Pointer { return returnedValues.allocate(size) }

// onContextCreate announces a plugin, which has no parent, or a stream, whose
// parent is its plugin.
//
//go:wasmexport proxy_on_context_create
func onContextCreate(id, parent uint32) {
	if parent == 0 {
		contexts.addPlugin(id)
	} else {
		contexts.addStream(id, parent)
	}
}

// onConfigure gives a plugin its configuration, and says whether it is taken.
//
//go:wasmexport proxy_on_configure
func onConfigure(id uint32, _ int32) bool {
	returnedValues.reset()
	p := contexts.plugins[id]
	return p != nil && p.onConfigure()
}

//go:wasmexport proxy_on_tick
func onTick(id uint32) {
	returnedValues.reset()
	if p := contexts.plugins[id]; p != nil {
		p.onTick()
	}
}

//go:wasmexport proxy_on_request_headers
func onRequestHeaders(id uint32, _ int32, _ bool) action {
	returnedValues.reset()
	if p := contexts.pluginOf(id); p != nil {
		return p.onRequest(id)
	}
	return actionContinue
}

//go:wasmexport proxy_on_response_headers
func onResponseHeaders(id uint32, _ int32, _ bool) action {
	if s := contexts.stream(id); s != nil {
		returnedValues.reset()
		s.onResponse()
	}
	return actionContinue
}

// onHTTPCallResponse brings the answer to an HTTP call, without headers if there
// is none.
//
//go:wasmexport proxy_on_http_call_response
func onHTTPCallResponse(_, token, headers, _, _ uint32) {
	returnedValues.reset()
	if q := contexts.takePending(token); q != nil {
		q.onHTTPResponse(headers)
	}
}

// onGRPCReceive brings the answer to a gRPC call.
//
//go:wasmexport proxy_on_grpc_receive
func onGRPCReceive(_, token, _ uint32) {
	returnedValues.reset()
	if q := contexts.takePending(token); q != nil {
		q.onMessage()
	}
}

// onGRPCClose ends a gRPC call that has brought no answer.
//
//go:wasmexport proxy_on_grpc_close
func onGRPCClose(_, token uint32, code int32) {
	returnedValues.reset()
	if q := contexts.takePending(token); q != nil {
		q.onClose(code)
	}
}

// onDelete says that a stream or a plugin is over.
//
//go:wasmexport proxy_on_delete
func onDelete(id uint32) { contexts.delete(id) }

// An action is what a callback answers.
type action uint32

const (
	actionContinue action = 0
	actionPause    action = 1
)
