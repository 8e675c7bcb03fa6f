package accesslog

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// asked is what a record answers to some questions.
func asked(r *Record) string {
	var b strings.Builder
	for _, name := range []string{"x-user-id", "user-agent", "x-forwarded-for", ":authority"} {
		v, _ := r.Header(name)
		fmt.Fprintf(&b, "%s=%s ", name, v)
	}
	for _, path := range []string{"xds\x00route_name", "connection\x00uri_san_peer_certificate", "source\x00address", "request\x00headers\x00x-user-id"} {
		v, _ := r.Property(path)
		fmt.Fprintf(&b, "%s=%s ", strings.ReplaceAll(path, "\x00", "."), v)
	}
	return b.String()
}

func TestHeadersAndProperties(t *testing.T) {
	const envoyText = `[%START_TIME%] %REQ(:METHOD)% "%REQ(X-USER-ID?X-OTHER)%" "%REQ(USER-AGENT)%" "%REQUEST_HEADER(X-FORWARDED-FOR)%" "%REQ(:AUTHORITY)%" %ROUTE_NAME% "%DOWNSTREAM_PEER_URI_SAN%" %DOWNSTREAM_REMOTE_ADDRESS%`
	for _, test := range []struct {
		format, line string
		fields       map[string]string
		want         string
	}{
		{envoyText, `[2026-03-01T12:00:00.123Z] GET "alice" "curl" "1.1.1.1, 2.2.2.2" "a" default "spiffe://a,spiffe://b" 3.3.3.3:5`, nil,
			"x-user-id=alice user-agent=curl x-forwarded-for=1.1.1.1, 2.2.2.2 :authority=a xds.route_name=default connection.uri_san_peer_certificate=spiffe://a source.address=3.3.3.3:5 request.headers.x-user-id=alice "},
		{"json", `{"time":1,"X_User_ID":"alice","http_user_agent":"curl","x-forwarded-for":"1.1.1.1","authority":"a","route_name":"default","downstream_peer_uri_san":"spiffe://a"}`, nil,
			"x-user-id=alice user-agent=curl x-forwarded-for=1.1.1.1 :authority=a xds.route_name=default connection.uri_san_peer_certificate=spiffe://a source.address=1.1.1.1 request.headers.x-user-id=alice "},
		{"json", `{"when":1,"user":7,"ua":"curl","path":"alice","h":"a","route":"default"}`,
			map[string]string{"when": "time", "user": "header:X-User-ID", "ua": "header:user-agent", "h": "host", "route": "property:xds.route_name", "path": "ignore"},
			"x-user-id=7 user-agent=curl x-forwarded-for= :authority=a xds.route_name=default connection.uri_san_peer_certificate= source.address= request.headers.x-user-id=7 "},
		{"json", `{"time":1,"user":"alice"}`, map[string]string{"user": "header:x-user-id"}, // a field that a user names makes it a request
			"x-user-id=alice user-agent= x-forwarded-for= :authority= xds.route_name= connection.uri_san_peer_certificate= source.address= request.headers.x-user-id=alice "},
	} {
		r := must[*Record](t)(openText(t, test.line, Options{Format: format(t, test.format), Fields: test.fields}).Next())
		if got := asked(r); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.line, got, test.want)
		}
	}
}

func TestClientAddress(t *testing.T) {
	for _, test := range []struct {
		line string
		hops int
		want string
	}{
		{`{"time":1,"path":"/","x_forwarded_for":"1.1.1.1, 2.2.2.2,3.3.3.3"}`, 0, "3.3.3.3"},
		{`{"time":1,"path":"/","x_forwarded_for":"1.1.1.1, 2.2.2.2,3.3.3.3"}`, 1, "2.2.2.2"},
		{`{"time":1,"path":"/","x_forwarded_for":"1.1.1.1, 2.2.2.2,3.3.3.3"}`, 2, "1.1.1.1"},
		{`{"time":1,"path":"/","x_forwarded_for":"1.1.1.1, 2.2.2.2,3.3.3.3"}`, 3, ""},
		{`{"time":1,"path":"/","x_forwarded_for":null,"downstream_direct_remote_address":"4.4.4.4:4"}`, 0, ""},
		{`{"time":1,"downstream_direct_remote_address":"4.4.4.4:4"}`, 0, "4.4.4.4:4"},
		{`{"time":1,"path":"/","x_forwarded_for":"1.1.1.1","downstream_remote_address":"5.5.5.5:5"}`, 0, "5.5.5.5:5"},
		{`{"time":1,"path":"/","x_forwarded_for":"1.1.1.1","downstream_remote_address":"-"}`, 0, ""},
	} {
		r := must[*Record](t)(openText(t, test.line, Options{TrustedHops: test.hops}).Next())
		if got, _ := r.ClientAddress(); got != test.want {
			t.Errorf("%s with %d trusted hops: %q, want %q", test.line, test.hops, got, test.want)
		}
	}
}

