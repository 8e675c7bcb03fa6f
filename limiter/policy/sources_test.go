package policy

import (
	"encoding/binary"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// find returns what a source, as a configuration says it, finds in a request.
func find(t testing.TB, source string, r request) string {
	t.Helper()
	value, err := mustCompile(t, one("1", `"key": [`+source+`]`)).Rules[0].key[0].source.value(&view{Request: r})
	if err != nil {
		t.Fatalf("value of %s: %v", source, err)
	}
	return value
}

func TestCookie(t *testing.T) { // B25
	for header, want := range map[string]string{
		"sid=A": "A", "junk; sid=A": "A", "xsid=Z; sid=A": "A", "sid2=Z; sid=A": "A", `sid="A"`: "A", " sid = A": "A", "\tsid=\tA\t": "A",
		";;; sid=A": "A", "sid=A;": "A", "sid=A; ": "A", "a=b;sid=A;c=d": "A", "sid=A; sid=B": "A", "sid; sid=A": "A",
		"sid=A=B": "A=B", "sid=A==": "A==", `sid="A`: `"A`, `sid="`: `"`, `sid=""`: "", `sid="" `: "", `sid=" A "`: " A ", "sid=A,B": "A", "x=1,sid=A": "A", "sid=A,x=1": "A",
		"sid=A B": "A B", "sid=\xff": "\xff", "sid=%41": "%41", "sid==": "=",
		"": "", "sid": "", "sid=": "", "sid=; sid=A": "", "SID=A": "", "sid2=A": "", "xsid=A": "", "=A": "", "=sid": "", ";": "", "sid A": "",
	} {
		if got := find(t, `{"cookie": "sid"}`, get("/", "cookie", header)); got != want {
			t.Errorf("cookie sid of %q = %q, want %q", header, got, want)
		}
	}
}

// FuzzCookie: where net/http takes every cookie of the name, ours is its first,
// without the blanks that net/http leaves around a value.
func FuzzCookie(f *testing.F) {
	for _, header := range []string{"sid=A", `a=b; sid="A"; sid=B`, "sid; sid=A==", ` sid = "A"`, "sid=A B; xsid=1", "\tsid=\t;"} {
		f.Add(header)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got, err := cookieValue(&view{Request: get("/", "cookie", header)}, "sid")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(header, ",") {
			return // where Envoy joins repeated headers, and net/http reads on
		}
		ours := 0
		for pair := range strings.SplitSeq(header, ";") {
			name, _, ok := strings.Cut(pair, "=")
			if ok && strings.Trim(name, " \t") == "sid" {
				ours++
			}
		}
		if ours == 0 && got != "" {
			t.Errorf("cookie sid of %q = %q, want none", header, got)
		}
		// A cookie without "=" is one to net/http, and none to us.
		theirs := (&http.Request{Header: http.Header{"Cookie": {header}}}).CookiesNamed("sid")
		if len(theirs) != ours || ours == 0 || strings.ContainsAny(header, "\r\n") || containsBare(header, "sid") {
			return
		}
		want := theirs[0].Value
		if !theirs[0].Quoted {
			want = strings.Trim(want, " \t")
		}
		if got != want {
			t.Errorf("cookie sid of %q = %q, want %q as net/http", header, got, want)
		}
	})
}

func containsBare(header, name string) bool {
	for pair := range strings.SplitSeq(header, ";") {
		if strings.Trim(pair, " \t") == name {
			return true
		}
	}
	return false
}

func TestQuery(t *testing.T) {
	for target, want := range map[string]string{
		"/?q=A": "A", "/?a=b&q=A": "A", "/?q=A&q=B": "A", "/?q=A#f": "A", "/?q=a+b": "a b", "/?q=a%20b": "a b", "/?q=%41": "A", "/?%71=A": "A",
		"/?q=A=B": "A=B", "/?q=%26": "&", "/?q=a?b": "a?b", "/?q=%zz&q=A": "A", "/?%zz=1&q=A": "A", "/?q=%C3%A9": "é", "/?q=%FF": "\xff", "/??q=1&q=A": "A",
		"/?q=a;b": "a;b", "/?&&q=A": "A", "?q=A": "A", "/?q=%00": "\x00",
		"": "", "/": "", "/?": "", "/?q": "", "/?q=": "", "/?q=&q=A": "", "/?Q=A": "", "/?qq=A": "", "/#?q=A": "", "/q=A": "", "/?q=%": "", "/?q=%4": "", "/?=q": "",
	} {
		if got := find(t, `{"query": "q"}`, get(target)); got != want {
			t.Errorf("query q of %q = %q, want %q", target, got, want)
		}
	}
}

// FuzzQuery: but for semicolons, which net/url refuses, ours is the value that
// net/url finds first.
func FuzzQuery(f *testing.F) {
	for _, query := range []string{"q=A", "a=b&q=A+B", "q=%zz&q=A", "%71=%41", "q&q=1", "=&&=", "q=\xff%ff"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if strings.ContainsAny(query, ";#") || strings.Count(query, "&") > 1000 {
			return
		}
		got, err := queryValue(&view{Request: get("/?" + query)}, "q")
		values, _ := url.ParseQuery(query)
		if want := values.Get("q"); got != want || err != nil {
			t.Errorf("query q of %q = %q, %v, want %q as net/url", query, got, err, want)
		}
	})
}

