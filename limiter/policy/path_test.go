package policy

import (
	"strings"
	"testing"
)

func TestNormalizePath(t *testing.T) {
	for path, want := range map[string]string{
		// B20: other spellings of /login, and others that stay apart.
		"/login": "/login", "//login": "/login", "/./login": "/login", "/x/../login": "/login", "/%6cogin": "/login", "/%6Cogin": "/login",
		"/%2e/login": "/login", "/%2E%2e/login": "/login", "/x/%2e./login": "/login", "///.//login": "/login", "/../../login": "/login",
		"/login/": "/login/", "/login//": "/login/", "/LOGIN": "/LOGIN", "/login;v=1": "/login;v=1", "/login%2f": "/login%2F",
		"/login%2F": "/login%2F", "/login%00": "/login%00", "/log%69n%3Fa": "/login%3Fa", "/login%3fa": "/login%3Fa",

		// B19: query and fragment.
		"/a?x=1": "/a", "/a?": "/a", "/a#f": "/a", "/a?/b": "/a", "/a#f?x": "/a", "/a?x#f": "/a", "/a/?x/../..": "/a/", "?x": "/", "#": "/",

		// RFC 3986, 5.2.4, and its examples in 5.4 with the base removed.
		"/a/b/c/./../../g": "/a/g", "mid/content=5/../6": "/mid/6", "/b/c/g": "/b/c/g", "/b/c/./g": "/b/c/g", "/b/c/g/": "/b/c/g/",
		"/b/c/.": "/b/c/", "/b/c/./": "/b/c/", "/b/c/..": "/b/", "/b/c/../": "/b/", "/b/c/../g": "/b/g", "/b/c/../..": "/", "/b/c/../../": "/",
		"/b/c/../../g": "/g", "/b/c/../../../g": "/g", "/b/c/../../../../g": "/g", "/./g": "/g", "/../g": "/g", "/b/c/g.": "/b/c/g.",
		"/b/c/.g": "/b/c/.g", "/b/c/g..": "/b/c/g..", "/b/c/..g": "/b/c/..g", "/b/c/./../g": "/b/g", "/b/c/./g/.": "/b/c/g/",
		"/b/c/g/./h": "/b/c/g/h", "/b/c/g/../h": "/b/c/h", "/b/c/g;x=1/./y": "/b/c/g;x=1/y", "/b/c/g;x=1/../y": "/b/c/y",

		// Edges.
		"": "/", "/": "/", "//": "/", ".": "/", "..": "/", "/.": "/", "/..": "/", "/...": "/...", "a": "/a", "*": "/*", "a/../b": "/b",
		"/a/..//b": "/b", "/a//../b": "/b", "/a/..": "/", "/a/../": "/", "/\x00\xff": "/\x00\xff", "/a b": "/a b", `/a\..\b`: `/a\..\b`,

		// Escapes: unreserved ones are decoded, once; those that are none stand for a percent sign.
		"/%41%7a%30%2D%2e%5f%7E": "/Az0-._~", "/%c3%a9": "/%C3%A9", "/%25": "/%25", "/%2541": "/%2541", "/%": "/%25", "/%4": "/%254",
		"/%zz": "/%25zz", "/%%41": "/%25A", "/%%32e": "/%252e", "/%2%65": "/%252e", "/%%%": "/%25%25%25", "/login%zz": "/login%25zz",
		"/%2e%2e%2flogin": "/..%2Flogin", "/a/%2e%2e/%2e%2e/b": "/b",
	} {
		if got := normalizePath(path); got != want {
			t.Errorf("normalizePath(%q) = %q, want %q", path, got, want)
		}
	}
}

