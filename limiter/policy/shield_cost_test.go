package policy

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// weighed is a configuration of two rules, "a" and "b", under which a key has three
// units in ten seconds, and of which the client says what a request costs.
func weighed() string {
	rule := `{"name": "%s", "match": {"path": {"exact": "/%[1]s"}}, "key": [{"header": "x-k"}], "cost": {"header": "x-c", "max": 99}, "global": {"limits": [{"requests": 3, "window": "10s"}]}}`
	return withRedis(`"rules": [` + fmt.Sprintf(rule, "a") + `, ` + fmt.Sprintf(rule, "b") + `]`)
}

func weighing(key string, cost int) request { return get("/a", "x-k", key, "x-c", fmt.Sprint(cost)) }

// TestTheShieldIsForOneKey: what else the engine may admit it is asked.
func TestTheShieldIsForOneKey(t *testing.T) {
	e, g := newEvaluator(t, weighed()), newEngine(t)
	g.run(t, e, []globalStep{
		{req: weighing("v", 2), asks: 1}, {req: weighing("v", 2), want: limited("a"), asks: 1},
		{req: weighing("v", 2), want: limited("a")},
		{req: weighing("v", 1), asks: 1},
		{req: weighing("w", 2), asks: 1}, {req: get("/b", "x-k", "v"), asks: 1},
		{req: weighing("v", 2), want: limited("a")},
	})
}

// TestTheShieldKnowsManyCosts: who sends different costs in turn is asked about for
// the first few, is then told a wait that is enough, and pushes nobody out.
func TestTheShieldKnowsManyCosts(t *testing.T) {
	e, g := newEvaluator(t, weighed()), newEngine(t)
	g.run(t, e, []globalStep{{req: weighing("v", 1), asks: 1}, {at: 1, req: weighing("v", 1), asks: 1}, {at: 5, req: weighing("v", 1), asks: 1},
		{at: 5, req: weighing("other", 3), asks: 1}, {at: 5, req: weighing("other", 3), want: limited("a"), asks: 1}})
	g.calls = 0
	for range 50 {
		for _, c := range []struct {
			cost int
			wait string
		}{{1, "5"}, {2, "6"}, {3, "10"}, {4, "none"}, {99, "none"}} {
			v := g.decide(e, 5*second, weighing("v", c.cost))
			if details(v) != limited("a") || retryAfter(v) != c.wait {
				t.Fatalf("cost %d: %q, retry after %s, want %s", c.cost, details(v), retryAfter(v), c.wait)
			}
		}
	}
	if g.calls != rememberedCosts {
		t.Errorf("%d calls for 250 refusals of one key", g.calls)
	}
	for cost := 99; cost > 0; cost-- {
		g.decide(e, 5*second, weighing("v", cost))
	}
	if g.calls != rememberedCosts {
		t.Errorf("%d calls, though the least cost is refused", g.calls)
	}
	g.run(t, e, []globalStep{{at: 5, req: weighing("other", 3), want: limited("a")}, {at: 9.9, req: weighing("v", 99), want: limited("a")},
		{at: 10, req: weighing("v", 1), asks: 1}, {at: 10, req: weighing("v", 1), want: limited("a"), asks: 1}})
}

// TestAHigherCostIsToldAWaitThatIsEnough, though not when just that cost fits.
func TestAHigherCostIsToldAWaitThatIsEnough(t *testing.T) {
	answer := Answer{Each: []limiter.Decision{
		{Limit: 9, RetryAfter: time.Second, ResetAfter: 8 * time.Second}, {Allowed: true, Limit: 20, Remaining: 6, ResetAfter: time.Minute},
		{Allowed: true, Limit: 20, Remaining: 20}, {Limit: 9, RetryAfter: limiter.Never},
	}}
	for cost, want := range map[int64][4]time.Duration{
		6: {8 * time.Second, 0, 0, limiter.Never}, 7: {8 * time.Second, time.Minute, 0, limiter.Never}, 9: {8 * time.Second, time.Minute, 0, limiter.Never},
		10: {limiter.Never, time.Minute, 0, limiter.Never}, 20: {limiter.Never, time.Minute, 0, limiter.Never}, 21: {limiter.Never, limiter.Never, limiter.Never, limiter.Never},
	} {
		c := refusedCost{cost: 1, until: second, answer: answer}
		raised := new(shield).left(0, &c)
		raised.raise(cost)
		for i, d := range raised.Each {
			if d.RetryAfter != want[i] || d.Allowed != (want[i] == 0) {
				t.Errorf("cost %d, limit %d: %+v, want a wait of %v", cost, i, d, want[i])
			}
		}
	}
}

// TestTheShieldOfACostThatNeverFits lasts a minute: what remains for others is then
// told anew.
func TestTheShieldOfACostThatNeverFits(t *testing.T) {
	e, g := newEvaluator(t, weighed()), newEngine(t)
	g.run(t, e, []globalStep{
		{req: weighing("v", 4), want: limited("a"), asks: 1}, {req: weighing("v", 4), want: limited("a")},
		{req: weighing("v", 3), asks: 1}, {at: 59.9, req: weighing("v", 4), want: limited("a")},
		{at: 60, req: weighing("v", 4), want: limited("a"), asks: 1},
	})
}

// TestTheShieldOfAServiceIsForAllCosts: its windows end at one time, so that every
// wait is known.
func TestTheShieldOfAServiceIsForAllCosts(t *testing.T) {
	e := newEvaluator(t, `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [{"header": "x-k"}], "cost": {"header": "x-c", "max": 99}, "global": {}}]}`)
	answer := []Answer{{Each: []limiter.Decision{{Limit: 5, RetryAfter: 30 * time.Second, ResetAfter: 30 * time.Second}}, Limits: []NamedLimit{{Limit: limiter.Limit{Requests: 5, Window: time.Minute}}}}}
	e.Conclude(0, e.Evaluate(0, weighing("v", 2)).Call, answer)
	for cost, wait := range map[int]string{2: "20", 3: "20", 5: "20", 6: "none", 99: "none"} {
		if v := e.Evaluate(10*second, weighing("v", cost)); !v.Shielded || retryAfter(v) != wait {
			t.Errorf("cost %d: %+v, retry after %s, want %s", cost, v, retryAfter(v), wait)
		}
	}
	if v := e.Evaluate(10*second, weighing("v", 1)); v.Call == nil {
		t.Errorf("a lower cost: %+v, want a call", v)
	}
}
