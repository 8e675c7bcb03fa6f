package wasmhost

import "strings"

// The host calls about header maps. A map that the stream does not have at this
// point, or that is asked for outside a stream, is a bad argument.

// readableMap is the map that argument 0 names, to be read, or nil with the
// status that says why.
func (c *hostCall) readableMap() (*headers, Status) {
	if c.u32(0) == callResponseHeaders {
		if a := c.vm.answered(); a != nil && a.headers != nil {
			return &a.headers, OK
		}
	}
	if s := c.vm.stream(); s != nil && c.u32(0) <= lastMap {
		if h := s.readable(c.u32(0)); h != nil {
			return h, OK
		}
		if s.logging {
			return nil, NotFound
		}
	}
	return nil, BadArgument
}

// change applies an edit to the map that argument 0 names.
func (c *hostCall) change(edit func(h *headers)) Status {
	s := c.vm.stream()
	if s == nil || s.visible[c.u32(0)] == nil {
		return BadArgument
	}
	edit(s.visible[c.u32(0)])
	return OK
}

// headerName is the header that the call is about.
func (c *hostCall) headerName() string { return strings.ToLower(string(c.in[0])) }

func getHeader(c *hostCall) Status {
	h, status := c.readableMap()
	if status != OK {
		return status
	}
	value, ok := h.get(c.headerName())
	if !ok {
		return NotFound
	}
	return c.put(1, []byte(value))
}

func addHeader(c *hostCall) Status {
	return c.change(func(h *headers) { h.add(c.headerName(), string(c.in[1])) })
}

func replaceHeader(c *hostCall) Status {
	return c.change(func(h *headers) { h.set(c.headerName(), string(c.in[1])) })
}

func removeHeader(c *hostCall) Status {
	return c.change(func(h *headers) { h.remove(c.headerName()) })
}

// getHeaders answers a map that is absent as one without headers.
func getHeaders(c *hostCall) Status {
	if c.u32(0) > lastMap {
		return BadArgument
	}
	var pairs []byte
	if h, status := c.readableMap(); status == OK {
		pairs = encodePairs(*h)
	}
	return c.put(1, pairs)
}

func setHeaders(c *hostCall) Status {
	return c.change(func(h *headers) { *h = decodePairs(c.in[0]) })
}
