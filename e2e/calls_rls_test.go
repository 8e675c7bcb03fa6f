package e2e

import (
	"regexp"
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

var hashed = regexp.MustCompile(`^#[0-9a-f]{32}$`)

// TestServiceIsAskedOnce: a request that is not paused, or a message that the
// service's own types read otherwise.
func TestServiceIsAskedOnce(t *testing.T) {
	c := newCaller(t, sharedByRLS(`, "timeout": "50ms"`, ""))
	e, call := c.paused("a")
	target := &corev3.GrpcService{}
	c.must(proto.Unmarshal(call.Target, target))
	if target.GetEnvoyGrpc().GetClusterName() != "limits" || call.Service != "envoy.service.ratelimit.v3.RateLimitService" ||
		call.Method != "ShouldRateLimit" || call.Timeout != 50*time.Millisecond || len(call.Headers) != 0 {
		t.Errorf("target %v, call %+v", target, call)
	}
	asked := &rlsv3.RateLimitRequest{}
	c.must(proto.Unmarshal(call.Body, asked))
	if entries := asked.GetDescriptors()[0].GetEntries(); entries[1].GetKey() != "header x-key" || !hashed.MatchString(entries[1].GetValue()) {
		t.Errorf("entry %v, want a hash: by its name the header is a credential", entries[1])
	} else {
		asked.Descriptors[0].Entries = slices.Delete(entries, 1, 2)
	}
	d := descriptor("rule", "two", "client_ip", "192.0.2.1")
	d.HitsAddend = wrapperspb.UInt64(1)
	if want := (&rlsv3.RateLimitRequest{Domain: "edge", Descriptors: []*ratelimitv3.RateLimitDescriptor{d}}); !proto.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	c.must(c.vm.AnswerGRPC(t.Context(), call.Token, c.message(statusOf(rlsOK, 1))))
	c.check(e, 200, "")
	c.headers(e, map[string]string{"ratelimit": `"two";r=8;t=3600, "theirs";r=1;t=30`, "x-ratelimit-limit": "2"})
	c.counted("calls=1")
}

// TestServiceDecides: an answer that is not heard, to a client of HTTP or gRPC.
func TestServiceDecides(t *testing.T) {
	c := newCaller(t, sharedByRLS("", ""))
	e, call := c.paused("a")
	c.must(c.vm.AnswerGRPC(t.Context(), call.Token, c.message(statusOf(rlsOverLimit, 0))))
	c.check(e, 429, "local_rate_limited{two}")
	c.headers(e, map[string]string{"retry-after": "30", "ratelimit": `"theirs";r=0;t=30`})

	r := keyed("b")
	r.Headers = append(r.Headers, [2]string{"content-type", "application/grpc"})
	e, err := c.vm.Begin(t.Context(), r)
	c.must(err)
	c.must(c.vm.AnswerGRPC(t.Context(), c.vm.Calls()[0].Token, c.message(statusOf(rlsOverLimit, 0))))
	if got := e.Response(); got.Status != 200 || got.GRPCStatus != 8 || !slices.Contains(got.Headers, [2]string{"grpc-status", "8"}) {
		t.Errorf("response %+v", got)
	}

	e, call = c.paused("c") // of which the service knows no limit
	c.must(c.vm.AnswerGRPC(t.Context(), call.Token, c.message(&rlsv3.RateLimitResponse_DescriptorStatus{Code: rlsOK})))
	c.check(e, 200, "")
	c.headers(e, map[string]string{"ratelimit": `"two";r=8;t=3600`})
	c.counted("calls=3")
}

// TestServiceIsNotToldSecrets: the key of a client at somebody else's.
func TestServiceIsNotToldSecrets(t *testing.T) {
	c := newCaller(t, `{"global": {"rls": {"cluster": "limits", "domain": "edge", "secret": "sixteen letters!"}},
		"rules": [{"name": "token", "key": [{"bearer_token": true}], "global": {}}]}`)
	r := keyed("a")
	r.Headers = append(r.Headers, [2]string{"authorization", "Bearer " + canary + "token"})
	_, err := c.vm.Begin(t.Context(), r)
	c.must(err)
	calls := c.vm.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	noCanary(t, "the message", string(calls[0].Body))
	asked := &rlsv3.RateLimitRequest{}
	c.must(proto.Unmarshal(calls[0].Body, asked))
	if got := asked.GetDescriptors()[0].GetEntries()[1].GetValue(); !hashed.MatchString(got) {
		t.Errorf("a secret is sent as %q", got)
	}
}

// answerAs answers a call of either engine.
func (c *caller) answerAs(call *wasmhost.Call, admitted bool) {
	c.Helper()
	limit, code := refuses, rlsOverLimit
	if admitted {
		limit, code = admits, rlsOK
	}
	if call.Cluster != "" {
		c.answer(call, reply(limit))
	} else {
		c.must(c.vm.AnswerGRPC(c.Context(), call.Token, c.message(statusOf(code, uint32(limit[2])))))
	}
}

// failAs fails a call of either engine.
func (c *caller) failAs(call *wasmhost.Call) {
	c.Helper()
	if call.Cluster != "" {
		c.must(c.vm.AnswerHTTP(c.Context(), call.Token, 503, nil, []byte("no healthy upstream")))
	} else {
		c.must(c.vm.CloseGRPC(c.Context(), call.Token, 14))
	}
}
