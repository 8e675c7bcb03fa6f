package policy

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// A match is a set of conditions, all of which must hold.
type match struct {
	path      *pathMatch
	methods   []string // none: any
	host      *textMatch
	headers   []headerMatch
	clientIPs []netip.Prefix // none: any
	preflight bool           // only CORS preflights
}

// matchers are the conditions, in the order of what they cost.
var matchers = [...]func(*match, *view) (bool, error){
	(*match).matchesPath, (*match).matchesMethod, (*match).matchesHost,
	(*match).matchesHeaders, (*match).matchesClientIP, (*match).matchesPreflight,
}

func (m *match) matches(v *view) (bool, error) {
	if m.unconditional() {
		return true, nil
	}
	for _, holds := range matchers {
		if ok, err := holds(m, v); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// unconditional says whether there are no conditions.
func (m *match) unconditional() bool {
	return m.path == nil && m.host == nil && len(m.methods)|len(m.headers)|len(m.clientIPs) == 0 && !m.preflight
}

func (m *match) matchesPath(v *view) (bool, error) {
	if m.path == nil {
		return true, nil
	}
	path, err := v.normalPath()
	return m.path.matches(path), err
}

// matchesMethod is case-sensitive, as methods are; GET covers HEAD.
func (m *match) matchesMethod(v *view) (bool, error) {
	if len(m.methods) == 0 {
		return true, nil
	}
	method, err := v.Method()
	return slices.Contains(m.methods, method) || method == "HEAD" && slices.Contains(m.methods, "GET"), err
}

func (m *match) matchesHost(v *view) (bool, error) {
	if m.host == nil {
		return true, nil
	}
	host, err := v.host()
	return m.host.matches(host), err
}

func (m *match) matchesHeaders(v *view) (bool, error) {
	for _, h := range m.headers {
		value, err := v.Header(h.name)
		if err != nil || !h.matches(value) {
			return false, err
		}
	}
	return true, nil
}

func (m *match) matchesClientIP(v *view) (bool, error) {
	if len(m.clientIPs) == 0 {
		return true, nil
	}
	text, err := v.ClientAddress()
	addr, ok := parseAddress(text)
	return ok && slices.ContainsFunc(m.clientIPs, func(p netip.Prefix) bool { return p.Contains(addr.WithZone("")) }), err
}

// matchesPreflight holds for a CORS preflight: OPTIONS with an origin and the
// method that it asks leave for (Fetch, 4.8). Any other OPTIONS is none.
func (m *match) matchesPreflight(v *view) (bool, error) {
	if !m.preflight {
		return true, nil
	}
	if method, err := v.Method(); err != nil || method != "OPTIONS" {
		return false, err
	}
	for _, name := range []string{"origin", "access-control-request-method"} {
		if value, err := v.Header(name); err != nil || value == "" {
			return false, err
		}
	}
	return true, nil
}

// A headerMatch is a condition on one header.
type headerMatch struct {
	name string
	textMatch
}

// A textMatch compares a text, which is empty where there is none. At most one
// field is set; none asks that there be a text.
type textMatch struct {
	exact, prefix, suffix string
	regex                 *regexp.Regexp
	pattern               string // of the regex, as it is written
	absent                bool
}

func (m *textMatch) matches(text string) bool {
	switch {
	case m.absent:
		return text == ""
	case m.exact != "":
		return text == m.exact
	case m.prefix != "":
		return strings.HasPrefix(text, m.prefix)
	case m.suffix != "":
		return strings.HasSuffix(text, m.suffix)
	case m.regex != nil:
		return m.regex.MatchString(text)
	default:
		return text != ""
	}
}

// A pathMatch compares the normalised path; its prefix matches whole segments:
// /api and /api/ both match /api, /api/ and /api/users, and not /apis.
type pathMatch struct{ textMatch }

func (m *pathMatch) matches(path string) bool {
	if m.prefix == "" {
		return m.textMatch.matches(path)
	}
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(m.prefix, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
