package policy

import (
	"slices"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/internal/brief"
)

func (d *decoder) rule(n node, p *Policy) *Rule {
	r := &Rule{onMissing: missingClientIP, cost: costOfOne, enforced: 100}
	var limits, overrides, global, charge node
	d.object(n, fields{
		"name":  func(n node) { r.Name = d.name(n) },
		"match": func(n node) { d.match(n, &r.match) },
		"key":   func(n node) { r.key = d.key(n) },
		"on_missing_key": func(n node) {
			r.onMissing = missing(d.choice(n, string(missingClientIP), string(missingSkip), string(missingReject), string(missingShared)))
		},
		"limits":          func(n node) { limits = n },
		"global":          func(n node) { global = n },
		"overrides":       func(n node) { overrides = n },
		"cost":            func(n node) { r.cost = d.cost(n) },
		"charge":          func(n node) { charge, r.onResult = n, d.charge(n) },
		"shadow":          func(n node) { r.shadow = d.bool(n) },
		"enforce_percent": func(n node) { r.enforced = uint32(d.integer(n, 0, 100)) },
	}, "name", "key")
	switch {
	case limits.kind != 0:
		r.limits = d.quota(limits, r.Name, p.Replicas)
	case n.kind == '{' && global.kind == 0:
		d.problem(n.path, `the field "limits" is missing`)
	}
	if global.kind != 0 {
		d.globalRule(global, r, p)
	}
	if r.global != nil && r.onResult != nil {
		d.problem(charge.path, "a global rule is charged with the request")
	}
	if overrides.kind != 0 {
		d.overrides(overrides, r, p.Replicas)
	}
	return r
}

// overrides compiles the exceptions of a rule, whose key is known by now.
func (d *decoder) overrides(n node, r *Rule, replicas int64) {
	r.overrides = map[string]*override{}
	d.items(n, func(n node) {
		var parts []string
		var keyNode, limits node
		o, before := &override{}, len(d.problems)
		d.object(n, fields{
			"key": func(n node) {
				keyNode = hideParts(n, r.key)
				d.items(keyNode, func(n node) { parts = append(parts, d.someText(n)) })
			},
			"limits":    func(n node) { limits = n },
			"unlimited": func(n node) { o.unlimited = d.bool(n) },
			"block":     func(n node) { o.block = d.bool(n) },
		}, "key")
		switch {
		case limits.kind == 0:
		case r.global != nil && r.global.limits != nil:
			o.limits, o.share = d.globalQuota(limits, r, replicas)
		default:
			o.limits = d.quota(limits, r.Name, replicas)
		}
		either := (o.limits != nil) != (o.unlimited != o.block) && !(o.unlimited && o.block)
		if !either && len(d.problems) == before {
			d.problem(n.path, `want either "limits", "unlimited": true or "block": true`)
		}
		if keyNode.kind == '[' {
			d.addOverride(keyNode, r, parts, o)
		}
	})
}

// hideParts marks the values of an override's key, unless it is known that no part
// of the key is a credential.
func hideParts(n node, key []part) node {
	n.secret = len(key) == 0 || slices.ContainsFunc(key, func(p part) bool { return p.kind == 0 || p.isSecret() })
	n.items = slices.Clone(n.items)
	for i := range n.items {
		n.items[i].secret = n.secret
	}
	return n
}

func (d *decoder) addOverride(n node, r *Rule, parts []string, o *override) {
	if len(r.key) == 0 {
		d.problem(n.path, "the rule has no key to compare with")
		return
	}
	if len(parts) != len(r.key) {
		d.errorf(n, "want as many values as the rule's key has parts: %d", len(r.key))
		return
	}
	var key []byte
	for i, p := range r.key {
		value, err := p.source.literal(parts[i])
		if err != nil {
			d.problem(n.items[i].path, err.Error())
			return
		}
		key = appendPart(key, p.kind, value)
	}
	if r.overrides[string(key)] != nil {
		d.errorf(n, "another override is for the same key")
	}
	r.overrides[string(key)] = o
}

// cost is a number, or an object that names a header.
func (d *decoder) cost(n node) cost {
	c, before := costOfOne, len(d.problems)
	if n.kind == '0' {
		c.normal = d.integer(n, 1, limiter.MaxRequests)
		return c
	}
	if n.kind != '{' {
		d.errorf(n, "want a number or an object")
		return c
	}
	d.object(n, fields{
		"header":  func(n node) { c.header = d.headerName(n) },
		"default": func(n node) { c.normal = d.integer(n, 1, limiter.MaxRequests) },
		"max":     func(n node) { c.atMost = d.integer(n, 1, limiter.MaxRequests) },
	}, "header", "max")
	if c.normal > c.atMost && len(d.problems) == before {
		d.problem(join(n.path, "default"), brief.Sprintf("%d: want at most the max of %d", c.normal, c.atMost))
	}
	return c
}

// charge says when a rule is charged; nil is with the request.
func (d *decoder) charge(n node) *responseCharge {
	c := &responseCharge{}
	var when node
	d.object(n, fields{
		"when":     func(n node) { when = n; d.choice(n, "request", "response") },
		"statuses": func(n node) { d.some(n, "status", func(n node) { c.statuses = append(c.statuses, d.status(n)) }) },
		"cost":     func(n node) { cost := d.cost(n); c.cost = &cost },
	}, "when")
	if when.text == "response" {
		return c
	}
	if when.text == "request" && (c.statuses != nil || c.cost != nil) {
		d.problem(n.path, `only "when": "response" takes statuses and a cost`)
	}
	return nil
}

// status is a status code, or a class of them.
func (d *decoder) status(n node) string {
	text := d.text(n)
	class := len(text) == 3 && '1' <= text[0] && text[0] <= '5'
	digits := class && '0' <= text[1] && text[1] <= '9' && '0' <= text[2] && text[2] <= '9'
	if n.kind == '"' && !digits && !(class && text[1:] == "xx") {
		d.errorf(n, `want a status such as "401" or "5xx"`)
	}
	return text
}
