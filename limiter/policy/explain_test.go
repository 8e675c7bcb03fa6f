package policy

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// hidden stands for what must not be shown, and tells its length alone.
func hidden(secret string) string { return fmt.Sprintf("<%d>", len(secret)) }

// summary writes an explained rule in one line.
func (x RuleExplanation) summary() string {
	words := []string{x.Rule.Name}
	for _, c := range x.Conditions {
		words = append(words, fmt.Sprintf("[%s: %v]", c.Text(hidden), c.Holds))
	}
	if !x.Matches {
		return strings.Join(append(words, "no match"), " ")
	}
	for _, p := range x.Key {
		words = append(words, fmt.Sprintf("%s=%q", p.Source, p.Value))
		if p.Missing {
			words = append(words, "missing")
		}
		if p.Secret {
			words = append(words, "secret")
		}
	}
	if !x.Applies {
		return strings.Join(append(words, "incomplete"), " ")
	}
	words = append(words, fmt.Sprintf("cost %d", x.Cost))
	if x.Override != NoOverride {
		words = append(words, string(x.Override))
	}
	for _, l := range x.Limits {
		words = append(words, fmt.Sprintf("%s=%d/%v", l.Name, l.Requests, l.Window))
	}
	for _, l := range x.Global {
		words = append(words, fmt.Sprintf("global %s=%d/%v", l.Name, l.Requests, l.Window))
	}
	for _, e := range x.Descriptor {
		words = append(words, fmt.Sprintf("entry %s=%q", e[0], e[1]))
	}
	if !x.Enforced {
		words = append(words, "shadow")
	}
	return strings.Join(words, " ")
}

