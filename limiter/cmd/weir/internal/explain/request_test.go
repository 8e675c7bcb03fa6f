package explain

import (
	"strings"
	"testing"
)

// TestNewRequestErrors has one for each thing that can be wrong. None quotes
// what may be a secret.
func TestNewRequestErrors(t *testing.T) {
	const line, client = "GET /", "192.0.2.1"
	for _, test := range []struct {
		line       string
		headers    []string
		client     string
		properties []string
		want       string
	}{
		{"", nil, client, nil, `request "": want a method, a blank and a path without blanks, as in "GET /api/x"`},
		{"/api", nil, client, nil, `request "/api": want a method, a blank and a path without blanks, as in "GET /api/x"`},
		{"GET /a b", nil, client, nil, `request "GET /a b": want a method, a blank and a path without blanks, as in "GET /api/x"`},
		{"GET /a HTTP/1.1 x", nil, client, nil, `request "GET /a HTTP/1.1 x": want a method, a blank and a path without blanks, as in "GET /api/x"`},
		{"GET /?token=s3cret b", nil, client, nil, `request "GET /?…": want a method, a blank and a path without blanks, as in "GET /api/x"`},
		{"GET api?token=s3cret", nil, client, nil, `target "api?…": want a path, as in /api/x, or a URL`},
		{"GET http:///x", nil, client, nil, `target "http:///x": want a path, as in /api/x, or a URL`},
		{line, nil, "", nil, `client "": want an IP address`},
		{line, nil, "192.0.2.1:443", nil, `client "192.0.2.1:443": want an IP address`},
		{line, []string{"x-a: 1", ": v"}, client, nil, `header "": want a name, a colon and a value, as in "x-user-id: alice"`},
		{line, []string{"x-a"}, client, nil, `header "x-a": want a name, a colon and a value, as in "x-user-id: alice"`},
		{line, []string{"Cookie sid=s3cret: x"}, client, nil, `header "cookie …": want a name, a colon and a value, as in "x-user-id: alice"`},
		{line, []string{"Authorization\ts3cret"}, client, nil, `header "authorization …": want a name, a colon and a value, as in "x-user-id: alice"`},
		{line, nil, client, []string{"route"}, `property "route": want a path, = and a value, as in xds.route_name=checkout`},
		{line, nil, client, []string{"=v"}, `property "=v": want a path, = and a value, as in xds.route_name=checkout`},
	} {
		r, err := NewRequest(test.line, test.headers, test.client, test.properties)
		if err == nil || err.Error() != test.want {
			t.Errorf("NewRequest(%q, %q, %q, %q) = %v, error:\n%v\nwant:\n%s", test.line, test.headers, test.client, test.properties, r, err, test.want)
		}
	}
}

// TestNewRequest reads lines, headers and properties as a policy asks for them.
func TestNewRequest(t *testing.T) {
	for _, test := range []struct {
		line, headers, want string // headers separated by ;
	}{
		{"GET /api/x?a=1", "", "GET | /api/x?a=1 | "},
		{"OPTIONS *", "", "OPTIONS | * | "},
		{"GET  /a HTTP/2", "", "GET | /a | "},
		{"GET https://h.example", "", "GET | / | h.example"},
		{"GET https://u:p@h.example:1/a//b?c=/d", "", "GET | /a//b?c=/d | h.example:1"},
		{"GET https://h.example?q=1", "", "GET | /?q=1 | h.example"},
		{"GET https://h.example/a", "HOST:  b.example ", "GET | /a | b.example"},
		{"GET /", "X-A: 1;x-a:2;x-a: a:b ", "GET | / | 1,2,a:b"},
	} {
		var headers []string
		if test.headers != "" {
			headers = strings.Split(test.headers, ";")
		}
		r, err := NewRequest(test.line, headers, "192.0.2.1", []string{"a.b=c=d"})
		if err != nil {
			t.Errorf("%s: %v", test.line, err)
			continue
		}
		method, _ := r.Method()
		path, _ := r.Path()
		host, _ := r.Host()
		header, _ := r.Header("x-a")
		if got := method + " | " + path + " | " + host + header; got != test.want {
			t.Errorf("%s with %q: got %q, want %q", test.line, headers, got, test.want)
		}
		if p, _ := r.Property("a\x00b"); p != "c=d" {
			t.Errorf("property a.b = %q, want c=d", p)
		}
	}
}
