package policy

import "strings"

// A match is the conditions of a rule, all of which must hold.
type match struct {
	path    pathMatch
	methods []string // none: any
}

// A pathMatch compares the normalised path. The zero value matches any.
type pathMatch struct {
	exact, prefix string
}

func (m match) matches(method, path string) bool {
	return m.path.matches(path) && m.matchesMethod(method)
}

// matches compares whole segments: the prefixes /api and /api/ both match
// /api, /api/ and /api/users, and not /apis.
func (m pathMatch) matches(path string) bool {
	switch {
	case m.exact != "":
		return path == m.exact
	case m.prefix != "":
		prefix := strings.TrimSuffix(m.prefix, "/")
		rest, ok := strings.CutPrefix(path, prefix)
		return ok && (rest == "" || rest[0] == '/')
	default:
		return true
	}
}

// matchesMethod is case-sensitive, as methods are; GET covers HEAD.
func (m match) matchesMethod(method string) bool {
	for _, want := range m.methods {
		if method == want || want == "GET" && method == "HEAD" {
			return true
		}
	}
	return len(m.methods) == 0
}
