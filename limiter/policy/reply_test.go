package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// refusalOf is the reply to the second request under a limit of one per
// minute, or to one that can never pass.
func refusalOf(t *testing.T, members string, never bool) Reply {
	t.Helper()
	e := newEvaluator(t, `{"rules": [{"name": "per-user", "key": [], "cost": {"header": "x-cost", "max": 9}, "limits": [{"requests": 1, "window": "60s"}]}]`+members+`}`)
	r := get("/")
	if never {
		r = get("/", "x-cost", "2")
	} else {
		e.run(t, []step{{req: r}})
	}
	v := e.Evaluate(500, r)
	if v.Reply == nil || v.Reply.Rule != "per-user" || v.Reply.Details != limited("per-user") {
		t.Fatalf("Evaluate() = %+v, want a refusal by per-user", v.Reply)
	}
	return *v.Reply
}

func TestReplyBody(t *testing.T) {
	const problem = `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded",` +
		`"title":"Request cannot be satisfied as assigned quota has been exceeded","status":429,"violated-policies":["per-user"]}`
	for _, c := range []struct{ body, contentType, want, never string }{
		{`{}`, "", "local_rate_limited", "local_rate_limited"},
		{`{"format": "text"}`, "", "local_rate_limited", "local_rate_limited"},
		{`{"text": "%RULE%: wait %RETRY_AFTER% s, 100%"}`, "", "per-user: wait 60 s, 100%", "per-user: wait null s, 100%"},
		{`{"text": "%rule% %RULE %%RULE%%"}`, "", "%rule% %RULE %per-user%", "%rule% %RULE %per-user%"},
		{`{"text": ""}`, "", "", ""},
		{`{"format": "json"}`, "application/json", `{"error":"rate_limited","rule":"per-user","retry_after":60}`,
			`{"error":"rate_limited","rule":"per-user","retry_after":null}`},
		{`{"format": "json", "text": "[\"%RULE%\", %RETRY_AFTER%, \"%RETRY_AFTER%\"]"}`, "application/json", `["per-user", 60, "60"]`, `["per-user", null, "null"]`},
		{`{"format": "problem"}`, "application/problem+json", problem, problem},
	} {
		for _, never := range []bool{false, true} {
			got := refusalOf(t, `, "reply": {"body": `+c.body+`}`, never)
			want := map[bool]string{false: c.want, true: c.never}[never]
			if header(got.Headers, "content-type") != c.contentType || got.Body != want {
				t.Errorf("%s: %q of type %q, want %q of %q", c.body, got.Body, header(got.Headers, "content-type"), want, c.contentType)
			}
			if strings.HasSuffix(c.contentType, "json") && !json.Valid([]byte(got.Body)) {
				t.Errorf("%s: %q is not JSON", c.body, got.Body)
			}
		}
	}
}

// header is a header's value, or the values joined if it is there twice.
func header(headers [][2]string, name string) string {
	var values []string
	for _, h := range headers {
		if h[0] == name {
			values = append(values, h[1])
		}
	}
	return strings.Join(values, " and ")
}

func TestReplyFields(t *testing.T) {
	got := refusalOf(t, `, "reply": {"status": 503, "grpc_status": 14, "headers": {"X-Team": "edge", "access-control-expose-headers": "Retry-After"},
		"body": {"format": "problem"}}`, false)
	want := [][2]string{{"retry-after", "60"}, {"content-type", "application/problem+json"}, {"x-team", "edge"}, {"access-control-expose-headers", "Retry-After"}}
	if !reflect.DeepEqual(got.Headers, want) || got.Status != 503 || got.GRPCStatus != 14 || !strings.Contains(got.Body, `"status":503`) {
		t.Errorf("reply = %+v, want 503, 14 and headers %v", got, want)
	}
	if got := refusalOf(t, ``, false); got.Status != 429 || got.GRPCStatus != 8 || len(got.Headers) != 1 {
		t.Errorf("reply by default = %+v, want 429, 8 and only retry-after", got)
	}
}

// TestProblemOfSeveralLimits names those that refuse, of all rules.
func TestProblemOfSeveralLimits(t *testing.T) {
	e := newEvaluator(t, `{"reply": {"body": {"format": "problem"}}, "rules": [
		{"name": "a", "key": [], "limits": [{"requests": 1, "window": "60s"}, {"requests": 9, "window": "1h"}, {"requests": 1, "window": "1d", "name": "daily"}]},
		{"name": "b", "key": [], "limits": [{"requests": 1, "window": "1s"}]},
		{"name": "wide", "key": [], "limits": [{"requests": 9, "window": "1s"}]},
		{"name": "trial", "key": [], "limits": [{"requests": 1, "window": "1s"}], "shadow": true},
		{"name": "c", "key": [{"header": "x-k"}], "overrides": [{"key": ["m"], "block": true}], "limits": [{"requests": 9, "window": "1s"}]}]}`)
	policies := func(r request) (p []string) {
		t.Helper()
		var body struct {
			Policies []string `json:"violated-policies"`
		}
		v := e.Evaluate(0, r)
		if err := json.Unmarshal([]byte(v.Reply.Body), &body); err != nil || body.Policies == nil {
			t.Fatalf("body %q: %v, want violated-policies", v.Reply.Body, err)
		}
		return body.Policies
	}
	e.pass(t, 0, get("/"))
	if got, want := policies(get("/")), []string{"a-1m", "daily", "b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("violated-policies = %q, want %q", got, want)
	}
	if got := policies(get("/", "x-k", "m")); len(got) != 0 {
		t.Errorf("violated-policies of a block = %q, want none", got)
	}
}
