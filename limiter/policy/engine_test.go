package policy

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// a globalStep is one request that the engine, if it is asked, answers or fails.
type globalStep struct {
	at     float64 // seconds
	req    request
	want   string // details
	asks   int    // of the engine
	broken bool   // the engine is down
}

func (g *engine) run(t *testing.T, e *Evaluator, steps []globalStep) {
	t.Helper()
	for i, s := range steps {
		g.asks, g.down = 0, s.broken
		v := g.decide(e, limiter.At(time.Duration(s.at*1e9)), s.req)
		if got := details(v); got != s.want || g.asks != s.asks || v.Err != nil {
			t.Errorf("step %d: %v at %gs = %q with %d asks, %v, want %q with %d", i, s.req.headers, s.at, got, g.asks, v.Err, s.want, s.asks)
		}
	}
}

// TestGlobalOverrides: an unlimited key and a blocked one ask nobody, and other
// limits are global; the local limits of the rule hold on.
func TestGlobalOverrides(t *testing.T) {
	config := shared(2, `, "limits": [{"requests": 4, "window": "60s"}], "overrides": [{"key": ["alice"], "limits": [{"requests": 3, "window": "10s"}]},
		{"key": ["probe"], "unlimited": true}, {"key": ["mallory"], "block": true}]`)
	g, p := newEngine(t), proxies(t, config, 2)
	alice, bob := get("/", "x-k", "alice"), get("/", "x-k", "bob")
	probe, mallory := get("/", "x-k", "probe"), get("/", "x-k", "mallory")
	for range 9 {
		g.run(t, p[0], []globalStep{{req: probe}, {req: mallory, want: limited("a")}})
	}
	g.run(t, p[0], []globalStep{{req: bob, asks: 1}, {req: alice, asks: 1}, {req: alice, asks: 1}})
	g.run(t, p[1], []globalStep{{req: bob, asks: 1}, {req: bob, want: limited("a"), asks: 1}, {req: alice, asks: 1}, {req: alice, want: limited("a"), asks: 1}})
	// Three more in the next window, but one too many for the first proxy alone.
	g.run(t, p[0], []globalStep{{at: 10, req: alice, asks: 1}, {at: 10, req: alice, asks: 1}, {at: 10, req: alice, want: limited("a")}})
	g.run(t, p[1], []globalStep{{at: 10, req: alice, asks: 1}})
}

// TestMissingKeysAskAsTheyAreTold.
func TestMissingKeysAskAsTheyAreTold(t *testing.T) {
	for _, c := range []struct {
		missing string
		steps   []globalStep
	}{
		{"client_ip", []globalStep{{req: from("192.0.2.1"), asks: 1}, {req: from("192.0.2.1"), want: limited("a"), asks: 1}, {req: from("192.0.2.2"), asks: 1}}},
		{"shared", []globalStep{{req: from("192.0.2.1"), asks: 1}, {req: from("192.0.2.2"), want: limited("a"), asks: 1}}},
		{"skip", []globalStep{{req: from("192.0.2.1")}, {req: from("192.0.2.1")}}},
		{"reject", []globalStep{{req: from("192.0.2.1"), want: limited("a")}}},
	} {
		e := newEvaluator(t, shared(1, `, "on_missing_key": "`+c.missing+`"`))
		newEngine(t).run(t, e, c.steps)
	}
}

