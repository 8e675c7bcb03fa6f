package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// Bounds of a configuration.
const (
	maxName       = 64
	minWindow     = time.Millisecond
	maxLogRequest = 1_000_000
	defaultKeys   = 100_000
)

// Compile reads a configuration. The namespace is the one to use where the
// configuration gives none. The error names everything that is wrong, each
// problem after the path that it lies at, in one line.
func Compile(data []byte, namespace string) (*Policy, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, fmt.Errorf("the configuration is %s: want an object", root)
	}
	var d decoder
	p := d.policy(root, namespace)
	if err := d.err(); err != nil {
		return nil, err
	}
	return p, nil
}

func (d *decoder) policy(n node, namespace string) *Policy {
	p := &Policy{
		Namespace:  namespace,
		Store:      Store{MaxKeys: defaultKeys, OnFull: Allow},
		OnError:    Allow,
		reply:      reply{status: 429, body: "local_rate_limited"},
		retryAfter: true,
	}
	d.object(n, fields{
		"rules":     func(n node) { d.items(n, func(n node) { p.Rules = append(p.Rules, d.rule(n)) }) },
		"reply":     func(n node) { d.reply(n, &p.reply) },
		"headers":   func(n node) { p.retryAfter = d.headers(n) },
		"on_error":  func(n node) { p.OnError = d.action(n) },
		"store":     func(n node) { d.store(n, &p.Store) },
		"namespace": func(n node) { p.Namespace = d.namespace(n) },
	}, "rules")
	names := map[string]bool{}
	for i, r := range p.Rules {
		if r.Name != "" && names[r.Name] {
			d.problem(fmt.Sprintf("rules[%d].name", i), fmt.Sprintf("%q: another rule has this name", r.Name))
		}
		names[r.Name] = true
		r.identify(p.Namespace)
		p.needsMethod = p.needsMethod || len(r.match.methods) > 0
		p.needsPath = p.needsPath || r.match.path != (pathMatch{})
	}
	return p
}

func (d *decoder) rule(n node) *Rule {
	r := &Rule{onMissing: missingClientIP}
	d.object(n, fields{
		"name":  func(n node) { r.Name = d.name(n) },
		"match": func(n node) { d.match(n, &r.match) },
		"key":   func(n node) { d.items(n, func(n node) { r.key = append(r.key, d.part(n)) }) },
		"on_missing_key": func(n node) {
			r.onMissing = missing(d.choice(n, string(missingClientIP), string(missingSkip), string(missingReject), string(missingShared)))
		},
		"limits": func(n node) { r.Limits = d.limits(n) },
	}, "name", "key", "limits")
	return r
}

func (d *decoder) name(n node) string {
	text := d.text(n)
	bad := strings.IndexFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_')
	})
	if n.kind == '"' && (text == "" || len(text) > maxName || bad >= 0) {
		d.errorf(n, "want 1 to %d of a-z, 0-9, - and _", maxName)
	}
	return text
}

func (d *decoder) namespace(n node) string {
	text := d.text(n)
	if n.kind == '"' && (text == "" || len(text) > maxName) {
		d.errorf(n, "want 1 to %d bytes", maxName)
	}
	return text
}

func (d *decoder) match(n node, m *match) {
	d.object(n, fields{
		"path": func(n node) { m.path = d.pathMatch(n) },
		"methods": func(n node) {
			d.items(n, func(n node) { m.methods = append(m.methods, d.method(n)) })
			if n.kind == '[' && len(n.items) == 0 {
				d.errorf(n, "want at least one method")
			}
		},
	})
}

func (d *decoder) pathMatch(n node) (m pathMatch) {
	path := func(set *string) func(node) {
		return func(n node) {
			*set = d.text(n)
			if n.kind == '"' && !strings.HasPrefix(*set, "/") {
				d.errorf(n, "want a path that begins with /")
			} else if strings.ContainsAny(*set, "?#") {
				d.errorf(n, "want a path without query or fragment, which are not compared")
			}
			*set = normalizePath(*set)
		}
	}
	d.oneOf(n, fields{"exact": path(&m.exact), "prefix": path(&m.prefix)})
	return m
}

