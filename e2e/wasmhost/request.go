package wasmhost

import "strings"

// Request is an HTTP request without a body.
type Request struct {
	// Headers in order, with lower-case names, as Envoy passes them, the pseudo
	// headers :method, :path and :authority among them.
	Headers [][2]string
	// Properties by path, joined by dots: "source.address". What follows from
	// the headers is there without being given: request.headers.NAME,
	// request.path, request.method, request.host, and plugin_root_id.
	Properties map[string][]byte
	// Upstream answers the request if the module lets it pass.
	Upstream Upstream
}

// Upstream is what the service behind the proxy answers, without a body.
type Upstream struct {
	Status  int // default 200
	Headers [][2]string
}

// Response is what the client gets, and what the proxy gets to know.
type Response struct {
	Local   bool // answered by the module, not by the upstream
	Paused  bool // the module stopped the stream and neither answered nor resumed
	Status  int  // as the client sees it: 200 for gRPC
	Headers [][2]string
	Body    []byte

	Details    string // response code details of a local response
	GRPCStatus int32  // as the module passed it with a local response

	// Properties that the module set, by path, joined by dots.
	Properties map[string][]byte
}

// headers are a header map: in order, repetitions allowed, names in lower case.
type headers [][2]string

// get returns the first value, as proxy_get_header_map_value does.
func (h headers) get(name string) (value string, ok bool) {
	for _, header := range h {
		if header[0] == name {
			return header[1], true
		}
	}
	return "", false
}

// joined returns all values with commas between, as the property
// request.headers.NAME does.
func (h headers) joined(name string) (value string, ok bool) {
	var values []string
	for _, header := range h {
		if header[0] == name {
			values = append(values, header[1])
		}
	}
	return strings.Join(values, ","), len(values) > 0
}

func (h *headers) add(name, value string) { *h = append(*h, [2]string{name, value}) }

// set replaces all values by one.
func (h *headers) set(name, value string) {
	h.remove(name)
	h.add(name, value)
}

func (h *headers) remove(name string) {
	var kept headers
	for _, header := range *h {
		if header[0] != name {
			kept = append(kept, header)
		}
	}
	*h = kept
}

// lowered returns a copy with the names in lower case.
func lowered(pairs [][2]string) headers {
	var h headers
	for _, pair := range pairs {
		h.add(strings.ToLower(pair[0]), pair[1])
	}
	return h
}
