package policy

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/internal/brief"
)

// What global is where nothing is said.
const (
	defaultTimeout    = 20 * time.Millisecond
	defaultMaxPending = 1000
	maxMaxPending     = 1_000_000
)

// engine compiles the engine that rules may ask.
func (d *decoder) engine(n node, p *Policy) {
	g := &Global{Timeout: defaultTimeout, MaxPending: defaultMaxPending}
	p.Global = g
	if !d.isObject(n) {
		return
	}
	common := func(engine Engine, further fields) func(node) {
		further["cluster"] = func(n node) { g.Cluster = d.someText(n) }
		further["timeout"] = func(n node) { g.Timeout = d.timeout(n) }
		further["max_pending"] = func(n node) { g.MaxPending = int(d.integer(n, 1, maxMaxPending)) }
		further["secret"] = func(n node) { g.seed = d.secret(n) }
		required := []string{"cluster"}
		if engine == RLS {
			required = append(required, "domain")
		}
		return func(n node) {
			if g.Engine = engine; d.isObject(n) {
				d.object(n, further, required...)
			}
		}
	}
	d.oneOf(n, fields{
		"rls": common(RLS, fields{
			"domain": func(n node) { g.Domain = d.someText(n) },
		}),
		"redis": common(Redis, fields{
			"dialect":   func(n node) { g.Dialect = Dialect(d.choice(n, string(Webdis), string(Upstash))) },
			"authority": func(n node) { g.Authority = d.authority(n) },
			"token":     func(n node) { g.Token = d.credential(n) },
		}),
	})
	if g.Engine == Redis && g.Dialect == "" {
		g.Dialect = Webdis
	}
	if g.Authority == "" {
		g.Authority = g.Cluster
	}
}

// isObject checks that a value is an object, and does not quote any other, which
// may be an address with a password in it.
func (d *decoder) isObject(n node) bool {
	if n.kind != '{' {
		d.problem(n.path, "want an object")
	}
	return n.kind == '{'
}

// timeout is a whole number of milliseconds.
func (d *decoder) timeout(n node) time.Duration {
	if n.kind != '"' {
		d.errorf(n, "want a string of "+durations)
		return defaultTimeout
	}
	timeout, err := duration(n.text)
	switch {
	case err != nil:
		d.errorf(n, "%v", err)
	case timeout < time.Millisecond || timeout > time.Minute || timeout%time.Millisecond != 0:
		d.errorf(n, "want a timeout from 1ms to 1m, in whole milliseconds")
	}
	return timeout
}

// authority is a text that a header can hold.
func (d *decoder) authority(n node) string {
	text := d.someText(n)
	if strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' || c == '@' }) {
		d.problem(n.path, `want an authority such as "redis.example:7379"`)
	}
	return text
}

// credential is a text that no error quotes, and that a header can hold.
func (d *decoder) credential(n node) string {
	if n.kind != '"' || n.text == "" || strings.ContainsFunc(n.text, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		d.problem(n.path, "want a string that is not empty, without control characters")
	}
	return n.text
}

// minSecret is how many characters a secret must have, for a hash under it to
// be beyond guessing.
const minSecret = 16

// secret is what keys are hashed under in all proxies.
func (d *decoder) secret(n node) limiter.Seed {
	text := d.credential(n)
	if utf8.RuneCountInString(text) < minSecret {
		d.problem(n.path, brief.Sprintf("want at least %d characters", minSecret))
	}
	hash := limiter.Seed{}.Hash([]byte(text))
	seed, err := limiter.ParseSeed(hash[:])
	if err != nil {
		d.problem(n.path, err.Error())
	}
	return seed
}

// globalRule compiles what a rule asks the engine.
func (d *decoder) globalRule(n node, r *Rule, p *Policy) {
	if p.Global == nil {
		d.problem(n.path, `there is no engine to ask: the configuration has no "global"`)
		return
	}
	g := &globalRule{}
	r.global = g
	switch p.Global.Engine {
	case Redis:
		d.object(n, fields{"limits": func(n node) { g.limits, g.share = d.globalQuota(n, r, p.Replicas) }}, "limits")
	case RLS:
		g.descriptor = defaultDescriptor(r)
		d.object(n, fields{"descriptor": func(n node) {
			g.descriptor = nil
			d.some(n, "entry", func(n node) { g.descriptor = append(g.descriptor, d.entry(n, r)) })
		}})
	}
}

// globalQuota compiles limits that all proxies share, and one proxy's share.
func (d *decoder) globalQuota(n node, r *Rule, replicas int64) (whole, share *quota) {
	before := len(d.problems)
	whole = d.quota(n, r.globalName(), 1)
	if len(d.problems) > before {
		return whole, nil
	}
	for i, name := range whole.names {
		if r.limits != nil && slices.Contains(r.limits.names, name) {
			d.problem(n.items[i].path, brief.Sprintf("another limit is called %q: give them names", name))
		}
	}
	for i := range whole.limits.Len() {
		switch l := whole.limits.At(i); l.Algorithm {
		case limiter.SlidingCounter, limiter.FixedWindow:
			d.problem(join(n.items[i].path, "algorithm"), brief.Sprintf("%q: not one that Redis is asked for: want sliding_log, sliding_buckets, token_bucket or leaky_bucket", string(l.Algorithm)))
		}
	}
	if len(d.problems) > before {
		return whole, nil
	}
	return whole, d.quota(n, r.globalName(), replicas)
}

// entry compiles an entry of a descriptor.
func (d *decoder) entry(n node, r *Rule) entry {
	e := entry{part: -1}
	given := 0
	d.object(n, fields{
		"name":  func(n node) { e.name = d.someText(n) },
		"value": func(n node) { e.value, given = d.someText(n), given+1 },
		"part": func(n node) {
			e.part, given = int(d.integer(n, 0, math.MaxInt32)), given+1
			if e.part >= len(r.key) {
				d.errorf(n, "the rule's key has no such part: they are numbered from 0")
			}
		},
	}, "name")
	if n.kind == '{' && given != 1 {
		d.problem(n.path, `want either "part" or "value"`)
	}
	return e
}

// defaultDescriptor is the rule's name, and then each part under the name of its
// source.
func defaultDescriptor(r *Rule) []entry {
	list := []entry{{name: "rule", value: r.Name, part: -1}}
	for i, p := range r.key {
		list = append(list, entry{name: p.label(), part: i})
	}
	return list
}
