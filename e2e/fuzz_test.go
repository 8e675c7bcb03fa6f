package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

// FuzzRequest lets a client send what it likes, as often and whenever it likes,
// to every configuration there is: the built module must decide as the core
// does, and keep the promises of [twins.do]. Headers, properties and the
// upstream's headers come as lines, "name: value"; of every step the low five
// bits say how far the clock goes, bit 6 that it steps back, bit 7 that the
// sweep has its turn, and bit 5 that another client is served in between.
func FuzzRequest(f *testing.F) {
	for _, s := range requestSeeds {
		for which := range uint8(configurations) {
			f.Add(which, s.method, s.path, s.host, s.client, s.headers, s.properties, uint16(s.status), s.answer, []byte(s.steps))
		}
	}
	w := newTwins(f) // now: an input has ten seconds
	f.Cleanup(func() {
		if w != nil {
			w.close()
		}
	})
	f.Fuzz(func(t *testing.T, which uint8, method, path, host, client, headers, properties string, status uint16, answer string, steps []byte) {
		if w == nil { // the last input broke them
			w = newTwins(t)
		}
		defer func() {
			if t.Failed() {
				w.close()
				w = nil
			}
		}()
		r := scenario.Request{Method: method, Path: path, Host: host, Client: client, Headers: headerLines(headers), Properties: map[string]string{}}
		for _, p := range lines(properties) {
			if slices.Contains(fuzzProperties, p[0]) {
				r.Properties[p[0]] = p[1]
			}
		}
		up := scenario.Upstream{Status: 200 + int(status)%400, Headers: headerLines(answer)}
		filter := w.filters[int(which)%len(w.filters)]
		w.reset(t, filter)
		at := 24 * time.Hour
		for _, step := range steps[:min(len(steps), 8)] {
			far := time.Microsecond << (step & 31)
			if step&64 != 0 {
				far = -far
			}
			at += far
			if step&128 != 0 {
				w.tick(t, filter, at)
			}
			if step&32 != 0 {
				w.do(t, filter, at, scenario.Request{Method: "GET", Path: "/api/other", Host: "other.test", Headers: [][2]string{{"x-user-id", "other"}}}, scenario.Upstream{Status: 401})
			}
			w.do(t, filter, at, r, up)
		}
	})
}

// lines reads "name: value" from each line.
func lines(text string) (pairs [][2]string) {
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			pairs = append(pairs, [2]string{name, strings.TrimPrefix(value, " ")})
		}
	}
	return pairs
}

// headerLines are lines whose names are those of headers: in lower case, as a
// proxy passes them, and none of its own pseudo headers.
func headerLines(text string) (headers [][2]string) {
	for _, p := range lines(text) {
		if name := strings.ToLower(p[0]); name != "" {
			headers = append(headers, [2]string{name, p[1]})
		}
	}
	return headers
}

// requestSeeds are where FuzzRequest begins; in each, a request comes often
// enough to be refused.
var requestSeeds = []struct {
	method, path, host, client, headers, properties string
	status                                          int
	answer, steps                                   string
}{
	{"GET", "/", "weir.test", "", "", "", 0, "", "\x00\x00\x00\x00\x14\x1f"},
	{"POST", "/api/x?q=%41+b&q=c", "API.weir.test:8080", "192.0.2.1:4711", "x-user-id: alice\ncookie: a=b; sid=\"s\"\nx-cost: 2\nx-api-key: k", "", 1, "retry-after: 9\nratelimit: x", "\x00\x20\x00\x00\x94\x00\x5f"},
	{"POST", "/login", "weir.test", "[2001:db9::1]:1", "authorization: Bearer t", "", 201, "x-units: 4", "\x00\x00\x00\x00\x00\x9f"},
	{"HEAD", "//a/./%2f%7eb", "WEIR.test.", "", "x-a: aaaaaaaac\nx-b: y\nx-b: xxxxy\nx-c: c\nx-d: d\nx-e: e\nx-g: g", "", 300, "", "\x00\x00\x00\x31\x00"},
	{"OPTIONS", "/aaaab", "cdn.weir.test", "@/tmp/socket", "origin: o\naccess-control-request-method: GET", "", 0, "", "\x00\x00\x40\x80"},
	{"GET", "/generate/.js", "cdn.weir.test", "", "authorization: bearer  \xff\nx-cost: 99999999999999999999\ncontent-type: application/grpc", "metadata.filter_metadata.envoy.filters.http.jwt_authn.payload.sub: \x00\x00\x00\x00\x00\x00\x5e\x40\nmetadata.filter_metadata.envoy.filters.http.jwt_authn.payload.org.id: \x01", 0, "x-tokens-used: 999", "\x00\x00\x00\x00\x13\x13\x13"},
	{"GET", "/7", "", "10.0.0.1:1", "x-user-id: mallory", "connection.uri_san_peer_certificate: spiffe://a\nxds.route_name: r\nconnection.id: \x07\x00\x00\x00\x00\x00\x00\x00", 333, "x-units: -1", "\x00\x00\x00\x00"},
	{"GET", strings.Repeat("/a/..%2", 200) + "?" + strings.Repeat("q=%zz&", 200), "h", "fe80::1%eth0", "cookie: " + strings.Repeat("sid;,", 200) + "sid=" + strings.Repeat("v", 5000), "", 0, "x: y", "\x00\x00\x00"},
}
