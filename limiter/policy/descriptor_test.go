package policy

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// TestAnswersThatDoNotFit are a failure of the engine, and not half an answer.
func TestAnswersThatDoNotFit(t *testing.T) {
	e, each := newEvaluator(t, failing("deny")), []limiter.Decision{{Allowed: true, Limit: 6}}
	for i, answers := range [][]Answer{nil, {}, {{}}, {{Each: each}, {Each: each}}, {{Each: append(each, each...)}}} {
		v := e.Conclude(0, e.Evaluate(0, get("/", "x-k", "v")).Call, answers)
		if details(v) != "local_rate_limit_error" || v.Err != nil || v.Outcomes[0].Kind != Failed {
			t.Errorf("answers %d: %q, %v, %+v", i, details(v), v.Err, v.Outcomes)
		}
	}
	v := e.Conclude(0, e.Evaluate(0, get("/", "x-k", "v")).Call, []Answer{{Each: each}})
	if v.Reply != nil || v.Outcomes[0].Kind != Allowed {
		t.Errorf("an answer that fits: %q", details(v))
	}
	rls := newEvaluator(t, withRLS("deny"))
	for i, a := range []Answer{{Each: each}, {Limits: []NamedLimit{{}}}} {
		if v := rls.Conclude(0, rls.Evaluate(0, get("/", "x-k", "v")).Call, []Answer{a}); details(v) != "local_rate_limit_error" {
			t.Errorf("answer %d of a service: %q, %v", i, details(v), v.Err)
		}
	}
}

// withRLS is a configuration of a rule whose limits a rate limit service knows.
func withRLS(action string) string {
	return `{"global": {"rls": {"cluster": "c", "domain": "d"}}, "on_global_error": "` + action + `", "headers": ["retry-after", "ratelimit"],
		"rules": [{"name": "a", "key": [{"header": "x-k"}], "limits": [{"requests": 2, "window": "60s"}], "global": {},
			"overrides": [{"key": ["alice"], "limits": [{"requests": 1, "window": "1s"}]}, {"key": ["probe"], "unlimited": true}]}]}`
}

// TestAServiceThatFailsLeavesTheLocalLimits, as its own are not known.
func TestAServiceThatFailsLeavesTheLocalLimits(t *testing.T) {
	v := get("/", "x-k", "v")
	newEngine(t).run(t, newEvaluator(t, withRLS("local")), []globalStep{
		{req: v, asks: 1, broken: true}, {req: v, asks: 1, broken: true}, {req: v, want: limited("a")},
	})
}

// descriptor returns the descriptor of the one ask of a request.
func (e *Evaluator) descriptor(t testing.TB, r request) [][2]string {
	t.Helper()
	v := e.Evaluate(0, r)
	if v.Call == nil || len(v.Call.Asks) != 1 || v.Call.Asks[0].Limits != nil {
		t.Fatalf("Evaluate(%v) = %+v, want a call about one descriptor", r.headers, v)
	}
	return v.Call.Asks[0].Descriptor
}

// described is a configuration of a rule without local limits for a service.
func described(secret, members string) string {
	return `{"global": {"rls": {"cluster": "c", "domain": "d", "secret": "` + secret + `"}}, "rules": [{"name": "a", ` + members + `}]}`
}

const someSecret = "a secret of the operator"

func TestDescriptors(t *testing.T) {
	const parts = `"key": [{"header": "X-User"}, {"client_ip": {"ipv4_prefix": 24}}, {"path": true}]`
	r := get("/a?b", "x-user", "alice")
	for global, want := range map[string][][2]string{
		`{}`: {{"rule", "a"}, {"header x-user", "alice"}, {"client_ip /24 or /64", "192.0.2.0/24"}, {"path", "/a"}},
		`{"descriptor": [{"name": "path", "part": 2}, {"name": "tier", "value": "free_1"}, {"name": "path", "part": 2}]}`: {{"path", "/a"}, {"tier", "free_1"}, {"path", "/a"}},
	} {
		if got := newEvaluator(t, described(someSecret, parts+`, "global": `+global)).descriptor(t, r); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q", global, got, want)
		}
	}
	if got := newEvaluator(t, described(someSecret, `"key": [], "global": {}`)).descriptor(t, r); !reflect.DeepEqual(got, [][2]string{{"rule", "a"}}) {
		t.Errorf("without a key: %q", got)
	}
}

