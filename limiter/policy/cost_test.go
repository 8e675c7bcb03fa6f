package policy

import "testing"

// left is what remains of 100 units after one request.
func left(t testing.TB, members string, r request) int64 {
	t.Helper()
	v := newEvaluator(t, one("100", `"key": [], `+members)).Evaluate(0, r)
	if v.Err != nil || v.Outcomes[0].Charge == nil {
		t.Fatalf("Evaluate(%v) = %+v, want a decision", r, v)
	}
	return v.Outcomes[0].Charge.Decision.Remaining
}

func TestCost(t *testing.T) {
	for members, want := range map[string]int64{
		`"cost": 1`: 1, `"cost": 7`: 7, `"cost": 100`: 100, `"cost": 7.0`: 7, `"shadow": false`: 1,
	} {
		if got := left(t, members, get("/", "x-cost", "50")); got != 100-want {
			t.Errorf("%s: %d units are left, want %d", members, got, 100-want)
		}
	}
}

// TestCostOfAHeader: what is not a whole number of at least 1 costs the
// default, and too much costs the most.
func TestCostOfAHeader(t *testing.T) {
	for value, want := range map[string]int64{
		"3": 3, "1": 1, "10": 10, "007": 7, "11": 10, "50": 10, "2147483648": 10, "9223372036854775808": 10, "99999999999999999999": 10,
		"": 2, "0": 2, "00": 2, "-1": 2, "-99999999999999999999": 2, "abc": 2, "+3": 2, " 3": 2, "3 ": 2, "3.0": 2, "1e1": 2, "0x3": 2, "1_0": 2, "3,5": 2, "٣": 2,
	} {
		if got := left(t, `"cost": {"header": "X-Cost", "default": 2, "max": 10}`, get("/", "x-cost", value)); got != 100-want {
			t.Errorf("cost %q: %d units are left, want %d", value, got, 100-want)
		}
	}
	if got := left(t, `"cost": {"header": "x-cost", "max": 10}`, get("/")); got != 99 {
		t.Errorf("without a default %d units are left, want 99", got)
	}
}

// TestCostAboveTheLimit can never pass, and no time to retry is named.
func TestCostAboveTheLimit(t *testing.T) {
	e := newEvaluator(t, one("5", `"key": [], "cost": {"header": "x-cost", "max": 10}`))
	for range 2 {
		v := e.Evaluate(0, get("/", "x-cost", "6"))
		if details(v) != limited("a") || retryAfter(v) != "none" {
			t.Errorf("Evaluate() = %q, retry after %s, want a refusal without", details(v), retryAfter(v))
		}
	}
	e.run(t, []step{{req: get("/", "x-cost", "5")}, {req: get("/"), want: limited("a")}})
}

// TestErrorOfACost: a request of unknown cost is not decided.
func TestErrorOfACost(t *testing.T) {
	r := get("/")
	r.err = map[string]error{"x-cost": errBroken}
	e := newEvaluator(t, one("5", `"key": [], "cost": {"header": "x-cost", "max": 10}`))
	e.checkFailure(t, "cost", e.Evaluate(0, r), "allow", errBroken, "a")
}
