package accesslog

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestLines(t *testing.T) {
	const (
		envoyLine = `[2026-03-01T12:00:00.123Z] "GET /a?b=c HTTP/1.1" 200 - 0 5 12 10 "203.0.113.7,10.0.0.1" "curl/8.5.0" "id-1" "a.example:8443" "10.0.0.5:80"`
		nginxLine = `203.0.113.7 - - [01/Mar/2026:13:00:00 +0100] "GET /a?b=c HTTP/1.1" 404 512 "-" "curl/8.5.0"`
	)
	for _, test := range []struct{ name, format, line, want string }{
		{"envoy", "envoy", envoyLine, "12:00:00.123 +12ms GET /a?b=c host=a.example:8443 client=10.0.0.1 status=200"},
		{"envoy, nothing answered", "envoy", `[2026-03-01T12:00:00.000Z] "- - -" 0 DPE 0 0 0 - "-" "-" "-" "-" "-"`, "12:00:00 +0s   host= client= status=0"},
		{"envoy, a blank and a bracket in the user agent", "envoy", strings.Replace(envoyLine, "curl/8.5.0", `] a b [x`, 1), "12:00:00.123 +12ms GET /a?b=c host=a.example:8443 client=10.0.0.1 status=200"},
		{"istio", "istio", knownFormats[1].example, "12:00:00.123 +12ms GET /api/items?page=2 host=api.example.com client=203.0.113.7:0 status=200"},
		{"istio, IPv6", "istio", strings.Replace(knownFormats[1].example, "203.0.113.7:0", "[2001:db8::1]:80", 1), "12:00:00.123 +12ms GET /api/items?page=2 host=api.example.com client=[2001:db8::1]:80 status=200"},
		{"nginx", "nginx", nginxLine, "12:00:00 +0s GET /a?b=c host= client=203.0.113.7 status=404"},
		{"nginx, escapes", "nginx", strings.Replace(nginxLine, "/a?b=c", `/\x22\xC3\xA4\x5Cx22`, 1), `12:00:00 +0s GET /"ä\x22 host= client=203.0.113.7 status=404`},
		{"nginx, blanks in the path", "nginx", strings.Replace(nginxLine, "/a?b=c", `/a b HTTP`, 1), `12:00:00 +0s GET /a b HTTP host= client=203.0.113.7 status=404`},
		{"nginx, whole URL", "nginx", strings.Replace(nginxLine, "/a?b=c", `http://evil.example/x`, 1), `12:00:00 +0s GET /x host= client=203.0.113.7 status=404`},
		{"nginx, TLS on a plain port", "nginx", strings.Replace(nginxLine, "GET /a?b=c HTTP/1.1", `\x16\x03\x01`, 1), `12:00:00 +0s   host= client=203.0.113.7 status=404`},
		{"nginx-main", "nginx-main", knownFormats[3].example, "12:00:00 +0s GET /api/items?page=2 host= client=203.0.113.7 status=200"},
		{"custom nginx: the time is the end", `${remote_addr} $msec $request_time $request_method $request_uri $host`, "203.0.113.7 1772366400.500 0.250 GET /a a.example", "12:00:00.25 +250ms GET /a host=a.example client=203.0.113.7 status="},
		{"custom nginx, ISO 8601", `[$time_iso8601] $request_method $request_uri`, "[2026-03-01T13:00:00+01:00] GET /a", "12:00:00 +0s GET /a host= client= status="},
		{"custom envoy", `[%START_TIME%] %REQ(:METHOD)% %REQ(:PATH):20% %REQ(X-USER-ID)% %RESPONSE_CODE%\n`, "[2026-03-01T12:00:00.000Z] GET /a alice 429", "12:00:00 +0s GET /a host= client= status=429"},
		{"custom envoy, seconds since the epoch", `%START_TIME(%s.%6f)%|%REQ(:PATH)%|%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%`, "1772366400.000001|/a|10.1.1.1:80", "12:00:00.000001 +0s  /a host= client=10.1.1.1:80 status="},
		{"custom envoy, a time with blanks", `%START_TIME(%d %b %Y %T %z)% %REQ(:PATH)%%%`, "01 Mar 2026 12:00:00 +0000 /a%", "12:00:00 +0s  /a host= client= status="},
		{"json", "json", knownFormats[4].example, "12:00:00.123 +12ms GET /api/items?page=2 host=api.example.com client=203.0.113.7 status=200"},
		{"json, escapes and nesting", "json", `{ "x" : {"a":["}",{"b":null}]}, "time":1772366400.5 ,"path":"\/\u00e4\ud83d\ude00\ud83d\t","host":"a","status":"503","client_ip":null}`, "12:00:00.5 +0s  /ä😀�\t host=a client= status=503"},
		{"json, a shipper's time is not the request's", "json", `{"time":"2030-01-01T00:00:00Z","start_time":"2026-03-01T12:00:00Z","host":"node-1","authority":"a"}`, "12:00:00 +0s   host=a client= status="},
		{"json, milliseconds", "json", `{"timestamp":1772366400250,"request":"GET /a HTTP/1.1","request_time":"0.5"}`, "12:00:00.25 +500ms GET /a host= client= status="},
		{"json, a request that could not be parsed", "json", `{"timestamp":1772366400,"method":null,"user_agent":null}`, "12:00:00 +0s   host= client= status="},
		{"json, no request but an address", "json", `{"timestamp":1772366400,"downstream_direct_remote_address":"10.0.0.1:1"}`, "12:00:00 +0s   host= client=10.0.0.1:1 status="},
		{"json, an offset", "json", `{"timestamp":"2026-03-01T13:00:00.000001+01:00","path":"-"}`, "12:00:00.000001 +0s   host= client= status="},
	} {
		for _, end := range []string{"", "\n", "\r\n", "\n\n\r\n"} {
			l := openText(t, test.line+end, Options{Format: format(t, test.format)})
			r, err := l.Next()
			if err != nil {
				t.Errorf("%s: Next = %v", test.name, err)
				break
			}
			if got := say(r); got != test.want {
				t.Errorf("%s: got  %s\nwant %s", test.name, got, test.want)
			}
			if _, err := l.Next(); err != io.EOF {
				t.Errorf("%s: second Next = %v, want io.EOF", test.name, err)
			}
			if st := l.Stats(); st.Lines != 1 || st.Broken != 0 {
				t.Errorf("%s: %d lines, %d broken, want 1 and 0", test.name, st.Lines, st.Broken)
			}
		}
	}
}

