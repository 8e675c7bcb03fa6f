//go:build wasip1

package main

import (
	"unsafe"

	"github.com/weirproxy/weir/limiter/policy"
)

// onRequest decides a request.
func (p *plugin) onRequest(id uint32) action {
	at, err := now()
	if err != nil {
		return p.answer(p.evaluator.Fail(err))
	}
	p.request.reset()
	v := p.evaluator.Evaluate(at, &p.request)
	if v.Call != nil {
		p.count(v)
		return p.ask(id, at, v.Call)
	}
	p.remember(id, v)
	return p.answer(v)
}

// remember keeps what a verdict wants done with the response, if anything.
func (p *plugin) remember(id uint32, v *policy.Verdict) {
	if len(v.Headers) == 0 && len(v.Deferred) == 0 {
		return
	}
	var s *stream
	if last := len(p.idle) - 1; last >= 0 {
		s, p.idle = p.idle[last], p.idle[:last]
	} else {
		s = &stream{plugin: p}
	}
	s.keep(v)
	contexts.streams[id] = s
}

// release takes a stream back, whose memory serves another.
func (p *plugin) release(s *stream) { p.idle = append(p.idle, s) }

// answer counts a verdict on a request and carries it out.
func (p *plugin) answer(v *policy.Verdict) action {
	p.count(v)
	if v.Reply == nil {
		return actionContinue
	}
	if err := p.send(v.Reply); err != nil {
		p.report(err)
	}
	// A local reply ends the request. To continue would send it on as well;
	// if there is no reply after all, it ends at the proxy's timeout.
	return actionPause
}

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
