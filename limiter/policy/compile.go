package policy

import (
	"slices"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/internal/brief"
)

// Bounds of a configuration.
const (
	maxName       = 64
	minWindow     = time.Millisecond
	maxLogRequest = 1_000_000
	maxReplicas   = 1_000_000
	defaultKeys   = 100_000
)

// Compile reads a configuration. The namespace is the one to use where the
// configuration gives none. The error is a *SyntaxError, or Problems that name
// everything that is wrong, each after the path that it lies at, in one line.
func Compile(data []byte, namespace string) (*Policy, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	if root.kind != '{' {
		return nil, Problems{{Message: "the configuration is " + root.String() + ": want an object"}}
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
		Namespace: namespace,
		Store:     Store{MaxKeys: defaultKeys, OnFull: Allow},
		OnError:   Allow, OnGlobalError: Local,
		reply:    reply{status: 429, grpcStatus: grpcResourceExhausted, body: textBody},
		headers:  headers{retryAfter: true},
		Replicas: 1,
	}
	var rules, onGlobalError node
	d.object(n, fields{
		"rules":  func(n node) { rules = n },
		"global": func(n node) { d.engine(n, p) },
		"on_global_error": func(n node) {
			onGlobalError = n
			p.OnGlobalError = Action(d.choice(n, string(Local), string(Allow), string(Deny)))
		},
		"exempt":    func(n node) { d.items(n, func(n node) { p.exempt = append(p.exempt, d.exemption(n)) }) },
		"reply":     func(n node) { d.reply(n, &p.reply) },
		"headers":   func(n node) { p.headers = d.headers(n) },
		"on_error":  func(n node) { p.OnError = d.action(n) },
		"store":     func(n node) { d.store(n, &p.Store) },
		"namespace": func(n node) { p.Namespace = d.namespace(n) },
		"replicas":  func(n node) { p.Replicas = d.integer(n, 1, maxReplicas) },
	}, "rules")
	if onGlobalError.kind != 0 && p.Global == nil {
		d.problem(onGlobalError.path, `there is no engine that could fail: the configuration has no "global"`)
	}
	if rules.kind != 0 {
		d.items(rules, func(n node) { p.Rules = append(p.Rules, d.rule(n, p)) })
	}
	names := map[string]bool{}
	for i, r := range p.Rules {
		if r.Name != "" && names[r.Name] {
			d.problem(brief.Sprintf("rules[%d].name", i), brief.Sprintf("%q: another rule has this name", r.Name))
		}
		names[r.Name] = true
		r.identify(p.Namespace)
	}
	return p
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