func TestBrokenLines(t *testing.T) {
	good := strings.TrimSuffix(line(1000, "/a"), "\n")
	edit := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, test := range []struct{ format, line, want string }{
		{"envoy", "hello", `does not begin with "["`},
		{"envoy", edit("1970-01-01", "1970-02-30"), `%START_TIME%: "1970-02-30T00:00:01.000Z] \"GET" is not a time such as 2006-01-02T15:04:05.000Z`},
		{"envoy", edit(":01.000Z", ":61.000Z"), `%START_TIME%: "1970-01-01T00:00:61.000Z] \"GET" is not a time such as 2006-01-02T15:04:05.000Z`},
		{"envoy", edit("] ", ") "), `no "] \"" after %START_TIME%`},
		{"envoy", edit(" 200 ", " 2xx "), `%RESPONSE_CODE%: "2xx" is not a status code`},
		{"envoy", edit(" 3 2 ", " 3ms 2 "), `%DURATION%: "3ms" is not a duration`},
		{"envoy", edit("curl/8", `x" "y" "evil.example`), `the line does not end in "\"" after %UPSTREAM_HOST%`},
		{"envoy", edit("/a", "/a b"), `no "\" " after %PROTOCOL%`},
		{"envoy", edit("/a", `/a"`), `no " " after %REQUEST_HEADER(X-ENVOY-ORIGINAL-PATH?:PATH)%`},
		{"envoy", good + "x", `the line does not end in "\"" after %UPSTREAM_HOST%`},
		{"envoy", strings.TrimSuffix(good, ` "a.example" "10.0.0.5:80"`), `no "\" \"" after %REQUEST_HEADER(X-REQUEST-ID)%`},
		{"envoy", edit("curl/8", strings.Repeat("x", maxLine)), `longer than 1048576 bytes`},
		{"%START_TIME% %REQ(:PATH)% %REQ(X)%", "1970-01-01T00:00:01.000Z /a b c", `%REQ(X)%, the last field, has something in it that no value may have`},
		{"nginx", `1.2.3.4 - x [01/Mar/2026:12:00:00 +0000] [01/Mar/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`, `no "] \"" after $time_local`},
		{"nginx", `1.2.3.4 - x [01/Foo/2026:12:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`, `$time_local: "01/Foo/2026:12:00:00 +0000] \"G" is not a time such as 02/Jan/2006:15:04:05 +0000`},
		{"json", `{"start_time":"1970-01-01T00:00:01Z"`, `not a JSON object, at byte 37`},
		{"json", `{"start_time":"1970-01-01T00:00:01Z"}}`, `not a JSON object, at byte 38`},
		{"json", `{"start_time":"noon","path":"/"}`, `"noon" is neither a time nor a number of seconds or milliseconds`},
		{"json", `{"path":"/"}`, `no time in it: no field start_time, timestamp or time`},
		{"json", `{"level":"info","time":"2026-03-01T12:00:00.123456Z","scope":"xdsproxy","msg":"x"}`, `no request in it: no field method, path, authority, response_code or address of the client`},
		{"json", `{"log":"{\"path\":\"/\"}\n","stream":"stdout","time":"2026-03-01T12:00:00.012345678Z"}`, `no request in it: docker has wrapped the lines; undo that with jq -j .log`},
		{"json", `{"time":1,"path":"/","path":"/x"}`, `the name "path" is there twice`},
		{"json", `{"time":1,"path":"/","p\u0061th":"/x"}`, `the name "p\\u0061th" is there twice`},
		{"json", `{"time":1,"path":"\x"}`, `not a JSON object, at byte 19`},
		{"json", `[]`, `not a JSON object, at byte 1`},
	} {
		l := openText(t, test.line+"\n", Options{Format: format(t, test.format)})
		if r, err := l.Next(); err == nil {
			t.Errorf("%s: %.200s is read as %s, want an error", test.format, test.line, say(r))
			continue
		}
		st := l.Stats()
		if st.Lines != 1 || st.Broken != 1 || len(st.Samples) != 1 {
			t.Errorf("%s: %.200s: stats %+v, want one broken line", test.format, test.line, st)
			continue
		}
		if x := st.Samples[0]; x.Error != test.want || x.Line != 1 || x.File != "-" || x.Text != test.line[:min(len(test.line), 200)] {
			t.Errorf("%s: %.200s:\ngot  %s:%d: %s (%s)\nwant -:1: %s", test.format, test.line, x.File, x.Line, x.Error, x.Text, test.want)
		}
	}
}

