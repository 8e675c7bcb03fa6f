package policy

import "testing"

// exempting is the configuration of a rule that always refuses, beside
// exemptions.
func exempting(exemptions string) string {
	return `{"exempt": [` + exemptions + `], "rules": [{"name": "a", "key": [{"client_ip": true}], "limits": [{"requests": 1, "window": "60s"}],
		"overrides": [{"key": ["192.0.2.1"], "block": true}]}]}`
}

func TestExempt(t *testing.T) {
	healthz, put := get("/healthz"), get("/")
	put.method = "PUT"
	host := get("/")
	host.host = "Status.example:80"
	for exemption, c := range map[string]struct{ exempt, blocked []request }{
		`{"path": {"exact": "/healthz"}}`:                       {[]request{healthz, get("//healthz?x")}, []request{get("/"), get("/healthz/x")}},
		`{"methods": ["PUT"]}`:                                  {[]request{put}, []request{get("/")}},
		`{"host": {"exact": "status.example"}}`:                 {[]request{host}, []request{get("/")}},
		`{"headers": [{"name": "x-probe"}]}`:                    {[]request{get("/", "x-probe", "1")}, []request{get("/")}},
		`{"client_ip": ["192.0.2.0/24"]}`:                       {[]request{get("/")}, nil},
		`{"client_ip": ["10.0.0.0/8"]}`:                         {nil, []request{get("/")}},
		`{"client_ip": ["192.0.2.1"], "methods": ["PUT"]}`:      {[]request{put}, []request{get("/")}},
		`{"path": {"exact": "/healthz"}}, {"methods": ["PUT"]}`: {[]request{healthz, put}, []request{get("/")}},
		``: {nil, []request{get("/"), put, healthz}},
	} {
		e := newEvaluator(t, exempting(exemption))
		for range 2 { // exempt beats everything, also a block
			for _, r := range c.exempt {
				if v := e.Evaluate(0, r); v.Reply != nil || len(v.Outcomes) != 0 || v.Err != nil || v.Headers != nil {
					t.Errorf("exempt %s: Evaluate(%v) = %+v, want it to pass uncounted", exemption, r, v)
				}
			}
			for _, r := range c.blocked {
				if v := e.Evaluate(0, r); details(v) != limited("a") {
					t.Errorf("exempt %s: Evaluate(%v) = %q, want it blocked", exemption, r, details(v))
				}
			}
		}
	}
}

// TestPreflight is B62: OPTIONS alone is no free pass.
func TestPreflight(t *testing.T) {
	m := &mustCompile(t, exempting(`{"preflight": true}`)).exempt[0]
	for _, c := range []struct {
		method, origin, asks string
		want                 bool
	}{
		{"OPTIONS", "https://a.example", "POST", true}, {"OPTIONS", "null", "GET", true},
		{"OPTIONS", "", "", false}, {"OPTIONS", "https://a.example", "", false}, {"OPTIONS", "", "POST", false},
		{"GET", "https://a.example", "POST", false}, {"options", "https://a.example", "POST", false}, {"", "https://a.example", "POST", false},
	} {
		r := get("/", "origin", c.origin, "access-control-request-method", c.asks)
		r.method = c.method
		if got, err := m.matches(&view{Request: r}); got != c.want || err != nil {
			t.Errorf("preflight of %+v = %v, %v", c, got, err)
		}
	}
}

func TestExemptClients(t *testing.T) {
	for list, c := range map[string]struct{ inside, outside []string }{
		`"10.0.0.0/8"`: {[]string{"10.1.2.3:80", "10.255.255.255", "[::ffff:10.0.0.1]:9", "::ffff:10.0.0.1"},
			[]string{"11.0.0.0", "9.255.255.255:1", "::a00:1", "", "@/tmp/x", "10.0.0"}},
		`"192.0.2.1"`:               {[]string{"192.0.2.1", "192.0.2.1:5", "::ffff:192.0.2.1"}, []string{"192.0.2.2"}},
		`"::ffff:192.0.2.1"`:        {[]string{"192.0.2.1", "::ffff:192.0.2.1"}, []string{"192.0.2.2"}},
		`"::ffff:10.0.0.0/104"`:     {[]string{"10.1.2.3", "::ffff:10.1.2.3"}, []string{"11.1.2.3", "::1"}},
		`"2001:db8::/32"`:           {[]string{"2001:db8::1", "[2001:db8:ffff::1]:80", "2001:0db8::1"}, []string{"2001:db9::1", "32.1.13.184"}},
		`"fe80::/10"`:               {[]string{"fe80::1%eth0", "[fe80::1%eth0]:80", "fe80::1"}, []string{"fec0::1"}},
		`"::1"`:                     {[]string{"::1", "[::1]:80"}, []string{"::2", "127.0.0.1", "0.0.0.1"}},
		`"0.0.0.0/0"`:               {[]string{"0.0.0.0", "255.255.255.255"}, []string{"::1", "", "@"}},
		`"::/0"`:                    {[]string{"::1", "ffff::"}, []string{"1.2.3.4", "::ffff:1.2.3.4"}},
		`"10.0.0.0/8", "::1"`:       {[]string{"10.0.0.1", "::1"}, []string{"11.0.0.1"}},
		`"::ffff:0.0.0.0/96"`:       {[]string{"1.2.3.4", "::ffff:9.9.9.9"}, []string{"::1"}},
		`"198.51.100.4/30"`:         {[]string{"198.51.100.4", "198.51.100.7"}, []string{"198.51.100.3", "198.51.100.8"}},
		`"2001:db8::5/128", "::/0"`: {[]string{"2001:db8::5"}, nil},
	} {
		m := &mustCompile(t, exempting(`{"client_ip": [`+list+`]}`)).exempt[0]
		for i, client := range append(c.inside, c.outside...) {
			got, err := m.matches(&view{Request: from(client)})
			if want := i < len(c.inside); got != want || err != nil {
				t.Errorf("%s contains %q: %v, %v, want %v", list, client, got, err, want)
			}
		}
	}
}

// TestErrorOfAnExemption: what is not known to be exempt follows on_error.
func TestErrorOfAnExemption(t *testing.T) {
	r := get("/")
	r.err = map[string]error{"client": errBroken}
	e := newEvaluator(t, `{"on_error": "deny", "exempt": [{"client_ip": ["10.0.0.0/8"]}], "rules": []}`)
	e.checkFailure(t, "exempt", e.Evaluate(0, r), "deny", errBroken)
}