// TestGlobalShadow: a rule on trial is asked about and charged like any other,
// says what it would have refused, and refuses nobody, whatever the engine does.
func TestGlobalShadow(t *testing.T) {
	for _, trial := range []string{`, "shadow": true`, `, "enforce_percent": 0`} {
		for _, action := range []string{"local", "allow", "deny"} {
			config := shared(2, trial)
			e := newEvaluator(t, config[:len(config)-1]+`, "on_global_error": "`+action+`"}`)
			g, r := newEngine(t), get("/", "x-k", "v")
			for i, want := range []OutcomeKind{Allowed, Allowed, ShadowLimited, ShadowLimited} {
				v := g.decide(e, 0, r)
				if v.Reply != nil || v.Outcomes[0].Kind != want || len(v.Headers) != 0 || v.Shielded || g.asks != i+1 {
					t.Errorf("%s, request %d: %q, %+v, headers %v, %d asks", trial, i, details(v), v.Outcomes, v.Headers, g.asks)
				}
			}
			g.down = true
			wants := map[string][]OutcomeKind{"local": {Allowed, Allowed, ShadowLimited}, "allow": {Allowed, Allowed, Allowed}, "deny": {Failed, Failed, Failed}}
			for i, want := range wants[action] {
				if v := g.decide(e, 0, r); v.Reply != nil || v.Outcomes[0].Kind != want || !v.Result.Admitted {
					t.Errorf("%s, %s, failure %d: %q, %+v", trial, action, i, details(v), v.Outcomes)
				}
			}
		}
	}
}

// TestGlobalEnforcePercent: some keys are refused, and the others are on trial.
func TestGlobalEnforcePercent(t *testing.T) {
	e, g, refused := newEvaluator(t, shared(1, `, "enforce_percent": 50`)), newEngine(t), 0
	for i := range 200 {
		r := get("/", "x-k", fmt.Sprint("user-", i))
		g.decide(e, 0, r)
		v := g.decide(e, 0, r)
		if kind := v.Outcomes[0].Kind; (kind == Limited) != (v.Reply != nil) || kind != Limited && kind != ShadowLimited {
			t.Errorf("key %d: %q, kind %d", i, details(v), kind)
		}
		if v.Reply != nil {
			refused++
		}
	}
	if refused < 70 || refused > 130 {
		t.Errorf("%d of 200 keys are refused, want about half", refused)
	}
}

// TestARefusalOfTheEngineGivesBack what was charged locally, to any rule.
func TestARefusalOfTheEngineGivesBack(t *testing.T) {
	e := newEvaluator(t, withRedis(`"rules": [{"name": "local", "key": [], "limits": [{"requests": 3, "window": "60s"}]},
		{"name": "a", "match": {"path": {"exact": "/g"}}, "key": [{"header": "x-k"}], "cost": {"header": "x-c", "max": 9}, "global": {"limits": [{"requests": 1, "window": "10s"}]}}]`))
	g := newEngine(t)
	g.run(t, e, []globalStep{{req: get("/g", "x-k", "v"), asks: 1}})
	for i := range 8 { // of costs that the shield does not know yet
		g.run(t, e, []globalStep{{req: get("/g", "x-k", "v", "x-c", fmt.Sprint(9-i)), want: limited("a"), asks: 1}})
	}
	g.run(t, e, []globalStep{{req: get("/")}, {req: get("/")}, {req: get("/"), want: limited("local")}, {req: get("/g", "x-k", "w"), want: limited("local")}})
}

// TestSeveralGlobalRules are asked in one call, and charged all or none.
func TestSeveralGlobalRules(t *testing.T) {
	e := newEvaluator(t, withRedis(`"rules": [{"name": "a", "key": [{"header": "x-a"}], "global": {"limits": [{"requests": 1, "window": "10s"}]}},
		{"name": "b", "key": [{"header": "x-b"}], "global": {"limits": [{"requests": 2, "window": "20s"}]}}]`))
	g := newEngine(t)
	g.run(t, e, []globalStep{
		{req: get("/", "x-a", "1", "x-b", "1"), asks: 2}, {req: get("/", "x-a", "1", "x-b", "1"), want: limited("a"), asks: 2},
		{req: get("/", "x-a", "2", "x-b", "1"), asks: 2}, {req: get("/", "x-a", "3", "x-b", "1"), want: limited("b"), asks: 2},
		{req: get("/", "x-a", "3", "x-b", "2"), asks: 2}, // not charged by the refusal
	})
	v := g.decide(e, 0, get("/", "x-a", "1", "x-b", "1"))
	if got := e.kinds(v); v.Reply == nil || v.Reply.Rule != "b" || !reflect.DeepEqual(got, map[string]OutcomeKind{"a": Limited, "b": Limited}) {
		t.Errorf("%q, outcomes %v, want a refusal by b, whose wait is longer", details(v), got)
	}
	if g.calls != 5 {
		t.Errorf("%d calls, want one for each request that was not shielded", g.calls)
	}
}