// TestDescriptorValues: what is plain goes as it is, and nothing else does.
func TestDescriptorValues(t *testing.T) {
	key := `"key": [{"header": "x-k"}], "on_missing_key": "shared", "global": {}`
	e, other := newEvaluator(t, described(someSecret, key)), newEvaluator(t, described(someSecret+"!", key))
	seen := map[string]string{}
	for _, value := range []string{
		"alice", "ALICE", "a.b:c/d@e+f=g~h-i", strings.Repeat("a", 128), "", "missing", "192.0.2.1",
		"a_b", "a b", " a", "a,b", "é", "\xff", "\xfe", "a\x00b", "#missing", "#192.0.2.1", "#", "##", "%", strings.Repeat("a", 129), strings.Repeat("a", 130),
		"#" + e.policy.Global.key([]byte("a_b")).String(), e.policy.Global.key([]byte("a_b")).String(),
	} {
		got := e.descriptor(t, get("/", "x-k", value))[1][1]
		if before, ok := seen[got]; ok {
			t.Errorf("%q and %q are both sent as %q", before, value, got)
		}
		seen[got] = value
		plain := value != "" && len(value) <= 128 && !strings.ContainsFunc(value, func(c rune) bool {
			return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzACEILGN0123456789.:/@+=~-", c)
		})
		switch {
		case plain && got != value, !plain && !strings.HasPrefix(got, "#"), value == "" && got != "#missing":
			t.Errorf("%q is sent as %q", value, got)
		case !plain && value != "" && (len(got) != 33 || got == other.descriptor(t, get("/", "x-k", value))[1][1]):
			t.Errorf("%q is sent as %q, under another secret as well", value, got)
		}
	}
}

// TestDescriptorsOfMissingParts cannot be sent by a client.
func TestDescriptorsOfMissingParts(t *testing.T) {
	e := newEvaluator(t, described(someSecret, `"key": [{"header": "x-k"}, {"cookie": "sid"}], "global": {}`))
	for client, want := range map[string]string{"192.0.2.1:7": "#192.0.2.1", "[2001:db8::1]:7": "#2001:db8::/64", "": "#missing"} {
		r := from(client)
		if got := e.descriptor(t, r); got[1][1] != want || got[2][1] != want {
			t.Errorf("client %q: %q, want %q", client, got, want)
		}
		if got := e.descriptor(t, get("/", "x-k", want))[1][1]; got == want {
			t.Errorf("a client can send %q", got)
		}
	}
	if got := e.descriptor(t, from("/run/a_b"))[1][1]; !strings.HasPrefix(got, "##") || len(got) != 34 {
		t.Errorf("what is no address is sent as %q", got)
	}
}

// TestDescriptorsHideCredentials, which are hashed whatever is in them.
func TestDescriptorsHideCredentials(t *testing.T) {
	e := newEvaluator(t, described(someSecret, `"key": [{"bearer_token": true}, {"cookie": "sid"}, {"header": "x-api-key"}, {"query": "session"}, {"header": "x-k"}], "global": {}`))
	r := get("/?session=s3cret", "authorization", "Bearer s3cret", "cookie", "sid=s3cret", "x-api-key", "s3cret", "x-k", "seen")
	v := e.Evaluate(0, r)
	got := v.Call.Asks[0].Descriptor
	if all := fmt.Sprintf("%+v", *v.Call); strings.Contains(all, "s3cret") || strings.Contains(all, someSecret) || got[5][1] != "seen" {
		t.Errorf("the call is %s", all)
	}
	for i := 1; i <= 4; i++ {
		if len(got[i][1]) != 33 || got[i][1] != got[1][1] {
			t.Errorf("%s is sent as %q", got[i][0], got[i][1])
		}
	}
}

