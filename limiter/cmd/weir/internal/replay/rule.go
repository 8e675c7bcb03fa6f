package replay

import (
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/policy"
)

// A rule counts the outcomes of one rule.
type rule struct {
	*policy.Rule
	outcomes [policy.Charged + 1]int64
	evicted  int64
	close    int64
	limits   []policy.NamedLimit // whose use is followed: its own, or if it has none the global ones
	clients  *clients
	top      *top

	service  bool    // it asks a rate limit service
	replicas int64   // by which its own limits are divided
	written  []int64 // its own limits, before that
}

// newRule returns a rule with what its configuration says besides.
func newRule(r *policy.Rule, said ruleSettings, p *policy.Policy) *rule {
	x := &rule{Rule: r, limits: r.Limits(), top: newTop(), replicas: p.Replicas, service: said.asksService(p.Global)}
	if len(x.limits) == 0 {
		x.limits = r.GlobalLimits()
	}
	var limits []limiter.Limit
	for _, l := range x.limits {
		limits = append(limits, l.Limit)
	}
	x.clients = newClients(limits)
	for _, l := range said.Limits {
		x.written = append(x.written, int64(l.Requests))
	}
	return x
}

// noteGlobal takes note of what the global engine said, where the rule has no
// limits of its own.
func (r *rule) noteGlobal(at limiter.Instant, c *limiter.Charge, resolution time.Duration) {
	if c.Evicted {
		r.evicted++
	}
	if c.Full {
		r.outcomes[policy.Full]++
	}
	if c.Limits == nil || len(r.Limits()) > 0 {
		return
	}
	if !c.Decision.Allowed && c.Decision.RetryAfter <= resolution {
		r.close++
	}
	r.clients.note(at, c, !c.Decision.Allowed, !r.Overrides(c))
}

// note takes note of an outcome, at a time that is known to a resolution. A
// client counts from its first request on, and what a request that only asked
// has used is nothing.
func (r *rule) note(at limiter.Instant, o *policy.Outcome, resolution time.Duration) {
	r.outcomes[o.Kind]++
	if o.Evicted {
		r.evicted++
	}
	c := o.Charge
	if c == nil {
		return
	}
	if !c.Decision.Allowed && c.Decision.RetryAfter <= resolution {
		r.close++
	}
	refused := o.Kind == policy.Limited || o.Kind == policy.ShadowLimited // by the engine if not by the charge
	r.clients.note(at, c, refused, !r.ChargesResponse() && !r.Overrides(c))
}

func (r *rule) report() report.Rule {
	c := r.clients
	x := report.Rule{
		Name: r.Name, Key: r.KeySources(), EnforcePercent: r.EnforcePercent(),
		RateLimitService: r.service, Limits: r.reportLimits(),
		Admitted: r.outcomes[policy.Allowed], Refused: r.outcomes[policy.Limited], Shadow: r.outcomes[policy.ShadowLimited],
		MissingKey: r.outcomes[policy.MissingKey], Full: r.outcomes[policy.Full], Errors: r.outcomes[policy.Failed],
		Charged: r.outcomes[policy.Charged], Evicted: r.evicted, Close: r.close,
		Clients: int64(len(c.byKey)) * c.weight(), Sampled: c.weight(),
		TopRefused: r.top.keys(), Suggestions: r.suggest(), SuggestionNotes: r.suggestionNotes(),
	}
	for _, who := range c.byKey {
		if who.refused {
			x.RefusedClients += c.weight()
		} else {
			x.Used[who.tenth] += c.weight()
		}
	}
	return x
}

// reportLimits are its own and the global ones.
func (r *rule) reportLimits() (limits []report.Limit) {
	own := len(r.Limits())
	for i, l := range append(r.Limits(), r.GlobalLimits()...) {
		x := report.Limit{
			Name: l.Name, Algorithm: string(l.Algorithm), Requests: l.Requests, Window: report.Duration(l.Window), Burst: l.Burst,
			Global: i >= own,
		}
		if i < min(own, len(r.written)) && r.replicas > 1 {
			x.Configured = r.written[i]
		}
		limits = append(limits, x)
	}
	return limits
}
