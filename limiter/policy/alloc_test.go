//go:build !race

package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// TestTheShieldDoesNotAllocate: what is refused without a call costs no memory.
func TestTheShieldDoesNotAllocate(t *testing.T) {
	e := newEvaluator(t, shared(1, ""))
	var r Request = get("/", "x-k", "v")
	each := []limiter.Decision{{Limit: 1, RetryAfter: time.Hour, ResetAfter: time.Hour}}
	e.Conclude(0, e.Evaluate(0, r).Call, []Answer{{Each: each}})
	now := second
	if n := testing.AllocsPerRun(1000, func() {
		if now++; !e.Evaluate(now, r).Shielded {
			t.Fatal("the shield is gone")
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

// TestEvaluateDoesNotAllocate is of requests that pass, and of some that are
// refused. (The race detector makes a sync.Pool forget.)
func TestEvaluateDoesNotAllocate(t *testing.T) {
	for _, members := range []string{
		`"key": [{"header": "x-a"}], "match": {"path": {"prefix": "/a"}}`,
		`"key": [{"header": "x-a"}], "match": {"path": {"regex": "/a/.*"}, "methods": ["GET"], "host": {"suffix": ".example"}, "headers": [{"name": "x-a"}]}`,
		`"key": [{"cookie": "sid"}, {"query": "c"}, {"path": true}, {"method": true}, {"host": true}, {"constant": "c"}, {"route": true}]`,
		`"key": [{"header": "x-a"}], "overrides": [{"key": ["v"], "limits": [{"requests": 50, "window": "60s"}]}]`,
		`"key": [{"header": "x-a"}], "overrides": [{"key": ["v"], "unlimited": true}]`,
		`"key": [{"header": "x-a"}], "cost": {"header": "x-cost", "max": 9}, "enforce_percent": 50`,
		`"key": [{"header": "x-a"}], "charge": {"when": "response"}`,
		`"key": [{"header": "x-a"}], "shadow": true`,
		`"key": [{"client_ip": true}, {"header": "x-none"}]`,
		`"key": [{"header": "x-a"}], "overrides": [{"key": ["v"], "block": true}]`,
		`"key": [{"header": "x-a"}], "overrides": [{"key": ["v"], "limits": [{"requests": 1, "window": "1h"}, {"requests": 1, "window": "2h"}]}]`,
	} {
		e := newEvaluator(t, strings.Replace(one("100", members), "{", `{"headers": ["retry-after", "ratelimit", "x-ratelimit"], `, 1))
		get := get("/a/b?c=d", "x-a", "v", "cookie", "a=b; sid=v", "x-cost", "2")
		get.host, get.properties = "www.example:80", map[string]string{"xds\x00route_name": "r"}
		var r Request = get
		now := second
		if n := testing.AllocsPerRun(1000, func() { now += 3 * second; e.Evaluate(now, r) }); n != 0 {
			t.Errorf("%s: Evaluate(%v) = %v allocations, want none", members, r, n)
		}
	}
}
