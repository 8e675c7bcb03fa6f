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
	return lowerASCII(host)
}

// lowerASCII leaves every other byte as it is, where [strings.ToLower] would
// make one of several that are no UTF-8.
func lowerASCII(s string) string {
	isUpper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i := range len(s) {
		if !isUpper(s[i]) {
			continue
		}
		lower := []byte(s)
		for j := i; j < len(lower); j++ {
			if isUpper(lower[j]) {
				lower[j] += 'a' - 'A'
			}
		}
		return string(lower)
	}
	return s
}