// TestOthersRefuseWithoutACall: a block, a key that must not be missing, and an
// exemption come before the engine.
func TestOthersRefuseWithoutACall(t *testing.T) {
	e := newEvaluator(t, withRedis(`"exempt": [{"path": {"exact": "/free"}}], "rules": [
		{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 9, "window": "10s"}]}},
		{"name": "b", "key": [{"header": "x-b"}], "on_missing_key": "reject", "limits": [{"requests": 1, "window": "10s"}], "overrides": [{"key": ["m"], "block": true}]}]`))
	newEngine(t).run(t, e, []globalStep{{req: get("/free")}, {req: get("/"), want: limited("b")}, {req: get("/", "x-b", "m"), want: limited("b")},
		{req: get("/", "x-b", "v"), asks: 1}, {req: get("/", "x-b", "v"), want: limited("b")}})
}

// TestTwoCallsInFlight keep their own memory, in whatever order they end.
func TestTwoCallsInFlight(t *testing.T) {
	e := newEvaluator(t, shared(2, `, "limits": [{"requests": 5, "window": "60s"}], "cost": {"header": "x-c", "max": 9}`))
	g := newEngine(t)
	first := e.Evaluate(0, get("/", "x-k", "first", "x-c", "2")).Call
	before := fmt.Sprintf("%+v", first.Asks[0])
	second := e.Evaluate(1, get("/", "x-k", "second", "x-c", "3")).Call
	g.run(t, e, []globalStep{{req: get("/", "x-k", "third"), asks: 1}, {req: get("/", "x-k", "third"), asks: 1}, {req: get("/", "x-k", "third"), want: limited("a"), asks: 1}})
	if v := e.Evaluate(1, panicky{get("/")}); v.Err == nil {
		t.Errorf("a panic passes as %+v", v)
	}
	if after := fmt.Sprintf("%+v", first.Asks[0]); after != before {
		t.Errorf("the first call asks %s, and after others %s", before, after)
	}
	if v := e.Conclude(2, second, g.answer(2, second.Asks)); details(v) != limited("a") || retryAfter(v) != "none" {
		t.Errorf("second: %q, retry after %q, want a refusal for ever", details(v), retryAfter(v))
	}
	if v := e.Conclude(3, first, g.answer(3, first.Asks)); v.Reply != nil || v.Outcomes[0].Charge.Key != e.table.Fingerprint(e.keyOf(t, get("/", "x-k", "first"))) {
		t.Errorf("first: %q, %+v, want it to pass by its own key", details(v), v.Outcomes[0].Charge)
	}
	for key, want := range map[string]int64{"first": 2, "second": 0, "third": 2} {
		pending, err := e.table.Pending(4, e.table.Fingerprint(e.keyOf(t, get("/", "x-k", key))), e.policy.Rules[0].limits.limits, nil)
		if err != nil || pending[0] != want {
			t.Errorf("%s: %v charged here, %v, want %d", key, pending, err, want)
		}
	}
}

// TestCallsKeepTheirOutcomes, though a request of other rules has come since.
func TestCallsKeepTheirOutcomes(t *testing.T) {
	e := newEvaluator(t, withRedis(`"rules": [{"name": "x", "match": {"headers": [{"name": "x-x"}]}, "key": [], "limits": [{"requests": 3, "window": "60s"}]},
		{"name": "y", "match": {"headers": [{"name": "x-y"}]}, "key": [], "limits": [{"requests": 4, "window": "60s"}]},
		{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 5, "window": "60s"}]}}]`))
	g := newEngine(t)
	call := e.Evaluate(0, get("/", "x-k", "v", "x-x", "1")).Call
	e.Evaluate(0, get("/", "x-k", "w", "x-y", "1"))
	e.Evaluate(0, get("/", "x-k", "w"))
	v := e.Conclude(0, call, g.answer(0, call.Asks))
	if got := e.kinds(v); !reflect.DeepEqual(got, map[string]OutcomeKind{"x": Allowed, "a": Allowed}) {
		t.Errorf("outcomes %v", got)
	}
	if got, want := header(v.Headers, "ratelimit"), `"x";r=2;t=60, "a";r=4;t=60`; got != want {
		t.Errorf("RateLimit %q, want %q", got, want)
	}
}

