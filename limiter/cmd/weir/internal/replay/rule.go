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
	index    int // in the policy
	outcomes [policy.Charged + 1]int64
	evicted  int64
	close    int64
	clients  *clients
	top      *top
}

func newRule(index int, r *policy.Rule) *rule {
	var limits []limiter.Limit
	for _, l := range r.Limits() {
		limits = append(limits, l.Limit)
	}
	return &rule{Rule: r, index: index, clients: newClients(limits), top: newTop()}
}

// note takes note of an outcome, at a time that is known to a resolution.
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
	if c.PeekOnly && c.Decision.Allowed {
		return // noted when the response comes
	}
	r.clients.note(at, c, !c.PeekOnly && !r.Overrides(c))
}

func (r *rule) report() report.Rule {
	c := r.clients
	x := report.Rule{
		Name: r.Name, Key: r.KeySources(), EnforcePercent: r.EnforcePercent(),
		Admitted: r.outcomes[policy.Allowed], Refused: r.outcomes[policy.Limited], Shadow: r.outcomes[policy.ShadowLimited],
		MissingKey: r.outcomes[policy.MissingKey], Full: r.outcomes[policy.Full], Errors: r.outcomes[policy.Failed],
		Charged: r.outcomes[policy.Charged], Evicted: r.evicted, Close: r.close,
		Clients: int64(len(c.byKey)) * c.weight(), Sampled: c.weight(),
		TopRefused: r.top.keys(), Suggestions: c.suggest(r.Limits()),
	}
	for _, l := range r.Limits() {
		x.Limits = append(x.Limits, report.Limit{
			Name: l.Name, Algorithm: string(l.Algorithm), Requests: l.Requests, Window: report.Duration(l.Window), Burst: l.Burst,
		})
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
