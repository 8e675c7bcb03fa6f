//go:build wasip1

package main

import (
	"unsafe"

	"github.com/weirproxy/weir/limiter/policy"
)

// A stream is an admitted request that has something to do when its response
// comes.
type stream struct {
	plugin   *plugin
	headers  [][2]string       // for the response
	values   []byte            // memory of theirs
	deferred []policy.Deferred // charges that wait for it
}

// keep copies what a verdict wants done with the response.
func (s *stream) keep(v *policy.Verdict) {
	s.deferred = append(s.deferred[:0], v.Deferred...)
	s.headers, s.values = s.headers[:0], s.values[:0]
	for _, h := range v.Headers {
		from := len(s.values)
		s.values = append(s.values, h[1]...)
		kept := s.values[from:] // which stays if the memory moves
		s.headers = append(s.headers, [2]string{h[0], unsafe.String(unsafe.SliceData(kept), len(kept))})
	}
}

// onResponse does what waited for the response.
func (s *stream) onResponse() {
	defer func() {
		if cause := recover(); cause != nil {
			s.plugin.count(s.plugin.evaluator.Fail(policy.Recovered(cause)))
		}
	}()
	if len(s.deferred) > 0 {
		s.settle()
	}
	if len(s.headers) > 0 {
		s.putHeaders()
	}
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
