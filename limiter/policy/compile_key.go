package policy

import "strings"

// key compiles the parts of a key.
func (d *decoder) key(n node) (parts []part) {
	d.items(n, func(n node) { parts = append(parts, d.part(n)) })
	return parts
}

func (d *decoder) part(n node) (p part) {
	p.source = named{} // if a problem is recorded
	text := func(k kind, name func(node) string) func(node) {
		return func(n node) { p = part{k, named{k, name(n)}} }
	}
	always := func(k kind, name string) func(node) {
		return func(n node) {
			if n.kind != 't' {
				d.errorf(n, "want true")
			}
			p = part{k, named{k, name}}
		}
	}
	d.oneOf(n, fields{
		"header":        text(kindHeader, d.headerName),
		"cookie":        text(kindCookie, d.cookieName),
		"query":         text(kindQuery, d.someText),
		"constant":      text(kindConstant, d.someText),
		"client_ip":     func(n node) { p = part{kindClientIP, d.clientIP(n)} },
		"path":          always(kindPath, ""),
		"method":        always(kindMethod, ""),
		"host":          always(kindHost, ""),
		"bearer_token":  always(kindBearer, ""),
		"peer_identity": always(kindPeer, ""),
		"route":         always(kindRoute, "xds\x00route_name"),
		"jwt_claim":     func(n node) { p = part{kindClaim, d.claim(n)} },
		"property":      func(n node) { p = part{kindProperty, named{kindProperty, strings.Join(d.names(n), "\x00")}} },
	})
	return p
}

func (d *decoder) headerName(n node) string { return strings.ToLower(d.token(n, "header name")) }

func (d *decoder) cookieName(n node) string { return d.token(n, "cookie name") }

func (d *decoder) someText(n node) string {
	text := d.text(n)
	if n.kind == '"' && text == "" {
		d.errorf(n, "want at least one byte")
	}
	return text
}

// names is a list of names, none of them empty.
func (d *decoder) names(n node) (names []string) {
	d.some(n, "name", func(n node) { names = append(names, d.pathName(n)) })
	return names
}

// pathName is one element of a property's path, which NUL bytes separate.
func (d *decoder) pathName(n node) string {
	text := d.someText(n)
	if strings.Contains(text, "\x00") {
		d.errorf(n, "want a name without NUL bytes")
	}
	return text
}

// claim is the name of a claim, or an object with the names that lead to it.
func (d *decoder) claim(n node) claimSource {
	key, names := "payload", []string{n.text}
	switch n.kind {
	case '"':
		d.pathName(n)
	case '{':
		d.object(n, fields{
			"names":        func(n node) { names = d.names(n) },
			"provider_key": func(n node) { key = d.pathName(n) },
		}, "names")
	default:
		d.errorf(n, "want a string or an object")
	}
	return newClaimSource(key, names)
}

// clientIP is true, or an object of prefix lengths.
func (d *decoder) clientIP(n node) clientIPSource {
	s := wholeClientIP
	if n.kind == 't' {
		return s
	}
	if n.kind != '{' {
		d.errorf(n, "want true or an object")
		return s
	}
	d.object(n, fields{
		"ipv4_prefix": func(n node) { s.ipv4Prefix = int(d.integer(n, 1, 32)) },
		"ipv6_prefix": func(n node) { s.ipv6Prefix = int(d.integer(n, 1, 128)) },
	})
	return s
}
