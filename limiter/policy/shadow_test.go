package policy

import (
	"fmt"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// TestShadow: a rule on trial refuses nobody, says so, and counts on.
func TestShadow(t *testing.T) {
	for _, trial := range []string{`"shadow": true`, `"enforce_percent": 0`, `"shadow": true, "enforce_percent": 100`} {
		e := newEvaluator(t, one("2", `"key": [{"header": "x-k"}], `+trial))
		for i, at := range []limiter.Instant{0, 0, 0, 59 * second, 60 * second, 60 * second, 60 * second} {
			v := e.Evaluate(at, get("/", "x-k", "v"))
			want := Allowed
			if i == 2 || i == 3 || i == 6 {
				want = ShadowLimited
			}
			if o := v.Outcomes[0]; v.Reply != nil || !v.Result.Admitted || o.Kind != want || o.Charge.Decision.Allowed != (want == Allowed) {
				t.Errorf("%s: request %d: %+v, %q, want kind %d", trial, i, o, details(v), want)
			}
		}
	}
}

// TestShadowIsCharged: with the windows of a rule on trial it can be enforced
// at once.
func TestShadowIsCharged(t *testing.T) {
	r := get("/")
	trial := newEvaluator(t, one("2", `"key": [], "shadow": true`))
	trial.run(t, []step{{req: r}, {req: r}, {req: r}})
	NewEvaluator(mustCompile(t, one("2", `"key": []`)), trial.table).run(t, []step{{at: 1, req: r, want: limited("a")}, {at: 60, req: r}})
}

// TestShadowBeside an enforced rule: each is charged only for what passes.
func TestShadowBeside(t *testing.T) {
	e := newEvaluator(t, `{"rules": [
		{"name": "trial", "key": [], "limits": [{"requests": 3, "window": "60s"}], "shadow": true},
		{"name": "real", "key": [{"header": "x-k"}], "limits": [{"requests": 2, "window": "60s"}]}]}`)
	v := get("/", "x-k", "v")
	e.run(t, []step{{req: v}, {req: v}, {req: v, want: limited("real")}, {req: v, want: limited("real")}, {req: get("/", "x-k", "w")}})
	last := e.Evaluate(0, get("/", "x-k", "w"))
	if got := e.kinds(last); last.Reply != nil || got["trial"] != ShadowLimited || got["real"] != Allowed {
		t.Errorf("Evaluate() = %q, %v, want it to pass in spite of trial", details(last), got)
	}
}

// TestShadowRefusesNobody without the key, and none that is blocked.
func TestShadowRefusesNobody(t *testing.T) {
	for _, trial := range []string{`"shadow": true`, `"enforce_percent": 0`} {
		e := newEvaluator(t, one("1", `"key": [{"header": "x-k"}], "on_missing_key": "reject", "overrides": [{"key": ["m"], "block": true}], `+trial))
		for _, c := range []struct {
			req  request
			want OutcomeKind
		}{{get("/"), MissingKey}, {get("/", "x-k", "m"), ShadowLimited}} {
			if v := e.Evaluate(0, c.req); v.Reply != nil || e.kinds(v)["a"] != c.want {
				t.Errorf("%s: Evaluate(%v) = %q, %v, want kind %d to pass", trial, c.req, details(v), e.kinds(v), c.want)
			}
		}
	}
}

// TestEnforcePercent: which keys are refused is drawn by the key alone, so that
// all proxies agree, and more of them are as the share grows.
func TestEnforcePercent(t *testing.T) {
	keys := 10_000
	if testing.Short() {
		keys = 2000
	}
	enforced := func(percent int, seed limiter.Seed) []bool {
		p := mustCompile(t, one("1", fmt.Sprintf(`"key": [{"header": "x-k"}], "enforce_percent": %d`, percent)))
		table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(p.Store.MaxKeys)), p.TableOptions(seed))
		if err != nil {
			t.Fatal(err)
		}
		e, refused := NewEvaluator(p, table), make([]bool, keys)
		for i := range refused {
			r := get("/", "x-k", fmt.Sprint("user-", i))
			e.Evaluate(0, r)
			v := e.Evaluate(0, r)
			if refused[i] = v.Reply != nil; (v.Outcomes[0].Kind == Limited) != refused[i] || !refused[i] && v.Outcomes[0].Kind != ShadowLimited {
				t.Fatalf("outcome of key %d = %+v, refused %v", i, v.Outcomes[0], refused[i])
			}
		}
		return refused
	}
	before := make([]bool, keys)
	for _, percent := range []int{0, 1, 50, 99, 100} {
		refused, count := enforced(percent, limiter.NewSeed()), 0
		other := enforced(percent, limiter.NewSeed())
		for i := range keys {
			if refused[i] != other[i] || before[i] && !refused[i] {
				t.Fatalf("%d %%: key %d is refused: %v and %v, with less: %v", percent, i, refused[i], other[i], before[i])
			}
			if refused[i] {
				count++
			}
		}
		if low, high := (percent-5)*keys/100, (percent+5)*keys/100; count < low || count > high || percent%100 == 0 && count != percent*keys/100 {
			t.Errorf("%d %%: %d of %d keys are refused", percent, count, keys)
		}
		before = refused
	}
}
