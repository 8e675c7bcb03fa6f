package policy

import (
	"testing"

	"github.com/weirproxy/weir/limiter"
)

// overriding is the configuration of a rule of two requests per minute.
func overriding(key, overrides string) string {
	return one("2", `"key": [`+key+`], "overrides": [`+overrides+`]`)
}

func TestOverrides(t *testing.T) {
	alice, probe, mallory, bob := get("/", "x-k", "alice"), get("/", "x-k", "probe"), get("/", "x-k", "mallory"), get("/", "x-k", "bob")
	e := newEvaluator(t, overriding(`{"header": "x-k"}`,
		`{"key": ["alice"], "limits": [{"requests": 3, "window": "60s"}]}, {"key": ["probe"], "unlimited": true}, {"key": ["mallory"], "block": true}`))
	e.run(t, []step{
		{req: mallory, want: limited("a")}, {at: 1e6, req: mallory, want: limited("a")},
		{at: 1e6, req: alice}, {at: 1e6, req: alice}, {at: 1e6, req: alice}, {at: 1e6, req: alice, want: limited("a")},
		{at: 1e6, req: bob}, {at: 1e6, req: bob}, {at: 1e6, req: bob, want: limited("a")},
		{at: 1e6, req: get("/", "x-k", "Alice")}, {at: 1e6, req: get("/", "x-k", "alice ")},
	})
	for range 10 {
		if v := e.Evaluate(0, probe); v.Reply != nil || v.Outcomes[0].Kind != Allowed || v.Outcomes[0].Charge != nil || len(v.Headers) != 0 {
			t.Errorf("Evaluate(unlimited) = %+v, want it allowed and uncounted", v)
		}
	}
	v := e.Evaluate(0, mallory)
	if v.Outcomes[0].Kind != Limited || v.Reply.Rule != "a" || v.Reply.Status != 429 || len(v.Reply.Headers) != 0 {
		t.Errorf("Evaluate(blocked) = %+v, want it limited by a, without a time to retry", v.Reply)
	}
}

// TestABlockChargesNobody: neither the rule's own windows nor another's.
func TestABlockChargesNobody(t *testing.T) {
	const all = `{"name": "all", "key": [], "limits": [{"requests": 1, "window": "60s"}]}`
	const a = `{"name": "a", "key": [{"header": "x-k"}], "limits": [{"requests": 9, "window": "60s"}], "overrides": [{"key": ["m"], "block": true}]}`
	for _, rules := range []string{a + ", " + all, all + ", " + a} {
		e := newEvaluator(t, `{"rules": [`+rules+`]}`)
		e.run(t, []step{
			{req: get("/", "x-k", "m"), want: limited("a")}, {req: get("/", "x-k", "m"), want: limited("a")},
			{req: get("/", "x-k", "v")}, {req: get("/", "x-k", "v"), want: limited("all")},
		})
	}
}

