package policy

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// workers are evaluators of one policy over one table, as the workers of a proxy.
func workers(t *testing.T, config string, n int) []*Evaluator {
	t.Helper()
	p := mustCompile(t, config)
	options := p.TableOptions(limiter.Seed{})
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Evaluator
	for range n {
		all = append(all, NewEvaluator(p, table))
	}
	return all
}

// TestRememberedRefusalsAreThoseOfTheTable: three workers that remember, and
// three on a table of their own that forget at once, answer the same requests
// with the same words, for every algorithm.
func TestRememberedRefusalsAreThoseOfTheTable(t *testing.T) {
	for _, algorithm := range []string{"sliding_log", "sliding_buckets", "sliding_counter", "token_bucket", "leaky_bucket", "fixed_window"} {
		config := fmt.Sprintf(`{"headers": ["retry-after", "ratelimit", "x-ratelimit"], "rules": [{"name": "a", "key": [{"header": "x-key"}],
			"limits": [{"requests": 3, "window": "700ms", "algorithm": %[1]q}, {"requests": 20, "window": "9s", "algorithm": %[1]q}]}]}`, algorithm)
		remembering, forgetting := workers(t, config, 3), workers(t, config, 3)
		recalled := 0
		for now := limiter.Instant(0); now < limiter.At(5*time.Minute); now += limiter.At(time.Duration(rand.Int64N(int64(120 * time.Millisecond)))) {
			i, r := rand.IntN(3), get("/", "x-key", fmt.Sprint(rand.IntN(3)))
			forgetting[i].refusals = refusals{}
			got, want := remembering[i].Evaluate(now, r), forgetting[i].Evaluate(now, r)
			if !reflect.DeepEqual(got.Reply, want.Reply) || !reflect.DeepEqual(got.Headers, want.Headers) {
				t.Fatalf("%s at %v: %+v, want %+v", algorithm, now, got.Reply, want.Reply)
			}
			if key := remembering[i].charges[0].Key; got.Reply != nil && remembering[i].refusals.slot(key).at < now {
				recalled++
			}
		}
		if recalled < 100 {
			t.Errorf("%s: %d refusals were remembered ones", algorithm, recalled)
		}
	}
}

// TestRefusalsAreRememberedForASecond, of the same key, cost and limits, and not
// at times before.
func TestRefusalsAreRememberedForASecond(t *testing.T) {
	limits, err := limiter.NewLimits(limiter.Limit{Requests: 1, Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	others, _ := limiter.NewLimits(limiter.Limit{Requests: 1, Window: time.Hour})
	refuse := limiter.Decision{Limit: 1, RetryAfter: 40 * time.Minute, ResetAfter: time.Hour}
	var r refusals
	r.remember(second, &limiter.Charge{Key: 7, Limits: limits, Cost: 2, Decision: refuse, Each: []limiter.Decision{refuse}})
	for _, test := range []struct {
		now    limiter.Instant
		charge limiter.Charge
		want   bool
	}{
		{second, limiter.Charge{Key: 7, Limits: limits, Cost: 2}, true},
		{2*second - 1, limiter.Charge{Key: 7, Limits: limits, Cost: 2}, true},
		{2 * second, limiter.Charge{Key: 7, Limits: limits, Cost: 2}, false},
		{second - 1, limiter.Charge{Key: 7, Limits: limits, Cost: 2}, false},
		{second, limiter.Charge{Key: 7 + rememberedKeys, Limits: limits, Cost: 2}, false},
		{second, limiter.Charge{Key: 7, Limits: limits, Cost: 1}, false},
		{second, limiter.Charge{Key: 7, Limits: others, Cost: 2}, false},
		{second, limiter.Charge{Key: 7, Limits: limits, Cost: 2, Shadow: true}, false},
	} {
		c := test.charge
		if got := r.recall(test.now, &c); got != test.want {
			t.Errorf("at %v: recall(%+v) = %v", test.now, test.charge, got)
		}
		if wait := refuse.RetryAfter - time.Duration(test.now-second)*time.Microsecond; test.want && (c.Decision.RetryAfter != wait || c.Each[0].RetryAfter != wait) {
			t.Errorf("at %v: wait %v, want %v", test.now, c.Decision.RetryAfter, wait)
		}
	}
}
