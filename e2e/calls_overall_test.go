package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	rlsv3 "github.com/envoyproxy/go-control-plane/envoy/service/ratelimit/v3"
	"google.golang.org/protobuf/proto"

	"github.com/weirproxy/weir/e2e/wasmhost"
)

// whole answers a call as a service does that has a code for the whole apart from
// those of its statuses.
func (c *caller) whole(call *wasmhost.Call, code rlsv3.RateLimitResponse_Code, statuses ...*rlsv3.RateLimitResponse_DescriptorStatus) {
	c.Helper()
	b, err := proto.Marshal(&rlsv3.RateLimitResponse{OverallCode: code, Statuses: statuses})
	c.must(err)
	c.must(c.vm.AnswerGRPC(c.Context(), call.Token, b))
}

// without checks that a response has none of these headers.
func (c *caller) without(e *wasmhost.Exchange, names ...string) {
	c.Helper()
	for _, h := range e.Response().Headers {
		for _, name := range names {
			if h[0] == name {
				c.Errorf("%s: %q, want none", name, h[1])
			}
		}
	}
}

// unlimited is a status that names no limit.
func unlimited(code rlsv3.RateLimitResponse_Code) *rlsv3.RateLimitResponse_DescriptorStatus {
	s := statusOf(code, 0)
	s.CurrentLimit, s.DurationUntilReset = nil, nil
	return s
}

// TestServiceInShadow: a service on trial, which says OK as a whole and tells whom
// it would have refused, must refuse nobody, and be asked again.
func TestServiceInShadow(t *testing.T) {
	c := newCaller(t, sharedByRLS("", ""))
	for range 3 {
		e, call := c.paused("a")
		c.whole(call, rlsOK, statusOf(rlsOverLimit, 0))
		c.check(e, 200, "")
		c.headers(e, map[string]string{"x-ratelimit-limit": "2", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"})
		e, call = c.paused("b")
		c.whole(call, rlsOK, unlimited(rlsOverLimit))
		c.check(e, 200, "")
	}
	c.counted("calls=6")
}

// TestServiceWithoutStatuses: Limitador gives none, and must limit all the same.
// Nobody knows by which limit, nor until when: so nothing is said of that, and
// nothing remembered. What the request was charged here is given back.
func TestServiceWithoutStatuses(t *testing.T) {
	c := newCaller(t, sharedByRLS("", `"on_global_error": "deny",`))
	for _, statuses := range [][]*rlsv3.RateLimitResponse_DescriptorStatus{nil, {unlimited(rlsOK)}, {statusOf(rlsOK, 1)}, {unlimited(rlsOverLimit)}} {
		for range 9 {
			e, call := c.paused("a")
			c.whole(call, rlsOverLimit, statuses...)
			c.check(e, 429, "local_rate_limited{two}")
			c.headers(e, map[string]string{"ratelimit-policy": `"two";q=9;w=3600`})
			c.without(e, "retry-after", "ratelimit", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
		}
	}
	c.counted("calls=36")
	e, call := c.paused("a")
	c.whole(call, rlsOK)
	c.check(e, 200, "")
	c.headers(e, map[string]string{"ratelimit": `"two";r=8;t=3600`, "x-ratelimit-limit": "9"})
	c.counted("calls=1")
}

// TestServiceWithoutStatusesAndSeveralRules: which of them refuses is anybody's
// guess, and a guess must not pass for an answer.
func TestServiceWithoutStatusesAndSeveralRules(t *testing.T) {
	rule := func(name string) string {
		return fmt.Sprintf(`{"name": %q, "key": [{"header": "x-key"}], "global": {}}`, name)
	}
	c := newCaller(t, `{"global": {"rls": {"cluster": "limits", "domain": "edge"}}, "on_global_error": "deny", "rules": [`+rule("one")+`, `+rule("two")+`]}`)
	for _, statuses := range [][]*rlsv3.RateLimitResponse_DescriptorStatus{nil, {statusOf(rlsOK, 1), statusOf(rlsOK, 1)}} {
		e, call := c.paused("a")
		c.whole(call, rlsOverLimit, statuses...)
		c.check(e, 503, "local_rate_limit_error")
		c.counted("calls=1 malformed=1")
	}
	e, call := c.paused("a")
	c.whole(call, rlsOK)
	c.check(e, 200, "")
	e, call = c.paused("a")
	c.whole(call, rlsOverLimit, statusOf(rlsOK, 1), unlimited(rlsOverLimit))
	c.check(e, 429, "local_rate_limited{two}")
	c.counted("calls=2")
}

// TestServiceTellsAWaitAndNoLimit: the wait must be told and kept, and no limit of 0
// units be told.
func TestServiceTellsAWaitAndNoLimit(t *testing.T) {
	c := newCaller(t, sharedByRLS("", ""))
	s := statusOf(rlsOverLimit, 0)
	s.CurrentLimit = nil
	e, call := c.paused("a")
	c.whole(call, rlsOverLimit, s)
	c.check(e, 429, "local_rate_limited{two}")
	c.headers(e, map[string]string{"retry-after": "30", "ratelimit-policy": `"two";q=9;w=3600`})
	c.without(e, "ratelimit", "x-ratelimit-limit")
	c.host.SetNow(time.Hour + 10*time.Second)
	e = c.begin("a")
	c.check(e, 429, "local_rate_limited{two}")
	c.headers(e, map[string]string{"retry-after": "20"})
	c.counted("calls=1 shielded=1")
}

// TestServiceTellsALimitAndNoTime: what is not known is no 0.
func TestServiceTellsALimitAndNoTime(t *testing.T) {
	c := newCaller(t, sharedByRLS("", ""))
	timeless := func(code rlsv3.RateLimitResponse_Code) *rlsv3.RateLimitResponse_DescriptorStatus {
		s := statusOf(code, 1)
		s.DurationUntilReset, s.CurrentLimit.Unit = nil, 0
		return s
	}
	e, call := c.paused("a")
	c.whole(call, rlsOK, timeless(rlsOK))
	c.headers(e, map[string]string{"ratelimit-policy": `"two";q=9;w=3600, "theirs";q=2`, "ratelimit": `"two";r=8;t=3600, "theirs";r=1`})
	e, call = c.paused("a")
	c.whole(call, rlsOverLimit, timeless(rlsOverLimit))
	c.check(e, 429, "local_rate_limited{two}")
	c.without(e, "retry-after")
	if got := fmt.Sprint(e.Response().Headers); !strings.Contains(got, `[ratelimit "theirs";r=1]`) {
		t.Errorf("headers %s", got)
	}
	c.paused("a") // which is asked again
	c.counted("calls=3")
}
