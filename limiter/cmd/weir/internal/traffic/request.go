package traffic

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter/policy"
)

// A Request is made up. What it answers to which question is in the package
// comment.
type Request struct {
	source               *Source
	names                *Names // nil: none
	client               int64
	method, path, status string
	bytes                int // of the response
	duration             time.Duration
}

// Client returns the name of the client, as in client-17.
func (r *Request) Client() string { return "client-" + strconv.FormatInt(r.client, 10) }

// Duration is the time to the end of the response, if the request is admitted.
func (r *Request) Duration() time.Duration { return r.duration }

// Method implements [policy.Request].
func (r *Request) Method() (string, error) { return r.method, nil }

// Path implements [policy.Request].
func (r *Request) Path() (string, error) {
	path := r.fill(r.path)
	if r.names == nil {
		return path, nil
	}
	for _, name := range r.names.queries {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + name + "=" + r.Client()
	}
	return path, nil
}

// Host implements [policy.Request].
func (r *Request) Host() (string, error) { return r.source.host, nil }

// Header implements [policy.Request].
func (r *Request) Header(name string) (string, error) {
	value := ""
	for _, h := range r.source.headers {
		if h[0] == name {
			value = r.fill(h[1])
		}
	}
	switch {
	case r.names == nil:
	case name == "cookie":
		return r.cookies(value), nil
	case value == "" && slices.Contains(r.names.headers, name):
		if value = r.Client(); name == "authorization" {
			value = "Bearer " + value
		}
	}
	return value, nil
}

// cookies adds those of the names to the cookies that were given.
func (r *Request) cookies(given string) string {
	for _, name := range r.names.cookies {
		if given != "" {
			given += "; "
		}
		given += name + "=" + r.Client()
	}
	if given == "" && slices.Contains(r.names.headers, "cookie") {
		return r.Client()
	}
	return given
}

// fill puts the client's name into a text.
func (r *Request) fill(text string) string {
	if !strings.Contains(text, "{client}") {
		return text
	}
	return strings.ReplaceAll(text, "{client}", r.Client())
}

// ClientAddress implements [policy.Request].
func (r *Request) ClientAddress() (string, error) { return string(r.appendAddress(nil)), nil }

// appendAddress appends the address of the client, within 10.0.0.0/8.
func (r *Request) appendAddress(b []byte) []byte {
	b = append(b, "10."...)
	b = strconv.AppendInt(b, r.client>>16&255, 10)
	b = append(b, '.')
	b = strconv.AppendInt(b, r.client>>8&255, 10)
	b = append(b, '.')
	return strconv.AppendInt(b, r.client&255, 10)
}

// Property implements [policy.Request].
func (r *Request) Property(path string) (string, error) {
	if path == "xds\x00route_name" {
		return "default", nil
	}
	return r.Client(), nil
}

// Response returns what the upstream answers. It stays as it is when the
// request is over.
func (r *Request) Response() policy.Response { return response(r.status) }

// A response is one of this status without headers.
type response string

// Status implements [policy.Response].
func (r response) Status() (string, error) { return string(r), nil }

// Header implements [policy.Response].
func (response) Header(string) (string, error) { return "", nil }
