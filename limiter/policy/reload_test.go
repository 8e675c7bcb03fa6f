package policy

import "testing"

// TestReload uses up a key under one configuration and goes on with another on
// the same table.
func TestReload(t *testing.T) {
	rule := func(name, key, limits string) string {
		return `{"name": "` + name + `", "key": [` + key + `], "limits": [` + limits + `]}`
	}
	limit := func(requests, window string) string {
		return `{"requests": ` + requests + `, "window": "` + window + `"}`
	}
	const k = `{"header": "x-k"}`
	minute, hour := limit("3", "60s"), limit("100", "1h")
	a, b := rule("a", k, minute+", "+hour), rule("b", k, limit("50", "60s"))
	config := func(members string) string { return `{` + members + `}` }
	old := config(`"rules": [` + a + `, ` + b + `]`)
	for name, c := range map[string]struct {
		config string
		admits int // requests at 1 s, until the answer
		want   string
	}{
		"the same":               {old, 0, limited("a")},
		"rules in another order": {config(`"rules": [` + b + `, ` + a + `]`), 0, limited("a")},
		"another rule first":     {config(`"rules": [` + rule("c", "", hour) + `, ` + a + `]`), 0, limited("a")},
		"limits swapped":         {config(`"rules": [` + rule("a", k, hour+", "+minute) + `]`), 0, limited("a")},
		"one limit less":         {config(`"rules": [` + rule("a", k, minute) + `]`), 0, limited("a")},
		"same length, respelt":   {config(`"rules": [` + rule("a", `{"header": "X-K"}`, limit("3.0", "1m")) + `]`), 0, limited("a")},
		"raised":                 {config(`"rules": [` + rule("a", k, limit("5", "60s")) + `]`), 2, limited("a")},
		"raised by far":          {config(`"rules": [` + rule("a", k, limit("100", "60s")) + `]`), 97, limited("a")},
		"lowered":                {config(`"rules": [` + rule("a", k, limit("1", "60s")) + `]`), 0, limited("a")},
		"the other lowered":      {config(`"rules": [` + rule("b", k, limit("2", "60s")) + `]`), 0, limited("b")},
		"the other kept":         {config(`"rules": [` + rule("b", k, limit("5", "60s")) + `]`), 2, limited("b")},
		"another window":         {config(`"rules": [` + rule("a", k, limit("3", "61s")) + `]`), 3, limited("a")},
		"renamed":                {config(`"rules": [` + rule("d", k, minute) + `]`), 3, limited("d")},
		"another key":            {config(`"rules": [` + rule("a", k+`, {"constant": "x"}`, minute) + `]`), 3, limited("a")},
		"another namespace":      {config(`"namespace": "n", "rules": [` + a + `]`), 3, limited("a")},
		"the namespace named":    {config(`"namespace": "test", "rules": [` + a + `]`), 0, limited("a")},
		"other answers":          {config(`"on_error": "deny", "reply": {"status": 503}, "headers": [], "rules": [` + a + `]`), 0, limited("a")},
		"another match": {config(`"rules": [{"name": "a", "match": {"methods": ["GET"]}, "on_missing_key": "skip", "key": [` + k + `], "limits": [` + minute + `]}]`),
			0, limited("a")},
	} {
		t.Run(name, func(t *testing.T) {
			req := get("/", "x-k", "v")
			before := newEvaluator(t, old)
			before.run(t, []step{{req: req}, {req: req}, {req: req}, {req: req, want: limited("a")}})
			after := NewEvaluator(mustCompile(t, c.config), before.table)
			for i := range c.admits {
				if v := after.Evaluate(second, req); v.Reply != nil {
					t.Fatalf("request %d: Evaluate() = %q, want it to pass", i, details(v))
				}
			}
			after.run(t, []step{{at: 1, req: req, want: c.want}})
			if v := after.Evaluate(2*second, req); v.Result.Corrupt != 0 || v.Err != nil {
				t.Errorf("Evaluate() = %+v, %v, want no corrupt state", v.Result, v.Err)
			}
		})
	}
}

// TestLoweredLimitKeepsItsPromise: the wait is that of the lowered limit.
func TestLoweredLimitKeepsItsPromise(t *testing.T) {
	req := get("/")
	before := newEvaluator(t, one("3", `"key": []`))
	before.run(t, []step{{at: 0, req: req}, {at: 10, req: req}, {at: 20, req: req}})
	after := NewEvaluator(mustCompile(t, one("1", `"key": []`)), before.table)
	v := after.Evaluate(30*second, req)
	if got := retryAfter(v); got != "50" {
		t.Errorf("retry-after at 30s = %q, want 50: the last of three leaves at 80s", got)
	}
	after.run(t, []step{{at: 79.999999, req: req, want: limited("a")}, {at: 80, req: req}, {at: 80, req: req, want: limited("a")}})
}

// TestBothPoliciesAtOnce: while the old configuration drains, both spend one budget.
func TestBothPoliciesAtOnce(t *testing.T) {
	req := get("/")
	before := newEvaluator(t, one("4", `"key": []`))
	after := NewEvaluator(mustCompile(t, one("4", `"key": []`)), before.table)
	for _, e := range []*Evaluator{before, after, after, before} {
		e.run(t, []step{{req: req}})
	}
	before.run(t, []step{{req: req, want: limited("a")}})
	after.run(t, []step{{req: req, want: limited("a")}})
}
