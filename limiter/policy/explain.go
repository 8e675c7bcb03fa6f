package policy

import "github.com/weirproxy/weir/limiter"

// An Explanation says how a policy sees a request, without deciding it.
type Explanation struct {
	// Path and Host are in the one spelling that rules compare and keys hold.
	Path, Host string

	// Exempt is the index of the exemption that lets the request pass, or -1.
	// If there is one, no rule applies.
	Exempt int

	// Rules has every rule of the policy, in its order.
	Rules []RuleExplanation
}

// A RuleExplanation says how one rule sees a request.
type RuleExplanation struct {
	Rule       *Rule
	Conditions []Condition // of its match; none holds for every request
	Matches    bool        // all of them hold

	// What follows is set if the rule matches.
	Key      []KeyPart
	Applies  bool // the key is complete, or on_missing_key makes up for it
	Cost     int64
	Override Override
	Limits   []NamedLimit // that this proxy holds the key to; none if it is unlimited or blocked
	Enforced bool         // a refusal refuses the request

	// Global are the limits that the key is held to in all proxies together, or
	// Descriptor is what a rate limit service is asked about, secrets hashed. Both
	// are nil if the engine has no say.
	Global     []NamedLimit
	Descriptor [][2]string
}

// An Override says what replaces the limits of a rule for a key.
type Override string

const (
	NoOverride Override = ""
	OtherLimit Override = "limits"
	Unlimited  Override = "unlimited"
	Blocked    Override = "block"
)

// A NamedLimit is a limit with the name that it has in RateLimit headers.
type NamedLimit struct {
	Name string
	limiter.Limit
}

// Explain says how the policy sees a request. The error is of the Request.
func (p *Policy) Explain(req Request) (*Explanation, error) {
	v := &view{Request: req}
	x := &Explanation{Exempt: -1}
	var err error
	if x.Path, err = v.normalPath(); err != nil {
		return nil, err
	}
	if x.Host, err = v.host(); err != nil {
		return nil, err
	}
	for i := range p.exempt {
		exempt, err := p.exempt[i].matches(v)
		if err != nil {
			return nil, err
		}
		if exempt && x.Exempt < 0 {
			x.Exempt = i
		}
	}
	for _, rule := range p.Rules {
		r, err := rule.explain(v, p.Global)
		if err != nil {
			return nil, err
		}
		x.Rules = append(x.Rules, r)
	}
	return x, nil
}

func (r *Rule) explain(v *view, g *Global) (x RuleExplanation, err error) {
	x.Rule = r
	if x.Conditions, err = r.match.explain(v); err != nil {
		return x, err
	}
	x.Matches = true
	for _, c := range x.Conditions {
		x.Matches = x.Matches && c.Holds
	}
	if !x.Matches {
		return x, nil
	}
	if x.Key, err = r.explainKey(v); err != nil {
		return x, err
	}
	key, complete, err := r.appendKey(nil, v)
	if err != nil || !complete {
		return x, err
	}
	x.Applies, x.Enforced = true, r.enforces(key)
	if err := x.explainLimits(r.override(key), v, g); err != nil {
		return x, err
	}
	x.Cost, err = r.cost.of(v.Header)
	return x, err
}

// explainLimits says what a key is held to that may have an override.
func (x *RuleExplanation) explainLimits(o *override, v *view, g *Global) (err error) {
	local, r := x.Rule.limits, x.Rule
	if o != nil {
		x.Override = o.name()
	}
	switch {
	case o != nil && (o.unlimited || o.block):
		return nil
	case !r.asksEngine(o):
		if o != nil {
			local = o.limits
		}
	case r.global.descriptor != nil:
		x.Descriptor, err = r.descriptorOf(v, g)
	case o != nil:
		x.Global = o.limits.named()
	default:
		x.Global = r.global.limits.named()
	}
	x.Limits = local.named()
	return err
}

func (o *override) name() Override {
	switch {
	case o.unlimited:
		return Unlimited
	case o.block:
		return Blocked
	default:
		return OtherLimit
	}
}

// named lists the limits with their names.
func (q *quota) named() (limits []NamedLimit) {
	if q == nil {
		return nil
	}
	for i := range q.limits.Len() {
		limits = append(limits, NamedLimit{q.names[i], q.limits.At(i)})
	}
	return limits
}

// Limits are what each key of the rule is held to in this proxy, but for
// overrides.
func (r *Rule) Limits() []NamedLimit { return r.limits.named() }

// GlobalLimits are those that each key of the rule is held to in all proxies
// together, but for overrides; none if there are none, or a rate limit service
// knows them.
func (r *Rule) GlobalLimits() []NamedLimit {
	if r.global == nil {
		return nil
	}
	return r.global.limits.named()
}

// Overrides says whether a charge was made by the limits of an override, and
// not by the rule's own, local or global.
func (r *Rule) Overrides(c *limiter.Charge) bool {
	local := r.limits != nil && c.Limits == r.limits.limits
	global := r.global != nil && r.global.limits != nil && c.Limits == r.global.limits.limits
	return !local && !global
}

// EnforcePercent is the share of keys, 0..100, that the rule refuses; for the
// others, or if it is 0, it is in shadow.
func (r *Rule) EnforcePercent() int {
	if r.shadow {
		return 0
	}
	return int(r.enforced)
}

// ChargesResponse says whether requests are charged when their response comes.
func (r *Rule) ChargesResponse() bool { return r.onResult != nil }
