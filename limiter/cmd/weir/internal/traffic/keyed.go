package traffic

import (
	"net/url"
	"strings"

	"github.com/weirproxy/weir/limiter/policy"
)

// Names are the parts of requests that tell clients apart.
type Names struct {
	headers []string // in lower case
	cookies []string
	queries []string // escaped
}

// Keyed returns the parts of requests that the rules of a policy are keyed by.
func Keyed(p *policy.Policy) *Names {
	n := &Names{}
	for _, rule := range p.Rules {
		for _, source := range rule.KeySources() {
			kind, name, _ := strings.Cut(source, " ")
			switch kind {
			case "header":
				n.headers = append(n.headers, name)
			case "bearer_token":
				n.headers = append(n.headers, "authorization")
			case "cookie":
				n.cookies = append(n.cookies, name)
			case "query":
				n.queries = append(n.queries, url.QueryEscape(name))
			}
		}
	}
	return n
}
