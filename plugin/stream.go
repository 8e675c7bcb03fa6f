//go:build wasip1

package main

import (
	"fmt"
	"unsafe"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"github.com/weirproxy/weir/limiter/policy"
)

// A stream serves the HTTP streams of a plugin. It remembers nothing of them:
// each is decided when its request headers come.
type stream struct {
	types.DefaultHttpContext
	plugin *plugin
	pairs  []byte // memory for the headers of a reply
}

// OnHttpRequestHeaders implements types.HttpContext.
func (s *stream) OnHttpRequestHeaders(int, bool) (action types.Action) {
	defer func() {
		if cause := recover(); cause != nil {
			action = s.answer(s.plugin.evaluator.Fail(fmt.Errorf("panic: %v", cause)))
		}
	}()
	at, err := now()
	if err != nil {
		return s.answer(s.plugin.evaluator.Fail(err))
	}
	return s.answer(s.plugin.evaluator.Evaluate(at, hostRequest{}))
}

// answer counts a verdict and carries it out.
func (s *stream) answer(v policy.Verdict) types.Action {
	s.plugin.metrics.count(v)
	if v.Err != nil {
		s.plugin.report(v.Err)
	}
	if v.Reply == nil {
		return types.ActionContinue
	}
	if err := s.send(v.Reply); err != nil {
		s.plugin.report(err)
	}
	// A local reply ends the request. To continue would send it on as well;
	// if there is no reply after all, it ends at the proxy's timeout.
	return types.ActionPause
}

func (s *stream) send(r *policy.Reply) error {
	s.pairs = appendPairs(s.pairs[:0], r.Headers)
	return proxySendLocalResponse(uint32(r.Status),
		unsafe.StringData(r.Details), int32(len(r.Details)),
		unsafe.StringData(r.Body), int32(len(r.Body)),
		unsafe.SliceData(s.pairs), int32(len(s.pairs)),
		int32(r.GRPCStatus)).err("proxy_send_local_response")
}

// hostRequest is the request of the stream that the host is calling about.
type hostRequest struct{}

// Method implements policy.Request.
func (hostRequest) Method() (string, error) { return header(":method") }

// Path implements policy.Request.
func (hostRequest) Path() (string, error) { return header(":path") }

// Header implements policy.Request. The property has repeated headers joined,
// where the header map would show only the first.
func (hostRequest) Header(name string) (string, error) {
	return property("request\x00headers\x00" + name)
}

// ClientAddress implements policy.Request. The proxy has applied its own rules
// for X-Forwarded-For to it.
func (hostRequest) ClientAddress() (string, error) { return property("source\x00address") }