func FuzzNormalizePath(f *testing.F) {
	for _, path := range []string{"", "/", "//a/./b/../c/", "/%2e%2e/%41%2f?x", "/%%32e", "/%2%65/..", "a/..", "/a/..//", "/#", "/%C3%a9"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		once := normalizePath(path)
		if !strings.HasPrefix(once, "/") || strings.ContainsAny(once, "?#") || strings.Contains(once, "//") {
			t.Errorf("normalizePath(%q) = %q, want a path from the root without query, fragment and empty segments", path, once)
		}
		for segment := range strings.SplitSeq(once, "/") {
			if segment == "." || segment == ".." {
				t.Errorf("normalizePath(%q) = %q, want no dot segments", path, once)
			}
		}
		if twice := normalizePath(once); twice != once {
			t.Errorf("normalizePath(%q) = %q, want %q, as the first time", once, twice, once)
		}
		if query := normalizePath(path + "?query"); query != once {
			t.Errorf("normalizePath(%q) = %q, want %q", path+"?query", query, once)
		}
	})
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		match   string
		method  string
		matches []string // paths
		misses  []string
	}{
		{match: `{}`, matches: []string{"/", "/a", ""}},
		{match: `{"path": {"exact": "/api"}}`, matches: []string{"/api", "//api", "/api?x", "/%61pi", "/x/../api", "/api#f"},
			misses: []string{"/", "/api/", "/apis", "/api/x", "/API", "/ap", "/api%2f", "/api%3Fx", "/api;v=1"}},
		{match: `{"path": {"exact": "/api/"}}`, matches: []string{"/api/", "/api//", "/api/."}, misses: []string{"/api", "/api/x"}},
		{match: `{"path": {"exact": "/"}}`, matches: []string{"/", "", "/?x", "/a/.."}, misses: []string{"/a"}},
		{match: `{"path": {"exact": "/%41/./b"}}`, matches: []string{"/A/b"}, misses: []string{"/a/b", "/A/./c"}},
		{match: `{"path": {"exact": "/a%zz"}}`, matches: []string{"/a%zz", "/a%25zz"}, misses: []string{"/a%ZZ"}},
		{match: `{"path": {"prefix": "/api"}}`, matches: []string{"/api", "/api/", "/api/x", "/api?x", "//api//x", "/api/x/y"},
			misses: []string{"/", "/apis", "/ap", "/API/x", "/x/api", "/api/..", "/api%2fx", "/api/../x"}},
		{match: `{"path": {"prefix": "/api/"}}`, matches: []string{"/api", "/api/", "/api/x"}, misses: []string{"/apis", "/"}},
		{match: `{"path": {"prefix": "/"}}`, matches: []string{"/", "", "/a", "/a/b", "*"}},
		{match: `{"path": {"regex": "\\Q/a.b"}}`, matches: []string{"/a.b"}, misses: []string{"/axb", "/a.bc"}},
		{match: `{"methods": ["GET"]}`, method: "GET", matches: []string{"/"}},
		{match: `{"methods": ["GET"]}`, method: "HEAD", matches: []string{"/"}},
		{match: `{"methods": ["GET"]}`, method: "get", misses: []string{"/"}},
		{match: `{"methods": ["GET"]}`, method: "POST", misses: []string{"/"}},
		{match: `{"methods": ["GET"]}`, method: "", misses: []string{"/"}},
		{match: `{"methods": ["HEAD"]}`, method: "GET", misses: []string{"/"}},
		{match: `{"methods": ["PUT", "PATCH"]}`, method: "PATCH", matches: []string{"/"}},
		{match: `{"methods": ["purge"]}`, method: "PURGE", misses: []string{"/"}},
		{match: `{"methods": ["POST"], "path": {"prefix": "/a"}}`, method: "POST", matches: []string{"/a/b"}, misses: []string{"/b"}},
		{match: `{"methods": ["POST"], "path": {"prefix": "/a"}}`, method: "PUT", misses: []string{"/a/b"}},
	} {
		p := mustCompile(t, one("1", `"key": [], "match": `+c.match))
		e := NewEvaluator(p, newTable(t, p))
		for i, path := range append(c.matches, c.misses...) {
			v := e.Evaluate(0, request{method: c.method, path: path})
			if got, want := len(v.Outcomes) == 1, i < len(c.matches); got != want {
				t.Errorf("match %s of %q %q = %v, want %v", c.match, c.method, path, got, want)
			}
		}
	}
}

// TestNormalizePathIsLinear: a path of segments and then slashes took time in
// the square of its length. This one would take hours.
func TestNormalizePathIsLinear(t *testing.T) {
	path := "/" + strings.Repeat("a/", 2e6)
	if got := normalizePath(path + strings.Repeat("/", 4e6)); got != path {
		t.Errorf("%d bytes, want %d", len(got), len(path))
	}
}

// TestNormalizeHostKeepsHostsApart: letters beyond ASCII and bytes that are no
// UTF-8 became others, if there was a capital to lower.
func TestNormalizeHostKeepsHostsApart(t *testing.T) {
	for host, want := range map[string]string{
		"X\xfe": "x\xfe", "X\xff": "x\xff", "\u212aX": "\u212ax", "WWW.Example.COM.:80": "www.example.com",
	} {
		if got := normalizeHost(host); got != want {
			t.Errorf("normalizeHost(%q) = %q, want %q", host, got, want)
		}
	}
}
