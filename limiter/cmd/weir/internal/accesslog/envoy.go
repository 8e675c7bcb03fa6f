package accesslog

import (
	"fmt"
	"strings"
)

// The formats that Envoy 1.40 and Istio write if they are told no other.
const (
	envoyFormat = `[%START_TIME%] "%REQUEST_HEADER(:METHOD)% %REQUEST_HEADER(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ` +
		`%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ` +
		`%RESPONSE_HEADER(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQUEST_HEADER(X-FORWARDED-FOR)%" "%REQUEST_HEADER(USER-AGENT)%" ` +
		`"%REQUEST_HEADER(X-REQUEST-ID)%" "%REQUEST_HEADER(:AUTHORITY)%" "%UPSTREAM_HOST%"`

	istioFormat = `[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%" ` +
		`%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS% ` +
		`"%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ` +
		`%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%" "%REQ(X-REQUEST-ID)%" ` +
		`"%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER_RAW% %UPSTREAM_LOCAL_ADDRESS% ` +
		`%DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS% %REQUESTED_SERVER_NAME% %ROUTE_NAME%`
)

// operators are Envoy's that need no argument. All others are read over.
var operators = map[string]meaning{
	"RESPONSE_CODE":                                 {kind: status},
	"DURATION":                                      {kind: duration},
	"DOWNSTREAM_REMOTE_ADDRESS":                     {kind: client},
	"DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT":        {kind: client},
	"DOWNSTREAM_DIRECT_REMOTE_ADDRESS":              {kind: direct},
	"DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT": {kind: direct},

	"PROTOCOL":                {property, "request.protocol"},
	"ROUTE_NAME":              {property, "xds.route_name"},
	"UPSTREAM_CLUSTER":        {property, "xds.cluster_name"},
	"REQUESTED_SERVER_NAME":   {property, "connection.requested_server_name"},
	"DOWNSTREAM_TLS_VERSION":  {property, "connection.tls_version"},
	"DOWNSTREAM_PEER_URI_SAN": {property, uriSAN},
	"DOWNSTREAM_PEER_DNS_SAN": {property, dnsSAN},
	"DOWNSTREAM_PEER_SUBJECT": {property, "connection.subject_peer_certificate"},
}

// A certificate has any number of these; Envoy logs all of them, and gives a
// policy the first.
const (
	uriSAN = "connection.uri_san_peer_certificate"
	dnsSAN = "connection.dns_san_peer_certificate"
)

// splitEnvoy reads an Envoy format string.
func splitEnvoy(text string) (items []item, err error) {
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i != 0 {
			if i < 0 {
				i = len(text)
			}
			items, text = append(items, item{literal: text[:i]}), text[i:]
			continue
		}
		if strings.HasPrefix(text, "%%") {
			items, text = append(items, item{literal: "%"}), text[2:]
			continue
		}
		name, argument, length := cutOperator(text)
		if length == 0 {
			return nil, fmt.Errorf("%q does not end in %%", text)
		}
		it := item{name: text[:length]}
		if it.meaning, it.layout, err = operator(name, argument); err != nil {
			return nil, fmt.Errorf("%s: %w", it.name, err)
		}
		items, text = append(items, it), text[length:]
	}
	return items, nil
}

// cutOperator reads the operator that a text begins with: its name, its
// argument and how long all of it is, 0 if it does not end. An argument may
// have percent signs.
func cutOperator(text string) (name, argument string, length int) {
	n := 1
	for n < len(text) && (text[n] == '_' || '0' <= text[n] && text[n] <= '9' || 'A' <= text[n] && text[n] <= 'Z') {
		n++
	}
	name, rest := text[1:n], text[n:]
	if end := operatorEnd(rest); end > 0 && name != "" {
		return name, "", n + end
	}
	if name == "" || !strings.HasPrefix(rest, "(") {
		return "", "", 0
	}
	for i := range rest {
		if rest[i] != ')' {
			continue
		}
		if end := operatorEnd(rest[i+1:]); end > 0 {
			return name, rest[1:i], n + i + 1 + end
		}
	}
	return "", "", 0
}

// operatorEnd returns the length of what ends an operator, after the maximum
// length of its value if it has one; 0 if it does not end here.
func operatorEnd(text string) int {
	n := 0
	if strings.HasPrefix(text, ":") {
		for n++; n < len(text) && '0' <= text[n] && text[n] <= '9'; n++ {
		}
	}
	if n == len(text) || text[n] != '%' {
		return 0
	}
	return n + 1
}

// operator says what an operator of Envoy is.
func operator(name, argument string) (meaning, *layout, error) {
	switch name {
	case "START_TIME":
		if argument == "" {
			return meaning{kind: startTime}, &layout{envoy: true, resolution: millisecond}, nil
		}
		l, err := newLayout(argument)
		return meaning{kind: startTime}, l, err
	case "REQ", "REQUEST_HEADER":
		return requestHeader(argument), nil, nil
	case "RESP", "RESPONSE_HEADER":
		first, _, _ := strings.Cut(argument, "?")
		return meaning{responseHeader, headerName(first)}, nil, nil
	case "FILTER_STATE":
		key, _, _ := strings.Cut(argument, ":")
		return meaning{property, "filter_state." + key}, nil, nil
	case "DYNAMIC_METADATA":
		return meaning{property, "metadata.filter_metadata." + strings.ReplaceAll(argument, ":", ".")}, nil, nil
	}
	return operators[name], nil, nil
}

// requestHeader says what REQ(argument) is. Of two alternatives it is the
// first: most lines that have either have that. But a path as it came and the
// path that it was rewritten to are one thing.
func requestHeader(argument string) meaning {
	first, second, _ := strings.Cut(headerName(argument), "?")
	if first == "x-envoy-original-path" && second == ":path" {
		first = second
	}
	return pseudoHeader(first)
}

// pseudoHeader says what a header of HTTP/2 is in a request line.
func pseudoHeader(name string) meaning {
	switch name {
	case ":method":
		return meaning{kind: method}
	case ":path":
		return meaning{kind: path}
	case ":authority":
		return meaning{kind: host}
	default:
		return meaning{header, name}
	}
}
