package policy

import (
	"cmp"
	"errors"
	"slices"

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
	e.reports, e.shield.told = e.reports[:0], e.shield.told[:0]
	for i := range e.asks {
		a := &e.asks[i]
		if answer, ok := e.shield.recall(now, a); ok && !a.Shadow {
			admitted = e.weighAnswer(a, &answer, &by) && admitted
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
