package policy

import (
	"strconv"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// headers are the styles in which answers tell of limits.
type headers struct {
	retryAfter bool // Retry-After, on refusals only (RFC 9110, 10.2.3)
	rateLimit  bool // RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers)
	xRateLimit bool // X-RateLimit-Limit, -Remaining and -Reset, as Envoy's own filters
}

// A report is one quota's part in an answer.
type report struct {
	quota *quota
	each  []limiter.Decision // of its limits
}

// append appends the headers of an answer. On a refusal RateLimit lists only
// the limits that refuse, whose t is the wait that they ask for.
func (h headers) append(dst [][2]string, s *scratch, reports []report, admitted bool) [][2]string {
	if len(reports) == 0 {
		return dst
	}
	if h.rateLimit {
		dst = append(dst, [2]string{"ratelimit-policy", policyField(s, reports)})
		if field := limitField(s, reports, admitted); field != "" {
			dst = append(dst, [2]string{"ratelimit", field})
		}
	}
	if !h.xRateLimit {
		return dst
	}
	// What refuses may be a limit that only the engine knows, and then none of these binds.
	if d := strictest(reports); d.Allowed == admitted {
		dst = append(dst,
			[2]string{"x-ratelimit-limit", s.number(d.Limit)},
			[2]string{"x-ratelimit-remaining", s.number(d.Remaining)},
			[2]string{"x-ratelimit-reset", s.number(reset(d))})
	}
	return dst
}

// policyField lists what every quota is, joined.
func policyField(s *scratch, reports []report) string {
	if len(reports) == 1 {
		return reports[0].quota.policy
	}
	mark := s.mark()
	for i, r := range reports {
		if i > 0 {
			s.text = append(s.text, ", "...)
		}
		s.text = append(s.text, r.quota.policy...)
	}
	return s.since(mark)
}

// limitField lists what is left of every limit, as a structured field (RFC
// 9651): "per-user";r=3;t=1.
func limitField(s *scratch, reports []report, admitted bool) string {
	mark, b := s.mark(), s.text
	for _, r := range reports {
		for i, d := range r.each {
			if !admitted && d.Allowed {
				continue
			}
			if len(b) > mark {
				b = append(b, ", "...)
			}
			b = append(append(append(b, '"'), r.quota.names[i]...), `";r=`...)
			b = strconv.AppendInt(b, d.Remaining, 10)
			if timed(d) {
				b = strconv.AppendInt(append(b, ";t="...), reset(d), 10)
			}
		}
	}
	s.text = b
	return s.since(mark)
}

// timed says whether there is a time to tell. A service may have told none.
func timed(d limiter.Decision) bool {
	if d.Allowed {
		return d.ResetAfter > 0 || d.Remaining == d.Limit
	}
	return d.RetryAfter != limiter.Never
}

// reset is the number of seconds, rounded up, until the quota is whole; of a
// refusal, until the request fits.
func reset(d limiter.Decision) int64 {
	if d.Allowed {
		return ceilSeconds(d.ResetAfter)
	}
	if d.RetryAfter == limiter.Never {
		return 0
	}
	return wholeSeconds(d.RetryAfter)
}

// strictest returns the decision of the limit that binds.
func strictest(reports []report) limiter.Decision {
	strictest := reports[0].each[0]
	for _, r := range reports {
		for _, d := range r.each {
			if d.Stricter(strictest) {
				strictest = d
			}
		}
	}
	return strictest
}

// describe renders a quota for RateLimit-Policy: "per-user";q=10;w=1.
func (q *quota) describe(limits []limiter.Limit) {
	var b []byte
	for i, l := range limits {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(append(b, '"'), q.names[i]...), `";q=`...)
		b = strconv.AppendInt(b, l.Capacity(), 10)
		if l.Window > 0 { // a service may have told none
			b = strconv.AppendInt(append(b, ";w="...), ceilSeconds(l.Window), 10)
		}
	}
	q.policy = string(b)
}

// wholeSeconds rounds up, so that who waits that long has waited long enough.
func wholeSeconds(d time.Duration) int64 { return max(1, ceilSeconds(d)) }

func ceilSeconds(d time.Duration) int64 {
	seconds := int64(d / time.Second)
	if d%time.Second > 0 {
		seconds++
	}
	return seconds
}
