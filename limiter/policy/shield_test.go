package policy

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// TestTheShieldEndsWithTheRefusal: until the wait is over that the engine told, no
// call is made and the wait counts down; then the engine is asked, and admits.
func TestTheShieldEndsWithTheRefusal(t *testing.T) {
	for _, algorithm := range []string{"sliding_log", "sliding_buckets", "token_bucket", "leaky_bucket"} {
		e, g := newEvaluator(t, withRedis(`"rules": [{"name": "a", "key": [{"header": "x-k"}],
			"global": {"limits": [{"requests": 3, "window": "7s", "algorithm": "`+algorithm+`"}]}}]`)), newEngine(t)
		r, at := get("/", "x-k", "v"), 3*second
		for range 3 {
			g.decide(e, at, r)
		}
		at += 500_000
		first := g.decide(e, at, r)
		if first.Reply == nil || first.Shielded {
			t.Fatalf("%s: %+v, want a refusal by the engine", algorithm, first)
		}
		wait := limiter.At(e.shield.slot(e.policy.Global.key(e.keyOf(t, r))).costs[0].answer.Each[0].RetryAfter)
		calls := g.calls
		for _, passed := range []limiter.Instant{0, 1, wait / 3, wait / 2, wait - second, wait - 1} {
			v := g.decide(e, at+passed, r)
			want := fmt.Sprint(wholeSeconds(time.Duration(wait-passed) * time.Microsecond))
			if !v.Shielded || details(v) != limited("a") || retryAfter(v) != want || g.calls != calls || v.Result.Admitted {
				t.Errorf("%s, %d after: %+v with %d calls more, want a shield for %s s", algorithm, passed, v, g.calls-calls, want)
			}
			if got := header(v.Reply.Headers, "x-ratelimit-reset"); got != want {
				t.Errorf("%s, %d after: reset %q, want %q", algorithm, passed, got, want)
			}
		}
		if v := g.decide(e, at+wait, r); v.Reply != nil || v.Shielded || g.calls != calls+1 {
			t.Errorf("%s: %+v when the wait is over, with %d calls more", algorithm, v, g.calls-calls)
		}
	}
}

// TestTheShieldRefusesTheWholeRequest: nothing is charged to any rule, and only
// the one that refuses has an outcome.
func TestTheShieldRefusesTheWholeRequest(t *testing.T) {
	e, g := newEvaluator(t, withRedis(`"rules": [{"name": "local", "key": [], "limits": [{"requests": 3, "window": "60s"}]},
		{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 1, "window": "10s"}, {"requests": 2, "window": "30s", "name": "long"}]}},
		{"name": "b", "key": [], "global": {"limits": [{"requests": 9, "window": "10s"}]}}]`)), newEngine(t)
	r := get("/", "x-k", "v")
	g.run(t, e, []globalStep{{req: r, asks: 2}, {req: r, want: limited("a"), asks: 2}})
	for range 9 {
		v := g.decide(e, 0, r)
		if got := e.kinds(v); !v.Shielded || !reflect.DeepEqual(got, map[string]OutcomeKind{"a": Limited}) {
			t.Errorf("shielded %v, outcomes %v", v.Shielded, got)
		}
		if got, want := header(v.Reply.Headers, "ratelimit-policy"), `"a-10s";q=1;w=10, "long";q=2;w=30`; got != want {
			t.Errorf("policy %q, want %q", got, want)
		}
		if got, want := header(v.Reply.Headers, "ratelimit"), `"a-10s";r=0;t=10`; got != want {
			t.Errorf("limit %q, want %q", got, want)
		}
	}
	g.run(t, e, []globalStep{{at: 10, req: r, asks: 2}, {at: 10, req: r, want: limited("a"), asks: 2}, {at: 29, req: r, want: limited("a")},
		{at: 30, req: r, asks: 2}, {at: 31, req: get("/", "x-k", "w"), want: limited("local")}})
}

// TestTheShieldCountsFromTheAsking, however late the answer comes.
func TestTheShieldCountsFromTheAsking(t *testing.T) {
	e, r := newEvaluator(t, shared(1, "")), get("/", "x-k", "v")
	call := e.Evaluate(0, r).Call
	each := []limiter.Decision{{Limit: 1, RetryAfter: 5 * time.Second, ResetAfter: 5 * time.Second}}
	if v := e.Conclude(3*second, call, []Answer{{Each: each}}); retryAfter(v) != "5" {
		t.Errorf("retry after %q, want what the engine said", retryAfter(v))
	}
	each[0].RetryAfter = time.Hour // the answers were the caller's
	if v := e.Evaluate(4*second, r); !v.Shielded || retryAfter(v) != "1" {
		t.Errorf("after 4 s: %+v, want a shield for 1 s", v)
	}
	if v := e.Evaluate(5*second, r); v.Call == nil {
		t.Errorf("after 5 s: %+v, want a call", v)
	}
	if v := e.Evaluate(-1, r); v.Call == nil {
		t.Errorf("before the call: %+v, want a call", v)
	}
}

