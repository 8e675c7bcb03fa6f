package policy

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// an engine answers calls, and counts them and what they ask. It stands for
// Redis: a table that all proxies share. When it is down there is no answer.
type engine struct {
	t           testing.TB
	table       *limiter.Table
	down        bool
	calls, asks int
}

func newEngine(t testing.TB) *engine {
	t.Helper()
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(10_000)), limiter.TableOptions{MaxKeys: 10_000, Steady: true})
	if err != nil {
		t.Fatal(err)
	}
	return &engine{t: t, table: table}
}

func (g *engine) answer(now limiter.Instant, asks []Ask) (answers []Answer) {
	g.t.Helper()
	g.calls++
	g.asks += len(asks)
	if g.down {
		return nil
	}
	charges := make([]limiter.Charge, len(asks))
	for i, a := range asks {
		charges[i] = limiter.Charge{Key: g.table.Fingerprint(a.Key[:]), Limits: a.Limits, Cost: a.Cost, Shadow: a.Shadow}
	}
	if _, err := g.table.Take(now, charges); err != nil {
		g.t.Fatal(err)
	}
	for i := range charges {
		answers = append(answers, Answer{Each: charges[i].Each})
	}
	return answers
}

// decide judges a request in a proxy, with a call if one is needed.
func (g *engine) decide(e *Evaluator, now limiter.Instant, r request) *Verdict {
	g.t.Helper()
	v := e.Evaluate(now, r)
	if v.Call == nil {
		return v
	}
	if v.Reply != nil || len(v.Headers) != 0 || v.Outcomes != nil || len(v.Call.Asks) == 0 {
		g.t.Errorf("Evaluate() = %+v, want only a call", v)
	}
	return e.Conclude(now, v.Call, g.answer(now, v.Call.Asks))
}

// withRedis is a configuration with Redis and further members.
func withRedis(members string) string {
	return `{"global": {"redis": {"cluster": "c"}}, "headers": ["retry-after", "ratelimit", "x-ratelimit"], ` + members + `}`
}

// shared is a configuration of one rule, "a", with a global limit per 10 s and
// further members of the rule.
func shared(requests int, members string) string {
	return withRedis(fmt.Sprintf(`"rules": [{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": %d, "window": "10s"}]}%s}]`, requests, members))
}

// proxies returns evaluators of a configuration, each on a table of its own.
func proxies(t testing.TB, config string, n int) (all []*Evaluator) {
	t.Helper()
	for range n {
		all = append(all, newEvaluator(t, config))
	}
	return all
}

// events are what was charged to a key, for an oracle.
type events []event

type event struct {
	at   limiter.Instant
	cost int64
	id   int
}

// fits says whether a cost fits into a window that ends now.
func (l events) fits(now limiter.Instant, cost, limit int64, window time.Duration) bool {
	for _, e := range l {
		if now-e.at < limiter.At(window) {
			cost += e.cost
		}
	}
	return cost <= limit
}

// A waiting request is one that the engine has been asked about.
type waiting struct {
	proxy, id int
	call      *Call
	answers   []Answer
	admitted  bool // by the oracle
	local     string
}

// A crowd sends random requests to two proxies, with several under way at a time,
// and knows from lists of all that was charged what must become of each.
type crowd struct {
	t       *testing.T
	random  *rand.Rand
	proxies []*Evaluator
	engine  *engine
	global  map[string]events // by rule and key
	local   map[string]events // by proxy and key
	waiting []waiting
	now     limiter.Instant

	admitted, refused, shielded, stopped int
}

// The limits of the crowd.
const (
	crowdRules = `"rules": [
		{"name": "user", "key": [{"header": "x-user"}], "cost": {"header": "x-cost", "max": 9}, "limits": [{"requests": 9, "window": "1s"}],
		 "global": {"limits": [{"requests": 7, "window": "1s"}, {"requests": 30, "window": "10s"}]}},
		{"name": "tenant", "match": {"headers": [{"name": "x-tenant"}]}, "key": [{"header": "x-tenant"}], "cost": {"header": "x-cost", "max": 9},
		 "global": {"limits": [{"requests": 12, "window": "2s"}]}}]`
	localLimit, userLimit, userLong, tenantLimit = 9, 7, 30, 12
)