func TestExplain(t *testing.T) {
	rule := func(members string) string {
		return `{"rules": [{"name": "a", ` + members + `, "limits": [{"requests": 3, "window": "1s"}]}]}`
	}
	alice := get("/api/./x?q=1", "x-k", "alice", "x-cost", "7", "x-api-key", "s3cret", "cookie", "sid=C", "authorization", "Bearer T")
	for _, test := range []struct {
		config string
		req    request
		want   string
	}{
		{rule(`"key": []`), alice, "a cost 1 a=3/1s"},
		{rule(`"key": [{"header": "X-K"}]`), alice, `a header x-k="alice" cost 1 a=3/1s`},
		{rule(`"key": [{"header": "x-none"}]`), alice, `a header x-none="192.0.2.1" missing cost 1 a=3/1s`},
		{rule(`"key": [{"header": "x-none"}], "on_missing_key": "shared"`), alice, `a header x-none="" missing cost 1 a=3/1s`},
		{rule(`"key": [{"header": "x-none"}], "on_missing_key": "skip"`), alice, `a header x-none="" missing incomplete`},
		{rule(`"key": [{"path": true}, {"method": true}, {"host": true}, {"constant": "c"}]`), request{method: "GET", path: "//p", host: "H:1"},
			`a path="/p" method="GET" host="h" constant c="c" cost 1 a=3/1s`},
		{rule(`"key": [{"client_ip": true}]`), from("[2001:db8::7]:1"), `a client_ip="2001:db8::/64" cost 1 a=3/1s`},
		{rule(`"key": [{"client_ip": {"ipv4_prefix": 24}}]`), from("192.0.2.7:1"), `a client_ip /24 or /64="192.0.2.0/24" cost 1 a=3/1s`},
		{rule(`"key": [{"client_ip": true}]`), from("@pipe"), `a client_ip="@pipe" cost 1 a=3/1s`},
		{rule(`"key": [{"bearer_token": true}, {"cookie": "sid"}, {"header": "x-api-key"}, {"query": "q"}]`), alice,
			`a bearer_token="T" secret cookie sid="C" secret header x-api-key="s3cret" secret query q="1" cost 1 a=3/1s`},
		{rule(`"key": [{"jwt_claim": {"names": ["org", "id"]}}, {"route": true}, {"property": ["a", "b"]}]`),
			request{path: "/", properties: map[string]string{claimPath + "payload\x00org\x00id": "7", "xds\x00route_name": "r", "a\x00b": "v"}},
			`a jwt_claim org.id="7" route="r" property a.b="v" cost 1 a=3/1s`},
		{rule(`"match": {"path": {"prefix": "/api/"}, "methods": ["POST", "PUT"], "headers": [{"name": "x-k", "exact": "alice"}, {"name": "x-z", "present": false}]}, "key": []`), alice,
			`a [path prefix "/api/": true] [method one of "POST", "PUT": false] [header x-k exact "alice", header x-z absent: true] no match`},
		{rule(`"match": {"path": {"exact": "/token"}, "host": {"exact": "auth.test"}, "headers": [{"name": "X-API-Key", "exact": "s3cret"}, {"name": "cookie", "prefix": "sid=\""}, {"name": "x-k", "suffix": "header x-key exact"}]}, "key": []`), alice,
			`a [path exact "/token": false] [host exact "auth.test": false] [header x-api-key exact <6>, header cookie prefix <5>, header x-k suffix "header x-key exact": false] no match`},
		{rule(`"match": {"headers": [{"name": "authorization", "suffix": "T"}, {"name": "x-session", "regex": "a|s3cret"}, {"name": "x-token", "present": false}, {"name": "x-secret"}]}, "key": []`), alice,
			`a [header authorization suffix <1>, header x-session regex <8>, header x-token absent, header x-secret present: false] no match`},
		{rule(`"match": {"path": {"regex": "/a.*"}, "host": {"suffix": ".test"}}, "key": []`), alice, `a [path regex "/a.*": true] [host suffix ".test": false] no match`},
		{rule(`"key": [{"header": "x-k"}], "overrides": [{"key": ["alice"], "unlimited": true}]`), alice, `a header x-k="alice" cost 1 unlimited`},
		{rule(`"key": [{"header": "x-k"}], "overrides": [{"key": ["alice"], "block": true}]`), alice, `a header x-k="alice" cost 1 block`},
		{rule(`"key": [{"header": "x-k"}], "overrides": [{"key": ["alice"], "limits": [{"requests": 9, "window": "1m"}]}]`), alice,
			`a header x-k="alice" cost 1 limits a=9/1m0s`},
		{rule(`"key": [], "cost": {"header": "x-cost", "max": 5}, "shadow": true`), alice, "a cost 5 a=3/1s shadow"},
	} {
		p := mustCompile(t, test.config)
		x, err := p.Explain(test.req)
		if err != nil {
			t.Errorf("%s: %v", test.config, err)
			continue
		}
		if got := x.Rules[0].summary(); got != test.want || x.Exempt != -1 {
			t.Errorf("%s: exempt %d, got:\n%s\nwant:\n%s", test.config, x.Exempt, got, test.want)
		}
		if key, err := p.Key(0, test.req); x.Rules[0].Matches && (err != nil || !reflect.DeepEqual(key, x.Rules[0].Key)) {
			t.Errorf("%s: Key() = %v, %v, want as explained: %v", test.config, key, err, x.Rules[0].Key)
		}
	}
}