// TestOneSlotOfTheShield has the latest of the keys that fall into it.
func TestOneSlotOfTheShield(t *testing.T) {
	key := func(n uint64) (k GlobalKey) {
		binary.LittleEndian.PutUint64(k[:], n)
		return k
	}
	var s shield
	rule, refuse := &Rule{}, &Answer{Each: []limiter.Decision{{RetryAfter: time.Minute}}}
	ask := func(n uint64) *Ask { return &Ask{Rule: rule, Key: key(n), Cost: 1} }
	recalls := func(n uint64) bool {
		_, ok := s.recall(second, ask(n))
		return ok
	}
	if recalls(7) {
		t.Error("an empty shield recalls")
	}
	s.remember(0, ask(7), refuse)
	if !recalls(7) || recalls(7+rememberedKeys) || recalls(8) {
		t.Errorf("recalls %v, %v, %v, want only the first", recalls(7), recalls(7+rememberedKeys), recalls(8))
	}
	s.remember(0, ask(7+rememberedKeys), refuse)
	if recalls(7) || !recalls(7+rememberedKeys) {
		t.Error("a key has not made way for the next")
	}
	other := ask(7 + rememberedKeys)
	other.Rule = &Rule{}
	if _, ok := s.recall(second, other); ok {
		t.Error("another rule is refused")
	}
	for _, waits := range [][2]time.Duration{{time.Minute, time.Second}, {time.Second, time.Minute}} { // both limits must have room
		s.remember(0, ask(9), &Answer{Each: []limiter.Decision{{RetryAfter: waits[0]}, {RetryAfter: waits[1]}, {Allowed: true, ResetAfter: time.Hour}}})
		if _, late := s.recall(limiter.At(time.Minute), ask(9)); !recalls(9) || late {
			t.Errorf("after waits of %v: recalled %v and, after a minute, %v", waits, recalls(9), late)
		}
	}
	last := ask(7 + rememberedKeys)
	last.Key[15] = 1
	if _, ok := s.recall(second, last); ok {
		t.Error("a key that differs in its last byte is recalled")
	}
}

// TestTheShieldOfAServiceEndsEarly, by the second that a service may count too
// much: it tells the whole seconds of a window from the last whole one.
func TestTheShieldOfAServiceEndsEarly(t *testing.T) {
	e := newEvaluator(t, `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [{"header": "x-k"}], "global": {}}]}`)
	refusal := func(wait time.Duration) []Answer {
		return []Answer{{Each: []limiter.Decision{{Limit: 5, RetryAfter: wait, ResetAfter: wait}}, Limits: []NamedLimit{{Limit: limiter.Limit{Requests: 5, Window: time.Minute}}}}}
	}
	for i, wait := range []time.Duration{time.Second, 3 * time.Second} {
		r := get("/", "x-k", fmt.Sprint(i))
		if v := e.Conclude(0, e.Evaluate(0, r).Call, refusal(wait)); details(v) != limited("a") {
			t.Fatalf("%+v, want a refusal", v)
		}
		end := limiter.At(wait - time.Second)
		if v := e.Evaluate(end, r); v.Call == nil {
			t.Errorf("wait %v: %+v a second before its end, want a call", wait, v)
		}
		if v := e.Evaluate(max(0, end-1), r); (v.Call == nil) != (end > 0) || v.Shielded != (end > 0) {
			t.Errorf("wait %v: %+v before that", wait, v)
		}
	}
}

// TestUnshield asks the engine every time.
func TestUnshield(t *testing.T) {
	e, g := newEvaluator(t, withRedis(`"rules": [{"name": "a", "key": [], "global": {"limits": [{"requests": 1, "window": "7s"}]}}]`)), newEngine(t)
	e.Unshield()
	for i := range 5 {
		if v := g.decide(e, 0, get("/")); (v.Reply != nil) != (i > 0) || v.Shielded || g.calls != i+1 {
			t.Errorf("request %d: %+v with %d calls", i, v, g.calls)
		}
	}
}
