package explain

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/weirproxy/weir/limiter/policy"
)

// A Request is one that is given on the command line.
type Request struct {
	method, target, host, client string
	headers                      map[string]string
	properties                   map[string]string
}

// NewRequest reads a request from its line, "METHOD TARGET", where the target is
// a path or a URL, from headers as in "NAME: VALUE", from the client's address,
// and from properties as in "xds.route_name=checkout". A protocol after the
// target, as in logs, is left out. Errors quote no more than is safe to show.
func NewRequest(line string, headers []string, client string, properties []string) (*Request, error) {
	words := strings.Fields(line)
	if len(words) == 3 && strings.HasPrefix(words[2], "HTTP/") {
		words = words[:2]
	}
	if len(words) != 2 {
		return nil, fmt.Errorf("request %q: want a method, a blank and a path without blanks, as in \"GET /api/x\"", withoutQuery(line))
	}
	r := &Request{method: words[0], client: client, headers: map[string]string{}, properties: map[string]string{}}
	if err := r.aim(words[1]); err != nil {
		return nil, err
	}
	if _, err := netip.ParseAddr(client); err != nil {
		return nil, fmt.Errorf("client %q: want an IP address", client)
	}
	for _, h := range headers {
		if err := r.addHeader(h); err != nil {
			return nil, err
		}
	}
	for _, p := range properties {
		path, value, ok := strings.Cut(p, "=")
		if !ok || path == "" {
			return nil, fmt.Errorf("property %q: want a path, = and a value, as in xds.route_name=checkout", p)
		}
		r.properties[path] = value
	}
	return r, nil
}

// aim sets path and host from a path or a URL.
func (r *Request) aim(target string) error {
	if strings.HasPrefix(target, "/") || target == "*" {
		r.target = target
		return nil
	}
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return fmt.Errorf("target %q: want a path, as in /api/x, or a URL", withoutQuery(target))
	}
	r.host = u.Host
	_, rest, _ := strings.Cut(target, "://")
	r.target = "/"
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		r.target = "/" + strings.TrimPrefix(rest[i:], "/")
	}
	return nil
}

func (r *Request) addHeader(text string) error {
	name, value, ok := strings.Cut(text, ":")
	name = strings.ToLower(name)
	blank := strings.IndexAny(name, " \t")
	if blank >= 0 {
		name = name[:blank] + " …" // which may be a credential
	}
	if !ok || name == "" || blank >= 0 {
		return fmt.Errorf("header %q: want a name, a colon and a value, as in \"x-user-id: alice\"", name)
	}
	value = strings.Trim(value, " \t")
	if name == "host" {
		r.host = value
		return nil
	}
	if before, ok := r.headers[name]; ok {
		value = before + "," + value // as Envoy joins them
	}
	r.headers[name] = value
	return nil
}

// String returns the request's line. A query may hold a secret and is left out.
func (r *Request) String() string { return r.method + " " + withoutQuery(r.target) }

func withoutQuery(target string) string {
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		return target[:i+1] + "…"
	}
	return target
}

// Method implements policy.Request.
func (r *Request) Method() (string, error) { return r.method, nil }

// Path implements policy.Request.
func (r *Request) Path() (string, error) { return r.target, nil }

// Host implements policy.Request.
func (r *Request) Host() (string, error) { return r.host, nil }

// Header implements policy.Request.
func (r *Request) Header(name string) (string, error) { return r.headers[name], nil }

// ClientAddress implements policy.Request.
func (r *Request) ClientAddress() (string, error) { return r.client, nil }

// Property implements policy.Request.
func (r *Request) Property(path string) (string, error) {
	return r.properties[strings.ReplaceAll(path, "\x00", ".")], nil
}

var _ policy.Request = (*Request)(nil)
