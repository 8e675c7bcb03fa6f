package policy

import (
	"strconv"
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// TestAllRulesApply is B75: of 3 requests a second for 30 seconds, 2 in each
// second, 20 in the minute and 40 in the day are admitted.
func TestAllRulesApply(t *testing.T) {
	rules := []string{
		`{"name": "second", "key": [{"header": "x-k"}], "limits": [{"requests": 2, "window": "1s"}]}`,
		`{"name": "minute", "key": [{"header": "x-k"}], "limits": [{"requests": 20, "window": "60s"}]}`,
		`{"name": "day", "key": [{"header": "x-k"}], "limits": [{"requests": 40, "window": "86400s"}]}`,
	}
	for turn := range rules { // in every order, and as the limits of one rule
		e := newEvaluator(t, `{"rules": [`+rules[turn]+", "+rules[(turn+1)%3]+", "+rules[(turn+2)%3]+`]}`)
		single := newEvaluator(t, `{"rules": [{"name": "a", "key": [{"header": "x-k"}], "limits": [
			{"requests": 2, "window": "1s"}, {"requests": 20, "window": "60s"}, {"requests": 40, "window": "86400s"}]}]}`)
		admitted := 0
		for i := range 3 * 200 {
			at, r := limiter.Instant(i/3)*second, get("/", "x-k", "v")
			v, alone := e.Evaluate(at, r), single.Evaluate(at, r)
			if (v.Reply == nil) != (alone.Reply == nil) {
				t.Fatalf("request %d: three rules say %q, three limits %q", i, details(v), details(alone))
			}
			if v.Reply == nil {
				admitted++
			}
			want := map[int]int{3*1 - 1: 2, 3*10 - 1: 20, 3*30 - 1: 20, 3*60 - 1: 20, 3*70 - 1: 40, 3*200 - 1: 40}
			if n, ok := want[i]; ok && n != admitted {
				t.Errorf("order %d: %d of the first %d are admitted, want %d", turn, admitted, i+1, n)
			}
		}
	}
}

// TestSpecificAndCatchAll: a request is charged to both, and another key to
// the catch-all only.
func TestSpecificAndCatchAll(t *testing.T) {
	e := newEvaluator(t, `{"rules": [
		{"name": "login", "match": {"path": {"exact": "/login"}}, "key": [{"client_ip": true}], "limits": [{"requests": 2, "window": "60s"}]},
		{"name": "all", "key": [{"client_ip": true}], "limits": [{"requests": 3, "window": "60s"}]}]}`)
	e.run(t, []step{{req: get("/login")}, {req: get("/login")}, {req: get("/login"), want: limited("login")}, {req: get("/")}, {req: get("/"), want: limited("all")}})
}

// TestPathsShareAKey is B19, and B20 for a rule that keys and matches by path.
func TestPathsShareAKey(t *testing.T) {
	for _, match := range []string{``, `"match": {"path": {"exact": "/a"}}, `} {
		e := newEvaluator(t, one("3", match+`"key": [{"path": true}]`))
		for i, path := range []string{"/a?x=1", "/a?x=2", "/a?", "/a", "/a#f", "/a?/b", "//a", "/./a", "/x/../a", "/%61"} {
			want := ""
			if i >= 3 {
				want = limited("a")
			}
			e.run(t, []step{{req: get(path), want: want}})
		}
	}
}

// TestPortsShareAKey is B13 in a trace.
func TestPortsShareAKey(t *testing.T) {
	e := newEvaluator(t, one("2", `"key": [{"client_ip": true}]`))
	for i := range 4 {
		want := ""
		if i >= 2 {
			want = limited("a")
		}
		e.run(t, []step{{req: from("198.51.100.7:" + strconv.Itoa(40001+i)), want: want}, {req: from("[2001:db8::1]:" + strconv.Itoa(1+i)), want: want}})
	}
}
