package policy

import (
	"slices"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// a response answers from its fields, or with err.
type response struct {
	status  string
	headers map[string]string
	err     map[string]error // by what was asked: status, or a header
}

func (r response) Status() (string, error) { return r.status, r.err["status"] }

func (r response) Header(name string) (string, error) { return r.headers[name], r.err[name] }

// onResponse is one rule that is charged by the response.
func onResponse(limit, charge, members string) string {
	return one(limit, `"key": [{"header": "x-k"}], "charge": {"when": "response"`+charge+`}`+members)
}

// pass lets a request pass and returns what waits for the response.
func (e *Evaluator) pass(t testing.TB, at limiter.Instant, r request) []Deferred {
	t.Helper()
	v := e.Evaluate(at, r)
	if v.Reply != nil || v.Err != nil {
		t.Fatalf("Evaluate(%v) = %q, %v, want it to pass", r, details(v), v.Err)
	}
	return slices.Clone(v.Deferred)
}

// remaining is what a request would find left.
func (e *Evaluator) remaining(at limiter.Instant, r request) int64 {
	return e.Evaluate(at, r).Outcomes[0].Charge.Decision.Remaining
}

func TestChargeOnResponse(t *testing.T) {
	k := get("/", "x-k", "v")
	for charge, statuses := range map[string]map[string]int64{ // units that a status costs
		``:                             {"200": 1, "401": 1, "503": 1, "": 1},
		`, "statuses": ["401", "403"]`: {"401": 1, "403": 1, "200": 0, "404": 0, "4": 0, "": 0, "4010": 0},
		`, "statuses": ["5xx", "404"]`: {"500": 1, "599": 1, "404": 1, "400": 0, "200": 0, "5xx": 1, "5": 0, "50": 0, "5000": 0},
		`, "cost": 3`:                  {"200": 3},
		`, "cost": {"header": "x-units", "max": 5}`:                                   {"200": 4},
		`, "cost": {"header": "x-none", "default": 2, "max": 5}, "statuses": ["2xx"]`: {"200": 2, "302": 0},
	} {
		for status, want := range statuses {
			e := newEvaluator(t, onResponse("10", charge, ""))
			deferred := e.pass(t, 0, k)
			if left := e.remaining(0, k); left != 10 || len(deferred) != 1 {
				t.Errorf("%s: before the response %d are left and %d wait, want 10 and 1", charge, left, len(deferred))
			}
			v := e.Settle(0, deferred, response{status: status, headers: map[string]string{"x-units": "4"}})
			if kinds := e.kinds(v); want > 0 && (len(kinds) != 1 || kinds["a"] != Charged) || want == 0 && len(kinds) != 0 {
				t.Errorf("%s: outcomes of status %q = %v", charge, status, kinds)
			}
			if got := 10 - e.remaining(0, k); got != want || v.Err != nil || v.Reply != nil {
				t.Errorf("%s: status %q cost %d, %v, want %d", charge, status, got, v.Err, want)
			}
		}
	}
}

// TestChargeOfTheRequest: where the charge names no cost, the rule's is what
// the request asks for and what the response costs.
func TestChargeOfTheRequest(t *testing.T) {
	e := newEvaluator(t, onResponse("10", `, "statuses": ["200"]`, `, "cost": {"header": "x-cost", "max": 50}`))
	k := get("/", "x-k", "v", "x-cost", "6")
	e.Settle(0, e.pass(t, 0, k), response{status: "200"})
	e.run(t, []step{{req: k, want: limited("a")}, {req: get("/", "x-k", "v", "x-cost", "4")}})
}

// TestBeyondTheLimit: what has been used has been used, and refuses the next.
func TestBeyondTheLimit(t *testing.T) {
	k := get("/", "x-k", "v")
	e := newEvaluator(t, onResponse("3", `, "cost": {"header": "x-units", "max": 100}`, ""))
	deferred := e.pass(t, 0, k)
	more := e.pass(t, 0, k) // under way at the same time
	for _, d := range [][]Deferred{deferred, more} {
		if v := e.Settle(second, d, response{status: "200", headers: map[string]string{"x-units": "2"}}); v.Err != nil || e.kinds(v)["a"] != Charged {
			t.Errorf("Settle() = %+v, want it charged", v)
		}
	}
	e.run(t, []step{{at: 1, req: k, want: limited("a")}, {at: 60.9, req: k, want: limited("a")}, {at: 61, req: k}})
	for range 10 { // and is not charged for being refused, nor for passing
		e.Evaluate(61*second, k)
	}
	if left := e.remaining(61*second, k); left != 3 {
		t.Errorf("%d are left, want 3", left)
	}
}

// TestNothingIsDeferred for a request that is refused, by the rule or another,
// nor by a rule on trial that would have refused it.
func TestNothingIsDeferred(t *testing.T) {
	k := get("/", "x-k", "v")
	for members, passes := range map[string]bool{``: false, `, "shadow": true`: true, `, "enforce_percent": 0`: true} {
		e := newEvaluator(t, onResponse("1", "", members))
		e.Settle(0, e.pass(t, 0, k), response{status: "200"})
		v := e.Evaluate(0, k)
		if (v.Reply == nil) != passes || len(v.Deferred) != 0 {
			t.Errorf("%s: Evaluate() = %q, %d wait, want none", members, details(v), len(v.Deferred))
		}
	}
	e := newEvaluator(t, `{"rules": [{"name": "a", "key": [], "limits": [{"requests": 9, "window": "60s"}], "charge": {"when": "response"}},
		{"name": "b", "key": [], "limits": [{"requests": 1, "window": "60s"}]}]}`)
	e.pass(t, 0, k)
	if v := e.Evaluate(0, k); details(v) != limited("b") || len(v.Deferred) != 0 {
		t.Errorf("Evaluate() = %q, %d wait, want none", details(v), len(v.Deferred))
	}
}

// TestMixedCharges: of one request, each rule at its own time.
func TestMixedCharges(t *testing.T) {
	e := newEvaluator(t, `{"rules": [
		{"name": "bad", "key": [], "limits": [{"requests": 9, "window": "60s"}], "charge": {"when": "response", "statuses": ["4xx"]}},
		{"name": "now", "key": [], "limits": [{"requests": 9, "window": "60s"}], "charge": {"when": "request"}},
		{"name": "all", "key": [], "limits": [{"requests": 9, "window": "60s"}], "charge": {"when": "response", "cost": 2}},
		{"name": "free", "key": [{"constant": "c"}], "overrides": [{"key": ["c"], "unlimited": true}], "limits": [{"requests": 9, "window": "60s"}], "charge": {"when": "response"}}]}`)
	for i, status := range []string{"200", "404"} {
		deferred := e.pass(t, 0, get("/"))
		if len(deferred) != 2 || deferred[0].Rule != 0 || deferred[1].Rule != 2 {
			t.Fatalf("deferred %+v, want bad and all", deferred)
		}
		v := e.Settle(0, deferred, response{status: status})
		if got := e.kinds(v); len(got) != 1+i || got["all"] != Charged {
			t.Errorf("outcomes of %s = %v", status, got)
		}
	}
	v := e.Evaluate(0, get("/"))
	for i, want := range []int64{8, 6, 5} {
		if got := v.Outcomes[i].Charge.Decision.Remaining; got != want {
			t.Errorf("%s has %d left, want %d", e.policy.Rules[i].Name, got, want)
		}
	}
}

// TestSettleErrors: the rules that it concerns have failed, and nothing is charged.
func TestSettleErrors(t *testing.T) {
	const rule = `"key": [], "limits": [{"requests": 9, "window": "60s"}], "charge": {"when": "response", `
	config := `{"on_error": "deny", "rules": [{"name": "a", ` + rule + `"statuses": ["401"], "cost": {"header": "x-units", "max": 9}}},
		{"name": "b", ` + rule + `"statuses": ["5xx"]}}, {"name": "c", ` + rule + `"cost": 2}}]}`
	for what, want := range map[string][]string{"status": {"a", "b", "c"}, "x-units": {"a", "c"}} {
		e := newEvaluator(t, config)
		deferred := e.pass(t, 0, get("/"))
		v := e.Settle(0, deferred, response{status: "401", err: map[string]error{what: errBroken}})
		e.checkFailure(t, what, v, "allow", errBroken, want...) // not denied: it is too late
		if left := e.remaining(0, get("/")); left != 9 {
			t.Errorf("%s: %d are left, want 9", what, left)
		}
	}
	e := newEvaluator(t, config)
	if v := e.Settle(0, e.pass(t, 0, get("/")), nil); v.Err == nil || v.Reply != nil {
		t.Errorf("Settle(nil) = %+v, want the panic as an error", v)
	}
	if v := e.Settle(0, nil, response{status: "200"}); v.Err != nil || len(v.Outcomes) != 0 {
		t.Errorf("Settle(nothing) = %+v, want nothing", v)
	}
}

// TestSettleWithoutRoom: a key for which there is no room is full, not charged.
func TestSettleWithoutRoom(t *testing.T) {
	e := newEvaluator(t, `{"store": {"max_keys": 1, "on_full": "deny"}, "rules": [
		{"name": "a", "key": [{"header": "x-k"}], "limits": [{"requests": 1, "window": "60s"}], "charge": {"when": "response"}}]}`)
	known, other := e.pass(t, 0, get("/", "x-k", "known")), e.pass(t, 0, get("/", "x-k", "other"))
	e.Settle(0, known, response{status: "200"})
	if v := e.Settle(0, other, response{status: "200"}); v.Err != nil || e.kinds(v)["a"] != Full {
		t.Errorf("Settle() = %+v, want it full", v)
	}
}
