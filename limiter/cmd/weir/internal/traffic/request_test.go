package traffic

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

func compile(t testing.TB, config string) *policy.Policy {
	t.Helper()
	p, err := policy.Compile([]byte(config), "test")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestKeys keys a rule by anything there is, and counts the keys that 20
// clients have: as many, unless the part is none of the client's.
func TestKeys(t *testing.T) {
	for part, want := range map[string]int{
		`{"header":"X-User-Id"}`:                     20,
		`{"header":"authorization"}`:                 20,
		`{"header":"cookie"}`:                        20,
		`{"bearer_token":true}`:                      20,
		`{"cookie":"sid"}`:                           20,
		`{"query":"user"}`:                           20,
		`{"query":"a user&c="}`:                      20,
		`{"client_ip":true}`:                         20,
		`{"jwt_claim":"sub"}`:                        20,
		`{"peer_identity":true}`:                     20,
		`{"property":["connection","sni"]}`:          20,
		`{"cookie":"sid"},{"cookie":"tid"}`:          20,
		`{"query":"user"},{"query":"id"}`:            20,
		`{"route":true}`:                             1,
		`{"path":true}`:                              1,
		`{"method":true}`:                            1,
		`{"host":true}`:                              1,
		`{"header":"x-given"}`:                       1,
		`{"header":"x-named"}`:                       20,
		`{"query":"given"}`:                          1,
		`{"cookie":"sid"},{"header":"x-given"}`:      20,
		`{"constant":"all"},{"bearer_token":true}`:   20,
		`{"client_ip":{"ipv4_prefix":24}}`:           1,
		`{"header":"x-user-id"},{"client_ip":true}`:  20,
		`{"header":"cookie"},{"cookie":"sid"}`:       20,
		`{"jwt_claim":{"names":["org","id"]}}`:       20,
		`{"route":true},{"header":"x-request-user"}`: 20,
	} {
		p := compile(t, `{"rules":[{"name":"r","key":[`+part+`],"on_missing_key":"reject","limits":[{"requests":1,"window":"1s"}]}]}`)
		source := mustParse(t, "burst,size=60,clients=20,path=/x?given=1,header=x-given:1,header=x-named:id-{client}")
		g := New(source, Options{Start: start, Names: Keyed(p)})
		keys := map[string]bool{}
		for _, r := g.Next(); r != nil; _, r = g.Next() {
			parts, err := p.Key(0, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts {
				if part.Missing || part.Value == "" {
					t.Errorf("%s: missing", part.Source)
				}
			}
			keys[fmt.Sprint(parts)] = true
		}
		if len(keys) != want {
			t.Errorf("%s: %d keys, want %d", part, len(keys), want)
		}
	}
}

// TestConditions holds a match to what was given: what rules are keyed by is
// there, and nothing else that was not specified.
func TestConditions(t *testing.T) {
	for match, want := range map[string]bool{
		`{"headers":[{"name":"x-other"}]}`:                                 false, // neither given nor keyed
		`{"headers":[{"name":"x-other","present":false}]}`:                 true,
		`{"headers":[{"name":"x-other","regex":".+"}]}`:                    false,
		`{"headers":[{"name":"origin"}]}`:                                  false,
		`{"headers":[{"name":"cookie"}]}`:                                  false,
		`{"headers":[{"name":"authorization"}]}`:                           false,
		`{"headers":[{"name":"x-user-id"}]}`:                               true, // keyed
		`{"headers":[{"name":"x-user-id","present":false}]}`:               false,
		`{"headers":[{"name":"x-user-id","exact":"alice"}]}`:               false,
		`{"headers":[{"name":"x-tier","exact":"free"}]}`:                   true, // given
		`{"headers":[{"name":"x-tier","exact":"paid"}]}`:                   false,
		`{"path":{"exact":"/login"},"methods":["POST"]}`:                   true,
		`{"path":{"prefix":"/api"}}`:                                       false,
		`{"host":{"exact":"shop.example.com"}}`:                            true,
		`{"host":{"suffix":".example.org"}}`:                               false,
		`{"headers":[{"name":"x-tier","prefix":"fr"},{"name":"x-other"}]}`: false,
	} {
		p := compile(t, `{"rules":[{"name":"r","match":`+match+`,"key":[{"header":"x-user-id"}],"limits":[{"requests":1,"window":"1s"}]}]}`)
		g := New(mustParse(t, "burst,size=1,path=/login,method=POST,header=x-tier:free"), Options{Start: start, Names: Keyed(p)})
		_, r := g.Next()
		x, err := p.Explain(r)
		if err != nil {
			t.Fatal(err)
		}
		if x.Rules[0].Matches != want {
			t.Errorf("%s: matches: %v", match, !want)
		}
	}
}

// TestUnnamed has nothing made up where no policy asks.
func TestUnnamed(t *testing.T) {
	g := New(mustParse(t, "burst,size=1,path=/{client}?a=1,header=x-a:{client}/{client},header=cookie:a=b"), Options{Start: start})
	_, r := g.Next()
	for name, want := range map[string]string{"x-a": "client-1/client-1", "cookie": "a=b", "x-b": "", "authorization": ""} {
		if got, _ := r.Header(name); got != want {
			t.Errorf("header %s: got %q, want %q", name, got, want)
		}
	}
	if path, _ := r.Path(); path != "/client-1?a=1" {
		t.Errorf("got %s", path)
	}
}

// TestGivenCookies keeps the cookies that were given before those of the client.
func TestGivenCookies(t *testing.T) {
	p := compile(t, `{"rules":[{"name":"r","key":[{"cookie":"sid"}],"limits":[{"requests":1,"window":"1s"}]}]}`)
	g := New(mustParse(t, "burst,size=1,header=cookie:lang=de"), Options{Start: start, Names: Keyed(p)})
	_, r := g.Next()
	if got, _ := r.Header("cookie"); got != "lang=de; sid=client-1" {
		t.Errorf("got %q", got)
	}
}

// TestAddress gives each client an address of its own, up to the size of the
// range.
func TestAddress(t *testing.T) {
	for client, want := range map[int64]string{1: "10.0.0.1", 17: "10.0.0.17", 256: "10.0.1.0", 1<<24 - 1: "10.255.255.255", 1<<24 + 1: "10.0.0.1"} {
		if got, _ := (&Request{client: client}).ClientAddress(); got != want {
			t.Errorf("client %d: got %s, want %s", client, got, want)
		}
	}
}

// TestResponse lets a rule charge failed logins, and holds a response to
// outlive its request.
func TestResponse(t *testing.T) {
	g := New(mustParse(t, "burst,size=1,status=401,latency=20ms", "burst,size=1,status=204,start=1s"), Options{Start: start, Longest: 2 * time.Second})
	at, r := g.Next()
	if r.Duration() <= 0 || at != limiter.Instant(start.UnixMicro()) {
		t.Errorf("at %d, for %v", at, r.Duration())
	}
	first := r.Response()
	g.Next()
	if status, err := first.Status(); status != "401" || err != nil {
		t.Errorf("got %q, %v", status, err)
	}
	if header, err := first.Header("x-cost"); header != "" || err != nil {
		t.Errorf("got %q, %v", header, err)
	}
}
