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
// descriptor for each Ask, in their order.
func AppendRLSRequest(b []byte, g *policy.Global, asks []policy.Ask) []byte {
	b = appendStringField(b, 1, g.Domain)
	for i := range asks {
		b = appendMessageField(b, 2, func(b []byte) []byte { return appendDescriptor(b, &asks[i]) })
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
func ParseRLSResponse(b []byte, asks []policy.Ask) ([]policy.Answer, error) {
	var answers []policy.Answer
	err := fields(b, func(number int, _ uint64, bytes []byte) error {
		if number != 2 || bytes == nil {
			return nil
		}
		if len(answers) == len(asks) {
			return errStatuses
		}
		s, err := parseStatus(bytes)
		if err != nil {
			return err
		}
		answer, err := s.answer(asks[len(answers)].Cost)
		answers = append(answers, answer)
		return err
	})
	if err == nil && len(answers) != len(asks) {
		err = errStatuses
	}
	if err != nil {
		return nil, err
	}
	return answers, nil
}

var (
	errStatuses = errors.New("the answer has not one status for each descriptor")
	errCode     = errors.New("the answer has a status of an unknown code")
)

// A status is a RateLimitResponse.DescriptorStatus.
type status struct {
	code           uint64
	limited        bool // there is a limit
	requests       int64
	unit           uint64
	name           string
	remaining      int64
	seconds, nanos int64 // until the window is over
}

func parseStatus(b []byte) (s status, err error) {
	err = fields(b, func(number int, value uint64, bytes []byte) error {
		switch number {
		case 1:
			s.code = value
		case 2:
			s.limited = true
			return s.parseLimit(bytes)
		case 3:
			s.remaining = int64(uint32(value))
		case 4:
			return fields(bytes, func(number int, value uint64, _ []byte) error {
				switch number {
				case 1:
					s.seconds = int64(value)
				case 2:
					s.nanos = int64(int32(value))
				}
				return nil
			})
		}
		return nil
	})
	return s, err
}

func (s *status) parseLimit(b []byte) error {
	return fields(b, func(number int, value uint64, bytes []byte) error {
		switch number {
		case 1:
			s.requests = int64(uint32(value))
		case 2:
			s.unit = value
		case 3:
			s.name = string(bytes)
		}
		return nil
	})
}

// windows are the lengths of RateLimit.Unit, by its number; a month and a year
// are as the service counts them.
var windows = [...]time.Duration{
	1: time.Second, 2: time.Minute, 3: time.Hour, 4: 24 * time.Hour,
	5: 30 * 24 * time.Hour, 6: 365 * 24 * time.Hour, 7: 7 * 24 * time.Hour,
}

// answer is what a status says of a request of a cost. The service counts in
// fixed windows, and tells how long the present one lasts: until then nothing
// that it refuses is admitted.
func (s *status) answer(cost int64) (policy.Answer, error) {
	switch {
	case s.code != codeOK && s.code != codeOverLimit:
		return policy.Answer{}, errCode
	case !s.limited && s.code == codeOK:
		return policy.Answer{}, nil // there is no limit
	}
	left := time.Duration(max(0, min(s.seconds, maxSeconds)))*time.Second + time.Duration(max(0, s.nanos))
	d := limiter.Decision{
		Allowed: s.code == codeOK, Limit: s.requests, Remaining: min(s.remaining, s.requests), ResetAfter: left,
	}
	if !d.Allowed {
		d.RetryAfter = left
		if cost > s.requests {
			d.RetryAfter = limiter.Never
		}
	}
	limit := limiter.Limit{Algorithm: limiter.FixedWindow, Requests: s.requests}
	if s.unit < uint64(len(windows)) {
		limit.Window = windows[s.unit]
	}
	return policy.Answer{Each: []limiter.Decision{d}, Limits: []policy.NamedLimit{{Name: s.name, Limit: limit}}}, nil
}

// maxSeconds is the longest window that a service has, a year.
const maxSeconds = 366 * 24 * 3600

// GRPCService returns an envoy.config.core.v3.GrpcService, which a proxy takes
// as the target of a call: the cluster, by Envoy's own client.
func GRPCService(cluster string) []byte {
	return appendMessageField(nil, 1, func(b []byte) []byte { return appendStringField(b, 1, cluster) })
}
