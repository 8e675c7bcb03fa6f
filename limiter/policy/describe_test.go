package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weirproxy/weir/limiter"
)

// describe writes out all of a policy in one line.
func describe(p *Policy) string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	add("%s, %d keys, full %s, error %s, reply %d/%d %q %q %v, headers %v, %d replicas", p.Namespace, p.Store.MaxKeys, p.Store.OnFull, p.OnError,
		p.reply.status, p.reply.grpcStatus, p.reply.contentType, p.reply.body, p.reply.headers, p.headers, p.Replicas)
	if g := p.Global; g != nil {
		add("%s at %s within %v, %d pending, domain %q, dialect %q as %q with %q, secret %v, error %s", g.Engine, g.Cluster, g.Timeout, g.MaxPending,
			g.Domain, g.Dialect, g.Authority, g.Token, g.seed != limiter.Seed{}, p.OnGlobalError)
	}
	for i, m := range p.exempt {
		if i == 0 {
			words[0] += ","
		}
		add("exempt%s", describeMatch(m))
	}
	for _, r := range p.Rules {
		words[len(words)-1] += ";"
		add("%s%s %v %s cost %d", r.Name, describeMatch(r.match), r.key, r.onMissing, r.cost.normal)
		if r.cost.header != "" {
			add("to %d by %s", r.cost.atMost, r.cost.header)
		}
		if c := r.onResult; c != nil {
			add("charged for %v", c.statuses)
			if c.cost != nil {
				add("by %v", *c.cost)
			}
		}
		if r.shadow {
			add("shadow")
		}
		add("%d%% %s", r.enforced, describeQuota(r.limits))
		if g := r.global; g != nil {
			add("global[%s]", describeShared(g.limits, g.share)+describeEntries(g.descriptor))
		}
		var overrides []string
		for _, o := range r.overrides {
			switch {
			case o.unlimited:
				overrides = append(overrides, "override[unlimited]")
			case o.block:
				overrides = append(overrides, "override[block]")
			default:
				overrides = append(overrides, "override["+describeShared(o.limits, o.share)+"]")
			}
		}
		slices.SortFunc(overrides, func(a, b string) int { return strings.Compare(b, a) })
		slices.SortStableFunc(overrides, func(a, b string) int { return len(b) - len(a) })
		words = append(words, overrides...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "\x00", "/")
}

func describeMatch(m match) (s string) {
	if m.path != nil {
		s += " path " + describeText(m.path.textMatch)
	}
	if len(m.methods) > 0 {
		s += fmt.Sprintf(" methods %v", m.methods)
	}
	if m.host != nil {
		s += " host " + describeText(*m.host)
	}
	for _, h := range m.headers {
		s += " " + h.name + " " + describeText(h.textMatch)
	}
	if len(m.clientIPs) > 0 {
		s += fmt.Sprintf(" clients %v", m.clientIPs)
	}
	if m.preflight {
		s += " preflight"
	}
	return s
}

func describeText(m textMatch) string {
	switch {
	case m.regex != nil:
		return m.regex.String()
	case m.absent:
		return "absent"
	default:
		return fmt.Sprintf("%q.%q.%q", m.exact, m.prefix, m.suffix)
	}
}

// describeShared writes limits, and the share of one proxy if they are global.
func describeShared(whole, share *quota) string {
	if share == nil {
		return describeQuota(whole)
	}
	return describeQuota(whole) + " of which here " + describeQuota(share)
}

func describeEntries(entries []entry) string {
	var words []string
	for _, e := range entries {
		words = append(words, fmt.Sprintf("%s=%q:%d", e.name, e.value, e.part))
	}
	return strings.Join(words, " ")
}

func describeQuota(q *quota) string {
	var words []string
	if q == nil {
		return ""
	}
	for i := range q.limits.Len() {
		l := q.limits.At(i)
		word := fmt.Sprintf("%s=%d/%v", q.names[i], l.Requests, l.Window)
		switch {
		case l.Inclusive:
			word += "(inclusive)"
		case l.Algorithm == limiter.SlidingBuckets:
			word += fmt.Sprintf("(%d buckets)", l.Buckets)
		case l.Burst > 0:
			word += fmt.Sprintf("(burst %d)", l.Burst)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
