package policy

import "testing"

// TestOldAndNewWindowTakeTurns: while an old configuration drains, a limit that
// starts afresh has one budget under each, and no more; so it is for good if two
// filters share a rule's name and namespace.
func TestOldAndNewWindowTakeTurns(t *testing.T) {
	limits := func(limits string) string { return `{"rules": [{"name": "a", "key": [], "limits": [` + limits + `]}]}` }
	const minute = `{"requests": 3, "window": "60s"}`
	for name, c := range map[string]struct {
		old, next string
		want      int
	}{
		"another window":    {minute, `{"requests": 3, "window": "61s"}`, 6},
		"a shorter window":  {minute, `{"requests": 3, "window": "59s"}`, 6},
		"another algorithm": {minute, `{"requests": 3, "window": "60s", "algorithm": "fixed_window"}`, 6},
		"other buckets": {`{"requests": 3, "window": "60s", "algorithm": "sliding_buckets", "buckets": 6}`,
			`{"requests": 3, "window": "60s", "algorithm": "sliding_buckets", "buckets": 7}`, 6},
		"one limit more": {minute, minute + `, {"requests": 10, "window": "1h"}`, 3},
		"the same":       {minute, minute, 3},
	} {
		t.Run(name, func(t *testing.T) {
			req := get("/")
			before := newEvaluator(t, limits(c.old))
			after := NewEvaluator(mustCompile(t, limits(c.next)), before.table)
			admitted := 0
			for range 50 {
				for _, e := range []*Evaluator{before, after} {
					v := e.Evaluate(0, req)
					if v.Reply == nil {
						admitted++
					}
					if v.Result.Corrupt != 0 || v.Err != nil {
						t.Fatalf("Evaluate() = %+v, %v, want no corrupt state", v.Result, v.Err)
					}
				}
			}
			if admitted != c.want {
				t.Errorf("%d admitted, want %d", admitted, c.want)
			}
			if v := after.Evaluate(71*second, req); v.Reply != nil {
				t.Errorf("a window and a slot later: %q", details(v))
			}
		})
	}
}

// TestGoingBackFindsTheWindow: a configuration that is taken back within the
// window goes on with what it had counted, although the key was busy meanwhile.
func TestGoingBackFindsTheWindow(t *testing.T) {
	req := get("/")
	before := newEvaluator(t, one("3", `"key": []`))
	before.run(t, []step{{req: req}, {req: req}})
	after := NewEvaluator(mustCompile(t, `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 5, "window": "1s"}]}]}`), before.table)
	for at := range 50 {
		after.run(t, []step{{at: float64(at), req: req}})
	}
	before.run(t, []step{{at: 50, req: req}, {at: 50, req: req, want: limited("a")}, {at: 60, req: req}})
}