// TestExplainGlobal: limits of all proxies beside those of this one, or what a
// service is asked, in which credentials are hashed.
func TestExplainGlobal(t *testing.T) {
	const overrides = `"overrides": [{"key": ["alice"], "limits": [{"requests": 9, "window": "1m"}]}, {"key": ["probe"], "unlimited": true}, {"key": ["mallory"], "block": true}]`
	redis, rls := shared(3, `, "limits": [{"requests": 5, "window": "1s"}], `+overrides), withRLS("deny")
	token := described(someSecret, `"key": [{"bearer_token": true}], "global": {"descriptor": [{"name": "who", "part": 0}, {"name": "tier", "value": "free"}]}`)
	hash := "#" + mustCompile(t, token).Global.key([]byte("T")).String()
	for _, test := range []struct{ config, user, want string }{
		{redis, "bob", `a header x-k="bob" cost 1 a=5/1s global a-global=3/10s`},
		{redis, "alice", `a header x-k="alice" cost 1 limits a=5/1s global a-global=9/1m0s`},
		{redis, "probe", `a header x-k="probe" cost 1 unlimited`},
		{redis, "mallory", `a header x-k="mallory" cost 1 block`},
		{redis, "", `a header x-k="192.0.2.1" missing cost 1 a=5/1s global a-global=3/10s`},
		{shared(3, `, "on_missing_key": "skip"`), "", `a header x-k="" missing incomplete`},
		{shared(3, `, "shadow": true`), "bob", `a header x-k="bob" cost 1 global a=3/10s shadow`},
		{rls, "bob", `a header x-k="bob" cost 1 a=2/1m0s entry rule="a" entry header x-k="bob"`},
		{rls, "alice", `a header x-k="alice" cost 1 limits a=1/1s`},
		{rls, "probe", `a header x-k="probe" cost 1 unlimited`},
		{token, "bob", `a bearer_token="T" secret cost 1 entry who="` + hash + `" entry tier="free"`},
	} {
		r := get("/", "x-k", test.user, "authorization", "Bearer T")
		x, err := mustCompile(t, test.config).Explain(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Rules[0].summary(); got != test.want {
			t.Errorf("%q: got:\n%s\nwant:\n%s", test.user, got, test.want)
		}
		v := newEvaluator(t, test.config).Evaluate(0, r)
		if asks := x.Rules[0].Global != nil || x.Rules[0].Descriptor != nil; (v.Call != nil) != asks {
			t.Errorf("%q: explained to ask the engine: %v, and decided with %+v", test.user, asks, v)
		} else if asks && !reflect.DeepEqual(v.Call.Asks[0].Descriptor, x.Rules[0].Descriptor) {
			t.Errorf("%q: explained %q, asked %q", test.user, x.Rules[0].Descriptor, v.Call.Asks[0].Descriptor)
		}
	}
}

// TestExplainAgrees with what is decided: a rule that is explained to match and
// apply has an outcome, and no other.
func TestExplainAgrees(t *testing.T) {
	const config = `{"exempt": [{"path": {"exact": "/free"}}, {"preflight": true}], "rules": [
		{"name": "api", "match": {"path": {"prefix": "/api"}}, "key": [{"header": "x-k"}], "on_missing_key": "skip", "limits": [{"requests": 9, "window": "1s"}]},
		{"name": "post", "match": {"methods": ["POST"]}, "key": [], "charge": {"when": "response"}, "limits": [{"requests": 9, "window": "1s"}]},
		{"name": "all", "key": [], "enforce_percent": 0, "limits": [{"requests": 9, "window": "1s"}]}]}`
	p := mustCompile(t, config)
	post := get("/x")
	post.method = "POST"
	for _, req := range []request{get("/"), get("/api"), get("/api", "x-k", "v"), get("/%66ree"), post} {
		x, err := p.Explain(req)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]OutcomeKind{}
		for _, r := range x.Rules {
			switch {
			case x.Exempt >= 0 || !r.Matches:
			case r.Applies:
				got[r.Rule.Name] = Allowed
			default:
				got[r.Rule.Name] = MissingKey
			}
		}
		e := newEvaluator(t, config)
		if want := e.kinds(e.Evaluate(0, req)); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: explained %v, decided %v", req, got, want)
		}
	}
	if p.Rules[1].ChargesResponse() != true || p.Rules[0].ChargesResponse() || p.Rules[2].EnforcePercent() != 0 || p.Rules[0].EnforcePercent() != 100 {
		t.Error("the rules say otherwise than the configuration when they charge and whom they refuse")
	}
}

// TestExplainReportsFaults of the request, whatever it was asked.
func TestExplainReportsFaults(t *testing.T) {
	const config = `{"exempt": [{"headers": [{"name": "x-e"}]}], "rules": [{"name": "a", "match": {"headers": [{"name": "x-m"}]}, "key": [{"header": "x-k"}],
		"cost": {"header": "x-c", "max": 2}, "limits": [{"requests": 9, "window": "1s"}]}]}`
	fault := errors.New("fault")
	for _, asked := range []string{"path", "host", "x-e", "x-m", "x-k", "client", "x-c"} {
		r := get("/", "x-m", "1")
		if asked == "x-c" {
			r.headers["x-k"] = "k"
		}
		r.err = map[string]error{asked: fault}
		if x, err := mustCompile(t, config).Explain(r); !errors.Is(err, fault) {
			t.Errorf("fault of %s: %v, %v", asked, x, err)
		}
	}
}
