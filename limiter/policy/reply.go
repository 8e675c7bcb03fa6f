package policy

import (
	"strconv"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// A Reply is a local answer in place of the upstream's.
type Reply struct {
	Status     int
	Headers    [][2]string // names in lower case
	Body       string
	GRPCStatus int    // for gRPC requests, whose HTTP status is always 200
	Details    string // response code details, for the access log
}

// Status codes of google.rpc.Code.
const (
	grpcResourceExhausted = 8
	grpcUnavailable       = 14
)

// reply is how a configuration wants refusals answered.
type reply struct {
	status int
	body   string
}

// refusal answers a request that a rule refused. A wait of 0 or Never has no
// Retry-After, as no time can be named.
func (p *Policy) refusal(rule string, wait time.Duration) *Reply {
	r := &Reply{
		Status:     p.reply.status,
		Body:       p.reply.body,
		GRPCStatus: grpcResourceExhausted,
		Details:    "local_rate_limited{" + rule + "}",
	}
	if p.retryAfter && wait > 0 && wait != limiter.Never {
		r.Headers = append(r.Headers, [2]string{"retry-after", strconv.FormatInt(wholeSeconds(wait), 10)})
	}
	return r
}

// failure answers a request that could not be decided where on_error, or
// on_full, is deny.
func failure() *Reply {
	return &Reply{Status: 503, GRPCStatus: grpcUnavailable, Details: "local_rate_limit_error"}
}

// wholeSeconds rounds up, so that who waits that long has waited long enough.
func wholeSeconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}
