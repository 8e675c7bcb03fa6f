package policy

import "github.com/weirproxy/weir/limiter"

// A Verdict is the answer to a request. It is valid until the next.
type Verdict struct {
	// Reply is the answer to give; nil lets the request pass.
	Reply *Reply

	// Headers go on the response of a request that passes. Each replaces what
	// the upstream says under its name.
	Headers [][2]string

	// Call is what the global engine must be asked before the request may pass;
	// nil if nothing. Outcomes are then those of the verdict that concludes it.
	Call *Call

	// Shielded says that a refusal of the engine was repeated without a call.
	Shielded bool

	// Deferred are the charges to make when the response comes.
	Deferred []Deferred

	// Outcomes say what became of each rule that matched.
	Outcomes []Outcome

	// Result is what the table reports.
	Result limiter.Result

	// Err is what kept the request from being decided, if anything did.
	Err error
}

// An Outcome is what one rule said.
type Outcome struct {
	Rule    int // its index in Policy.Rules
	Kind    OutcomeKind
	Evicted bool // a live key made way for this one

	// Charge is what the table was asked and what it said; nil if it was not
	// asked.
	Charge *limiter.Charge
}

// An OutcomeKind is what became of a rule.
type OutcomeKind uint8

const (
	Allowed       OutcomeKind = iota // the rule admits the request, which another may still refuse
	Limited                          // the rule refuses it
	ShadowLimited                    // the rule would refuse it, but is not enforced
	MissingKey                       // the key lacks a part, and the rule says skip or reject
	Full                             // the key is new and the table had no room
	Failed                           // the request could not be decided
	Charged                          // the response was charged to the rule
)

// A Deferred is a charge that waits for the response.
type Deferred struct {
	Rule int
	key  limiter.Fingerprint
	on   *quota
	cost int64 // of the request
}

// say keeps a verdict for the caller to read.
func (e *Evaluator) say(v Verdict) *Verdict {
	e.verdict = v
	return &e.verdict
}

// judge reads the answers of the table off the charges.
func (e *Evaluator) judge(result *limiter.Result) *Verdict {
	v := e.say(Verdict{Outcomes: e.outcomes, Result: *result})
	by := e.weigh()
	e.conclude(v, result.Admitted, by)
	return v
}

// weigh reads the outcomes, the reports and the charges that are deferred off
// the charges, and returns what they refuse.
func (e *Evaluator) weigh() refusal {
	e.reports, e.deferred = e.reports[:0], e.deferred[:0]
	by := refusal{policies: e.policies[:0]}
	for i := range e.charges {
		c, a := &e.charges[i], e.asked[i]
		o := &e.outcomes[a.outcome]
		o.read(c)
		if o.Kind == Limited {
			by.join(e.policy.Rules[o.Rule], a.quota, c.Decision, c.Each)
		}
		if !c.Shadow && !c.Full {
			e.reports = append(e.reports, report{a.quota, c.Each})
		}
		if c.PeekOnly && o.Kind == Allowed {
			e.deferred = append(e.deferred, Deferred{o.Rule, c.Key, a.quota, c.Cost})
		}
	}
	return by
}

// conclude fills in what is done with a request that has been weighed.
func (e *Evaluator) conclude(v *Verdict, admitted bool, by refusal) {
	e.policies = by.policies
	switch {
	case admitted:
		e.headers = e.policy.headers.append(e.headers[:0], &e.view.scratch, e.reports, true)
		v.Headers, v.Deferred = e.headers, e.deferred
	case by.rule != nil:
		v.Reply = e.refuse(by, e.reports)
	default:
		v.Reply = failure()
	}
}

// read fills in an outcome from its charge.
func (o *Outcome) read(c *limiter.Charge) {
	o.Charge, o.Evicted = c, c.Evicted
	switch {
	case !c.Decision.Allowed && c.Shadow:
		o.Kind = ShadowLimited
	case !c.Decision.Allowed:
		o.Kind = Limited
	case c.Full:
		o.Kind = Full
	}
}

