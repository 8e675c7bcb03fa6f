package policy

import (
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// threeRules all match a GET of /, and look at x-a, x-b and the client.
func threeRules(onError string) string {
	return `{"on_error": "` + onError + `", "rules": [
		{"name": "a", "match": {"methods": ["GET"]}, "key": [{"header": "x-a"}], "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "b", "match": {"path": {"exact": "/"}}, "key": [{"header": "x-b"}], "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "other", "match": {"path": {"exact": "/other"}}, "key": [], "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "c", "key": [{"client_ip": true}], "limits": [{"requests": 1, "window": "60s"}]}]}`
}

func TestRequestErrors(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		for what, rules := range map[string][]string{
			"method": nil, "path": {"a"}, // what else matches is not known
			"x-a": {"a", "b", "c"}, "x-b": {"a", "b", "c"}, "client": {"a", "b", "c"},
		} {
			e := newEvaluator(t, threeRules(action))
			good := get("/", "x-a", "1", "x-b", "2")
			bad := good
			bad.err = map[string]error{what: errBroken}
			for range 3 {
				e.checkFailure(t, what, e.Evaluate(0, bad), action, errBroken, rules...)
			}
			e.run(t, []step{{req: good}}) // nothing was charged
		}
	}
}

// TestUnaskedErrors: a fault in what no rule looks at is none.
func TestUnaskedErrors(t *testing.T) {
	r := get("/", "x-a", "v")
	r.err = map[string]error{"method": errBroken, "path": errBroken, "client": errBroken}
	newEvaluator(t, one("1", `"key": [{"header": "x-a"}]`)).run(t, []step{{req: r}, {req: r, want: limited("a")}})
}

// TestErrorOfTheFallback: where the address is to stand in for a missing part.
func TestErrorOfTheFallback(t *testing.T) {
	e := newEvaluator(t, one("1", `"key": [{"header": "x-a"}]`))
	r := get("/")
	r.err = map[string]error{"client": errBroken}
	e.checkFailure(t, "fallback", e.Evaluate(0, r), "allow", errBroken, "a")
}

// a brokenStore fails every load, or every swap.
type brokenStore struct {
	limiter.Store
	load, swap error
}

func (s *brokenStore) Load(shard uint32, buf []byte) ([]byte, uint64, error) {
	if s.load != nil {
		return nil, 0, s.load
	}
	return s.Store.Load(shard, buf)
}

func (s *brokenStore) Swap(shard uint32, value []byte, version uint64) (bool, error) {
	if s.swap != nil {
		return false, s.swap
	}
	return s.Store.Swap(shard, value, version)
}

func TestStoreErrors(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		for what, fault := range map[string]brokenStore{"load": {load: errBroken}, "swap": {swap: errBroken}} {
			p := mustCompile(t, threeRules(action))
			store := &brokenStore{Store: limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), load: fault.load, swap: fault.swap}
			table, err := limiter.NewTable(store, p.TableOptions(limiter.Seed{}))
			if err != nil {
				t.Fatal(err)
			}
			e := NewEvaluator(p, table)
			r := get("/", "x-a", "1", "x-b", "2")
			for range 3 {
				e.checkFailure(t, what, e.Evaluate(0, r), action, errBroken, "a", "b", "c")
			}
			store.load, store.swap = nil, nil
			e.run(t, []step{{req: r}}) // nothing was charged
		}
	}
}

// panicky is a request that panics when it is asked for a header.
type panicky struct{ request }

func (panicky) Header(string) (string, error) { panic("broken") }

func TestAPanicIsAnError(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		e := newEvaluator(t, threeRules(action))
		v := e.Evaluate(0, panicky{get("/other")})
		if v.Err == nil || v.Err.Error() != "panic: broken" || len(v.Outcomes) != 1 || v.Outcomes[0].Kind != Failed {
			t.Errorf("on_error %s: %v, outcomes %+v", action, v.Err, v.Outcomes)
		}
		if want := map[string]string{"allow": "", "deny": "local_rate_limit_error"}[action]; details(v) != want {
			t.Errorf("on_error %s: details %q, want %q", action, details(v), want)
		}
	}
}

// TestFailBlamesNoRule: the rules of the request before have nothing to do
// with one that there was no time for.
func TestFailBlamesNoRule(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		e := newEvaluator(t, threeRules(action))
		e.Evaluate(0, get("/other", "x-a", "1"))
		e.checkFailure(t, "Fail", e.Fail(errBroken), action, errBroken)
	}
}

func TestFullStore(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		e := newEvaluator(t, `{"store": {"max_keys": 1, "on_full": "`+action+`"}, "rules": [
			{"name": "a", "key": [{"header": "x-a"}], "limits": [{"requests": 1, "window": "60s"}]}]}`)
		known, other := get("/", "x-a", "known"), get("/", "x-a", "other")
		e.run(t, []step{{req: known}, {req: known, want: limited("a")}})
		for range 3 { // never counted, so never over the limit
			v := e.Evaluate(0, other)
			want := map[string]string{"allow": "", "deny": "local_rate_limit_error"}[action]
			if details(v) != want || v.Err != nil || v.Result.Admitted != (action == "allow") {
				t.Errorf("on_full %s: Evaluate(new key) = %q, %v, %+v, want %q", action, details(v), v.Err, v.Result, want)
			}
			if o := v.Outcomes[0]; o.Kind != Full || !o.Charge.Full || o.Evicted {
				t.Errorf("on_full %s: outcome = %+v, want full", action, o)
			}
		}
		e.run(t, []step{{at: 59, req: known, want: limited("a")}, {at: 61, req: other}, {at: 61, req: other, want: limited("a")}})
	}
}

