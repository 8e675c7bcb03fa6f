//go:build wasip1

package main

import "unsafe"

// hostRequest is the request of the stream that the host is calling about, and
// hostResponse the response.
type (
	hostRequest  struct{}
	hostResponse struct{}
)

// Method implements policy.Request.
func (hostRequest) Method() (string, error) { return header(requestHeaders, ":method") }

// Path implements policy.Request.
func (hostRequest) Path() (string, error) { return header(requestHeaders, ":path") }

// Host implements policy.Request.
func (hostRequest) Host() (string, error) { return header(requestHeaders, ":authority") }

// Header implements policy.Request. The property has repeated headers joined,
// where the header map would show only the first.
func (hostRequest) Header(name string) (string, error) {
	return joinedHeader("request\x00headers\x00", name)
}

// ClientAddress implements policy.Request. The proxy has applied its own rules
// for X-Forwarded-For to it.
func (hostRequest) ClientAddress() (string, error) { return property("source\x00address") }

// Property implements policy.Request. A list, which the ABI has no form for,
// is as good as absent.
func (hostRequest) Property(path string) (string, error) {
	value, s := lookUp(path)
	if s == statusSerializationFailure {
		return "", nil
	}
	return value, s.err("proxy_get_property")
}

// Status implements policy.Response.
func (hostResponse) Status() (string, error) { return header(responseHeaders, ":status") }

// Header implements policy.Response.
func (hostResponse) Header(name string) (string, error) {
	return joinedHeader("response\x00headers\x00", name)
}

// joinedHeader returns the property of a header, whose path is made in memory
// that serves the next as well.
func joinedHeader(prefix, name string) (string, error) {
	headerPath = append(append(headerPath[:0], prefix...), name...)
	return property(unsafe.String(unsafe.SliceData(headerPath), len(headerPath)))
}

var headerPath []byte