// TestForgery sends values that are made to look like the rest of a line, in
// each place that a client can write to. A line may be left out, but never say
// something else of another field.
func TestForgery(t *testing.T) {
	values := []string{
		`x" "y" "evil.example`, `x" "y" "evil.example" "10.0.0.5:80"`, `"`, `""`, `" "`, `- - -`, `x HTTP/1.1" 200 - 0 5 3 2 "1.2.3.4" "ua" "id" "evil.example" "h:1"`,
		`a b`, ` `, `a b HTTP/1.1`, `[1970-01-01T00:00:09.000Z] "GET /evil HTTP/1.1"`, `\`, `\x22`, `] "`, `1.2.3.4`, "\t", `x HTTP/1.1`,
	}
	for _, f := range []string{"envoy", "istio", `[%START_TIME%] %REQ(:METHOD)% %REQ(:PATH)% %REQ(USER-AGENT)% u=%REQ(:AUTHORITY)%, %REQ(X-FORWARDED-FOR)%`} {
		f := format(t, f)
		places := []meaning{{kind: method}, {kind: path}, {kind: host}, {header, "user-agent"}, {header, "x-forwarded-for"}}
		for _, place := range places {
			for _, other := range places {
				for _, v := range values {
					for _, w := range values {
						honest := map[meaning]string{{kind: startTime}: "1970-01-01T00:00:01.000Z", {kind: status}: "200", {kind: duration}: "1", {kind: method}: "GET", {kind: path}: "/a", {kind: host}: "a.example", {header, "user-agent"}: "curl", {header, "x-forwarded-for"}: "203.0.113.7"}
						honest[place], honest[other] = v, w
						checkForgery(t, f, honest)
					}
				}
			}
		}
	}
}