// TestEviction: a key that is not at its limit makes way.
func TestEviction(t *testing.T) {
	e := newEvaluator(t, `{"store": {"max_keys": 1}, "rules": [
		{"name": "a", "key": [{"header": "x-a"}], "limits": [{"requests": 2, "window": "60s"}]}]}`)
	for i, evicted := range []bool{false, true} {
		v := e.Evaluate(0, get("/", "x-a", string(rune('p'+i))))
		if o := v.Outcomes[0]; v.Reply != nil || o.Kind != Allowed || o.Evicted != evicted {
			t.Errorf("request %d: outcome = %+v, want allowed and evicted %v", i, o, evicted)
		}
	}
}

// TestRefusalBeatsFull: a rule that refuses is named where another finds no room.
func TestRefusalBeatsFull(t *testing.T) {
	e := newEvaluator(t, `{"store": {"max_keys": 1, "on_full": "deny"}, "rules": [
		{"name": "full", "match": {"path": {"exact": "/both"}}, "key": [{"constant": "new"}], "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "a", "key": [], "limits": [{"requests": 1, "window": "60s"}]}]}`)
	e.run(t, []step{{req: get("/")}, {req: get("/both"), want: limited("a")}})
}

// TestAShadowRuleThatFailsRefusesNobody: not even where on_error is deny.
func TestAShadowRuleThatFailsRefusesNobody(t *testing.T) {
	e := newEvaluator(t, `{"on_error": "deny", "rules": [{"name": "a", "shadow": true, "key": [{"header": "x-k"}], "limits": [{"requests": 1, "window": "60s"}]}]}`)
	r := get("/")
	r.err = map[string]error{"x-k": errBroken}
	if v := e.Evaluate(0, r); v.Reply != nil || len(v.Outcomes) != 1 || v.Outcomes[0].Kind != Failed {
		t.Errorf("Evaluate() = %+v, want a pass with the rule failed", v)
	}
}

// TestFullStoreRefusesBeforeTheResponse: on_full is answered by a rule that is
// charged by the response too, when the request comes.
func TestFullStoreRefusesBeforeTheResponse(t *testing.T) {
	for action, want := range map[string]string{"allow": "", "deny": "local_rate_limit_error"} {
		e := newEvaluator(t, `{"store": {"max_keys": 1, "on_full": "`+action+`"}, "rules": [{"name": "a", "key": [{"header": "x-k"}],
			"charge": {"when": "response"}, "limits": [{"requests": 1, "window": "60s"}]}]}`)
		e.Settle(0, e.Evaluate(0, get("/", "x-k", "known")).Deferred, response{status: "401"})
		v := e.Evaluate(0, get("/", "x-k", "new"))
		if details(v) != want || len(v.Deferred) != 0 || v.Outcomes[0].Kind != Full {
			t.Errorf("on_full %s: Evaluate(new key) = %q, outcomes %+v, deferred %d, want %q", action, details(v), v.Outcomes, len(v.Deferred), want)
		}
	}
}

// TestErrorsBesideTheEngine follow on_error: those of the store, and panics. The
// next request is judged as if they had not been.
func TestErrorsBesideTheEngine(t *testing.T) {
	for _, action := range []string{"allow", "deny"} {
		config := failing("local")
		p := mustCompile(t, config[:len(config)-1]+`, "on_error": "`+action+`"}`)
		store := &brokenStore{Store: limiter.NewMemory(limiter.Shards(p.Store.MaxKeys))}
		table, err := limiter.NewTable(store, p.TableOptions(limiter.Seed{}))
		if err != nil {
			t.Fatal(err)
		}
		e, r := NewEvaluator(p, table), get("/", "x-k", "v")
		call := e.Evaluate(0, r).Call
		store.load = errBroken
		v := e.Conclude(0, call, nil)
		e.checkFailure(t, "share", v, action, errBroken, "a")
		if v.Result.Lost != 1 {
			t.Errorf("%d charges lost, want the local one", v.Result.Lost)
		}
		e.checkFailure(t, "local", e.Evaluate(0, r), action, errBroken, "a")
		store.load = nil
		call = e.Evaluate(0, r).Call
		call.Asks[0].outcome = 7
		if v := e.Conclude(0, call, []Answer{{Each: []limiter.Decision{{}}}}); v.Err == nil || (v.Reply != nil) != (action == "deny") || v.Outcomes[0].Kind != Failed {
			t.Errorf("on_error %s: a panic is %q, %v", action, details(v), v.Err)
		}
		newEngine(t).run(t, e, []globalStep{{req: get("/", "x-k", "w"), asks: 1}})
	}
}

// TestFullStoreBesideTheEngine: a share that finds no room follows on_full.
func TestFullStoreBesideTheEngine(t *testing.T) {
	for action, want := range map[string]string{"allow": "", "deny": "local_rate_limit_error"} {
		e := newEvaluator(t, withRedis(`"store": {"max_keys": 1, "on_full": "`+action+`"}, "rules": [
			{"name": "a", "key": [{"header": "x-k"}], "global": {"limits": [{"requests": 1, "window": "10s"}]}}]`))
		g := newEngine(t)
		g.run(t, e, []globalStep{{req: get("/", "x-k", "v"), asks: 1, broken: true}})
		if v := g.decide(e, 0, get("/", "x-k", "w")); details(v) != want || v.Outcomes[0].Kind != Full || len(headersOf(v)) != 0 {
			t.Errorf("on_full %s: %q, %+v, headers %v", action, details(v), v.Outcomes, headersOf(v))
		}
	}
}
