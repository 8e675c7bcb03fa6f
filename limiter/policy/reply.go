package policy

import (
	"strconv"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// A Reply is a local answer in place of the upstream's. It is valid until the
// next request.
type Reply struct {
	Status     int
	Headers    [][2]string // names in lower case
	Body       string
	GRPCStatus int    // for gRPC requests, whose HTTP status is always 200
	Details    string // response code details, for the access log
	Rule       string // that refused; empty for a failure
}

// Status codes of google.rpc.Code.
const (
	grpcResourceExhausted = 8
	grpcUnavailable       = 14
)

// reply is how a configuration wants refusals answered.
type reply struct {
	status      int
	grpcStatus  int
	contentType string // empty: the proxy's, for text
	body        string // with placeholders
	headers     [][2]string
}

// Bodies, and the placeholders in them.
const (
	ruleMark, retryMark = "%RULE%", "%RETRY_AFTER%"

	textBody    = "local_rate_limited"
	jsonBody    = `{"error":"rate_limited","rule":"%RULE%","retry_after":%RETRY_AFTER%}`
	problemBody = `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",` +
		`"title":"Request cannot be satisfied as assigned quota has been exceeded",` +
		`"status":%STATUS%,"violated-policies":[%POLICIES%]}`
)

// A refusal is what a request was refused by.
type refusal struct {
	rule     *Rule
	wait     time.Duration // 0 or Never: no time can be named
	policies []string      // the limits that refused
}

// refuse answers a request that a rule refused.
func (e *Evaluator) refuse(by refusal, reports []report) *Reply {
	p, r := e.policy, &e.reply
	*r = Reply{
		Status:     p.reply.status,
		Headers:    r.Headers[:0],
		GRPCStatus: p.reply.grpcStatus,
		Details:    by.rule.details,
		Rule:       by.rule.Name,
	}
	seconds := ""
	if by.wait > 0 && by.wait != limiter.Never {
		seconds = e.view.scratch.number(wholeSeconds(by.wait))
	}
	if p.headers.retryAfter && seconds != "" {
		r.Headers = append(r.Headers, [2]string{"retry-after", seconds})
	}
	r.Headers = p.headers.append(r.Headers, &e.view.scratch, reports, false)
	if p.reply.contentType != "" {
		r.Headers = append(r.Headers, [2]string{"content-type", p.reply.contentType})
	}
	r.Headers = append(r.Headers, p.reply.headers...)
	r.Body = p.reply.fill(by.rule.Name, by.policies, seconds)
	return r
}

// fill puts what is known into the placeholders of the body. A wait that
// cannot be named is null, which JSON takes.
func (r reply) fill(rule string, refusing []string, seconds string) string {
	if !strings.Contains(r.body, "%") {
		return r.body
	}
	if seconds == "" {
		seconds = "null"
	}
	policies := ""
	if len(refusing) > 0 {
		policies = `"` + strings.Join(refusing, `","`) + `"`
	}
	return strings.NewReplacer(ruleMark, rule, retryMark, seconds,
		"%STATUS%", strconv.Itoa(r.status), "%POLICIES%", policies).Replace(r.body)
}

// failure answers a request that could not be decided where on_error, or
// on_full, is deny.
func failure() *Reply {
	return &Reply{Status: 503, GRPCStatus: grpcUnavailable, Details: "local_rate_limit_error"}
}