// TestProxiesShareLimits: what two proxies admit together never exceeds a global
// limit in any window, nothing is refused that all limits have room for, and
// local limits are charged for what was admitted, and nothing else.
func TestProxiesShareLimits(t *testing.T) {
	c := crowd{t: t, random: rand.New(rand.NewPCG(9, 9)), proxies: proxies(t, withRedis(crowdRules), 2), engine: newEngine(t),
		global: map[string]events{}, local: map[string]events{}}
	steps := 40_000
	if testing.Short() {
		steps = 4000
	}
	for id := range steps {
		c.now += limiter.Instant(c.random.IntN(40_000))
		if len(c.waiting) > 4 || len(c.waiting) > 0 && c.random.IntN(2) == 0 {
			c.conclude(c.random.IntN(len(c.waiting)))
		} else {
			c.request(id)
		}
		if t.Failed() {
			t.Fatalf("step %d", id)
		}
	}
	t.Logf("%d admitted, %d refused by the engine, %d by the shield, %d locally", c.admitted, c.refused, c.shielded, c.stopped)
	if c.admitted < steps/20 || c.refused < steps/50 || c.shielded < steps/50 || c.stopped < steps/500 {
		t.Error("the traffic is too one-sided")
	}
}

func (c *crowd) request(id int) {
	proxy, cost := c.random.IntN(2), 1+c.random.Int64N(3)
	user, tenant := fmt.Sprint("u", c.random.IntN(3)), ""
	r := get("/", "x-user", user, "x-cost", fmt.Sprint(cost))
	if c.random.IntN(2) == 0 {
		tenant = fmt.Sprint("t", c.random.IntN(2))
		r.headers["x-tenant"] = tenant
	}
	here := fmt.Sprint(proxy, user)
	room := c.local[here].fits(c.now, cost, localLimit, time.Second)
	v := c.proxies[proxy].Evaluate(c.now, r)
	switch {
	case v.Err != nil:
		c.t.Errorf("Evaluate(): %v", v.Err)
	case v.Shielded:
		c.shielded++
		if v.Reply == nil || v.Call != nil || c.fits(user, tenant, cost) {
			c.t.Errorf("the shield refuses what fits: %+v", v)
		}
	case v.Call == nil:
		c.stopped++
		if v.Reply == nil || room {
			c.t.Errorf("refused here, though it fits: %+v", v)
		}
	case !room:
		c.t.Error("a call for what the local limits refuse")
	default:
		c.local[here] = append(c.local[here], event{c.now, cost, id})
		c.ask(waiting{proxy: proxy, id: id, call: v.Call, local: here}, user, tenant, cost)
	}
}

// fits says whether all global limits have room.
func (c *crowd) fits(user, tenant string, cost int64) bool {
	l := c.global[user]
	return l.fits(c.now, cost, userLimit, time.Second) && l.fits(c.now, cost, userLong, 10*time.Second) &&
		(tenant == "" || c.global[tenant].fits(c.now, cost, tenantLimit, 2*time.Second))
}

func (c *crowd) ask(w waiting, user, tenant string, cost int64) {
	if w.admitted = c.fits(user, tenant, cost); w.admitted {
		for _, key := range []string{user, tenant} {
			c.global[key] = append(c.global[key], event{c.now, cost, w.id})
		}
	}
	w.answers = c.engine.answer(c.now, w.call.Asks)
	c.waiting = append(c.waiting, w)
}

func (c *crowd) conclude(i int) {
	w := c.waiting[i]
	c.waiting = slices.Delete(c.waiting, i, i+1)
	v := c.proxies[w.proxy].Conclude(c.now, w.call, w.answers)
	if (v.Reply == nil) != w.admitted || v.Result.Admitted != w.admitted || v.Err != nil || v.Result.Lost != 0 {
		c.t.Errorf("Conclude() = %q, %+v, %v, want admitted %v", details(v), v.Result, v.Err, w.admitted)
	}
	if w.admitted {
		c.admitted++
		return
	}
	c.refused++
	c.local[w.local] = slices.DeleteFunc(c.local[w.local], func(e event) bool { return e.id == w.id })
}
