package policy

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/weirproxy/weir/limiter"
)

// askEngine adds what a rule asks the global engine, for a key that an override
// may hold to other limits.
func (e *Evaluator) askEngine(rule *Rule, override *override, key []byte, cost int64) error {
	g := rule.global
	a := Ask{
		Rule: rule, Cost: cost, Shadow: !rule.enforces(key), Key: e.policy.Global.key(key),
		outcome: len(e.outcomes) - 1, quota: g.limits, share: g.share,
	}
	if override != nil && g.limits != nil {
		a.quota, a.share = override.limits, override.share
	}
	if a.quota != nil {
		a.Limits = a.quota.limits
	}
	if a.share != nil {
		a.local = e.table.Fingerprint(append(key, shareMark))
	}
	if g.descriptor != nil {
		var err error
		if a.Descriptor, err = rule.descriptorOf(&e.view, e.policy.Global); err != nil {
			return err
		}
	}
	e.asks = append(e.asks, a)
	return nil
}

// shareMark ends the key under which the share of one proxy is kept, apart
// from that of the rule's local limits, whose key has no such end.
const shareMark = 0xFF

// evaluateGlobal decides a request of which the engine has a say: by what it
// has said before, by this proxy, and then by a call.
func (e *Evaluator) evaluateGlobal(now limiter.Instant) *Verdict {
	if v := e.shielded(now); v != nil {
		return v
	}
	result := limiter.Result{Admitted: true}
	if len(e.charges) > 0 {
		var err error
		result, err = e.table.Take(now, e.charges)
		if err != nil && !errors.Is(err, limiter.ErrFull) {
			return e.fail(&result, err)
		}
	}
	if !result.Admitted {
		return e.judge(&result)
	}
	e.recorded = e.charges
	return e.say(Verdict{Call: e.call(now), Result: result})
}

// shielded refuses a request by what the engine has said of one of its keys, if
// it has.
func (e *Evaluator) shielded(now limiter.Instant) *Verdict {
	if e.unshielded {
		return nil
	}
	by, admitted := refusal{policies: e.policies[:0]}, true
	e.reports = e.reports[:0]
	for i := range e.asks {
		a := &e.asks[i]
		if answer, ok := e.shield.recall(now, a); ok && !a.Shadow {
			admitted = e.weighAnswer(a, answer, &by) && admitted
		}
	}
	if admitted {
		return nil
	}
	v := e.say(Verdict{Shielded: true, Outcomes: e.settled()})
	e.conclude(v, false, by)
	return v
}

// call keeps what is needed to conclude the request.
func (e *Evaluator) call(now limiter.Instant) *Call {
	c := &Call{
		at: now, Asks: slices.Clone(e.asks),
		asked: slices.Clone(e.asked), outcomes: slices.Clone(e.outcomes),
	}
	for i := range e.charges {
		c.charges = append(c.charges, e.charges[i].Keep())
	}
	return c
}

// Conclude decides a request that waited for the engine: by its answers, one
// for each Ask, or, if there are none, without the engine, which has failed.
func (e *Evaluator) Conclude(now limiter.Instant, c *Call, answers []Answer) (v *Verdict) {
	e.charges, e.asked, e.outcomes, e.recorded = c.charges, c.asked, c.outcomes, c.charges
	e.view.reset(nil)
	defer func() {
		if cause := recover(); cause != nil {
			v = e.abandon(now, Recovered(cause))
		}
	}()
	by, result, err := e.weigh(), limiter.Result{Admitted: true}, error(nil)
	if c.answered(answers) {
		result.Admitted = e.weighAnswers(c, answers, &by)
	} else {
		result, err = e.withoutEngine(now, c, &by)
	}
	if !result.Admitted {
		lost, failure := e.giveBack(now)
		result.Lost, err = result.Lost+lost, cmp.Or(err, failure)
	}
	if err != nil {
		return e.fail(&result, err)
	}
	v = e.say(Verdict{Outcomes: e.outcomes, Result: result})
	e.conclude(v, result.Admitted, by)
	return v
}

