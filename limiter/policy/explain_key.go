package policy

import (
	"net/netip"
	"strings"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// A KeyPart is one part of a key, for people to read.
type KeyPart struct {
	// Source is what the part is read from, as in: header x-user-id.
	Source string

	// Value is what it is; empty if the part is missing and nothing stands in
	// for it. An address is written as such, and with its prefix if that is
	// shorter than the address.
	Value string

	// Missing says that the request lacks the part. Value is then the client's
	// address, if on_missing_key has it stand in.
	Missing bool

	// Secret says that the value is likely a credential, which must not be
	// shown: a token, a cookie, or what is named like one.
	Secret bool
}

// Key returns the parts of the key that a rule, by its index, makes of a
// request. The error is of the Request.
func (p *Policy) Key(rule int, req Request) ([]KeyPart, error) {
	return p.Rules[rule].explainKey(&view{Request: req})
}

func (r *Rule) explainKey(v *view) (parts []KeyPart, err error) {
	for _, p := range r.key {
		x := KeyPart{Source: p.label(), Secret: p.isSecret()}
		value, err := p.source.value(v)
		if err != nil {
			return nil, err
		}
		source := p.source
		if x.Missing = value == ""; x.Missing {
			x.Secret = false
			if r.onMissing == missingClientIP {
				source = wholeClientIP
				if value, err = source.value(v); err != nil {
					return nil, err
				}
			}
		}
		x.Value = value
		if s, ok := source.(clientIPSource); ok {
			x.Value = s.text(value)
		}
		parts = append(parts, x)
	}
	return parts, nil
}

// KeySources are the sources of the parts of the rule's key, as in: header
// x-user-id.
func (r *Rule) KeySources() (sources []string) {
	for _, p := range r.key {
		sources = append(sources, p.label())
	}
	return sources
}

var kindNames = [...]string{
	kindHeader: "header", kindClientIP: "client_ip", kindConstant: "constant", kindCookie: "cookie", kindQuery: "query",
	kindPath: "path", kindMethod: "method", kindHost: "host", kindBearer: "bearer_token", kindClaim: "jwt_claim",
	kindPeer: "peer_identity", kindRoute: "route", kindProperty: "property",
}

// label returns the source as a reader of the configuration would name it.
func (p part) label() string {
	name := ""
	switch s := p.source.(type) {
	case named:
		name = strings.ReplaceAll(s.name, "\x00", ".")
	case claimSource:
		_, name, _ = strings.Cut(strings.TrimPrefix(s.path, claimPath), "\x00") // after the provider's key
		name = strings.ReplaceAll(name, "\x00", ".")
	case clientIPSource:
		if s != wholeClientIP {
			name = brief.Sprintf("/%d or /%d", s.ipv4Prefix, s.ipv6Prefix)
		}
	}
	if p.kind == kindRoute || name == "" {
		return kindNames[p.kind]
	}
	return kindNames[p.kind] + " " + name
}

// isSecret says whether the value is likely a credential, by its kind or by
// words in its name.
func (p part) isSecret() bool {
	switch p.kind {
	case kindBearer, kindCookie:
		return true
	case kindHeader, kindQuery, kindProperty:
		return IsCredential(p.source.(named).name)
	}
	return false
}

// IsCredential says whether a header, a query parameter or a property is called
// as if it held one.
func IsCredential(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"auth", "cookie", "credential", "key", "passw", "pwd", "secret", "session", "sig", "token"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// text writes the encoded network for people.
func (s clientIPSource) text(network string) string {
	if network == "" {
		return ""
	}
	addr, ok := netip.AddrFromSlice([]byte(network[1:]))
	if !ok || int(network[0]) != len(network)-1 {
		return network[1:] // what the proxy said in place of an address
	}
	bits := s.ipv6Prefix
	if addr.Is4() {
		bits = s.ipv4Prefix
	}
	if bits == addr.BitLen() {
		return addr.String()
	}
	return netip.PrefixFrom(addr, bits).String()
}
