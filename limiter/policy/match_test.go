package policy

import "testing"

// matchOf compiles a match.
func matchOf(t testing.TB, conditions string) *match {
	t.Helper()
	return &mustCompile(t, one("1", `"key": [], "match": `+conditions)).Rules[0].match
}

// a matchCase is a match with what it holds for and what not.
type matchCase struct {
	match           string
	matches, misses []string
}

func checkMatches(t *testing.T, cases []matchCase, of func(string) request) {
	t.Helper()
	for _, c := range cases {
		m := matchOf(t, c.match)
		for i, text := range append(c.matches, c.misses...) {
			got, err := m.matches(&view{Request: of(text)})
			if want := i < len(c.matches); got != want || err != nil {
				t.Errorf("%s of %q = %v, %v, want %v", c.match, text, got, err, want)
			}
		}
	}
}

func TestMatchPath(t *testing.T) {
	checkMatches(t, []matchCase{
		{`{"path": {"suffix": ".js"}}`, []string{"/a.js", "/.js", "/a.js?v=1", "/a%2Ejs", "/.JS/../a.js"}, []string{"/a.jsx", "/a.js/", "/a.JS", "/", "/?a.js"}},
		{`{"path": {"suffix": "%2Ejs"}}`, []string{"/a.js"}, []string{"/ajs"}},
		{`{"path": {"suffix": "%2fx"}}`, []string{"/a%2fx", "/a%2Fx"}, []string{"/a/x"}},
		{`{"path": {"suffix": "a/b"}}`, []string{"/a/b", "/a//b", "/xa/./b"}, []string{"/b"}},
		{`{"path": {"regex": "/v[0-9]+/users"}}`, []string{"/v1/users", "/v12//users", "/v1/users?x"}, []string{"/v/users", "/v1/users/", "/a/v1/users", "/v1/usersx"}},
		{`{"path": {"regex": "/a|/b"}}`, []string{"/a", "/b"}, []string{"/ab", "/a/b", "/c"}},
		{`{"path": {"regex": "(?i)/LOGIN"}}`, []string{"/login", "/Login"}, []string{"/logins"}},
		{`{"path": {"regex": "(?m)/a$"}}`, []string{"/a"}, []string{"/a\n/b", "/b\n/a"}},
		{`{"path": {"regex": "/.*"}}`, []string{"/", "", "/a/b"}, []string{"/a\nb"}},
		{`{"path": {"regex": "\\Q/a+b\\E"}}`, []string{"/a+b"}, []string{"/aab"}},
	}, func(path string) request { return get(path) })
}

func TestMatchHost(t *testing.T) {
	checkMatches(t, []matchCase{
		{`{"host": {"exact": "Example.com"}}`, []string{"example.com", "EXAMPLE.COM", "example.com:8080", "example.com.", "example.com.:80"}, []string{"a.example.com", "example.org", ""}},
		{`{"host": {"exact": "example.com.:80"}}`, []string{"example.com", "example.com:443"}, []string{"example.co"}},
		{`{"host": {"exact": "[::1]"}}`, []string{"[::1]", "[::1]:80"}, []string{"::1"}},
		{`{"host": {"prefix": "API."}}`, []string{"api.example.com", "Api.x:1"}, []string{"xapi.a", "api"}},
		{`{"host": {"suffix": ".Example.COM"}}`, []string{"a.example.com", "A.B.EXAMPLE.com:80", "a.example.com."}, []string{"example.com", "aexample.com", "a.example.com.evil"}},
		{`{"host": {"regex": "[a-z]+\\.example"}}`, []string{"a.example", "AB.example:9"}, []string{"a.examples", "1.example", ".example"}},
	}, func(host string) request { return request{host: host} })
}

func TestMatchHeaders(t *testing.T) { // B22
	checkMatches(t, []matchCase{
		{`{"headers": [{"name": "X-Tier", "exact": "free"}]}`, []string{"free"}, []string{"", "Free", "free ", "free,free", "freeze"}},
		{`{"headers": [{"name": "x-tier", "prefix": "fr"}]}`, []string{"fr", "free"}, []string{"", "f", "Fr"}},
		{`{"headers": [{"name": "x-tier", "suffix": "ee"}]}`, []string{"ee", "free"}, []string{"", "e", "free "}},
		{`{"headers": [{"name": "x-tier", "regex": "f.e*"}]}`, []string{"fr", "free"}, []string{"", "freed", "afree"}},
		{`{"headers": [{"name": "x-tier", "present": true}]}`, []string{"free", " "}, []string{""}},
		{`{"headers": [{"name": "x-tier"}]}`, []string{"free", " "}, []string{""}},
		{`{"headers": [{"name": "x-tier", "present": false}]}`, []string{""}, []string{"free"}},
		{`{"headers": [{"name": "x-tier", "prefix": "f"}, {"name": "X-TIER", "suffix": "e"}]}`, []string{"free", "fe"}, []string{"f", "e", "frees", ""}},
		{`{"headers": [{"name": "x-tier", "prefix": "f"}, {"name": "x-other", "present": false}]}`, []string{"f"}, []string{""}},
		{`{"headers": [{"name": "x-tier", "prefix": "f"}, {"name": "x-other"}]}`, nil, []string{"f", ""}},
	}, func(value string) request { return get("/", "x-tier", value) })
}

// TestMatchIsAnd: all conditions must hold; none of them alone is enough.
func TestMatchIsAnd(t *testing.T) {
	m := matchOf(t, `{"path": {"prefix": "/a"}, "methods": ["GET"], "host": {"exact": "h"}, "headers": [{"name": "x-a", "exact": "1"}]}`)
	good := get("/a", "x-a", "1")
	good.host = "h"
	for what, change := range map[string]func(*request){
		"":        func(*request) {},
		"path":    func(r *request) { r.path = "/b" },
		"method":  func(r *request) { r.method = "PUT" },
		"host":    func(r *request) { r.host = "i" },
		"headers": func(r *request) { r.headers = nil },
	} {
		r := good
		change(&r)
		if got, err := m.matches(&view{Request: r}); got != (what == "") || err != nil {
			t.Errorf("match with another %q = %v, %v, want %v", what, got, err, what == "")
		}
	}
	good.err = map[string]error{"host": errBroken}
	if got, err := m.matches(&view{Request: good}); got || err != errBroken {
		t.Errorf("match without a host = %v, %v, want the error", got, err)
	}
}