// TestSharesCountApart from the local limits of the same window, by the cost.
func TestSharesCountApart(t *testing.T) {
	config := shared(10, `, "cost": {"header": "x-c", "max": 9}, "limits": [{"requests": 14, "window": "10s"}]`)
	e, v := newEvaluator(t, config[:len(config)-1]+`, "replicas": 2}`), get("/", "x-k", "v", "x-c", "2")
	newEngine(t).run(t, e, []globalStep{{req: v, asks: 1, broken: true}, {req: v, asks: 1, broken: true}, {req: v, want: limited("a"), asks: 1, broken: true},
		{req: get("/", "x-k", "v"), asks: 1, broken: true}, {req: v, asks: 1}, {req: v, want: limited("a")}})
}

// keyOf returns the key that the first rule makes of a request.
func (e *Evaluator) keyOf(t *testing.T, r request) []byte {
	t.Helper()
	key, complete, err := e.policy.Rules[0].appendKey(nil, &view{Request: r})
	if !complete || err != nil {
		t.Fatal(complete, err)
	}
	return key
}

// failing is a configuration of a global limit of 6 per 10 s among 3 proxies, each
// of which admits 3 per minute by itself.
func failing(action string) string {
	config := shared(6, `, "limits": [{"requests": 9, "window": "60s"}], "overrides": [{"key": ["alice"], "limits": [{"requests": 3, "window": "20s"}]}]`)
	return config[:len(config)-1] + `, "replicas": 3, "on_global_error": "` + action + `"}`
}

// TestEngineFailures follow on_global_error. What is refused is not charged to
// local limits, and an engine that is back is asked again.
func TestEngineFailures(t *testing.T) {
	v, alice, denied := get("/", "x-k", "v"), get("/", "x-k", "alice"), "local_rate_limit_error"
	for action, steps := range map[string][]globalStep{
		"local": { // the share is 2, and comes back; alice's is 1
			{req: v, asks: 1, broken: true}, {req: v, asks: 1, broken: true}, {req: v, want: limited("a"), asks: 1, broken: true},
			{at: 9.999999, req: v, want: limited("a"), asks: 1, broken: true}, {at: 10, req: v, asks: 1, broken: true}, {at: 10, req: v, want: limited("a")},
			{req: alice, asks: 1, broken: true}, {at: 19, req: alice, want: limited("a"), asks: 1, broken: true}, {at: 20, req: alice, asks: 1, broken: true},
			{at: 20, req: alice, asks: 1}, {at: 20, req: alice, want: limited("a")},
			{at: 60, req: v, asks: 1},
		},
		"allow": {
			{req: v, asks: 1, broken: true}, {req: v, asks: 1, broken: true}, {req: v, asks: 1, broken: true}, {req: v, want: limited("a")},
			{at: 60, req: v, asks: 1},
		},
		"deny": {
			{req: v, want: denied, asks: 1, broken: true}, {req: v, want: denied, asks: 1, broken: true},
			{req: v, want: denied, asks: 1, broken: true}, {req: v, want: denied, asks: 1, broken: true},
			{req: v, asks: 1}, {req: v, asks: 1}, {req: v, asks: 1}, {req: v, want: limited("a")},
		},
	} {
		t.Run(action, func(t *testing.T) { newEngine(t).run(t, newEvaluator(t, failing(action)), steps) })
	}
}
