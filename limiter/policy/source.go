package policy

import (
	"strings"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// A source finds the value of a part of a key in a request; an empty one is
// missing.
type source interface {
	value(v *view) (string, error)

	// appendDefinition appends what the source is, injectively.
	appendDefinition(b []byte) []byte

	// literal turns what an override says of the part into the value that the
	// source would find.
	literal(text string) (string, error)
}

// A kind tells sources apart in an encoded key. The numbers are part of the
// stored format.
type kind byte

const (
	kindMissing  kind = 0 // the part is missing, and all such share a window
	kindFallback kind = 1 // the part is missing, and a client address stands in
	kindHeader   kind = 2
	kindClientIP kind = 3
	kindConstant kind = 4
	kindCookie   kind = 5
	kindQuery    kind = 6
	kindPath     kind = 7
	kindMethod   kind = 8
	kindHost     kind = 9
	kindBearer   kind = 10
	kindClaim    kind = 11
	kindPeer     kind = 12
	kindRoute    kind = 13
	kindProperty kind = 14
)

// named is a source of a kind that needs a name, or nothing, to be found.
type named struct {
	kind kind
	name string // of the header, cookie, parameter or property, or the constant
}

func (s named) value(v *view) (string, error) {
	switch s.kind {
	case kindHeader:
		return v.Header(s.name)
	case kindCookie:
		return cookieValue(v, s.name)
	case kindQuery:
		return queryValue(v, s.name)
	case kindPath:
		return v.normalPath()
	case kindMethod:
		return v.Method()
	case kindHost:
		return v.host()
	case kindBearer:
		return bearerValue(v)
	case kindPeer:
		return peerValue(v)
	case kindRoute, kindProperty:
		return v.Property(s.name)
	default:
		return s.name, nil
	}
}

func (s named) appendDefinition(b []byte) []byte { return appendBytes(b, s.name) }

func (s named) literal(text string) (string, error) {
	switch {
	case s.kind == kindPath:
		return normalizePath(text), nil
	case s.kind == kindHost:
		return normalizeHost(text), nil
	case s.kind == kindConstant && text != s.name:
		return "", brief.Errorf("%q is not the constant of the key, which is %q", text, s.name)
	default:
		return text, nil
	}
}

// bearerValue returns the token of an Authorization header (RFC 6750, 2.1).
// It goes into the keyed hash of the key and nowhere else.
func bearerValue(v *view) (string, error) {
	header, err := v.Header("authorization")
	const scheme = "bearer "
	if err != nil || len(header) < len(scheme) || !strings.EqualFold(header[:len(scheme)], scheme) {
		return "", err
	}
	return strings.Trim(header[len(scheme):], " "), nil
}

// peerValue returns the identity in the client's certificate that was verified:
// its first URI SAN, which a mesh uses, or its first DNS SAN, or its subject.
func peerValue(v *view) (string, error) {
	for _, path := range []string{
		"connection\x00uri_san_peer_certificate",
		"connection\x00dns_san_peer_certificate",
		"connection\x00subject_peer_certificate",
	} {
		if value, err := v.Property(path); err != nil || value != "" {
			return value, err
		}
	}
	return "", nil
}

// cookieValue returns the value of the first cookie of the name (RFC 6265,
// 4.2.1), read as the standard library does: the name is case-sensitive,
// blanks around a pair are cut, and so is one pair of double quotes around the
// value. A cookie without "=" is none. Repeated Cookie headers come joined by
// commas, which no value may have, and are as good as one.
func cookieValue(v *view, name string) (string, error) {
	rest, err := v.Header("cookie")
	if err != nil {
		return "", err
	}
	for rest != "" {
		pair := rest
		if i := strings.IndexAny(rest, ";,"); i >= 0 {
			pair, rest = rest[:i], rest[i+1:]
		} else {
			rest = ""
		}
		key, value, ok := strings.Cut(strings.Trim(pair, " \t"), "=")
		if !ok || strings.Trim(key, " \t") != name {
			continue
		}
		value = strings.Trim(value, " \t")
		if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
			value = value[1 : len(value)-1]
		}
		return value, nil
	}
	return "", nil
}

// queryValue returns the first value of a query parameter, decoded as a form
// is: "+" is a blank. A name is case-sensitive, and what is not escaped as it
// should be is no parameter.
func queryValue(v *view, name string) (string, error) {
	target, err := v.rawPath()
	if err != nil {
		return "", err
	}
	target, _, _ = strings.Cut(target, "#")
	_, rest, more := strings.Cut(target, "?")
	for more {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		key, value, _ := strings.Cut(pair, "=")
		if key, ok := unescapeForm(key); !ok || key != name {
			continue
		}
		if value, ok := unescapeForm(value); ok {
			return value, nil
		}
	}
	return "", nil
}

func unescapeForm(s string) (string, bool) {
	if !strings.ContainsAny(s, "%+") {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] != '%':
			out = append(out, s[i])
		case i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			out = append(out, unhex(s[i+1])<<4|unhex(s[i+2]))
			i += 2
		default:
			return "", false
		}
	}
	return string(out), true
}
