package wasmhost

import (
	"errors"
	"strings"
)

// The host calls about the stream itself: its answer and its properties.

// The types of a stream that proxy_continue_stream takes here.
const (
	requestStream  = 0
	responseStream = 1
)

// sendLocalResponse keeps the reply until the callback has returned. Envoy
// answers OK to a second one too, and may ignore it; here it ends the guest, and
// with that the test, as every other way to decide a request twice does.
func sendLocalResponse(c *hostCall) Status {
	s := c.vm.stream()
	if s == nil {
		return OK
	}
	s.undecided("a local response")
	s.reply = &localReply{
		status:     c.u32(0),
		details:    detailsText(c.in[0]),
		body:       c.in[1],
		extra:      decodePairs(c.in[2]),
		grpcStatus: int32(c.u32(1)),
	}
	return OK
}

func continueStream(c *hostCall) Status {
	if c.u32(0) != requestStream && c.u32(0) != responseStream {
		return BadArgument
	}
	if s := c.vm.stream(); s != nil {
		s.undecided("proxy_continue_stream")
		if c.u32(0) == requestStream && s.visible[requestHeaders] == nil {
			panic(errors.New("decided twice: proxy_continue_stream for a request that is not paused"))
		}
		s.resumed = true
	}
	return OK
}

// undecided ends the guest if it has said already what is to become of the
// stream.
func (s *stream) undecided(next string) {
	if s.reply != nil {
		panic(errors.New("decided twice: " + next + " after a local response"))
	}
	if s.resumed {
		panic(errors.New("decided twice: " + next + " after proxy_continue_stream"))
	}
}

func getProperty(c *hostCall) Status {
	if c.arg == "plugin_root_id" && c.vm.plugin() != nil {
		return c.put(0, []byte(c.vm.plugin().plugin.RootID))
	}
	if s := c.vm.stream(); s != nil {
		if value, ok := s.property(string(c.in[0])); ok {
			return c.put(0, value)
		}
	}
	return NotFound
}

// setProperty makes filter state of the stream; outside a stream there is none.
func setProperty(c *hostCall) Status {
	s := c.vm.stream()
	if s == nil {
		return NotFound
	}
	s.written[string(c.in[0])] = c.in[1]
	return OK
}

// attributes are the properties that are a header by another name.
var attributes = map[string]string{
	"request.path":   ":path",
	"request.method": ":method",
	"request.host":   ":authority",
}

// property is what the test gave, or what the headers say, as long as the guest
// may read them. What the guest has set itself can be read by a path of one
// element only: Envoy looks up the first element of a path among filter state.
func (s *stream) property(path string) (value []byte, ok bool) {
	if value, ok := s.properties[dotted(path)]; ok {
		return value, true
	}
	if value, ok := s.written[path]; ok && !strings.Contains(path, "\x00") {
		return value, true
	}
	kind, name := uint32(requestHeaders), attributes[dotted(path)]
	if header, ok := strings.CutPrefix(path, "request\x00headers\x00"); ok {
		name = strings.ToLower(header)
	} else if header, ok := strings.CutPrefix(path, "response\x00headers\x00"); ok {
		kind, name = responseHeaders, strings.ToLower(header)
	}
	h := s.readable(kind)
	if h == nil || name == "" {
		return nil, false
	}
	text, ok := h.joined(name)
	return []byte(text), ok
}