// checkForgery fails if a line reads as something else than what it was made of.
func checkForgery(t *testing.T, f *Format, values map[meaning]string) {
	t.Helper()
	text := f.write(func(p *piece) string { return values[p.meaning] })
	b := &block{text: []byte(text)}
	p := must[*parser](t)(newParser(f, nil))
	if p.parse(b, 0, len(text)).why != nothing {
		return
	}
	for _, x := range b.fields {
		m := f.words.meanings[x.what]
		if want, ok := values[m]; ok && string(b.value(&x)) != want {
			t.Fatalf("%s\nsays %q of %s, want %q or a broken line", text, b.value(&x), m.label(), want)
		}
	}
}

// write writes a line of a format, as a proxy does; an empty value is absent.
func (f *Format) write(value func(p *piece) string) string {
	line := f.before
	for i := range f.pieces {
		v := value(&f.pieces[i])
		if v == "" {
			v = "-"
		}
		line += v + f.pieces[i].after
	}
	return line
}

func TestResolution(t *testing.T) {
	for f, want := range map[string]time.Duration{
		"envoy": time.Millisecond, "istio": time.Millisecond, "nginx": time.Second, "json": time.Millisecond,
		"$msec $host": time.Millisecond, "%START_TIME(%s)%": time.Second, "%START_TIME(%FT%T.%6fZ)%": time.Microsecond, "%START_TIME(%FT%T.%fZ)%": time.Microsecond, "%START_TIME(%FT%T.%1fZ)%": 100 * time.Millisecond,
	} {
		if got := format(t, f).Resolution(); got != want {
			t.Errorf("%s: Resolution = %v, want %v", f, got, want)
		}
	}
	for _, test := range []struct {
		lines string
		want  time.Duration
	}{
		{`{"path":"/","time":"2026-03-01T12:00:00Z"}`, time.Second},
		{`{"path":"/","time":"2026-03-01T12:00:00.12Z"}`, 10 * time.Millisecond},
		{`{"path":"/","time":1772366400000}`, time.Millisecond},
		{`{"path":"/","time":"2026-03-01T12:00:00Z"}` + "\n" + `{"path":"/","time":"2026-03-01T12:00:00.123456789Z"}`, time.Microsecond},
		{`{"path":"/","time":"2026-03-01T12:00:00Z"}` + "\n" + `{"msg":"x","time":"2026-03-01T12:00:00.123456789Z"}`, time.Second}, // no request
	} {
		l := openText(t, test.lines, Options{})
		if _, err := paths(t, l); err != nil {
			t.Fatal(err)
		}
		if got := l.Format().Resolution(); got != test.want {
			t.Errorf("%s: Resolution = %v, want %v", test.lines, got, test.want)
		}
	}
}
