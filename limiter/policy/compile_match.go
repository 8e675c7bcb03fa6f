package policy

import (
	"errors"
	"net/netip"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Bounds of a regular expression: its length, and the size of its program,
// which bounds the memory and, times the length of the text, the time.
const (
	maxRegex        = 1000
	maxRegexProgram = 250
)

func (d *decoder) match(n node, m *match) { d.object(n, d.conditions(m)) }

// exemption is a match that is not empty, and may ask for a client.
func (d *decoder) exemption(n node) (m match) {
	conditions := d.conditions(&m)
	conditions["client_ip"] = func(n node) {
		d.some(n, "address", func(n node) { m.clientIPs = append(m.clientIPs, d.network(n)) })
	}
	conditions["preflight"] = func(n node) {
		if m.preflight = n.kind == 't'; !m.preflight {
			d.errorf(n, "want true")
		}
	}
	d.object(n, conditions)
	if n.kind == '{' && len(n.members) == 0 {
		d.errorf(n, "want at least one condition: none would exempt everything")
	}
	return m
}

func (d *decoder) conditions(m *match) fields {
	return fields{
		"path": func(n node) {
			p := pathMatch{d.textMatch(n, nil, d.path, d.path, d.pathEnd)}
			m.path = &p
		},
		"host": func(n node) {
			lower := func(n node) string { return strings.ToLower(d.someText(n)) }
			h := d.textMatch(n, nil, d.host, lower, lower)
			m.host = &h
		},
		"headers": func(n node) {
			d.some(n, "header", func(n node) { m.headers = append(m.headers, d.headerMatch(n)) })
		},
		"methods": func(n node) {
			d.some(n, "method", func(n node) { m.methods = append(m.methods, d.method(n)) })
		},
	}
}

// textMatch is an object of exactly one condition on a text, beside the
// further fields.
func (d *decoder) textMatch(n node, further fields, exact, prefix, suffix func(node) string) (m textMatch) {
	conditions := fields{
		"exact":  func(n node) { m.exact = exact(n) },
		"prefix": func(n node) { m.prefix = prefix(n) },
		"suffix": func(n node) { m.suffix = suffix(n) },
		"regex":  func(n node) { m.regex, m.pattern = d.regex(n), n.text },
	}
	if further == nil {
		d.oneOf(n, conditions)
		return m
	}
	conditions["present"] = func(n node) { m.absent = !d.bool(n) }
	for name, set := range further {
		conditions[name] = set
	}
	d.object(n, conditions, "name")
	if n.kind == '{' && len(n.members) > len(further)+1 {
		d.errorf(n, `want at most one of "exact", "prefix", "suffix", "regex", "present"`)
	}
	return m
}

func (d *decoder) headerMatch(n node) (h headerMatch) {
	n.members = hideCredential(n.members)
	h.textMatch = d.textMatch(n, fields{"name": func(n node) { h.name = d.headerName(n) }}, d.someText, d.someText, d.someText)
	return h
}

// hideCredential marks what a header is compared with if its name is that of a
// credential.
func hideCredential(members []member) []member {
	isName := func(m member) bool { return m.name == "name" && IsCredential(m.value.text) }
	if !slices.ContainsFunc(members, isName) {
		return members
	}
	members = slices.Clone(members)
	for i := range members {
		members[i].value.secret = members[i].name != "name"
	}
	return members
}

// path is a path to compare with the normalised ones.
func (d *decoder) path(n node) string {
	text := d.text(n)
	if n.kind == '"' && !strings.HasPrefix(text, "/") {
		d.errorf(n, "want a path that begins with /")
		return text
	}
	d.pathOnly(n)
	return normalizePath(text)
}

// pathEnd is the end of a normalised path.
func (d *decoder) pathEnd(n node) string {
	text := d.someText(n)
	d.pathOnly(n)
	return decodeUnreserved(text)
}

func (d *decoder) pathOnly(n node) {
	if n.kind == '"' && strings.ContainsAny(n.text, "?#") {
		d.errorf(n, "want a path without query or fragment, which are not compared")
	}
}

// host is a host to compare with the normalised ones.
func (d *decoder) host(n node) string {
	host := normalizeHost(d.text(n))
	if n.kind == '"' && host == "" {
		d.errorf(n, "want a host")
	}
	return host
}

// regex must match the whole text. It is parsed by itself, so that it cannot
// close the group around it.
func (d *decoder) regex(n node) *regexp.Regexp {
	text := d.someText(n)
	if len(text) > maxRegex {
		d.errorf(n, "want at most %d bytes", maxRegex)
		return nil
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	var wrong *syntax.Error
	if errors.As(err, &wrong) {
		d.errorf(n, "not a regular expression: %s", wrong.Code)
		return nil
	}
	if program, err := syntax.Compile(parsed.Simplify()); err != nil || len(program.Inst) > maxRegexProgram {
		d.errorf(n, "the regular expression is too large")
		return nil
	}
	whole, err := regexp.Compile("^(?:" + parsed.String() + ")$")
	if err != nil {
		d.errorf(n, "not a regular expression")
	}
	return whole
}

// network is an address or a range of them, such as 10.0.0.0/8.
func (d *decoder) network(n node) netip.Prefix {
	text := d.text(n)
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap()
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		if n.kind == '"' {
			d.errorf(n, `want an IP address or a range such as "10.0.0.0/8"`)
		}
		return prefix
	}
	if prefix.Masked() != prefix {
		d.errorf(n, "the address has bits beyond its prefix, did you mean %q?", prefix.Masked())
	}
	if addr := prefix.Addr(); addr.Is4In6() { // has 96 bits before the IPv4 address
		return netip.PrefixFrom(addr.Unmap(), max(0, prefix.Bits()-96))
	}
	return prefix
}
