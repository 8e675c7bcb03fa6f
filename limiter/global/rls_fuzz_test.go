package global

import (
	"math"
	"reflect"
	"testing"
	"time"

	rls "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// FuzzParseRLSResponse never panics, takes nothing that makes no sense, and reads
// what it takes as the generated types do. These take strings of UTF-8 only, in
// fields that are skipped here too.
func FuzzParseRLSResponse(f *testing.F) {
	_, asks := asksOf(f, service, hit{user: "alice", cost: "7"})
	limit := &rls.RateLimitResponse_RateLimit{RequestsPerUnit: 3, Unit: 2, Name: "n"}
	over := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT, CurrentLimit: limit, DurationUntilReset: durationpb.New(time.Second)}
	ok := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OK, CurrentLimit: limit, LimitRemaining: 2}
	for _, r := range []*rls.RateLimitResponse{
		{OverallCode: rls.RateLimitResponse_OVER_LIMIT, Statuses: []*rls.RateLimitResponse_DescriptorStatus{over, ok}},
		{OverallCode: rls.RateLimitResponse_OK, Statuses: []*rls.RateLimitResponse_DescriptorStatus{ok, over}},
		{OverallCode: rls.RateLimitResponse_OK}, {OverallCode: rls.RateLimitResponse_OVER_LIMIT},
	} {
		seed, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Add([]byte("\x08\x02\x12\x02\x08\x02\x12\x06\x08\x81\x80\x80\x80\x10"))           // a code of more than 32 bits
	f.Add([]byte("\x0a\x01x\x08\x01\x12\x05\x0a\x01x\x08\x01\x12\x04\x08\x01\x10\x03")) // fields of other types
	f.Add([]byte("\x08\x02\x12\x08\x08\x02\x12\x02\x08\x03\x12\x00\x12\x02\x08\x01"))   // a limit in two parts
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, asks := range [][]policy.Ask{asks, asks[:1]} {
			checkAnswers(t, asks, func() ([]policy.Answer, error) { return ParseRLSResponse(b, asks) })
			var r rls.RateLimitResponse
			if proto.Unmarshal(b, &r) != nil {
				continue
			}
			got, err := ParseRLSResponse(b, asks)
			if want := answersTo(&r, asks); err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%x, %v: %+v, want %+v", b, &r, got, want)
			}
		}
	})
}

// answersTo are the answers that a response gives; none if it is no answer.
func answersTo(r *rls.RateLimitResponse, asks []policy.Ask) []policy.Answer {
	statuses, over := r.GetStatuses(), r.GetOverallCode() == rls.RateLimitResponse_OVER_LIMIT
	answers, refused := make([]policy.Answer, len(asks)), false
	if len(statuses) != 0 && len(statuses) != len(asks) || !over && r.GetOverallCode() != rls.RateLimitResponse_OK {
		return nil
	}
	for i, s := range statuses {
		allowed := s.GetCode() == rls.RateLimitResponse_OK
		if !allowed && s.GetCode() != rls.RateLimitResponse_OVER_LIMIT {
			return nil
		}
		refused = refused || !allowed
		answers[i] = answerTo(s, allowed || !over, asks[i].Cost)
	}
	switch {
	case over && !refused && len(asks) == 1:
		return []policy.Answer{{Refused: true, RetryAfter: limiter.Never}}
	case over && !refused:
		return nil
	}
	return answers
}

func answerTo(s *rls.RateLimitResponse_DescriptorStatus, allowed bool, cost int64) policy.Answer {
	d := s.GetDurationUntilReset()
	left := time.Duration(max(0, min(d.GetSeconds(), 366*24*3600)))*time.Second + time.Duration(max(0, d.GetNanos()))
	wait, requests := left, int64(s.GetCurrentLimit().GetRequestsPerUnit())
	switch {
	case allowed:
		wait = 0
	case left == 0 || s.GetCurrentLimit() != nil && cost > requests:
		wait = math.MaxInt64
	}
	if s.GetCurrentLimit() == nil {
		return policy.Answer{Refused: !allowed, RetryAfter: wait}
	}
	window := map[rls.RateLimitResponse_RateLimit_Unit]time.Duration{
		rls.RateLimitResponse_RateLimit_SECOND: time.Second, rls.RateLimitResponse_RateLimit_MINUTE: time.Minute, rls.RateLimitResponse_RateLimit_HOUR: time.Hour,
		rls.RateLimitResponse_RateLimit_DAY: 24 * time.Hour, rls.RateLimitResponse_RateLimit_WEEK: 7 * 24 * time.Hour,
		rls.RateLimitResponse_RateLimit_MONTH: 30 * 24 * time.Hour, rls.RateLimitResponse_RateLimit_YEAR: 365 * 24 * time.Hour,
	}[s.GetCurrentLimit().GetUnit()]
	return policy.Answer{
		Each:   []limiter.Decision{{Allowed: allowed, Limit: requests, Remaining: min(int64(s.GetLimitRemaining()), requests), RetryAfter: wait, ResetAfter: left}},
		Limits: []policy.NamedLimit{{Name: s.GetCurrentLimit().GetName(), Limit: limiter.Limit{Algorithm: limiter.FixedWindow, Requests: requests, Window: window}}},
	}
}