func (d *decoder) part(n node) (p part) {
	d.oneOf(n, fields{
		"header": func(n node) { p = part{kindHeader, headerSource{strings.ToLower(d.token(n, "header name"))}} },
		"constant": func(n node) {
			p = part{kindConstant, constantSource{d.text(n)}}
			if n.kind == '"' && n.text == "" {
				d.errorf(n, "want at least one byte")
			}
		},
		"client_ip": func(n node) { p = part{kindClientIP, d.clientIP(n)} },
	})
	if p.source == nil {
		p.source = constantSource{} // the problem is recorded
	}
	return p
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

func (d *decoder) limits(n node) *limiter.Limits {
	before := len(d.problems)
	var limits []limiter.Limit
	d.items(n, func(n node) { limits = append(limits, d.limit(n)) })
	if len(d.problems) > before {
		return nil
	}
	compiled, err := limiter.NewLimits(limits...)
	var wrong *limiter.LimitError
	switch {
	case errors.As(err, &wrong):
		d.problem(n.items[wrong.Index].path, wrong.Err.Error())
	case err != nil:
		d.problem(n.path, err.Error())
	}
	return compiled
}

// algorithms are the names that a limit may give, the default first.
var algorithms = []string{
	string(limiter.SlidingLog), string(limiter.SlidingBuckets), string(limiter.SlidingCounter),
	string(limiter.TokenBucket), string(limiter.LeakyBucket), string(limiter.FixedWindow),
}

func (d *decoder) limit(n node) limiter.Limit {
	l := limiter.Limit{Algorithm: limiter.SlidingLog}
	d.object(n, fields{
		"requests":  func(n node) { l.Requests = d.integer(n, 1, limiter.MaxRequests) },
		"window":    func(n node) { l.Window = d.window(n) },
		"algorithm": func(n node) { l.Algorithm = limiter.Algorithm(d.choice(n, algorithms...)) },
		"burst":     func(n node) { l.Burst = d.integer(n, 1, limiter.MaxRequests) },
		"buckets":   func(n node) { l.Buckets = int(d.integer(n, 1, limiter.MaxBuckets)) },
		"inclusive": func(n node) { l.Inclusive = d.bool(n) },
	}, "requests", "window")
	if l.Algorithm == limiter.SlidingLog && l.Requests > maxLogRequest {
		d.problem(join(n.path, "requests"), fmt.Sprintf("%d: sliding_log remembers each request: want at most %d", l.Requests, maxLogRequest))
	}
	return l
}

func (d *decoder) window(n node) time.Duration {
	if n.kind != '"' {
		d.errorf(n, "want a string of "+durations)
		return minWindow
	}
	window, err := duration(n.text)
	switch {
	case err != nil:
		d.errorf(n, "%v", err)
	case window < minWindow || window > limiter.MaxWindow:
		d.errorf(n, "want a window from 1ms to 366d")
	}
	return window
}

func (d *decoder) reply(n node, r *reply) {
	d.object(n, fields{
		"status": func(n node) { r.status = int(d.integer(n, 400, 599)) },
		"body": func(n node) {
			d.object(n, fields{
				"format": func(n node) { d.choice(n, "text") },
				"text":   func(n node) { r.body = d.text(n) },
			})
		},
	})
}

// headers says whether refusals carry Retry-After.
func (d *decoder) headers(n node) (retryAfter bool) {
	d.items(n, func(n node) { retryAfter = d.choice(n, "retry-after") != "" })
	return retryAfter
}

func (d *decoder) store(n node, s *Store) {
	d.object(n, fields{
		"max_keys": func(n node) { s.MaxKeys = int(d.integer(n, 1, limiter.MaxMaxKeys)) },
		"on_full":  func(n node) { s.OnFull = d.action(n) },
	})
}

func (d *decoder) action(n node) Action {
	return Action(d.choice(n, string(Allow), string(Deny)))
}

// token is a method or the name of a header (RFC 9110, 5.6.2).
func (d *decoder) token(n node, what string) string {
	text := d.text(n)
	bad := strings.IndexFunc(text, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
	})
	if n.kind == '"' && (text == "" || bad >= 0) {
		d.errorf(n, "not a %s: want letters, digits, - or _, and no blanks", what)
	}
	return text
}

// method is a token; the methods that everybody knows are in upper case, and
// would never match in lower.
func (d *decoder) method(n node) string {
	text := d.token(n, "method")
	upper := strings.ToUpper(text)
	if text != upper && slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE"}, upper) {
		d.errorf(n, "methods are case-sensitive, did you mean %q?", upper)
	}
	return text
}
