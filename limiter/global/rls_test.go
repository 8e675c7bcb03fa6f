package global

import (
	"reflect"
	"slices"
	"testing"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rls "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// TestRLSRequest reads what is sent by the generated types.
func TestRLSRequest(t *testing.T) {
	g, asks := asksOf(t, service, hit{user: "alice", cost: "7"})
	var got rls.RateLimitRequest
	if err := proto.Unmarshal(AppendRLSRequest(nil, g, asks), &got); err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, d := range got.GetDescriptors() {
		for _, e := range d.GetEntries() {
			entries = append(entries, e.GetKey()+"="+e.GetValue())
		}
	}
	costs := []uint64{got.GetDescriptors()[0].GetHitsAddend().GetValue(), got.GetDescriptors()[1].GetHitsAddend().GetValue()}
	if want := []string{"user=alice", "plan=free", "rule=b"}; !slices.Equal(entries, want) || got.GetDomain() != "shop" || !slices.Equal(costs, []uint64{7, 1}) {
		t.Errorf("request %v", &got)
	}
	if got.ProtoReflect().GetUnknown() != nil {
		t.Errorf("unknown fields %x", got.ProtoReflect().GetUnknown())
	}
	var target core.GrpcService
	if err := proto.Unmarshal(GRPCService("ratelimit"), &target); err != nil || target.GetEnvoyGrpc().GetClusterName() != "ratelimit" {
		t.Errorf("target %v, %v", &target, err)
	}
}

// TestRLSResponse reads what the generated types write.
func TestRLSResponse(t *testing.T) {
	_, asks := asksOf(t, service, hit{user: "alice", cost: "7"})
	limit := func(requests uint32, unit rls.RateLimitResponse_RateLimit_Unit) *rls.RateLimitResponse_RateLimit {
		return &rls.RateLimitResponse_RateLimit{Name: "n", RequestsPerUnit: requests, Unit: unit}
	}
	none := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OK}
	for _, test := range []struct {
		status *rls.RateLimitResponse_DescriptorStatus // of the first descriptor
		want   []limiter.Decision
		window time.Duration
	}{
		{none, nil, 0},
		{&rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OK, CurrentLimit: limit(10, rls.RateLimitResponse_RateLimit_MINUTE), LimitRemaining: 3, DurationUntilReset: durationpb.New(42 * time.Second)},
			[]limiter.Decision{{Allowed: true, Limit: 10, Remaining: 3, ResetAfter: 42 * time.Second}}, time.Minute},
		{&rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT, CurrentLimit: limit(10, rls.RateLimitResponse_RateLimit_HOUR), DurationUntilReset: durationpb.New(1500 * time.Millisecond)},
			[]limiter.Decision{{Limit: 10, RetryAfter: 1500 * time.Millisecond, ResetAfter: 1500 * time.Millisecond}}, time.Hour},
		{&rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT, CurrentLimit: limit(6, rls.RateLimitResponse_RateLimit_DAY), DurationUntilReset: durationpb.New(time.Hour)},
			[]limiter.Decision{{Limit: 6, RetryAfter: limiter.Never, ResetAfter: time.Hour}}, 24 * time.Hour}, // costs 7
	} {
		b, err := proto.Marshal(&rls.RateLimitResponse{
			OverallCode: test.status.Code, Statuses: []*rls.RateLimitResponse_DescriptorStatus{test.status, none},
			ResponseHeadersToAdd: []*core.HeaderValue{{Key: "x", Value: "y"}}, RawBody: []byte("z"),
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseRLSResponse(b, asks)
		if err != nil || len(got) != 2 || !reflect.DeepEqual(got[0].Each, test.want) || len(got[1].Each) != 0 {
			t.Errorf("%v: %+v, %v", test.status, got, err)
			continue
		}
		if test.want != nil && (got[0].Limits[0].Window != test.window || got[0].Limits[0].Name != "n" || got[0].Limits[0].Requests != test.want[0].Limit) {
			t.Errorf("%v: limits %+v", test.status, got[0].Limits)
		}
	}
}

// TestRLSResponseRefuses what has not an answer to each ask.
func TestRLSResponseRefuses(t *testing.T) {
	_, asks := asksOf(t, service, hit{user: "alice"})
	ok := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OK}
	for name, r := range map[string]*rls.RateLimitResponse{
		"nothing": {}, "too few": {Statuses: []*rls.RateLimitResponse_DescriptorStatus{ok}},
		"too many":       {Statuses: []*rls.RateLimitResponse_DescriptorStatus{ok, ok, ok}},
		"an unknown one": {Statuses: []*rls.RateLimitResponse_DescriptorStatus{ok, {}}},
	} {
		b, err := proto.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseRLSResponse(b, asks); err == nil {
			t.Errorf("%s: %+v, want an error", name, got)
		}
	}
	for _, garbage := range []string{"\xff", "\x12\x05\x08", "\x00", "\x13", "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x0d\x01"} {
		if got, err := ParseRLSResponse([]byte(garbage), asks); err == nil {
			t.Errorf("%x: %+v, want an error", garbage, got)
		}
	}
}

// FuzzParseRLSResponse never panics, takes no more than the generated types do,
// and nothing that makes no sense.
func FuzzParseRLSResponse(f *testing.F) {
	_, asks := asksOf(f, service, hit{user: "alice"})
	ok := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT, CurrentLimit: &rls.RateLimitResponse_RateLimit{RequestsPerUnit: 3}, DurationUntilReset: durationpb.New(time.Second)}
	seed, err := proto.Marshal(&rls.RateLimitResponse{Statuses: []*rls.RateLimitResponse_DescriptorStatus{ok, ok}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		checkAnswers(t, asks, func() ([]policy.Answer, error) { return ParseRLSResponse(b, asks) })
	})
}
