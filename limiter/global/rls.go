package global

import (
	"errors"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// The method of a rate limit service
// (envoy/service/ratelimit/v3/rls.proto).
const (
	RLSService = "envoy.service.ratelimit.v3.RateLimitService"
	RLSMethod  = "ShouldRateLimit"
)

// AppendRLSRequest appends a RateLimitRequest that asks what a call asks, one
// descriptor for each Ask, in their order. A cost that all of them have is said
// of the request too, as not every service looks for it in the descriptors.
func AppendRLSRequest(b []byte, g *policy.Global, asks []policy.Ask) []byte {
	b = appendStringField(b, 1, g.Domain)
	cost := asks[0].Cost
	for i := range asks {
		b = appendMessageField(b, 2, func(b []byte) []byte { return appendDescriptor(b, &asks[i]) })
		if asks[i].Cost != cost {
			cost = 1 // which need not be said
		}
	}
	if cost != 1 {
		b = appendVarintField(b, 3, uint64(cost))
	}
	return b
}

func appendDescriptor(b []byte, a *policy.Ask) []byte {
	for _, e := range a.Descriptor {
		b = appendMessageField(b, 1, func(b []byte) []byte {
			return appendStringField(appendStringField(b, 1, e[0]), 2, e[1])
		})
	}
	return appendMessageField(b, 3, func(b []byte) []byte { // hits_addend, a UInt64Value
		return appendVarintField(b, 1, uint64(a.Cost))
	})
}

// Codes of a RateLimitResponse.
const (
	codeOK        = 1
	codeOverLimit = 2
)

// ParseRLSResponse reads the answers out of a RateLimitResponse: one for each
// Ask. A descriptor that the service has no limit for admits, and says nothing
// else.
//
// What becomes of the request is said by the code of the whole, as it is for
// Envoy's own filter. Some services give no status but that, and one in shadow
// mode says OK whatever the statuses are.
func ParseRLSResponse(b []byte, asks []policy.Ask) ([]policy.Answer, error) {
	var overall int32
	var statuses []status
	err := fields(b, func(tag, value uint64, bytes []byte) error {
		switch tag {
		case varint(1):
			overall = int32(value)
		case message(2):
			if len(statuses) == len(asks) {
				return errStatuses
			}
			s, err := parseStatus(bytes)
			statuses = append(statuses, s)
			return err
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case overall != codeOK && overall != codeOverLimit:
		return nil, errCode
	case len(statuses) == 0:
		statuses = make([]status, len(asks))
		for i := range statuses {
			statuses[i].code = codeOK
		}
	case len(statuses) != len(asks):
		return nil, errStatuses
	}
	return answersOf(overall, statuses, asks)
}

// answersOf are the answers of statuses to what was asked, under the code of the
// whole.
func answersOf(overall int32, statuses []status, asks []policy.Ask) ([]policy.Answer, error) {
	answers, refused := make([]policy.Answer, len(asks)), false
	for i, s := range statuses {
		if s.code != codeOK && s.code != codeOverLimit {
			return nil, errCode
		}
		refused = refused || s.code == codeOverLimit
		if overall == codeOK {
			s.code = codeOK
		}
		answers[i] = s.answer(asks[i].Cost)
	}
	switch {
	case overall == codeOK || refused:
		return answers, nil
	case len(asks) > 1:
		return nil, errWhich
	}
	return []policy.Answer{{Refused: true, RetryAfter: limiter.Never}}, nil
}

var (
	errStatuses = errors.New("the answer has not one status for each descriptor")
	errCode     = errors.New("the answer has a status of an unknown code")
	errWhich    = errors.New("the answer refuses, and not by which descriptor")
)

// A status is a RateLimitResponse.DescriptorStatus.
type status struct {
	code           int32
	limited        bool // there is a limit
	requests       int64
	unit           int32
	name           string
	remaining      int64
	seconds, nanos int64 // until the window is over
}

func parseStatus(b []byte) (s status, err error) {
	err = fields(b, func(tag, value uint64, bytes []byte) error {
		switch tag {
		case varint(1):
			s.code = int32(value)
		case message(2):
			s.limited = true
			return s.parseLimit(bytes)
		case varint(3):
			s.remaining = int64(uint32(value))
		case message(4):
			return s.parseDuration(bytes)
		}
		return nil
	})
	return s, err
}

func (s *status) parseLimit(b []byte) error {
	return fields(b, func(tag, value uint64, bytes []byte) error {
		switch tag {
		case varint(1):
			s.requests = int64(uint32(value))
		case varint(2):
			s.unit = int32(value)
		case message(3):
			s.name = string(bytes)
		}
		return nil
	})
}

func (s *status) parseDuration(b []byte) error {
	return fields(b, func(tag, value uint64, _ []byte) error {
		switch tag {
		case varint(1):
			s.seconds = int64(value)
		case varint(2):
			s.nanos = int64(int32(value))
		}
		return nil
	})
}

// windows are the lengths of RateLimit.Unit, by its number; a month and a year
// are as the service counts them. Of one that is not known it is 0.
var windows = [...]time.Duration{
	1: time.Second, 2: time.Minute, 3: time.Hour, 4: 24 * time.Hour,
	5: 30 * 24 * time.Hour, 6: 365 * 24 * time.Hour, 7: 7 * 24 * time.Hour,
}

// answer is what a status says of a request of a cost. The service counts in
// fixed windows, and tells how long the present one lasts: until then nothing
// that it refuses is admitted.
func (s *status) answer(cost int64) policy.Answer {
	left := time.Duration(max(0, min(s.seconds, maxSeconds)))*time.Second + time.Duration(max(0, s.nanos))
	wait := left
	if left == 0 || s.limited && cost > s.requests {
		wait = limiter.Never // or nobody knows when
	}
	switch {
	case !s.limited && s.code == codeOK:
		return policy.Answer{} // there is no limit
	case !s.limited:
		return policy.Answer{Refused: true, RetryAfter: wait}
	case s.code == codeOK:
		wait = 0
	}
	d := limiter.Decision{
		Allowed: s.code == codeOK, Limit: s.requests, Remaining: min(s.remaining, s.requests), RetryAfter: wait, ResetAfter: left,
	}
	limit := limiter.Limit{Algorithm: limiter.FixedWindow, Requests: s.requests}
	if 0 <= s.unit && int(s.unit) < len(windows) {
		limit.Window = windows[s.unit]
	}
	return policy.Answer{Each: []limiter.Decision{d}, Limits: []policy.NamedLimit{{Name: s.name, Limit: limit}}}
}

// maxSeconds is the longest window that a service has, a year.
const maxSeconds = 366 * 24 * 3600

// GRPCService returns an envoy.config.core.v3.GrpcService, which a proxy takes
// as the target of a call: the cluster, by Envoy's own client.
func GRPCService(cluster string) []byte {
	return appendMessageField(nil, 1, func(b []byte) []byte { return appendStringField(b, 1, cluster) })
}
