package policy

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

func TestRefusal(t *testing.T) {
	for config, want := range map[string]Reply{
		one("1", `"key": []`): {Status: 429, Headers: [][2]string{{"retry-after", "60"}}, Body: "local_rate_limited",
			GRPCStatus: 8, Details: "local_rate_limited{a}", Rule: "a"},
		`{"rules": [{"name": "b", "key": [], "limits": [{"requests": 1, "window": "60s"}]}], "headers": [],
		  "reply": {"status": 503, "body": {"text": "slow down"}}}`: {Status: 503, Body: "slow down", GRPCStatus: 8, Details: "local_rate_limited{b}", Rule: "b"},
		`{"rules": [{"name": "b", "key": [], "limits": [{"requests": 1, "window": "60s"}]}], "headers": ["retry-after"],
		  "reply": {"body": {"format": "text", "text": ""}}}`: {Status: 429, Headers: [][2]string{{"retry-after", "60"}},
			GRPCStatus: 8, Details: "local_rate_limited{b}", Rule: "b"},
	} {
		e := newEvaluator(t, config)
		if v := e.Evaluate(0, get("/")); v.Reply != nil || !v.Result.Admitted || v.Err != nil {
			t.Errorf("%s: first Evaluate() = %+v, want it to pass", config, v)
		}
		v := e.Evaluate(0, get("/"))
		if v.Reply == nil || !reflect.DeepEqual(*v.Reply, want) || v.Result.Admitted || v.Err != nil {
			t.Errorf("%s: second Evaluate() = %+v, %v, want %+v", config, v.Reply, v.Err, want)
		}
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) { // B02
	e := newEvaluator(t, `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 1, "window": "2s"}]}]}`)
	for _, s := range []struct {
		at   limiter.Instant
		want string // "" if it passes
	}{{0, ""}, {0, "2"}, {1, "2"}, {1000, "2"}, {999_999, "2"}, {1_000_000, "1"}, {1_400_000, "1"}, {1_999_999, "1"}, {2_000_000, ""}, {2_000_000, "2"}} {
		if got := retryAfter(e.Evaluate(s.at, get("/"))); got != s.want {
			t.Errorf("retry-after at %dµs = %q, want %q", s.at, got, s.want)
		}
	}
}

func retryAfter(v *Verdict) string {
	if v.Reply == nil {
		return ""
	}
	for _, h := range v.Reply.Headers {
		if h[0] == "retry-after" {
			return h[1]
		}
	}
	return "none"
}

func TestWholeSeconds(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 1, 1: 1, time.Millisecond: 1, time.Second - 1: 1, time.Second: 1, time.Second + 1: 2, 90 * time.Second: 90, limiter.MaxWindow: 366 * 86400,
	} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("wholeSeconds(%v) = %d, want %d", d, got, want)
		}
	}
}

// TestRulesDoNotShareACounter is B09, in both orders.
func TestRulesDoNotShareACounter(t *testing.T) {
	const a = `{"name": "a", "key": [{"header": "x-k"}], "limits": [{"requests": 4, "window": "60s"}]}`
	const b = `{"name": "b", "key": [{"header": "x-k"}], "limits": [{"requests": 6, "window": "3600s"}]}`
	k := get("/", "x-k", "v")
	for _, rules := range []string{a + ", " + b, b + ", " + a} {
		newEvaluator(t, `{"rules": [`+rules+`]}`).run(t, []step{
			{at: 0, req: k}, {at: 0, req: k}, {at: 0, req: k}, {at: 0, req: k}, {at: 0, req: k, want: limited("a")},
			{at: 60, req: k}, {at: 60, req: k}, {at: 60, req: k, want: limited("b")},
		})
	}
}

func TestTheLongestWaitIsNamed(t *testing.T) {
	const short = `{"name": "short", "key": [], "limits": [{"requests": 1, "window": "10s"}]}`
	const long = `{"name": "long", "key": [], "limits": [{"requests": 1, "window": "1h"}, {"requests": 1, "window": "1s"}]}`
	const never = `{"name": "wide", "key": [], "limits": [{"requests": 9, "window": "1d"}]}`
	for _, rules := range [][]string{{short, long, never}, {never, long, short}, {long, never, short}} {
		e := newEvaluator(t, `{"rules": [`+rules[0]+", "+rules[1]+", "+rules[2]+`]}`)
		e.Evaluate(0, get("/"))
		v := e.Evaluate(0, get("/"))
		if details(v) != limited("long") || retryAfter(v) != "3600" {
			t.Errorf("Evaluate() = %q, retry after %s, want that of long, 3600", details(v), retryAfter(v))
		}
		for _, o := range v.Outcomes {
			name := e.policy.Rules[o.Rule].Name
			want := map[string]OutcomeKind{"short": Limited, "long": Limited, "wide": Allowed}[name]
			if o.Kind != want || o.Charge == nil || o.Charge.Decision.Allowed != (want == Allowed) {
				t.Errorf("outcome of %s = %+v, want kind %d", name, o, want)
			}
			if name == "wide" && o.Charge.Decision.Remaining != 8 {
				t.Errorf("wide has %d left, want 8: a refusal charges nobody", o.Charge.Decision.Remaining)
			}
		}
	}
}

