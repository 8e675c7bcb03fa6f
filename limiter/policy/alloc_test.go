//go:build !race

package policy

import "testing"

// TestEvaluateDoesNotAllocate is of a request that passes. (The race detector
// makes a sync.Pool forget.)
func TestEvaluateDoesNotAllocate(t *testing.T) {
	e := newEvaluator(t, one("100", `"key": [{"header": "x-a"}], "match": {"path": {"prefix": "/a"}}`))
	var r Request = get("/a/b?c=d", "x-a", "v")
	now := second
	if n := testing.AllocsPerRun(1000, func() { now += second; e.Evaluate(now, r) }); n != 0 {
		t.Errorf("Evaluate(%v) = %v allocations, want none", r, n)
	}
}
