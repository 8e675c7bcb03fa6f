package policy

import (
	"reflect"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// serviced is a configuration of a rule, "a", with a local limit, of a service.
func serviced(members string) string {
	return `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "headers": ["retry-after", "ratelimit", "x-ratelimit"], "reply": {"body": {"format": "problem"}},
		"rules": [{"name": "a", "key": [{"header": "x-k"}], "limits": [{"requests": 3, "window": "60s"}], "global": {}` + members + `}]}`
}

// TestARefusalByAnUnknownLimit refuses the request and charges nothing here. Of what
// nobody knows nothing is said, and the shield has no more than the wait.
func TestARefusalByAnUnknownLimit(t *testing.T) {
	e := newEvaluator(t, serviced(""))
	for i, c := range []struct {
		wait     time.Duration
		told     string
		shielded bool
	}{{limiter.Never, "none", false}, {30 * time.Second, "30", true}, {time.Second, "1", false}} {
		r := get("/", "x-k", string(rune('p'+i)))
		v := e.Conclude(0, e.Evaluate(0, r).Call, []Answer{{Refused: true, RetryAfter: c.wait}})
		if details(v) != limited("a") || retryAfter(v) != c.told || !reflect.DeepEqual(e.kinds(v), map[string]OutcomeKind{"a": Limited}) {
			t.Errorf("wait %v: %q, retry after %s, %v", c.wait, details(v), retryAfter(v), e.kinds(v))
		}
		want := [][2]string{{"ratelimit-policy", `"a";q=3;w=60`}, {"content-type", "application/problem+json"}}
		if c.told != "none" {
			want = append([][2]string{{"retry-after", c.told}}, want...)
		}
		if !reflect.DeepEqual(v.Reply.Headers, want) {
			t.Errorf("wait %v: headers %q, want %q", c.wait, v.Reply.Headers, want)
		}
		e.charged(t, e.table.Fingerprint(e.keyOf(t, r)), 0)
		again := e.Evaluate(10*second, r)
		if again.Shielded != c.shielded || c.shielded && (retryAfter(again) != "20" || details(again) != limited("a")) {
			t.Errorf("wait %v, ten seconds later: %+v, retry after %s", c.wait, again, retryAfter(again))
		}
	}
	e = newEvaluator(t, serviced(`, "shadow": true`))
	v := e.Conclude(0, e.Evaluate(0, get("/", "x-k", "v")).Call, []Answer{{Refused: true, RetryAfter: time.Minute}})
	if v.Reply != nil || v.Outcomes[0].Kind != ShadowLimited {
		t.Errorf("in shadow: %+v", v)
	}
}

// TestAnUnknownWaitIsTheLongest: who is told the wait of another limit comes back too
// early.
func TestAnUnknownWaitIsTheLongest(t *testing.T) {
	e := newEvaluator(t, `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [{"header": "x-k"}], "global": {}}, {"name": "b", "key": [], "global": {}}]}`)
	known := Answer{Each: []limiter.Decision{{Limit: 5, RetryAfter: time.Second, ResetAfter: time.Second}}, Limits: []NamedLimit{{Limit: limiter.Limit{Requests: 5, Window: time.Minute}}}}
	unknown := Answer{Refused: true, RetryAfter: limiter.Never}
	for _, answers := range [][]Answer{{known, unknown}, {unknown, known}} {
		if v := e.Conclude(0, e.Evaluate(0, get("/", "x-k", "v")).Call, answers); v.Reply == nil || retryAfter(v) != "none" {
			t.Errorf("%+v: %+v, retry after %s", answers, v, retryAfter(v))
		}
	}
}

// TestTheShareTellsOfEvictions: a key that makes way for a share is one that may be
// admitted anew, of which an operator must hear.
func TestTheShareTellsOfEvictions(t *testing.T) {
	e := newEvaluator(t, withRedis(`"on_global_error": "local", "store": {"max_keys": 1},
		"rules": [{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 2, "window": "60s"}]}}]`))
	g := newEngine(t)
	g.down = true
	for i, evicted := range []bool{false, true, true} {
		v := g.decide(e, 0, get("/", "x-k", string(rune('p'+i))))
		if o := v.Outcomes[0]; v.Reply != nil || o.Kind != Allowed || o.Evicted != evicted {
			t.Errorf("request %d: outcome %+v, want allowed and evicted %v", i, o, evicted)
		}
	}
	full := newEvaluator(t, withRedis(`"store": {"max_keys": 1}, "rules": [{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 1, "window": "60s"}]}}]`))
	for i, want := range []OutcomeKind{Allowed, Full} { // the first is at its limit, and stays
		if v := g.decide(full, 0, get("/", "x-k", string(rune('p'+i)))); v.Outcomes[0].Kind != want || v.Outcomes[0].Evicted {
			t.Errorf("request %d: outcome %+v, want %d", i, v.Outcomes[0], want)
		}
	}
}
