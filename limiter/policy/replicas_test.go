package policy

import (
	"fmt"
	"testing"
)

// TestReplicas: every limit is divided, rounded down, and is at least one.
func TestReplicas(t *testing.T) {
	for _, c := range []struct{ replicas, limit, want string }{
		{"1", `"requests": 10`, "a=10/1m0s"},
		{"2", `"requests": 10`, "a=5/1m0s"},
		{"3", `"requests": 10`, "a=3/1m0s"},
		{"10", `"requests": 10`, "a=1/1m0s"},
		{"11", `"requests": 10`, "a=1/1m0s"},
		{"1000000", `"requests": 1`, "a=1/1m0s"},
		{"4", `"requests": 10, "algorithm": "token_bucket", "burst": 50`, "a=2/1m0s(burst 12)"},
		{"4", `"requests": 10, "algorithm": "leaky_bucket", "burst": 3`, "a=2/1m0s(burst 1)"},
		{"4", `"requests": 10, "algorithm": "token_bucket"`, "a=2/1m0s"},
	} {
		config := `{"replicas": ` + c.replicas + `, "rules": [{"name": "a", "key": [{"header": "x-k"}], "limits": [{"window": "60s", ` + c.limit + `}],
			"overrides": [{"key": ["v"], "limits": [{"window": "60s", ` + c.limit + `}]}]}]}`
		r := mustCompile(t, config).Rules[0]
		if got := describeQuota(r.limits); got != c.want {
			t.Errorf("%s of %s = %s, want %s", c.replicas, c.limit, got, c.want)
		}
		for _, o := range r.overrides {
			if got := describeQuota(o.limits); got != c.want {
				t.Errorf("override: %s of %s = %s, want %s", c.replicas, c.limit, got, c.want)
			}
		}
	}
}

// TestShareOfAReplica is what one of them admits, and shows in its headers.
func TestShareOfAReplica(t *testing.T) {
	e := newEvaluator(t, `{"replicas": 3, "headers": ["ratelimit"], "rules": [{"name": "a", "key": [], "limits": [{"requests": 10, "window": "60s"}]}]}`)
	for i := range 3 {
		v := e.Evaluate(0, get("/"))
		if got, want := header(v.Headers, "ratelimit"), fmt.Sprintf(`"a";r=%d;t=60`, 2-i); got != want || header(v.Headers, "ratelimit-policy") != `"a";q=3;w=60` {
			t.Errorf("request %d: headers = %v, want %s", i, v.Headers, want)
		}
	}
	e.run(t, []step{{req: get("/"), want: limited("a")}})
}

// TestReplicasReload: the windows go on when the number of replicas changes.
func TestReplicasReload(t *testing.T) {
	const rules = `"rules": [{"name": "a", "key": [], "limits": [{"requests": 4, "window": "60s"}]}]}`
	two := newEvaluator(t, `{"replicas": 2, `+rules)
	two.run(t, []step{{req: get("/")}, {req: get("/")}, {req: get("/"), want: limited("a")}})
	NewEvaluator(mustCompile(t, `{"replicas": 1, `+rules), two.table).run(t, []step{{req: get("/")}, {req: get("/")}, {req: get("/"), want: limited("a")}})
}
