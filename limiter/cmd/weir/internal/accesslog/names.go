package accesslog

import (
	"fmt"
	"strings"
)

// A jsonName is what the fields of a name in JSON lines are.
type jsonName struct {
	text    string
	meaning meaning
	what    id
	rank    uint8 // of several fields of one meaning the lowest counts
	line    int64 // the last line that has it
	given   bool  // a user says what it is, and so that it is of a request
}

// jsonAliases are the names of request parts in JSON logs, for each the one
// that is surest first: a shipper of logs may add its own time and host.
var jsonAliases = []struct {
	kind  kind
	names string
}{
	{startTime, "start_time startTime"},
	{endTime, "time_iso8601 msec"},
	{startTime, "timestamp time @timestamp ts"},
	{duration, "duration duration_ms"},
	{seconds, "request_time"},
	{requestLine, "request"},
	{method, "method :method request_method"},
	{path, "path :path request_uri uri x_envoy_original_path"},
	{host, "authority :authority http_host host"},
	{client, "downstream_remote_address downstream_remote_address_without_port client_ip client_address remote_addr remote_ip remote_address"},
	{direct, "downstream_direct_remote_address"},
	{status, "response_code status status_code"},
	{ignored, "response_code_details response_flags bytes_received bytes_sent body_bytes_sent upstream_host upstream_cluster upstream_local_address upstream_transport_failure_reason downstream_local_address connection_termination_details time_local"},
}

// jsonOther are the names that are neither of the above nor of a header.
var jsonOther = map[string]meaning{
	"protocol":                {property, "request.protocol"},
	"server_protocol":         {property, "request.protocol"},
	"route_name":              {property, "xds.route_name"},
	"requested_server_name":   {property, "connection.requested_server_name"},
	"downstream_peer_uri_san": {property, uriSAN},
	"downstream_peer_dns_san": {property, dnsSAN},
	"downstream_peer_subject": {property, "connection.subject_peer_certificate"},
	"downstream_tls_version":  {property, "connection.tls_version"},
	"request_id":              {header, "x-request-id"},
	"upstream_service_time":   {responseHeader, "x-envoy-upstream-service-time"},
}

// A jsonNames is the names that a log's JSON lines have.
type jsonNames struct {
	words *vocabulary
	names map[string]*jsonName
	order []*jsonName // by their places in the last line, to find them sooner
	lines int64
	timed bool // some time was read
}

// newJSONNames begins with the names that are known and those that a user
// gives a meaning, as Options.Fields has them.
func newJSONNames(words *vocabulary, fields map[string]string) (*jsonNames, error) {
	n := &jsonNames{words: words, names: map[string]*jsonName{}}
	rank := map[kind]uint8{}
	for _, a := range jsonAliases {
		slot := a.kind.slot()
		for _, name := range strings.Fields(a.names) {
			rank[slot]++
			n.names[name] = &jsonName{text: name, meaning: meaning{kind: a.kind}, rank: rank[slot]}
		}
	}
	for name, m := range jsonOther {
		n.names[name] = &jsonName{text: name, meaning: m}
	}
	for name, what := range fields {
		m, err := parseMeaning(what)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		n.names[name] = &jsonName{text: name, meaning: m, given: m.kind > seconds}
	}
	return n, nil
}

// slot is the kind that stands for those of which a line has one.
func (k kind) slot() kind {
	switch k {
	case endTime:
		return startTime
	case seconds:
		return duration
	default:
		return k
	}
}

// parseMeaning reads what a user says of a field.
func parseMeaning(what string) (meaning, error) {
	of, name, found := strings.Cut(what, ":")
	if m, ok := map[string]meaning{
		"time": {kind: startTime}, "end_time": {kind: endTime}, "duration": {kind: duration}, "seconds": {kind: seconds},
		"method": {kind: method}, "path": {kind: path}, "host": {kind: host}, "client": {kind: client},
		"status": {kind: status}, "ignore": {},
	}[what]; ok {
		return m, nil
	}
	switch {
	case found && name != "" && of == "header":
		return pseudoHeader(headerName(name)), nil
	case found && name != "" && of == "response":
		return meaning{responseHeader, headerName(name)}, nil
	case found && name != "" && of == "property":
		return meaning{property, strings.ReplaceAll(name, "\x00", ".")}, nil
	}
	return meaning{}, fmt.Errorf("%q is none of header:NAME, response:NAME, property:NAME, time, end_time, duration (in ms), seconds, method, path, host, client, status and ignore", what)
}

// unnamed is what the names are that are too many.
var unnamed = &jsonName{}

// at returns what the name is that stands at a place in a line.
func (n *jsonNames) at(place int, name []byte) *jsonName {
	if place < len(n.order) && n.order[place].text == text(name) {
		return n.order[place]
	}
	found := n.names[text(name)]
	if found == nil {
		if len(n.names) >= maxMeanings {
			return unnamed
		}
		found = &jsonName{text: string(name), meaning: jsonHeader(string(name))}
		n.names[found.text] = found
	}
	if found.what == 0 {
		if found.what = n.words.learn(found.meaning); found.meaning.kind == requestLine {
			n.words.learn(meaning{kind: method})
			n.words.learn(meaning{kind: path})
		}
	}
	if place == len(n.order) && place < maxMeanings {
		n.order = append(n.order, found)
	} else if place < len(n.order) {
		n.order[place] = found
	}
	return found
}

// jsonHeader is the header that a name stands for.
func jsonHeader(name string) meaning {
	name = strings.ReplaceAll(headerName(name), "_", "-")
	return meaning{header, strings.TrimPrefix(name, "http-")}
}
