//go:build wasip1

package main

import (
	"unsafe"

	"github.com/weirproxy/weir/limiter/global"
)

// These are the host calls about calls to others.

// httpCall sends a request to a cluster, and returns the token of the answer.
func httpCall(cluster string, headers [][2]string, body []byte, timeout uint32) (token uint32, err error) {
	pairs, none := appendPairs(nil, headers), appendPairs(nil, nil)
	s := proxyHTTPCall(unsafe.StringData(cluster), int32(len(cluster)), unsafe.SliceData(pairs), int32(len(pairs)),
		unsafe.SliceData(body), int32(len(body)), unsafe.SliceData(none), int32(len(none)), timeout, unsafe.Pointer(&returned.token))
	return returned.token, s.err("proxy_http_call")
}

// grpcCall sends a message to a method of a service in a cluster, and returns
// the token of the answer.
func grpcCall(cluster, service, method string, message []byte, timeout uint32) (token uint32, err error) {
	target, metadata := global.GRPCService(cluster), appendPairs(nil, nil)
	s := proxyGRPCCall(unsafe.SliceData(target), int32(len(target)), unsafe.StringData(service), int32(len(service)),
		unsafe.StringData(method), int32(len(method)), unsafe.SliceData(metadata), int32(len(metadata)),
		unsafe.SliceData(message), int32(len(message)), timeout, unsafe.Pointer(&returned.token))
	return returned.token, s.err("proxy_grpc_call")
}

// setEffectiveContext makes a stream the one that host calls are about.
func setEffectiveContext(id uint32) error {
	return proxySetEffectiveContext(id).err("proxy_set_effective_context")
}

// continueRequest lets a request go on that was paused.
func continueRequest() error {
	const request = 0
	return proxyContinueStream(request).err("proxy_continue_stream")
}
