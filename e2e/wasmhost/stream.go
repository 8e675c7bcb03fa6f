package wasmhost

import (
	"cmp"
	"context"
	"strconv"
)

// The header maps that a guest can ask for, and the types of a stream. Types up
// to lastMap exist but have no map here.
const (
	requestHeaders      = 0
	responseHeaders     = 2
	callResponseHeaders = 6
	lastMap             = 7
)

// actionContinue is what a callback answers to let the stream go on.
const actionContinue = 0

// stream is one HTTP request on its way through a filter.
type stream struct {
	plugin *PluginContext
	id     uint32

	request, response headers
	// visible holds the maps that the guest can reach: a map is gone once the
	// guest has let its headers pass, and back, to be read, while it logs.
	visible map[uint32]*headers
	logging bool

	upstream   Upstream
	properties map[string][]byte // given by the test
	written    map[string][]byte // set by the guest, by raw path

	reply   *localReply // the first that the guest sent
	local   bool        // the response is that reply
	resumed bool        // the guest called proxy_continue_stream
	waits   bool        // the guest paused the request, and has not decided it
	paused  bool        // the guest stopped the stream for good
	over    bool
}

func newStream(p *PluginContext, request Request) *stream {
	return &stream{
		plugin:     p,
		id:         p.vm.nextID(),
		request:    lowered(request.Headers),
		visible:    map[uint32]*headers{},
		upstream:   request.Upstream,
		properties: request.Properties,
		written:    map[string][]byte{},
	}
}

// run shows the guest the request, and takes it on unless the guest lets it wait.
func (s *stream) run(ctx context.Context) error {
	passed, err := s.pass(ctx, "proxy_on_request_headers", requestHeaders, &s.request, true)
	if err != nil {
		return err
	}
	if !passed && s.reply == nil {
		s.waits = true
		return nil
	}
	return s.respond(ctx)
}

// respond takes a request that is decided through its response to its end.
func (s *stream) respond(ctx context.Context) error {
	s.waits = false
	if s.reply != nil {
		s.local, s.response = true, s.reply.headers(s.request)
	} else {
		delete(s.visible, requestHeaders)
		s.response = headers{{":status", strconv.Itoa(cmp.Or(s.upstream.Status, 200))}}
		s.response = append(s.response, lowered(s.upstream.Headers)...)
	}
	end := !s.local || len(s.reply.wireBody(s.request)) == 0
	passed, err := s.pass(ctx, "proxy_on_response_headers", responseHeaders, &s.response, end)
	if err != nil {
		return err
	}
	if s.reply != nil && !s.local { // in place of the upstream's response, past the filters
		s.local, s.response = true, s.reply.headers(s.request)
	} else {
		s.paused = !passed
	}
	return s.end(ctx)
}

// pass shows the guest a header map and reports whether it let the stream go on.
func (s *stream) pass(ctx context.Context, callback string, kind uint32, h *headers, end bool) (bool, error) {
	s.visible[kind], s.resumed = h, false
	var endOfStream uint64
	if end {
		endOfStream = 1
	}
	action, err := s.plugin.vm.call(ctx, callback, actionContinue, s.id, uint64(len(*h)), endOfStream)
	replied := s.reply != nil && !s.local
	passed := !replied && (action == actionContinue || s.resumed)
	if passed {
		delete(s.visible, kind)
	}
	return passed, err
}

// end tells the guest that the stream is over.
func (s *stream) end(ctx context.Context) error {
	defer delete(s.plugin.vm.streams, s.id)
	s.paused, s.waits, s.over = s.paused || s.waits, false, true
	s.logging = true
	_, err := s.plugin.vm.call(ctx, "proxy_on_log", 0, s.id)
	s.logging = false
	if err != nil {
		return err
	}
	if _, err := s.plugin.vm.call(ctx, "proxy_on_done", 1, s.id); err != nil {
		return err
	}
	_, err = s.plugin.vm.call(ctx, "proxy_on_delete", 0, s.id)
	return err
}

// readable is the map that the guest may read, or nil.
func (s *stream) readable(kind uint32) *headers {
	switch {
	case s.logging && kind == requestHeaders:
		return &s.request
	case s.logging && kind == responseHeaders && s.response != nil:
		return &s.response
	}
	return s.visible[kind]
}

// result is what became of the request.
func (s *stream) result() Response {
	response := Response{
		Local:      s.local,
		Paused:     s.paused || s.waits,
		Headers:    s.response,
		Properties: map[string][]byte{},
	}
	if status, ok := s.response.get(":status"); ok {
		response.Status, _ = strconv.Atoi(status)
	}
	if s.local {
		response.Body = s.reply.wireBody(s.request)
		response.Details = s.reply.details
		response.GRPCStatus = s.reply.grpcStatus
	}
	for path, value := range s.written {
		response.Properties[dotted(path)] = value
	}
	return response
}