// answered says whether there is an answer to every ask, about all its limits.
func (c *Call) answered(answers []Answer) bool {
	if len(answers) != len(c.Asks) {
		return false
	}
	for i := range answers {
		limits := len(answers[i].Limits)
		if own := c.Asks[i].Limits; own != nil {
			limits = own.Len()
		}
		if len(answers[i].Each) != limits {
			return false
		}
	}
	return true
}

// weighAnswers adds what the engine says, and remembers its refusals. It reports
// whether the request is admitted.
func (e *Evaluator) weighAnswers(c *Call, answers []Answer, by *refusal) bool {
	admitted := true
	for i := range c.Asks {
		a := &c.Asks[i]
		if !e.weighAnswer(a, &answers[i], by) {
			admitted = false
			e.shield.remember(c.at, a, &answers[i])
		}
	}
	return admitted
}

// weighAnswer adds what the engine says of one ask, and reports whether the
// request passes by that.
func (e *Evaluator) weighAnswer(a *Ask, answer *Answer, by *refusal) bool {
	if len(answer.Each) == 0 {
		return true
	}
	q := a.quota
	if q == nil {
		q = answer.quota(a.Rule)
	}
	return e.weighEach(a, q, answer.Each, by)
}

// weighEach adds the decisions of a quota that stands in for those of a charge.
func (e *Evaluator) weighEach(a *Ask, q *quota, each []limiter.Decision, by *refusal) bool {
	d := strictest([]report{{q, each}})
	o := &e.outcomes[a.outcome]
	switch {
	case d.Allowed:
	case a.Shadow:
		o.Kind = ShadowLimited
	default:
		o.Kind = Limited
		by.join(a.Rule, q, d, each)
	}
	if a.Shadow {
		return true
	}
	e.reports = append(e.reports, report{q, each})
	return d.Allowed
}

// quota names the limits that the engine knows.
func (a *Answer) quota(rule *Rule) *quota {
	q := &quota{}
	var limits []limiter.Limit
	for _, l := range a.Limits {
		name := l.Name
		if name == "" || strings.ContainsFunc(name, notQuotable) {
			name = rule.globalName()
		}
		q.names, limits = append(q.names, name), append(limits, l.Limit)
	}
	q.describe(limits)
	return q
}

// notQuotable says whether a character cannot stand in a string of a structured
// field, or of JSON, as it is.
func notQuotable(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }

// withoutEngine decides a request that the engine has failed: by the share of
// this proxy, or as on_global_error says.
func (e *Evaluator) withoutEngine(now limiter.Instant, c *Call, by *refusal) (limiter.Result, error) {
	switch e.policy.OnGlobalError {
	case Allow:
		return limiter.Result{Admitted: true}, nil
	case Deny:
		result := limiter.Result{Admitted: true}
		for i := range c.Asks {
			a := &c.Asks[i]
			e.outcomes[a.outcome].Kind = Failed // in shadow too, and then refuses nobody for it
			result.Admitted = result.Admitted && a.Shadow
		}
		return result, nil
	}
	var charges []limiter.Charge
	var asks []*Ask
	for i := range c.Asks {
		if a := &c.Asks[i]; a.share != nil {
			charges = append(charges, limiter.Charge{Key: a.local, Limits: a.share.limits, Cost: a.Cost, Shadow: a.Shadow})
			asks = append(asks, a)
		}
	}
	if len(charges) == 0 {
		return limiter.Result{Admitted: true}, nil
	}
	result, err := e.table.Take(now, charges)
	if err != nil && !errors.Is(err, limiter.ErrFull) {
		return result, err
	}
	if result.Admitted {
		e.recorded = slices.Concat(e.recorded, charges)
	}
	for i, a := range asks {
		if charges[i].Full {
			e.outcomes[a.outcome].Kind = Full
			continue
		}
		e.weighEach(a, a.share, charges[i].Each, by)
	}
	return result, nil
}
