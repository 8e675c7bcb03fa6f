package policy_test

import (
	"fmt"
	"log"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// user is a request by the user of that name.
type user struct {
	policy.EmptyRequest
	name string
}

func (u user) Header(name string) (string, error) {
	return map[string]string{"x-user-id": u.name}[name], nil
}

func ExampleEvaluator() {
	p, err := policy.Compile([]byte(`{
		"rules": [{
			"name": "per-user",
			"key": [{"header": "x-user-id"}],
			"limits": [{"requests": 2, "window": "10s"}]
		}]
	}`), "example")
	if err != nil {
		log.Fatal(err)
	}
	store := limiter.NewMemory(limiter.Shards(p.Store.MaxKeys))
	table, err := limiter.NewTable(store, p.TableOptions(limiter.NewSeed()))
	if err != nil {
		log.Fatal(err)
	}
	e := policy.NewEvaluator(p, table)

	for i, who := range []string{"alice", "alice", "alice", "bob"} {
		at := limiter.At(time.Duration(i) * time.Second)
		if reply := e.Evaluate(at, user{name: who}).Reply; reply != nil {
			fmt.Println(who, reply.Status, reply.Headers, reply.Details)
		} else {
			fmt.Println(who, "passes")
		}
	}
	// Output:
	// alice passes
	// alice passes
	// alice 429 [[retry-after 8]] local_rate_limited{per-user}
	// bob passes
}

func ExampleCompile() {
	_, err := policy.Compile([]byte(`{
		"rules": [{"name": "per-user", "key": [{"heder": "x-user-id"}], "limits": [{"requests": 10, "window": "5x"}]}]
	}`), "example")
	fmt.Println(err)
	// Output:
	// rules[0].key[0].heder: unknown field, did you mean "header"?; rules[0].limits[0].window: "5x": not a duration: want numbers with units, such as "500ms", "1m", "1h30m" or "1d"
}