// TestResponseStays: what a record says of the response is good for longer than
// the record.
func TestResponseStays(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "[1970-01-01T00:%02d:%02d.000Z] %d \"%d\" %s\n", i/60%60, i%60, 200+i%300, i, strings.Repeat("x", 100))
	}
	l := openText(t, b.String(), Options{Format: format(t, `[%START_TIME%] %RESPONSE_CODE% "%RESP(X-COST?X)%" %REQ(A)%`)})
	first := must[*Record](t)(l.Next()).Response()
	for {
		if _, err := l.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	status, _ := first.Status()
	cost, _ := first.Header("x-cost")
	other, _ := first.Header("a")
	if status != "200" || cost != "0" || other != "" {
		t.Errorf("response of the first record: status %q, x-cost %q, a %q; want 200, 0 and none", status, cost, other)
	}
}

func TestNotLogged(t *testing.T) {
	ask := func(l *Log) string {
		for {
			r, err := l.Next()
			if err == io.EOF {
				return fmt.Sprint(l.Stats().NotLogged)
			}
			if err != nil {
				t.Fatal(err)
			}
			asked(r)
			r.Header("x-user-id")
			r.Host()
			r.ClientAddress()
		}
	}
	l := openText(t, "[2026-03-01T12:00:00.123Z] /a\n[2026-03-01T12:00:00.123Z] /a\n", Options{Format: format(t, "[%START_TIME%] %REQ(:PATH)%")})
	if got, want := ask(l), "[{header x-user-id 6} {client_ip 4} {host 4} {header user-agent 2} {header x-forwarded-for 2} {property connection.uri_san_peer_certificate 2} {property xds.route_name 2}]"; got != want {
		t.Errorf("not logged: %s, want %s", got, want)
	}
	// A field that comes later is logged after all, and so is one that is null.
	l = openText(t, `{"time":1,"path":"/","x_forwarded_for":null,"route_name":"-"}`+"\n"+`{"time":1,"path":"/"}`+"\n"+`{"time":1,"path":"/"}`+"\n"+`{"time":2,"path":"/","x_user_id":"a","host":"b"}`, Options{})
	if got, want := ask(l), "[{header user-agent 4} {property connection.uri_san_peer_certificate 4}]"; got != want {
		t.Errorf("not logged: %s, want %s", got, want)
	}
}

// TestManyNames: names in JSON that never end do not fill the memory.
func TestManyNames(t *testing.T) {
	var b strings.Builder
	for i := range 5 * maxMeanings {
		fmt.Fprintf(&b, "{\"time\":%d,\"n%d\":\"v\",\"method\":\"GET\"}\n", i, i)
	}
	l := openText(t, b.String(), Options{})
	for i := range 5 * maxMeanings {
		r := must[*Record](t)(l.Next())
		if m, _ := r.Method(); m != "GET" {
			t.Fatalf("line %d: method %q, want GET", i, m)
		}
	}
	if n := len(l.parser.json.names); n > maxMeanings+1 {
		t.Errorf("%d names are kept, want at most %d", n, maxMeanings)
	}
}

// TestNoAllocations: a line costs no garbage once a log is under way.
func TestNoAllocations(t *testing.T) {
	for _, name := range []string{"envoy", "istio", "nginx", "json"} {
		var example string
		for _, k := range knownFormats {
			if k.name == name {
				example = k.example
			}
		}
		l := openText(t, strings.Repeat(example+"\n", 40_000), Options{Format: format(t, name)})
		read := func() {
			r := must[*Record](t)(l.Next())
			say := func(string, error) {}
			say(r.Method())
			say(r.Path())
			say(r.Host())
			say(r.ClientAddress())
			say(r.Header("x-user-id"))
			say(r.Property("xds\x00route_name"))
		}
		for range 10_000 {
			read()
		}
		if n := testing.AllocsPerRun(20_000, read); n != 0 {
			t.Errorf("%s: %v allocations a line, want none", name, n)
		}
	}
}

// TestSamplesHideCredentials: a broken line is shown up to where a credential
// may begin.
func TestSamplesHideCredentials(t *testing.T) {
	const secret = "hunter2"
	for _, test := range []struct{ format, line string }{
		{"envoy", `[oops] "GET /?access_token=` + secret},
		{"envoy", `[oops] Authorization: ` + secret},
		{"json", `{"COOKIE":"sid=` + secret + `"`},
		{"json", "{\"\xff\xff\xff\xff\xff\xff\xff\xffcookie\":\"" + secret},
		{`%START_TIME% "%REQ(COOKIE)%" "%REQ(:PATH)%"`, `1970-01-01T00:00:00.000Z "` + secret + `" "a"b"`},
		{`%START_TIME% "%REQ(:PATH)%" "%REQ(X-API-KEY)%"`, `1970-01-01T00:00:00.000Z "a"b" "` + secret + `"`},
	} {
		l := openText(t, test.line, Options{Format: format(t, test.format)})
		_, err := l.Next()
		if err == nil {
			t.Errorf("%s: no error", test.line)
			continue
		}
		for _, text := range []string{l.Stats().Samples[0].Text, l.Stats().Samples[0].Error, err.Error()} {
			if strings.Contains(text, secret) {
				t.Errorf("%s: shows %q", test.line, text)
			}
		}
	}
}
