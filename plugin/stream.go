//go:build wasip1

package main

import (
	"fmt"
	"unsafe"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"github.com/weirproxy/weir/limiter/policy"
)

// A stream is one HTTP stream of a plugin. Where the policy needs nothing of
// responses, all streams of the plugin share one.
type stream struct {
	types.DefaultHttpContext
	plugin   *plugin
	headers  [][2]string       // for the response
	deferred []policy.Deferred // charges that wait for it
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
	v := s.plugin.evaluator.Evaluate(at, hostRequest{})
	s.headers = append(s.headers[:0], v.Headers...)
	s.deferred = append(s.deferred[:0], v.Deferred...)
	return s.answer(v)
}

// answer counts a verdict on a request and carries it out.
func (s *stream) answer(v policy.Verdict) types.Action {
	s.plugin.count(v)
	if v.Reply == nil {
		return types.ActionContinue
	}
	if err := s.plugin.send(v.Reply); err != nil {
		s.plugin.report(err)
	}
	// A local reply ends the request. To continue would send it on as well;
	// if there is no reply after all, it ends at the proxy's timeout.
	return types.ActionPause
}

// OnHttpResponseHeaders implements types.HttpContext. For a request that was
// refused, whose response is the module's own, nothing is left to do.
func (s *stream) OnHttpResponseHeaders(int, bool) types.Action {
	defer func() {
		if cause := recover(); cause != nil {
			s.plugin.count(s.plugin.evaluator.Fail(fmt.Errorf("panic: %v", cause)))
		}
	}()
	if len(s.deferred) > 0 {
		s.settle()
	}
	if len(s.headers) > 0 {
		s.putHeaders()
	}
	return types.ActionContinue
}

// settle makes the charges that waited for the response.
func (s *stream) settle() {
	at, err := now()
	if err != nil {
		s.plugin.count(s.plugin.evaluator.Fail(err))
		return
	}
	s.plugin.count(s.plugin.evaluator.Settle(at, s.deferred, hostResponse{}))
}

// putHeaders replaces what the upstream says of limits. The answer to an
// upgrade belongs to another protocol and stays as it is.
func (s *stream) putHeaders() {
	if status, err := (hostResponse{}).Status(); err != nil || status == "101" {
		return
	}
	for _, h := range s.headers {
		if err := replaceHeader(h[0], h[1]); err != nil {
			s.plugin.report(err)
		}
	}
}

// OnHttpStreamDone implements types.HttpContext.
func (s *stream) OnHttpStreamDone() { s.plugin.release(s) }

// send answers a request locally, and leaves the name of the rule that refused
// it for the access log: %FILTER_STATE(wasm.weir.rule:PLAIN)%.
func (p *plugin) send(r *policy.Reply) error {
	if r.Rule != "" {
		if err := setProperty("weir.rule", r.Rule); err != nil {
			p.report(err)
		}
	}
	p.pairs = appendPairs(p.pairs[:0], r.Headers)
	return proxySendLocalResponse(uint32(r.Status),
		unsafe.StringData(r.Details), int32(len(r.Details)),
		unsafe.StringData(r.Body), int32(len(r.Body)),
		unsafe.SliceData(p.pairs), int32(len(p.pairs)),
		int32(r.GRPCStatus)).err("proxy_send_local_response")
}
