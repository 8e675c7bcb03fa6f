package policy

import "strings"

// normalizeHost returns the one spelling of a host that match and key see: in
// lower case, without the port and without the dot at the end. The brackets of
// an IPv6 address are kept.
func normalizeHost(authority string) string {
	host := authority
	if i := strings.LastIndexByte(host, ':'); i >= 0 && i > strings.LastIndexByte(host, ']') {
		host = host[:i]
	}
	host = strings.TrimSuffix(host, ".")
	for i := range len(host) {
		if 'A' <= host[i] && host[i] <= 'Z' {
			return strings.ToLower(host)
		}
	}
	return host
}
