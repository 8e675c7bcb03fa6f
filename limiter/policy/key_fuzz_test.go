package policy

import (
	"fmt"
	"testing"
)

// everySource is a source of each kind. The parts of a key that FuzzKey makes
// are called a and b.
func everySource(name string) []part {
	sources := []part{
		{kindClientIP, clientIPSource{32, 128}},
		{kindClaim, newClaimSource("payload", []string{name})},
	}
	for _, k := range []kind{kindHeader, kindCookie, kindQuery, kindConstant, kindPath, kindMethod, kindHost, kindBearer, kindPeer, kindRoute, kindProperty} {
		sources = append(sources, part{k, named{k, name}})
	}
	return sources
}

// saying is a request in which every source finds something made of a or b.
func saying(a, b, client string) request {
	r := get("/"+a+"?a="+a+"&b="+b, "a", a, "b", b, "cookie", "a="+a+"; b="+b, "authorization", "Bearer "+a)
	r.method, r.host, r.client = a, b, client
	r.properties = map[string]string{"a": a, "b": b, claimPath + "payload\x00a": a, claimPath + "payload\x00b": b, "connection\x00uri_san_peer_certificate": a}
	return r
}

// found is what stands in a key, in a form that cannot be read in two ways.
func found(t *testing.T, parts []part, v *view) string {
	var all [][2]string
	for _, p := range parts {
		value, err := p.source.value(v)
		kind := fmt.Sprint(p.kind)
		if value == "" {
			kind = "fallback"
			if value, err = wholeClientIP.value(v); value == "" {
				kind = "missing"
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, [2]string{kind, value})
	}
	return fmt.Sprintf("%q", all)
}

// FuzzKey: two keys of two parts each, of any kinds, are encoded alike if and
// only if their parts are of the same kinds and have the same values.
func FuzzKey(f *testing.F) {
	f.Add(uint32(0x02_03_02_03), "a", "ab", "aa", "b", "1.2.3.4", "1.2.3.5")
	f.Add(uint32(0x02_02_02_02), "", "v", "v", "", "1.2.3.4", "1.2.3.4")
	f.Add(uint32(0x02_00_00_02), "", "", "", "1.2.3.4", "1.2.3.4", "")
	f.Add(uint32(0x04_05_02_01), "\x02\x01", "", "\x02", "\x01", "@/tmp/x", "")
	f.Add(uint32(0x09_08_0a_0b), "a;b", "%61&", "a", "b", "[2001:db8::1]:1", "2001:db8::2")
	for i := range uint32(13) {
		f.Add(i<<24|(i+1)<<16|(i+1)<<8|i, "v", "v", "v", "v", "1.2.3.4", "1.2.3.4")
	}
	as, bs := everySource("a"), everySource("b")
	f.Fuzz(func(t *testing.T, kinds uint32, a1, b1, a2, b2, client1, client2 string) {
		pick := func(sources []part, shift int) part { return sources[int(kinds>>shift&0xff)%len(sources)] }
		encode := func(parts []part, r request) (key, what string) {
			v := &view{Request: r}
			b, complete, err := (&Rule{key: parts, onMissing: missingClientIP}).appendKey(nil, v)
			if err != nil || !complete {
				t.Fatalf("appendKey(%v) = %q, %v, %v, want a key", r, b, complete, err)
			}
			return string(b), found(t, parts, v)
		}
		key1, what1 := encode([]part{pick(as, 24), pick(bs, 16)}, saying(a1, b1, client1))
		key2, what2 := encode([]part{pick(as, 8), pick(bs, 0)}, saying(a2, b2, client2))
		if same, alike := what1 == what2, key1 == key2; same != alike {
			t.Errorf("keys of %s and %s are the same: %v, want %v", what1, what2, alike, same)
		}
	})
}
