package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// TestTheShieldNamesWhatStillRefuses: a limit whose wait is over, while another
// refuses on, has refused nobody since.
func TestTheShieldNamesWhatStillRefuses(t *testing.T) {
	e := newEvaluator(t, `{"global": {"redis": {"cluster": "c"}}, "headers": ["ratelimit"], "reply": {"body": {"format": "problem"}}, "rules": [{"name": "a", "key": [{"header": "x-k"}],
		"global": {"limits": [{"requests": 2, "window": "1s"}, {"requests": 3, "window": "60s"}]}}]}`)
	r := get("/", "x-k", "v")
	e.Conclude(0, e.Evaluate(0, r).Call, []Answer{{Each: []limiter.Decision{
		{Limit: 2, RetryAfter: time.Second, ResetAfter: time.Second}, {Limit: 3, RetryAfter: time.Minute, ResetAfter: time.Minute}}}})
	v := e.Evaluate(10*second, r)
	if got, want := header(v.Reply.Headers, "ratelimit"), `"a-1m";r=0;t=50`; !v.Shielded || got != want || strings.Contains(v.Reply.Body, "a-1s") {
		t.Errorf("%+v: ratelimit %s, want %s; body %s", v, got, want, v.Reply.Body)
	}
}