func TestSimpleSources(t *testing.T) {
	for source, wants := range map[string]map[string]string{
		`{"host": true}`: {"example.com": "example.com", "EXAMPLE.com": "example.com", "example.com:8080": "example.com", "example.com.": "example.com",
			"Example.COM.:443": "example.com", "[::1]:80": "[::1]", "[::1]": "[::1]", "": "", ":80": "", "a:": "a", "Ä.example": "Ä.example"},
		`{"path": true}`:    {"/a?x=1": "/a", "/a?x=2": "/a", "/a?": "/a", "/a": "/a", "/a#f": "/a", "/a?/b": "/a", "//a": "/a", "/%61": "/a", "": "/"}, // B19
		`{"method": true}`:  {"GET": "GET", "get": "get", "": ""},
		`{"header": "X-A"}`: {"v": "v", " v": " v", "": "", "K,r1": "K,r1"}, // B22, B23
		`{"bearer_token": true}`: {"Bearer t": "t", "bearer t": "t", "BEARER   t  ": "t", "Bearer a b": "a b", "Bearer ": "", "Bearer": "", "Basic t": "",
			"Bearert": "", "": "", " Bearer t": ""},
		`{"route": true}`:                    {"api": "api", "": ""},
		`{"property": ["connection", "id"]}`: {"\x01\x00\x00\x00\x00\x00\x00\x00": "\x01\x00\x00\x00\x00\x00\x00\x00", "": ""},
		`{"constant": "c"}`:                  {"": "c", "x": "c"},
	} {
		for given, want := range wants {
			r := request{method: given, path: given, host: given, headers: map[string]string{"x-a": given, "authorization": given},
				properties: map[string]string{"xds\x00route_name": given, "connection\x00id": given}}
			if got := find(t, source, r); got != want {
				t.Errorf("%s of %q = %q, want %q", source, given, got, want)
			}
		}
	}
}

// TestPeerIdentity: the URI SAN, or else the DNS SAN, or else the subject.
func TestPeerIdentity(t *testing.T) {
	const uri, dns, subject = "connection\x00uri_san_peer_certificate", "connection\x00dns_san_peer_certificate", "connection\x00subject_peer_certificate"
	r := request{properties: map[string]string{uri: "spiffe://a/b", dns: "b.example", subject: "CN=b"}}
	for _, path := range []string{uri, dns, subject, ""} {
		if got, want := find(t, `{"peer_identity": true}`, r), r.properties[path]; got != want {
			t.Errorf("peer of %q = %q, want %q", r.properties, got, want)
		}
		delete(r.properties, path)
	}
	r = request{properties: map[string]string{subject: "CN=b"}, err: map[string]error{uri: errBroken}}
	if _, err := peerValue(&view{Request: r}); err != errBroken {
		t.Errorf("peer without an answer to the first question: %v, want its error", err)
	}
}

// number is a number as the ABI gives it.
func number(f float64) string {
	return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
}

func TestClaim(t *testing.T) { // B26
	const path = "metadata\x00filter_metadata\x00envoy.filters.http.jwt_authn\x00"
	for value, want := range map[string]string{
		"123": "123", number(123): "123", number(0): "0", number(-1): "-1", number(1 << 53): "9007199254740992", number(1<<53 - 1): "9007199254740991",
		number(1e300): "1e+300", number(0.5): "0.5", number(-2.25): "-2.25", number(1e18): "1e+18", number(math.Copysign(0, -1)): "0",
		"\x00": "false", "\x01": "true", "true": "true", "false": "false",
		"8 signs!": "8 signs!", "12345678": "12345678", "naïveté": "naïveté", "é234567": "é234567", "seven77": "seven77", "nine99999": "nine99999",
		"":                 "", // null, or no claim
		"\x00\x00\x00\x00": "", // {}
		"\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00k\x00v\x00": "", // {"k": "v"}
	} {
		r := request{properties: map[string]string{path + "payload\x00sub": value}}
		if got := find(t, `{"jwt_claim": "sub"}`, r); got != want {
			t.Errorf("claim of bytes %q = %q, want %q", value, got, want)
		}
	}
	r := request{properties: map[string]string{path + "jwt\x00realm\x00a.b": "v"}}
	if got := find(t, `{"jwt_claim": {"provider_key": "jwt", "names": ["realm", "a.b"]}}`, r); got != "v" {
		t.Errorf("nested claim = %q, want v", got)
	}
}

// TestEveryWholeNumberIsAClaim: no whole number is taken for a text of 8 bytes.
func TestEveryWholeNumberIsAClaim(t *testing.T) {
	for _, step := range []int64{1, 997, 1_000_003, 1<<40 + 12345, 1<<45 + 67} {
		for i, n := 0, int64(1); i < 20_000 && n < 1<<50; i, n = i+1, n+step {
			if got := renderClaim(number(float64(n))); len(got) > 0 && got[0] > '9' || len(got) > 16 {
				t.Fatalf("renderClaim(%d) = %q, want it in decimal", n, got)
			}
		}
	}
}
