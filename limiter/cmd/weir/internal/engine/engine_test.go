package engine

import (
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

type by struct {
	policy.EmptyRequest
	user string
}

func (b by) Header(string) (string, error) { return b.user, nil }

func newEvaluator(t *testing.T, config string) (*policy.Evaluator, *Engine) {
	t.Helper()
	p, err := policy.Compile([]byte(config), "test")
	if err != nil {
		t.Fatal(err)
	}
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.Seed{}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	by := policy.NewEvaluator(p, table)
	by.Unshield()
	return by, e
}

// TestEngine keeps the limits of two rules, of which a request is charged to both
// or to none, and knows nothing of a service's.
func TestEngine(t *testing.T) {
	evaluator, e := newEvaluator(t, `{"global": {"redis": {"cluster": "c"}}, "rules": [
		{"name": "user", "key": [{"header": "x"}], "global": {"limits": [{"requests": 1, "window": "1s"}]}},
		{"name": "all", "key": [], "global": {"limits": [{"requests": 2, "window": "1s"}]}}]}`)
	for i, step := range []struct {
		user string
		want bool
	}{{"a", true}, {"a", false}, {"b", true}, {"c", false}} {
		call := evaluator.Evaluate(0, by{user: step.user}).Call
		v, charges := e.Conclude(evaluator, 0, call)
		if (v.Reply == nil) != step.want || len(charges) != 2 || charges[1].Decision.Limit != 2 {
			t.Errorf("step %d: %+v, %+v", i, v.Reply, charges)
		}
	}
	evaluator, e = newEvaluator(t, `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "rules": [{"name": "a", "key": [], "global": {}}]}`)
	call := evaluator.Evaluate(0, by{}).Call
	if v, charges := e.Conclude(evaluator, 0, call); v.Reply != nil || charges[0].Limits != nil || e.Exhaust(0, &call.Asks[0]) != nil {
		t.Errorf("%+v, %+v", v, charges)
	}
}

// TestExhaust uses up the largest of an ask's limits, and so all of them.
func TestExhaust(t *testing.T) {
	evaluator, e := newEvaluator(t, `{"global": {"redis": {"cluster": "c"}}, "rules": [
		{"name": "a", "key": [], "global": {"limits": [{"requests": 3, "window": "1s"}, {"requests": 50, "window": "1h"}]}}]}`)
	call := evaluator.Evaluate(0, by{}).Call
	if err := e.Exhaust(0, &call.Asks[0]); err != nil {
		t.Fatal(err)
	}
	if v, charges := e.Conclude(evaluator, 0, call); v.Reply == nil || charges[0].Each[0].Allowed || charges[0].Each[1].Allowed {
		t.Errorf("%+v, %+v", v, charges)
	}
}
