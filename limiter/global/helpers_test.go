package global

import (
	"fmt"
	"testing"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// a hit is a request of a user.
type hit struct {
	policy.EmptyRequest
	user, cost string
}

func (h hit) Header(name string) (string, error) {
	return map[string]string{"x-user": h.user, "x-cost": h.cost}[name], nil
}

// asksOf returns what a policy asks the engine about a request.
func asksOf(t testing.TB, config string, r policy.Request) (*policy.Global, []policy.Ask) {
	t.Helper()
	p, err := policy.Compile([]byte(config), "test")
	if err != nil {
		t.Fatal(err)
	}
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.Seed{}))
	if err != nil {
		t.Fatal(err)
	}
	v := policy.NewEvaluator(p, table).Evaluate(0, r)
	if v.Call == nil {
		t.Fatalf("%+v, want a call", v)
	}
	return p.Global, v.Call.Asks
}

// redisConfig is a configuration with global limits in Redis, of the given
// members of the engine and rules.
func redisConfig(engine, rules string) string {
	return fmt.Sprintf(`{"global": {"redis": {"cluster": "c"%s}}, "rules": [%s]}`, engine, rules)
}

const (
	twoWindows = `{"name": "a", "key": [{"header": "x-user"}], "cost": {"header": "x-cost", "max": 9},
		"global": {"limits": [{"requests": 10, "window": "1s"}, {"requests": 500, "window": "1h", "algorithm": "sliding_buckets"}]}}`
	shadowBucket = `{"name": "b", "key": [], "shadow": true, "global": {"limits": [{"requests": 5, "window": "1m", "algorithm": "token_bucket", "burst": 20}]}}`
	service      = `{"global": {"rls": {"cluster": "c", "domain": "shop"}}, "rules": [
		{"name": "a", "key": [{"header": "x-user"}], "cost": {"header": "x-cost", "max": 9}, "global": {"descriptor": [{"name": "user", "part": 0}, {"name": "plan", "value": "free"}]}},
		{"name": "b", "key": [], "global": {}}]}`
)
