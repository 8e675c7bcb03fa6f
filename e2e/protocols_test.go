package e2e

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/weirproxy/weir/e2e/scenario"
)

// TestProtocols starts one Envoy, with a listener for each test.
func TestProtocols(t *testing.T) {
	tests := []struct {
		name, rule string
		test       func(t *testing.T, addr string)
	}{
		{"headers", `{"name": "r", "key": [{"header": "x-key"}], "limits": [{"requests": 3, "window": "1h"}]}`, testHeaders},
		{"paths", `{"name": "login", "match": {"path": {"exact": "/login"}}, "key": [{"path": true}], "limits": [{"requests": 1, "window": "1h"}]}`, testPaths},
		{"repeated headers", `{"name": "r", "key": [{"header": "X-Api-Key"}], "limits": [{"requests": 1, "window": "1h"}]}`, testRepeatedHeaders},
	}
	var listeners []any
	for _, test := range tests {
		f := filter{test.name, `{"headers": ["retry-after", "ratelimit", "x-ratelimit"], "rules": [` + test.rule + `]}`}
		listeners = append(listeners, listener(t, f, acceptHTTP10, answerDirect))
	}
	envoy := startEnvoy(t, assemble(t, listeners, cluster(t, "upstream", startUpstream(t))), 2)
	for _, test := range tests {
		addr := listenerOf(t, envoy, test.name)
		t.Run(test.name, func(t *testing.T) { test.test(t, addr) })
	}
}

func acceptHTTP10(_, manager object) {
	manager["http_protocol_options"] = object{"accept_http_10": true}
}

// answerDirect has Envoy answer /direct itself.
func answerDirect(_, manager object) {
	manager["route_config"] = routes(
		object{"match": object{"path": "/direct"}, "direct_response": object{"status": 418}},
		object{"match": object{"prefix": "/"}, "route": object{"cluster": "upstream"}})
}

// testHeaders is B66: whatever the upstream says of limits, the
// answer has each of our fields once and ours is the value, admitted or
// refused, over every protocol. Retry-After on what we admit is the upstream's.
func testHeaders(t *testing.T, addr string) {
	theirs := [][2]string{
		{upstreamHeader, `RateLimit="theirs";r=9`}, {upstreamHeader, `RateLimit="theirs";r=8`},
		{upstreamHeader, `RateLimit-Policy="theirs";q=9`}, {upstreamHeader, `RateLimit-Policy="theirs";q=8`},
		{upstreamHeader, "X-RateLimit-Limit=9"}, {upstreamHeader, "X-RateLimit-Limit=8"},
		{upstreamHeader, "X-RateLimit-Remaining=9"}, {upstreamHeader, "X-RateLimit-Reset=9"},
		{upstreamHeader, "Retry-After=7"},
	}
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			for _, step := range []struct {
				path, upstream string
				status         int
				remaining      string
				wait           []string
			}{
				{"/", "200", 200, "2", []string{"7"}},
				{"/", "429", 429, "1", []string{"7"}}, // the upstream's own
				{"/direct", "", 418, "0", nil},        // another filter's local reply
				{"/", "200", 429, "0", []string{"3600"}},
			} {
				r := scenario.Request{Method: "GET", Path: step.path, Host: "weir.test",
					Headers: append([][2]string{{"x-key", p.name}, {upstreamStatus, step.upstream}}, theirs...)}
				got, err := p.send(addr, r)
				if err != nil || got.Status != step.status {
					t.Fatalf("%+v: %+v, %v, want %d", step, got, err, step.status)
				}
				want := map[string][]string{
					"ratelimit-policy":      {`"r";q=3;w=3600`},
					"ratelimit":             {`"r";r=` + step.remaining + `;t=3600`},
					"x-ratelimit-limit":     {"3"},
					"x-ratelimit-remaining": {step.remaining},
					"x-ratelimit-reset":     {"3600"},
					"retry-after":           step.wait,
				}
				for name, values := range want {
					near := func(got, want string) bool { return scenario.NearHeader(name, got, want, slow) }
					if !slices.EqualFunc(got.Headers[name], values, near) {
						t.Errorf("%+v: %s %q, want %q", step, name, got.Headers[name], values)
					}
				}
			}
		})
	}
	// A refusal of HEAD says how long the body would be, and has none.
	conn, err := write(addr, "HEAD / HTTP/1.1\r\nHost: weir.test\r\nConnection: close\r\nX-Key: HTTP/2\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	head, err := io.ReadAll(conn)
	if text := string(head); err != nil || !strings.HasPrefix(text, "HTTP/1.1 429 ") || !strings.Contains(text, "content-length: 18\r\n") || !strings.HasSuffix(text, "\r\n\r\n") {
		t.Errorf("HEAD: %q, %v", text, err)
	}
	r := scenario.Request{Method: "HEAD", Path: "/", Host: "weir.test", Headers: [][2]string{{"x-key", "HTTP/2"}}}
	if got, err := sendHTTP2(addr, r); err != nil || got.Status != 429 || got.Body != "" {
		t.Errorf("HEAD over HTTP/2: %+v, %v", got, err)
	}
}

// testPaths is B19 and B20 over every protocol, with no mending of
// paths by Envoy: whoever spells /login another way is still held to its limit,
// and what is another path is left alone.
func testPaths(t *testing.T, addr string) {
	ask := func(path string, send func(string, scenario.Request) (scenario.Response, error)) int {
		got, err := send(addr, scenario.Request{Method: "GET", Path: path, Host: "weir.test"})
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return got.Status
	}
	if got := ask("/login?first", send); got != 200 {
		t.Fatalf("first: %d", got)
	}
	for _, p := range protocols {
		for _, path := range []string{
			"/login", "//login", "/./login", "/x/../login", "/%6cogin", "/%6Cogin", "/%2e/login", "/x/%2E./login", "/log%69n",
			"/login?x=1", "/login?", "/login?/b", "/login?/../x", "/x/..//.//login",
		} {
			if got := ask(path, p.send); got != 429 {
				t.Errorf("%s %s: %d, want 429", p.name, path, got)
			}
		}
		for _, path := range []string{
			"/login/", "/LOGIN", "/login;v=1", "/login%2f", "/login%00", "/login%3Fa", "/log%2569n", "/login%", "/%zzlogin", "/login/..", "/%", "/*",
		} {
			if got := ask(path, p.send); got == 429 || got == 503 {
				t.Errorf("%s %s: %d", p.name, path, got)
			}
		}
	}
	if got := ask("http://weir.test/login", send); got != 429 {
		t.Errorf("absolute form: %d, want 429", got)
	}
	if got := ask("/login#f", send); got != 400 && got != 429 {
		t.Errorf("fragment: %d", got)
	}
}

// testRepeatedHeaders is B23: repeated headers are one value, joined in their
// order, over every protocol.
func testRepeatedHeaders(t *testing.T, addr string) {
	for _, step := range []struct {
		keys []string
		want int
	}{{[]string{"a", "K"}, 200}, {[]string{"K", "a"}, 200}, {[]string{"K"}, 200}, {[]string{"K", "a"}, 429}, {[]string{"K,a"}, 429}} {
		for i, p := range protocols {
			r := scenario.Request{Method: "GET", Path: "/", Host: "weir.test"}
			for _, key := range step.keys {
				r.Headers = append(r.Headers, [2]string{"x-api-key", key})
			}
			want := step.want
			if i > 0 {
				want = 429 // the window is shared
			}
			if got, err := p.send(addr, r); err != nil || got.Status != want {
				t.Errorf("%s %q: %+v, %v, want %d", p.name, step.keys, got, err, want)
			}
		}
	}
}
