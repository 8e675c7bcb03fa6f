package wasmhost

import (
	"fmt"
	"strconv"
	"strings"
)

// maxGRPCStatus is the last status that gRPC defines.
const maxGRPCStatus = 16

// localReply is what the guest passed to proxy_send_local_response. Envoy makes
// a response of it once the callback has returned.
type localReply struct {
	status     uint32
	details    string
	body       []byte
	extra      headers
	grpcStatus int32
}

// headers are those of the response, before the filter's own callback sees them.
// A gRPC client gets them with status 200 and the reply in trailers.
func (r *localReply) headers(request headers) headers {
	h := headers{{":status", strconv.Itoa(int(r.status))}}
	h = append(h, r.extra...)
	if isGRPC(request) {
		h.set(":status", "200")
		h.set("content-type", "application/grpc")
		if _, ok := h.get("grpc-status"); !ok {
			h.add("grpc-status", strconv.Itoa(r.grpcCode()))
		}
		if _, ok := h.get("grpc-message"); !ok && len(r.body) > 0 {
			h.add("grpc-message", percentEncoded(r.body))
		}
		h.remove("content-length")
		return h
	}
	if len(r.body) == 0 {
		h.remove("content-length")
		h.remove("content-type")
		return h
	}
	h.set("content-length", strconv.Itoa(len(r.body)))
	if _, ok := h.get("content-type"); !ok {
		h.add("content-type", "text/plain")
	}
	return h
}

// wireBody is the body that the client gets: none for gRPC, nor for HEAD.
func (r *localReply) wireBody(request headers) []byte {
	if method, _ := request.get(":method"); method == "HEAD" || isGRPC(request) {
		return nil
	}
	return r.body
}

// grpcCode is the status as given, or the one that stands for the HTTP status.
func (r *localReply) grpcCode() int {
	if r.grpcStatus >= 0 && r.grpcStatus <= maxGRPCStatus {
		return int(r.grpcStatus)
	}
	switch r.status {
	case 400:
		return 13 // internal
	case 401:
		return 16 // unauthenticated
	case 403:
		return 7 // permission denied
	case 404:
		return 12 // unimplemented
	case 429, 502, 503, 504:
		return 14 // unavailable
	}
	return 2 // unknown
}

func isGRPC(request headers) bool {
	contentType, _ := request.get("content-type")
	rest, ok := strings.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+')
}

// percentEncoded escapes what may not be in a grpc-message.
func percentEncoded(text []byte) string {
	var b strings.Builder
	for _, c := range text {
		if c < ' ' || c >= 0x7f || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// detailsText makes details fit for an access log, whose fields have no spaces.
func detailsText(details []byte) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\v\f\r", r) {
			return '_'
		}
		return r
	}, string(details))
}