func TestOnlyMatchingRulesApply(t *testing.T) {
	newEvaluator(t, `{"rules": [
		{"name": "login", "match": {"path": {"exact": "/login"}}, "key": [], "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "all", "key": [], "limits": [{"requests": 3, "window": "60s"}]}]}`).run(t, []step{
		{req: get("/login")}, {req: get("//login"), want: limited("login")}, {req: get("/")}, {req: get("/")},
		{req: get("/"), want: limited("all")}, {req: get("/LOGIN"), want: limited("all")},
	})
	e := newEvaluator(t, `{"rules": []}`)
	if v := e.Evaluate(0, get("/")); v.Reply != nil || len(v.Outcomes) != 0 || v.Err != nil {
		t.Errorf("Evaluate() without rules = %+v, want it to pass", v)
	}
}

func TestMissingKeyIsRejectedWithoutCharges(t *testing.T) {
	const strict = `{"name": "strict", "key": [{"header": "x-k"}], "on_missing_key": "reject", "limits": [{"requests": 9, "window": "60s"}]}`
	const lax = `{"name": "lax", "key": [{"header": "x-k"}], "on_missing_key": "skip", "limits": [{"requests": 9, "window": "60s"}]}`
	const all = `{"name": "all", "key": [], "limits": [{"requests": 1, "window": "60s"}]}`
	for _, rules := range []string{strict + ", " + lax + ", " + all, all + ", " + lax + ", " + strict} {
		e := newEvaluator(t, `{"rules": [`+rules+`]}`)
		for range 3 {
			v := e.Evaluate(0, get("/"))
			if details(v) != limited("strict") || v.Reply.Status != 429 || len(v.Reply.Headers) != 0 || v.Err != nil {
				t.Errorf("Evaluate() = %+v, want a refusal by strict without headers", v.Reply)
			}
			if got := e.kinds(v); !reflect.DeepEqual(got, map[string]OutcomeKind{"strict": MissingKey, "lax": MissingKey}) {
				t.Errorf("outcomes = %v, want strict and lax missing the key", got)
			}
		}
		e.run(t, []step{{req: get("/", "x-k", "v")}, {req: get("/", "x-k", "v"), want: limited("all")}})
	}
}

func TestMissingKeyIsSkipped(t *testing.T) {
	e := newEvaluator(t, `{"rules": [
		{"name": "lax", "key": [{"header": "x-k"}], "on_missing_key": "skip", "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "all", "key": [], "limits": [{"requests": 2, "window": "60s"}]}]}`)
	for range 2 {
		v := e.Evaluate(0, get("/"))
		if got := e.kinds(v); v.Reply != nil || !reflect.DeepEqual(got, map[string]OutcomeKind{"lax": MissingKey, "all": Allowed}) {
			t.Errorf("Evaluate() = %v, %v, want it to pass with lax missing the key", v.Reply, got)
		}
		if c := v.Outcomes[0].Charge; c != nil {
			t.Errorf("decision of a skipped rule = %+v, want none", c.Decision)
		}
	}
	e.run(t, []step{{req: get("/"), want: limited("all")}})
}

// kinds are the outcomes by the names of their rules.
func (e *Evaluator) kinds(v *Verdict) map[string]OutcomeKind {
	kinds := map[string]OutcomeKind{}
	for _, o := range v.Outcomes {
		kinds[e.policy.Rules[o.Rule].Name] = o.Kind
	}
	return kinds
}

func TestVerdictsDoNotLeakIntoTheNext(t *testing.T) {
	e := newEvaluator(t, one("1", `"key": [{"header": "x-k"}], "on_missing_key": "skip"`))
	e.Evaluate(0, get("/", "x-k", "v"))
	e.Evaluate(0, get("/", "x-k", "v"))
	if v := e.Evaluate(0, get("/")); v.Reply != nil || v.Outcomes[0].Kind != MissingKey || v.Outcomes[0].Charge != nil {
		t.Errorf("Evaluate() after a refusal = %+v, want only a missing key", v)
	}
}

var errBroken = errors.New("broken")

// checkFailure wants the verdict on a request that failed by cause while the
// named rules matched.
func (e *Evaluator) checkFailure(t *testing.T, what string, v *Verdict, action string, cause error, rules ...string) {
	t.Helper()
	want := map[string]OutcomeKind{}
	for _, name := range rules {
		want[name] = Failed
	}
	if !errors.Is(v.Err, cause) || v.Result.Admitted || !reflect.DeepEqual(e.kinds(v), want) {
		t.Errorf("%s, on_error %s: Evaluate() = %v, %v, want %v, all of %v failed", what, action, v.Err, e.kinds(v), cause, rules)
	}
	if slices.ContainsFunc(v.Outcomes, func(o Outcome) bool { return o.Charge != nil || o.Evicted }) {
		t.Errorf("%s: outcomes = %+v, want no decisions", what, v.Outcomes)
	}
	deny := &Reply{Status: 503, GRPCStatus: 14, Details: "local_rate_limit_error"}
	if action == "allow" && v.Reply != nil || action == "deny" && !reflect.DeepEqual(v.Reply, deny) {
		t.Errorf("%s, on_error %s: reply = %+v, want nil to allow, %+v to deny", what, action, v.Reply, deny)
	}
}

func TestTheFirstRuleThatRejectsIsNamed(t *testing.T) {
	newEvaluator(t, `{"rules": [
		{"name": "a", "key": [{"header": "x-a"}], "on_missing_key": "reject", "limits": [{"requests": 9, "window": "60s"}]},
		{"name": "b", "key": [{"header": "x-b"}], "on_missing_key": "reject", "limits": [{"requests": 9, "window": "60s"}]}]}`).run(t, []step{
		{req: get("/"), want: limited("a")}, {req: get("/", "x-b", "v"), want: limited("a")}, {req: get("/", "x-a", "v"), want: limited("b")},
		{req: get("/", "x-a", "v", "x-b", "v")},
	})
}