// TestOverrideLiterals: a literal is what the source would find.
func TestOverrideLiterals(t *testing.T) {
	host, peer := get("/"), get("/")
	host.host, peer.properties = "api.example:80", map[string]string{"connection\x00uri_san_peer_certificate": "spiffe://a/b"}
	claim := get("/")
	claim.properties = map[string]string{"metadata\x00filter_metadata\x00envoy.filters.http.jwt_authn\x00payload\x00sub": number(42)}
	for _, c := range []struct {
		key, literal string
		req          request
		blocked      bool
	}{
		{`{"client_ip": true}`, "192.0.2.1", from("192.0.2.1:5"), true},
		{`{"client_ip": true}`, "::ffff:192.0.2.1", from("192.0.2.1"), true},
		{`{"client_ip": true}`, "192.0.2.1", from("192.0.2.2"), false},
		{`{"client_ip": {"ipv4_prefix": 24}}`, "192.0.2.1", from("192.0.2.200:7"), true},
		{`{"client_ip": {"ipv4_prefix": 24}}`, "192.0.2.1", from("192.0.3.1"), false},
		{`{"client_ip": true}`, "2001:db8::1", from("[2001:db8::ffff]:1"), true},
		{`{"client_ip": true}`, "2001:db8::1", from("2001:db8:0:1::1"), false},
		{`{"client_ip": {"ipv6_prefix": 128}}`, "2001:db8::1", from("2001:db8::2"), false},
		{`{"client_ip": true}`, "fe80::1%eth0", from("fe80::2%eth1"), true},
		{`{"host": true}`, "API.example.:443", host, true},
		{`{"path": true}`, "/x/../a", get("/a?b"), true},
		{`{"path": true}`, "/a/", get("/a"), false},
		{`{"method": true}`, "GET", get("/"), true},
		{`{"cookie": "sid"}`, "A", get("/", "cookie", `sid="A"`), true},
		{`{"query": "q"}`, "a b", get("/?q=a+b"), true},
		{`{"bearer_token": true}`, "t", get("/", "authorization", "Bearer t"), true},
		{`{"jwt_claim": "sub"}`, "42", claim, true},
		{`{"peer_identity": true}`, "spiffe://a/b", peer, true},
		{`{"header": "x-a"}, {"header": "x-b"}`, `v", "w`, get("/", "x-a", "v", "x-b", "w"), true},
		{`{"header": "x-a"}, {"header": "x-b"}`, `v", "w`, get("/", "x-a", "w", "x-b", "v"), false},
		{`{"header": "x-a"}, {"header": "x-b"}`, `v", "w`, get("/", "x-a", "v", "x-b", "x"), false},
		{`{"header": "x-a"}, {"constant": "c"}`, `v", "c`, get("/", "x-a", "v"), true},
		{`{"header": "x-a"}, {"client_ip": true}`, `v", "192.0.2.1`, get("/", "x-a", "v"), true},
		{`{"header": "x-a"}`, `192.0.2.1`, get("/"), false}, // what stands in for a missing part is no header
	} {
		e := newEvaluator(t, overriding(c.key, `{"key": ["`+c.literal+`"], "block": true}`))
		if got := details(e.Evaluate(0, c.req)) != ""; got != c.blocked {
			t.Errorf("key [%s], override %q: blocks %v: %v, want %v", c.key, c.literal, c.req, got, c.blocked)
		}
	}
}

// TestOverrideReload: a key keeps its windows when an override comes or goes,
// if that counts in the same way.
func TestOverrideReload(t *testing.T) {
	alice := get("/", "x-k", "alice")
	plain := one("2", `"key": [{"header": "x-k"}]`)
	raised := overriding(`{"header": "x-k"}`, `{"key": ["alice"], "limits": [{"requests": 3, "window": "60s"}]}`)
	other := overriding(`{"header": "x-k"}`, `{"key": ["alice"], "limits": [{"requests": 2, "window": "30s"}]}`)
	free := overriding(`{"header": "x-k"}`, `{"key": ["alice"], "unlimited": true}`)
	for _, c := range []struct {
		before, after string
		admits        int // of alice, who has used 2
	}{{plain, raised, 1}, {raised, plain, 0}, {plain, plain, 0}, {plain, other, 2}, {free, plain, 2}} {
		before := newEvaluator(t, c.before)
		before.run(t, []step{{req: alice}, {req: alice}})
		after := NewEvaluator(mustCompile(t, c.after), before.table)
		for range c.admits {
			after.run(t, []step{{at: 1, req: alice}})
		}
		after.run(t, []step{{at: 1, req: alice, want: limited("a")}})
	}
}

// TestOverrideRemoved: after an unlimited time the old window still counts.
func TestOverrideRemoved(t *testing.T) {
	alice := get("/", "x-k", "alice")
	plain := newEvaluator(t, one("2", `"key": [{"header": "x-k"}]`))
	plain.run(t, []step{{req: alice}, {req: alice}})
	for _, what := range []string{`"unlimited": true`, `"block": true`} {
		e := NewEvaluator(mustCompile(t, overriding(`{"header": "x-k"}`, `{"key": ["alice"], `+what+`}`)), plain.table)
		for range 5 {
			e.Evaluate(limiter.Instant(1), alice)
		}
	}
	plain.run(t, []step{{at: 59, req: alice, want: limited("a")}, {at: 60, req: alice}})
}