// FuzzDescriptorValue: two values are never sent alike, nor as what stands in for
// a missing one.
func FuzzDescriptorValue(f *testing.F) {
	f.Add("a", "a_")
	f.Add("#missing", "")
	g := mustCompile(f, described(someSecret, `"key": [], "global": {}`)).Global
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := g.value(KeyPart{Value: a}), g.value(KeyPart{Value: b})
		if (x == y) != (a == b) || x != "" && strings.ContainsAny(x, "_ \x00") {
			t.Errorf("%q and %q are sent as %q and %q", a, b, x, y)
		}
		if missing := g.value(KeyPart{Value: b, Missing: true}); missing == x {
			t.Errorf("%q is sent as %q, which stands in for a missing %q", a, x, b)
		}
	})
}

// service is an answer of a rate limit service.
func service(name string, d limiter.Decision, window time.Duration) []Answer {
	return []Answer{{Each: []limiter.Decision{d}, Limits: []NamedLimit{{name, limiter.Limit{Algorithm: limiter.FixedWindow, Requests: d.Limit, Window: window}}}}}
}

// TestAServiceNamesItsLimits in the headers, and what it refuses is shielded.
func TestAServiceNamesItsLimits(t *testing.T) {
	admit := limiter.Decision{Allowed: true, Limit: 5, Remaining: 4, ResetAfter: 30 * time.Second}
	refuse := limiter.Decision{Limit: 5, RetryAfter: 30 * time.Second, ResetAfter: 30 * time.Second}
	r := get("/", "x-k", "v")
	for name, shown := range map[string]string{"per-minute": "per-minute", "a b": "a b", "": "a-global", `say "x"`: "a-global", `back\slash`: "a-global", "é": "a-global", "a\r\nb": "a-global"} {
		e := newEvaluator(t, withRLS("deny"))
		v := e.Conclude(0, e.Evaluate(0, r).Call, service(name, admit, time.Minute))
		want := [][2]string{{"ratelimit-policy", `"a";q=2;w=60, "` + shown + `";q=5;w=60`}, {"ratelimit", `"a";r=1;t=60, "` + shown + `";r=4;t=30`}}
		if v.Reply != nil || !reflect.DeepEqual(v.Headers, want) {
			t.Errorf("%q: %+v, want headers %v", name, v.Headers, want)
		}
		v = e.Conclude(0, e.Evaluate(0, r).Call, service(name, refuse, time.Minute))
		for _, shielded := range []bool{false, true} {
			if got, want := header(headersOf(v), "ratelimit"), `"`+shown+`";r=0;t=30`; details(v) != limited("a") || got != want || retryAfter(v) != "30" || v.Shielded != shielded {
				t.Errorf("%q: %q, %q, shielded %v, want %q and %v", name, details(v), got, v.Shielded, want, shielded)
			}
			v = e.Evaluate(0, r)
		}
	}
	e := newEvaluator(t, withRLS("deny")) // a service that knows no limit
	v := e.Conclude(0, e.Evaluate(0, r).Call, []Answer{{}})
	if got := header(v.Headers, "ratelimit"); v.Reply != nil || got != `"a";r=1;t=60` {
		t.Errorf("without a limit: %q, %q", details(v), got)
	}
}

// TestOverridesOfAService are this proxy's own.
func TestOverridesOfAService(t *testing.T) {
	alice, probe := get("/", "x-k", "alice"), get("/", "x-k", "probe")
	newEngine(t).run(t, newEvaluator(t, withRLS("deny")), []globalStep{
		{req: alice}, {req: alice, want: limited("a")}, {at: 1, req: alice}, {req: probe}, {req: probe},
	})
}
