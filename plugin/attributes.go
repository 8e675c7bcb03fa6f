//go:build wasip1

package main

import "unsafe"

// hostRequest is the request that the host is calling about. It asks for all
// headers at once, when the first is wanted: for Envoy that costs less than to
// find one by its name, and repeated headers are all there.
type hostRequest struct {
	headers headerMap
	asked   bool // for the headers
	joined  []byte
}

// reset begins a new request.
func (r *hostRequest) reset() { r.asked, r.joined = false, r.joined[:0] }

// Method implements policy.Request.
func (r *hostRequest) Method() (string, error) { return r.Header(":method") }

// Path implements policy.Request.
func (r *hostRequest) Path() (string, error) { return r.Header(":path") }

// Host implements policy.Request.
func (r *hostRequest) Host() (string, error) { return r.Header(":authority") }

// Header implements policy.Request. The proxy has the host under one name.
func (r *hostRequest) Header(name string) (string, error) {
	if !r.asked {
		var err error
		if r.headers, err = headerPairs(requestHeaders); err != nil {
			return "", err
		}
		r.asked = true
	}
	if name == "host" {
		name = ":authority"
	}
	value, more := r.headers.first(name)
	if more == 0 {
		return value, nil
	}
	from := len(r.joined)
	r.joined = r.headers.appendJoined(r.joined, name)
	joined := r.joined[from:] // which stays if the memory moves
	return unsafe.String(unsafe.SliceData(joined), len(joined)), nil
}

// ClientAddress implements policy.Request. The proxy has applied its own rules
// for X-Forwarded-For to it.
func (r *hostRequest) ClientAddress() (string, error) { return property("source\x00address") }

// Property implements policy.Request. A list, which the ABI has no form for,
// is as good as absent.
func (r *hostRequest) Property(path string) (string, error) {
	value, s := lookUp(path)
	if s == statusSerializationFailure {
		return "", nil
	}
	return value, s.err("proxy_get_property")
}

// hostResponse is the response of the stream that the host is calling about.
type hostResponse struct{}

// Status implements policy.Response.
func (hostResponse) Status() (string, error) { return header(responseHeaders, ":status") }

// Header implements policy.Response. The property has repeated headers joined.
func (hostResponse) Header(name string) (string, error) {
	responsePath = append(append(responsePath[:0], "response\x00headers\x00"...), name...)
	return property(unsafe.String(unsafe.SliceData(responsePath), len(responsePath)))
}

// responsePath is memory for the path of a header of a response.
var responsePath []byte
