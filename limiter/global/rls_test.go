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
	if want := []string{"user=alice", "plan=free", "rule=b"}; !slices.Equal(entries, want) || got.GetDomain() != "shop" || got.GetHitsAddend() != 0 || !slices.Equal(costs, []uint64{7, 1}) {
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
	const yes, no = rls.RateLimitResponse_OK, rls.RateLimitResponse_OVER_LIMIT
	ok := &rls.RateLimitResponse_DescriptorStatus{Code: yes}
	all := func(list ...*rls.RateLimitResponse_DescriptorStatus) []*rls.RateLimitResponse_DescriptorStatus {
		return list
	}
	for name, r := range map[string]*rls.RateLimitResponse{
		"nothing": {}, "no code": {Statuses: all(ok, ok)}, "an unknown code": {OverallCode: 3, Statuses: all(ok, ok)},
		"too few": {OverallCode: yes, Statuses: all(ok)}, "too few, refused": {OverallCode: no, Statuses: all(ok)},
		"too many":       {OverallCode: yes, Statuses: all(ok, ok, ok)},
		"an unknown one": {OverallCode: yes, Statuses: all(ok, new(rls.RateLimitResponse_DescriptorStatus))},
		"refused by any": {OverallCode: no}, "refused by none": {OverallCode: no, Statuses: all(ok, ok)},
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
		if got, err := ParseRLSResponse([]byte("\x08\x01"+garbage), asks); err == nil {
			t.Errorf("%x: %+v, want an error", garbage, got)
		}
	}
}

// TestRLSResponseAsAWhole: the code of the whole admits, whatever the statuses are,
// and refuses where none does if it is clear who is meant.
func TestRLSResponseAsAWhole(t *testing.T) {
	_, asks := asksOf(t, service, hit{user: "alice", cost: "7"})
	over := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT, CurrentLimit: &rls.RateLimitResponse_RateLimit{RequestsPerUnit: 5, Unit: 1}, DurationUntilReset: durationpb.New(time.Second)}
	bare := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT}
	waits := &rls.RateLimitResponse_DescriptorStatus{Code: rls.RateLimitResponse_OVER_LIMIT, DurationUntilReset: durationpb.New(time.Minute)}
	limit := []policy.NamedLimit{{Limit: limiter.Limit{Algorithm: limiter.FixedWindow, Requests: 5, Window: time.Second}}}
	admitted := policy.Answer{Each: []limiter.Decision{{Allowed: true, Limit: 5, ResetAfter: time.Second}}, Limits: limit}
	never := policy.Answer{Each: []limiter.Decision{{Limit: 5, RetryAfter: limiter.Never, ResetAfter: time.Second}}, Limits: limit} // costs 7
	unknown := policy.Answer{Refused: true, RetryAfter: limiter.Never}
	for _, test := range []struct {
		code     rls.RateLimitResponse_Code
		statuses []*rls.RateLimitResponse_DescriptorStatus
		asks     int
		want     []policy.Answer
	}{
		{rls.RateLimitResponse_OK, nil, 1, make([]policy.Answer, 1)},
		{rls.RateLimitResponse_OK, nil, 2, make([]policy.Answer, 2)},
		{rls.RateLimitResponse_OK, []*rls.RateLimitResponse_DescriptorStatus{over, bare}, 2, []policy.Answer{admitted, {}}},
		{rls.RateLimitResponse_OVER_LIMIT, nil, 1, []policy.Answer{unknown}},
		{rls.RateLimitResponse_OVER_LIMIT, []*rls.RateLimitResponse_DescriptorStatus{bare}, 1, []policy.Answer{unknown}},
		{rls.RateLimitResponse_OVER_LIMIT, []*rls.RateLimitResponse_DescriptorStatus{over, waits}, 2, []policy.Answer{never, {Refused: true, RetryAfter: time.Minute}}},
	} {
		b, err := proto.Marshal(&rls.RateLimitResponse{OverallCode: test.code, Statuses: test.statuses})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseRLSResponse(b, asks[:test.asks]); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v, %v: %+v, %v, want %+v", test.code, test.statuses, got, err, test.want)
		}
	}
}

// TestRLSRequestOfOneCost: a service that looks for the cost in the request only
// must find it there, and no cost that is not that of all.
func TestRLSRequestOfOneCost(t *testing.T) {
	for costs, want := range map[[3]int64]uint32{{1, 1, 1}: 0, {7, 7, 7}: 7, {7, 7, 3}: 0, {1, 7, 7}: 0, {7, 1, 7}: 0, {7, 3, 3}: 0, {limiter.MaxRequests, limiter.MaxRequests, limiter.MaxRequests}: limiter.MaxRequests} {
		asks := []policy.Ask{{Cost: costs[0]}, {Cost: costs[1]}, {Cost: costs[2]}}
		var got rls.RateLimitRequest
		if err := proto.Unmarshal(AppendRLSRequest(nil, &policy.Global{}, asks), &got); err != nil || got.GetHitsAddend() != want {
			t.Errorf("costs %v: %d hits, %v, want %d", costs, got.GetHitsAddend(), err, want)
		}
		for i, d := range got.GetDescriptors() {
			if d.GetHitsAddend().GetValue() != uint64(costs[i]) {
				t.Errorf("costs %v: descriptor %d: %v", costs, i, d)
			}
		}
	}
}
