package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// A buyer is a request of a user that says what it costs.
type buyer struct {
	policy.EmptyRequest
	user, cost string
}

func (b buyer) Header(name string) (string, error) {
	return map[string]string{"x-user": b.user, "x-cost": b.cost}[name], nil
}

// A shielded proxy asks the script about requests of any cost, of a few users.
type shieldedProxy struct {
	t         *testing.T
	r         *rand.Rand
	script    script
	fresh     func() *policy.Evaluator
	evaluator *policy.Evaluator
	limits    []limiter.Limit
	now       limiter.Instant
	used      map[string]bool // since the shield is empty: waits are for who is alone

	admitted, refused, shielded, promised int
}

func newShieldedProxy(t *testing.T, s script, seed uint64, algorithm limiter.Algorithm) *shieldedProxy {
	t.Helper()
	const config = `{"global": {"redis": {"cluster": "c"}}, "rules": [{"name": "a", "key": [{"header": "x-user"}], "cost": {"header": "x-cost", "max": 25},
		"global": {"limits": [{"requests": 12, "window": "3s", "algorithm": "%[1]s"}, {"requests": 20, "window": "9s", "algorithm": "%[1]s", "name": "long"}]}}]}`
	p, err := policy.Compile(fmt.Appendf(nil, config, algorithm), "shield")
	if err != nil {
		t.Fatal(err)
	}
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(limiter.Seed{}))
	if err != nil {
		t.Fatal(err)
	}
	return &shieldedProxy{
		t: t, r: rand.New(rand.NewPCG(seed, 4)), script: s, now: 1e9, used: map[string]bool{},
		fresh:  func() *policy.Evaluator { return policy.NewEvaluator(p, table) },
		limits: []limiter.Limit{{Algorithm: algorithm, Requests: 12, Window: 3 * time.Second}, {Algorithm: algorithm, Requests: 20, Window: 9 * time.Second}},
	}
}

// restart empties the shield, and fills what the windows have room for.
func (p *shieldedProxy) restart() {
	for user := range 3 {
		for cost := int64(12); cost > 0; cost-- {
			p.ask(p.now, false, fmt.Sprint("user", user), cost)
		}
	}
	p.evaluator, p.used = p.fresh(), map[string]bool{}
}

// ask asks the script what becomes of a request.
func (p *shieldedProxy) ask(at limiter.Instant, peek bool, user string, cost int64) reply {
	p.t.Helper()
	_, got := p.script.do(call{at: &at, peek: peek, charges: []charge{{name: user, limits: p.limits, cost: cost}}})
	p.used[user] = p.used[user] || got.admitted && !peek
	return got
}

// step sends a request. What the shield refuses the script must refuse too, and
// admit when the wait is over that was told, if there is one. Some costs are asked
// about by others meanwhile.
func (p *shieldedProxy) step() {
	p.t.Helper()
	p.now += limiter.Instant(p.r.Int64N(150_000))
	user, cost := fmt.Sprint("user", p.r.IntN(3)), 1+p.r.Int64N(25)
	if p.r.IntN(2) == 0 {
		cost = 1 + p.r.Int64N(3)
	}
	if p.r.IntN(6) == 0 { // by another proxy
		p.ask(p.now, false, user, cost)
		return
	}
	v := p.evaluator.Evaluate(p.now, buyer{user: user, cost: fmt.Sprint(cost)})
	if v.Call != nil {
		got := p.ask(p.now, false, user, cost)
		if v = p.evaluator.Conclude(p.now, v.Call, []policy.Answer{{Each: got.each}}); (v.Reply == nil) != got.admitted {
			p.t.Errorf("cost %d: %+v, and the script says %v", cost, v, got)
		}
		if got.admitted {
			p.admitted++
		} else {
			p.refused++
		}
		return
	}
	p.shielded++
	if got := p.ask(p.now, true, user, cost); got.admitted {
		p.t.Errorf("the shield refuses a cost of %d, and the script says %v", cost, got)
	}
	wait := retryAfter(p.t, v)
	if wait < 0 != (cost > 12) {
		p.t.Errorf("a cost of %d is told a wait of %v", cost, wait)
	}
	if wait < 0 || p.used[user] {
		return
	}
	p.promised++
	if got := p.ask(p.now+limiter.At(wait), true, user, cost); !got.admitted {
		p.t.Errorf("the shield tells a cost of %d to wait %v, and then the script says %v", cost, wait, got)
	}
}

// retryAfter is the wait that a refusal tells, less than none if it tells none.
func retryAfter(t *testing.T, v *policy.Verdict) time.Duration {
	t.Helper()
	for _, h := range v.Reply.Headers {
		if h[0] == "retry-after" {
			seconds, err := strconv.Atoi(h[1])
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(seconds) * time.Second
		}
	}
	return -1
}

// TestTheShieldRefusesWhatTheScriptDoes: a proxy that remembers what the script has
// refused for some costs must not refuse what the script would admit, by any
// algorithm, nor tell who obeys a wait that is too short.
func TestTheShieldRefusesWhatTheScriptDoes(t *testing.T) {
	for _, algorithm := range algorithms {
		t.Run(string(algorithm), func(t *testing.T) {
			s := load(t, server)
			for seed := range uint64(4) {
				p := newShieldedProxy(t, s, seed, algorithm)
				for i := 0; i < 2000 && !t.Failed(); i++ {
					if i%50 == 0 {
						p.restart()
					}
					p.step()
				}
				if p.admitted < 100 || p.refused < 100 || p.shielded < 200 || p.promised < 15 {
					t.Errorf("seed %d: %d admitted, %d refused, %d by the shield, %d kept promises: too one-sided", seed, p.admitted, p.refused, p.shielded, p.promised)
				}
				s.FlushDB(t.Context())
			}
		})
	}
}