// join adds a rule that refuses: the one with the longest wait gives its name
// and its wait to the reply.
func (r *refusal) join(rule *Rule, q *quota, decision limiter.Decision, each []limiter.Decision) {
	if r.rule == nil || decision.RetryAfter > r.wait {
		r.rule, r.wait = rule, decision.RetryAfter
	}
	for i, d := range each {
		if !d.Allowed {
			r.policies = append(r.policies, q.names[i])
		}
	}
}

// fail answers a request that could not be decided.
func (e *Evaluator) fail(result *limiter.Result, err error) *Verdict {
	for i := range e.outcomes {
		e.outcomes[i] = Outcome{Rule: e.outcomes[i].Rule, Kind: Failed}
	}
	v := e.say(Verdict{Outcomes: e.outcomes, Err: err})
	if result != nil {
		v.Result = *result
	}
	if e.policy.OnError == Deny {
		v.Reply = failure()
	}
	return v
}

// Abandon is the verdict on a request that waited for the engine and cannot be
// concluded, because there is no time to do it by. What it was charged is given
// back at the time that it came.
func (e *Evaluator) Abandon(c *Call, err error) *Verdict {
	e.outcomes, e.recorded = c.outcomes, c.charges
	return e.abandon(c.at, err)
}

// Withdraw gives back what a request was charged that nobody waits for any more,
// and of which the engine has said nothing: it is neither served nor refused.
func (e *Evaluator) Withdraw(c *Call) *Verdict {
	e.recorded = c.charges
	lost, err := e.giveBack(c.at)
	return e.say(Verdict{Result: limiter.Result{Lost: lost}, Err: err})
}

// abandon answers a request that could not be decided, though it may have been
// charged already.
func (e *Evaluator) abandon(now limiter.Instant, err error) *Verdict {
	lost, _ := e.giveBack(now)
	return e.fail(&limiter.Result{Lost: lost}, err)
}

// giveBack gives back what the request was charged, once, and returns how many
// charges are lost. If the store panics these may be fewer than it says.
func (e *Evaluator) giveBack(now limiter.Instant) (lost int, err error) {
	charges := e.recorded
	e.recorded = nil
	defer func() {
		if cause := recover(); cause != nil {
			lost, err = len(charges), Recovered(cause)
		}
	}()
	return e.table.Refund(now, charges).Lost, nil
}

// Settle makes the charges that waited for the response, as it turns out, at
// the time that it came. They are recorded even beyond the limit: what has
// been used has been used. Of the verdict only Outcomes, Result and Err are set.
func (e *Evaluator) Settle(now limiter.Instant, deferred []Deferred, resp Response) (v *Verdict) {
	e.charges, e.asked, e.outcomes = e.charges[:0], e.asked[:0], e.outcomes[:0]
	defer func() {
		if cause := recover(); cause != nil {
			v = e.fail(nil, Recovered(cause))
		}
		v.Reply = nil // the upstream has answered
	}()
	if err := e.collectDeferred(deferred, resp); err != nil {
		return e.fail(nil, err)
	}
	if len(e.charges) == 0 {
		return e.say(Verdict{})
	}
	result, err := e.table.Take(now, e.charges)
	if err != nil {
		return e.fail(&result, err)
	}
	for i := range e.charges {
		o, c := &e.outcomes[i], &e.charges[i]
		if o.Charge, o.Evicted = c, c.Evicted; c.Full {
			o.Kind = Full
		}
	}
	return e.say(Verdict{Outcomes: e.outcomes, Result: result})
}

// collectDeferred lists the charges of the rules that the response concerns:
// all, if its status is not known.
func (e *Evaluator) collectDeferred(deferred []Deferred, resp Response) error {
	status, noStatus := resp.Status()
	err := noStatus
	for _, d := range deferred {
		rule := e.policy.Rules[d.Rule]
		if noStatus == nil && !rule.onResult.applies(status) {
			continue
		}
		e.outcomes = append(e.outcomes, Outcome{Rule: d.Rule, Kind: Charged})
		if err != nil {
			continue
		}
		var units int64
		if units, err = rule.onResult.of(d.cost, resp); err == nil {
			c := e.charge(d.on)
			c.Key, c.Cost, c.Shadow, c.PeekOnly, c.Record = d.key, units, true, false, true
		}
	}
	return err
}
