//go:build wasip1

package main

import (
	"errors"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/global"
	"github.com/weirproxy/weir/limiter/policy"
)

// A pending is a request that is paused until the global engine has answered.
type pending struct {
	plugin     *plugin
	stream     uint32
	call       *policy.Call
	at         limiter.Instant // when the engine was asked
	withScript bool            // Redis was sent the script, and must know it now
	left       bool            // the client has gone, and nobody waits
}

// ask asks the engine what a verdict leaves to it, and pauses the request. If
// that is not possible the request is concluded without the engine.
func (p *plugin) ask(id uint32, at limiter.Instant, call *policy.Call) action {
	q := &pending{plugin: p, stream: id, call: call, at: at}
	if p.calls >= p.global.MaxPending {
		return q.concludeNow(&p.metrics.global.overflow)
	}
	if err := q.send(uint32(p.global.Timeout.Milliseconds())); err != nil {
		p.report(err)
		return q.concludeNow(&p.metrics.global.unreachable)
	}
	return actionPause
}

// send makes the call, whose token it is found by again. A panic on the way is
// an error like any other.
func (q *pending) send(milliseconds uint32) (err error) {
	defer recovered(&err)
	g := q.plugin.global
	var token uint32
	if g.Engine == policy.RLS {
		q.plugin.message = global.AppendRLSRequest(q.plugin.message[:0], g, q.call.Asks)
		token, err = grpcCall(g.Cluster, global.RLSService, global.RLSMethod, q.plugin.message, milliseconds)
	} else {
		m := global.RedisRequest(g, q.call.Asks, q.withScript)
		token, err = httpCall(g.Cluster, m.Headers, m.Body, milliseconds)
	}
	if err != nil {
		return err
	}
	q.plugin.metrics.global.calls.add(1)
	contexts.addPending(token, q)
	return nil
}

// recovered makes an error of a panic, which must not end the VM.
func recovered(err *error) {
	if cause := recover(); cause != nil {
		*err = policy.Recovered(cause)
	}
}

// concludeNow decides a request without the engine, before it was ever paused.
func (q *pending) concludeNow(cause *metric) action {
	cause.add(1)
	v := q.conclude(nil)
	q.plugin.remember(q.stream, v)
	return q.plugin.answer(v)
}

// conclude decides by the answers, or without the engine if there are none.
func (q *pending) conclude(answers []policy.Answer) *policy.Verdict {
	at, err := now()
	if err != nil {
		return q.plugin.evaluator.Abandon(q.call, err)
	}
	return q.plugin.evaluator.Conclude(at, q.call, answers)
}

// resume decides the request that waited.
func (q *pending) resume(answers []policy.Answer) { q.carryOut(q.conclude(answers)) }

// carryOut lets the paused request go on, or answers it.
//
// A verdict counts though the client has left: a refusal gives back what was
// charged here, and the shield knows of it. Else who leaves each time would use up
// local limits that he shares with others, and cost a call each time.
func (q *pending) carryOut(v *policy.Verdict) {
	p := q.plugin
	if q.left {
		p.count(v)
		return
	}
	if err := setEffectiveContext(q.stream); err != nil {
		p.report(err)
		return
	}
	p.remember(q.stream, v)
	if p.answer(v) == actionContinue {
		if err := continueRequest(); err != nil {
			p.report(err)
		}
	}
}

// failed goes on without the engine, and counts why. If the client has left there is
// nobody to suffer it, and nothing to decide.
func (q *pending) failed(cause *metric) {
	if q.left {
		q.carryOut(q.plugin.evaluator.Withdraw(q.call))
		return
	}
	cause.add(1)
	q.resume(nil)
}

// onHTTPResponse takes the answer of Redis. No headers are no answer.
func (q *pending) onHTTPResponse(headers uint32) {
	m := &q.plugin.metrics.global
	if headers == 0 {
		q.failed(&m.unreachable)
		return
	}
	code, err := header(callResponseHeaders, ":status")
	switch {
	case err != nil:
		q.failed(&m.malformed)
		return
	case code == "503":
		q.failed(&m.unreachable)
		return
	case code == "504":
		q.failed(&m.timeout)
		return
	case code != "200" && code != "400": // which Upstash gives errors of Redis
		q.failed(&m.rejected)
		return
	}
	body, err := buffer(callResponseBody)
	if err != nil {
		q.failed(&m.malformed)
		return
	}
	q.onReply(body)
}

func (q *pending) onReply(body []byte) {
	m := &q.plugin.metrics.global
	answers, err := q.parse(body)
	switch {
	case err == nil:
		q.resume(answers)
	case errors.Is(err, global.ErrNoScript) && !q.withScript && !q.left:
		q.sendScript()
	case errors.Is(err, global.ErrRedis), errors.Is(err, global.ErrNoScript):
		q.failed(&m.rejected)
	default:
		q.failed(&m.malformed)
	}
}

// sendScript asks again with the script, for as long as the first call has left of
// the time that both have.
func (q *pending) sendScript() {
	q.withScript = true
	at, err := now()
	if err != nil {
		q.carryOut(q.plugin.evaluator.Abandon(q.call, err))
		return
	}
	m := &q.plugin.metrics.global
	left := (limiter.At(q.plugin.global.Timeout) - (at - q.at)) / 1000 // milliseconds, that a call takes
	if left < 1 {
		q.failed(&m.timeout)
		return
	}
	if err := q.send(uint32(left)); err != nil {
		q.plugin.report(err)
		q.failed(&m.unreachable)
	}
}

// onMessage takes the answer of a rate limit service.
func (q *pending) onMessage() {
	message, err := buffer(grpcMessage)
	if err == nil {
		var answers []policy.Answer
		if answers, err = q.parse(message); err == nil {
			q.resume(answers)
			return
		}
	}
	q.failed(&q.plugin.metrics.global.malformed)
}

// parse reads the answers of the engine, and counts what it found corrupt.
func (q *pending) parse(message []byte) (answers []policy.Answer, err error) {
	defer recovered(&err)
	if q.plugin.global.Engine == policy.RLS {
		return global.ParseRLSResponse(message, q.call.Asks)
	}
	answers, corrupt, err := global.ParseRedisReply(q.plugin.global, message, q.call.Asks)
	q.plugin.metrics.corrupt.add(corrupt)
	return answers, err
}

// Codes of gRPC.
const (
	grpcDeadlineExceeded = 4
	grpcUnavailable      = 14
)

// onClose takes the end of a call that has no answer.
func (q *pending) onClose(code int32) {
	m := &q.plugin.metrics.global
	switch code {
	case grpcDeadlineExceeded:
		q.failed(&m.timeout)
	case grpcUnavailable:
		q.failed(&m.unreachable)
	default:
		q.failed(&m.rejected)
	}
}
