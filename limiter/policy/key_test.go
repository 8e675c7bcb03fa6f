package policy

import (
	"bytes"
	"testing"
)

// window returns the encoded key of a request under a policy's first rule.
func (p *Policy) window(t testing.TB, r request) string {
	t.Helper()
	key, complete, err := p.Rules[0].appendKey(nil, &view{Request: r})
	if err != nil || !complete {
		t.Fatalf("appendKey(%v) = %q, %v, %v, want a key", r, key, complete, err)
	}
	return string(key)
}

// TestNoValueImitatesAnother is B10.
func TestNoValueImitatesAnother(t *testing.T) {
	const both = `"key": [{"header": "x-a"}, {"header": "x-b"}], "on_missing_key": "shared"`
	for _, s := range []string{":", "|", "/", ",", ";", "=", "&", "\x1f", "%3A", `\`, "", "\x00", "\x01", "\x02", "\x02\x01", "\n", " ", ", "} {
		requests := []request{
			get("/", "x-a", "p"+s+"q", "x-b", "r"),
			get("/", "x-a", "p", "x-b", "q"+s+"r"),
			get("/", "x-a", "p"+s+"q"+s+"r"),
			get("/", "x-b", "p"+s+"q"+s+"r"),
			get("/", "x-a", "", "x-b", "v"+s), // equals a missing x-a; see below
			get("/", "x-a", "v"+s, "x-b", ""),
			get("/", "x-a", "r", "x-b", "p"+s+"q"),
		}
		e := newEvaluator(t, one("1", both))
		for i, r := range requests {
			e.run(t, []step{{req: r}})
			e.run(t, []step{{req: r, want: limited("a")}})
			if t.Failed() {
				t.Fatalf("separator %q, request %d", s, i)
			}
		}
		e.run(t, []step{{req: get("/", "x-b", "v"+s), want: limited("a")}}) // absent and empty are the same
	}
}

// TestPartsInAnotherOrder is the end of B10: two rules, the parts swapped.
func TestPartsInAnotherOrder(t *testing.T) {
	newEvaluator(t, `{"rules": [
		{"name": "ab", "key": [{"header": "x-a"}, {"header": "x-b"}], "limits": [{"requests": 1, "window": "60s"}]},
		{"name": "ba", "key": [{"header": "x-b"}, {"header": "x-a"}], "limits": [{"requests": 1, "window": "60s"}]}]}`,
	).run(t, []step{
		{req: get("/", "x-a", "1", "x-b", "2")},
		{req: get("/", "x-a", "2", "x-b", "1")},
		{req: get("/", "x-a", "2", "x-b", "1"), want: limited("ab")},
	})
}

// TestKindsStayApart gives sources of different kinds the same text.
func TestKindsStayApart(t *testing.T) {
	p := mustCompile(t, one("1", `"key": [{"header": "x-a"}]`))
	fallback := p.window(t, from("1.2.3.4"))
	seen := map[string]string{fallback: "fallback to the address"}
	for _, text := range []string{"1.2.3.4", "\x01\x02\x03\x04", "\x04\x01\x02\x03\x04", fallback} {
		key := p.window(t, get("/", "x-a", text))
		if other := seen[key]; other != "" {
			t.Errorf("key of header %q = key of %s, want another", text, other)
		}
		seen[key] = "header " + text
	}
}

// TestMissingKey is B11: for each setting, what absent and empty headers
// share, with a rule of two headers of which only the second may be missing.
func TestMissingKey(t *testing.T) {
	a, b := "192.0.2.1:1", "192.0.2.2:2"
	for setting, want := range map[string]string{
		`"on_missing_key": "client_ip"`: "own", ``: "own", `"on_missing_key": "shared"`: "shared",
		`"on_missing_key": "skip"`: "passes", `"on_missing_key": "reject"`: "refused",
	} {
		for _, absent := range []bool{true, false} {
			req := func(client, x string) request {
				r := get("/", "x-a", "same")
				if r.client = client; x != "" || !absent {
					r.headers["x-b"] = x
				}
				return r
			}
			steps := map[string][]step{
				"own":     {{req: req(a, "")}, {req: req(b, "")}, {req: req(a, ""), want: limited("a")}, {req: req(b, ""), want: limited("a")}},
				"shared":  {{req: req(a, "")}, {req: req(b, ""), want: limited("a")}, {req: req(a, ""), want: limited("a")}},
				"passes":  {{req: req(a, "")}, {req: req(a, "")}, {req: req(b, "")}},
				"refused": {{req: req(a, ""), want: limited("a")}, {req: req(b, ""), want: limited("a")}},
			}[want]
			steps = append(steps, step{req: req(a, "z")}, step{req: req(b, "z"), want: limited("a")}) // z is a key as any
			members := `"key": [{"header": "x-a"}, {"header": "x-b"}]`
			if setting != "" {
				members += ", " + setting
			}
			e := newEvaluator(t, one("1", members))
			if e.run(t, steps); t.Failed() {
				t.Fatalf("setting %s, absent %v", setting, absent)
			}
		}
	}
}

// TestEachPartMayBeMissing keeps apart which of the parts is missing.
func TestEachPartMayBeMissing(t *testing.T) {
	for _, setting := range []string{"client_ip", "shared"} {
		p := mustCompile(t, one("1", `"key": [{"header": "x-a"}, {"header": "x-b"}], "on_missing_key": "`+setting+`"`))
		seen := map[string]int{}
		for i, r := range []request{get("/"), get("/", "x-a", "v"), get("/", "x-b", "v"), get("/", "x-a", "v", "x-b", "v")} {
			key := p.window(t, r)
			if other, ok := seen[key]; ok {
				t.Errorf("%s: key of request %d = key of request %d, want another", setting, i, other)
			}
			seen[key] = i
		}
	}
}

// TestClientIP lists, for settings of client_ip, addresses that share a window
// in one line each (B13, B18).
func TestClientIP(t *testing.T) {
	for setting, windows := range map[string][][]string{
		`true`: {
			{"198.51.100.7:40001", "198.51.100.7:40002", "198.51.100.7", "[::ffff:198.51.100.7]:9", "::ffff:198.51.100.7", "::ffff:c633:6407"},
			{"198.51.100.8:40001"}, {"1.2.3.4", "::ffff:1.2.3.4", "[::ffff:1.2.3.4]:80"},
			{"[2001:db8::1]:1", "[2001:db8::1]:2", "2001:db8::1", "2001:db8:0:0:ffff::2", "2001:0db8:0000:0000:0000:0000:0000:0001"},
			{"2001:db8:1:2::1", "2001:db8:1:2::2", "[2001:db8:1:2:ffff:ffff:ffff:ffff]:65535"}, {"2001:db8:1:3::1"},
			{"fe80::1%eth0", "fe80::1%eth1", "[fe80::1%eth0]:1", "fe80::2"},
			{"64:ff9b::8.8.8.8", "64:ff9b::9.9.9.9"}, // NAT64: one network, like any other /64
			{"@/tmp/x"}, {"@/tmp/y"}, {"/run/x.sock"}, {"envoy://internal/1"}, {""}, {"@"},
			{"64.47.97.98"}, {"@/ab"}, // the same four bytes
			{"2001"}, {"1.2.3"}, {"1.2.3.4.5"}, {"1.2.3.4:x"}, {"[2001:db8::1]"},
		},
		`{"ipv4_prefix": 24}`:  {{"198.51.100.7:1", "198.51.100.255", "::ffff:198.51.100.0"}, {"198.51.101.7:1"}, {"2001:db8::1", "2001:db8::2"}},
		`{"ipv4_prefix": 1}`:   {{"1.2.3.4", "127.255.255.255"}, {"128.0.0.0", "255.255.255.255"}},
		`{"ipv6_prefix": 56}`:  {{"2001:db8:1:200::1", "2001:db8:1:2ff::1"}, {"2001:db8:1:300::1"}, {"1.2.3.4"}, {"1.2.3.5"}},
		`{"ipv6_prefix": 128}`: {{"2001:db8::1", "[2001:db8::1]:5"}, {"2001:db8::2"}},
		`{}`:                   {{"2001:db8::1", "2001:db8::2"}, {"1.2.3.4"}, {"1.2.3.5"}},
	} {
		p := mustCompile(t, one("1", `"key": [{"client_ip": `+setting+`}]`))
		seen := map[string]string{}
		for _, window := range windows {
			key := p.window(t, from(window[0]))
			if other, ok := seen[key]; ok {
				t.Errorf("client_ip %s: %q and %q share a window, want two", setting, other, window[0])
			}
			seen[key] = window[0]
			for _, client := range window[1:] {
				if p.window(t, from(client)) != key {
					t.Errorf("client_ip %s: %q and %q have two windows, want one", setting, window[0], client)
				}
			}
		}
	}
}

// TestRotationInAPrefix is the trace of B18.
func TestRotationInAPrefix(t *testing.T) {
	steps := []step{{req: from("[2001:db8:1:3::1]:1")}}
	for i, want := range []string{"", "", "", limited("a"), limited("a")} {
		steps = append(steps, step{req: from("2001:db8:1:2::" + string(rune('1'+i))), want: want})
	}
	newEvaluator(t, one("3", `"key": [{"client_ip": true}]`)).run(t, steps)
}

// TestIdentity: what makes a rule another one, and what does not.
func TestIdentity(t *testing.T) {
	const rule = `"name": "a", "key": [{"header": "x-a"}], "limits": [{"requests": 1, "window": "1s"}]`
	id := func(namespace, members string) []byte {
		p := mustCompile(t, `{"namespace": "`+namespace+`", "rules": [{`+members+`}]}`)
		return p.Rules[0].id[:]
	}
	for name, c := range map[string]struct {
		namespace, members string
		same               bool
	}{
		"same":      {"n", rule, true},
		"spelling":  {"n", `"name": "a", "key": [{"header": "X-A"}], "limits": [{"requests": 1, "window": "1s"}]`, true},
		"match":     {"n", rule + `, "match": {"path": {"exact": "/"}}, "on_missing_key": "skip"`, true},
		"limits":    {"n", `"name": "a", "key": [{"header": "x-a"}], "limits": [{"requests": 2, "window": "2s"}]`, true},
		"namespace": {"na", rule, false},
		"name":      {"n", `"name": "b", "key": [{"header": "x-a"}], "limits": [{"requests": 1, "window": "1s"}]`, false},
		"kind":      {"n", `"name": "a", "key": [{"constant": "x-a"}], "limits": [{"requests": 1, "window": "1s"}]`, false},
		"header":    {"n", `"name": "a", "key": [{"header": "x-b"}], "limits": [{"requests": 1, "window": "1s"}]`, false},
		"no key":    {"n", `"name": "a", "key": [], "limits": [{"requests": 1, "window": "1s"}]`, false},
		"twice":     {"n", `"name": "a", "key": [{"header": "x-a"}, {"header": "x-a"}], "limits": [{"requests": 1, "window": "1s"}]`, false},
	} {
		if got := bytes.Equal(id("n", rule), id(c.namespace, c.members)); got != c.same {
			t.Errorf("%s: the rules have the same identity: %v, want %v", name, got, c.same)
		}
	}
}

// TestIdentityOfEverySource: any two keys of one or two parts are two.
func TestIdentityOfEverySource(t *testing.T) {
	sources := append(everySource("a"), everySource("b")...)
	sources[len(everySource("a"))] = part{kindClientIP, clientIPSource{32, 64}} // has no name
	sources = append(sources, part{kindClaim, newClaimSource("jwt", []string{"a"})}, part{kindProperty, named{kindProperty, "a\x00b"}})
	seen := map[[8]byte][]part{}
	check := func(key ...part) {
		r := &Rule{Name: "a", key: key}
		r.identify("n")
		if other, ok := seen[r.id]; ok {
			t.Errorf("keys %v and %v have one identity", other, key)
		}
		seen[r.id] = key
	}
	for _, first := range sources {
		check(first)
		for _, second := range sources {
			check(first, second)
		}
	}
}
