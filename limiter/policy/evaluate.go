package policy

import (
	"cmp"
	"errors"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/internal/brief"
)

// An Evaluator judges requests by a policy, on one table. It keeps its memory
// between them and so serves one goroutine.
type Evaluator struct {
	policy   *Policy
	table    *limiter.Table
	view     view
	charges  []limiter.Charge
	asked    []asked // of each charge
	asks     []Ask
	outcomes []Outcome
	reports  []report
	deferred []Deferred
	verdict  Verdict
	refusals refusals
	shield   shield
	recorded []limiter.Charge // what is given back if the request is not decided or refused after all

	unshielded bool
	headers    [][2]string
	policies   []string
	reply      Reply
	key        []byte
}

// asked is what a charge was made for.
type asked struct {
	outcome int // index
	quota   *quota
}

// NewEvaluator returns an evaluator. The table must have been made with the
// policy's TableOptions.
func NewEvaluator(p *Policy, table *limiter.Table) *Evaluator {
	return &Evaluator{policy: p, table: table}
}

// Unshield has the engine asked about every request, for who wants to know each
// answer and to whom a call costs nothing.
func (e *Evaluator) Unshield() { e.unshielded = true }

// Evaluate decides a request that came at the given time. A panic on the way
// is an error like any other.
func (e *Evaluator) Evaluate(now limiter.Instant, req Request) (v *Verdict) {
	e.charges, e.asked, e.asks, e.outcomes, e.recorded = e.charges[:0], e.asked[:0], e.asks[:0], e.outcomes[:0], nil
	e.view.reset(req)
	defer func() {
		e.view.Request = nil
		if cause := recover(); cause != nil {
			v = e.abandon(now, Recovered(cause))
		}
	}()
	exempt, err := e.exempt()
	if err != nil {
		return e.fail(nil, err)
	}
	if exempt {
		return e.say(Verdict{})
	}
	refused, err := e.collect()
	switch {
	case err != nil:
		return e.fail(nil, err)
	case refused != nil:
		return e.say(Verdict{Reply: e.refuse(refusal{rule: refused}, nil), Outcomes: e.settled()})
	case len(e.asks) > 0:
		return e.evaluateGlobal(now)
	case len(e.charges) == 0:
		return e.say(Verdict{Outcomes: e.outcomes})
	}
	if len(e.charges) == 1 && e.refusals.recall(now, &e.charges[0]) {
		return e.judge(&limiter.Result{})
	}
	result, err := e.table.Take(now, e.charges)
	if err != nil && !errors.Is(err, limiter.ErrFull) {
		return e.fail(&result, err)
	}
	if result.Admitted {
		e.recorded = e.charges
	}
	if len(e.charges) == 1 {
		e.refusals.remember(now, &e.charges[0])
	}
	return e.judge(&result)
}

// Fail is the verdict on a request that could not even be looked at, because
// there is no time to decide it by. No rule has matched, and so none has failed.
func (e *Evaluator) Fail(err error) *Verdict {
	e.outcomes = e.outcomes[:0]
	return e.fail(nil, err)
}

// Recovered is the error of a panic that was recovered.
func Recovered(cause any) error { return brief.Errorf("panic: %v", cause) }

func (e *Evaluator) exempt() (bool, error) {
	for i := range e.policy.exempt {
		if ok, err := e.policy.exempt[i].matches(&e.view); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// collect lists the outcomes of the rules that match, and the charges. It
// returns the first rule that refuses the request without a charge. After an
// error it goes on to list the rules that match, all of which have failed.
func (e *Evaluator) collect() (refused *Rule, err error) {
	for i, rule := range e.policy.Rules {
		matches, failure := rule.match.matches(&e.view)
		if failure != nil {
			return nil, cmp.Or(err, failure)
		}
		if !matches {
			continue
		}
		e.outcomes = append(e.outcomes, Outcome{Rule: i})
		if err != nil {
			continue
		}
		kind, failure := e.ask(rule)
		if failure != nil && rule.shadow {
			e.outcomes[len(e.outcomes)-1].Kind = Failed // and refuses nobody for it
			continue
		}
		if failure != nil {
			err = brief.Errorf("rule %q: %w", rule.Name, failure)
			continue
		}
		e.outcomes[len(e.outcomes)-1].Kind = kind
		if refuses := kind == Limited || kind == MissingKey && rule.rejectsMissing(); refuses && refused == nil {
			refused = rule
		}
	}
	return refused, err
}

// rejectsMissing says whether a request without the key is refused. A rule on
// trial refuses nobody for that.
func (r *Rule) rejectsMissing() bool {
	return r.onMissing == missingReject && !r.shadow && r.enforced >= 100
}

// ask adds the charge of a rule, the last of the outcomes, or says what became
// of the rule without one.
func (e *Evaluator) ask(rule *Rule) (OutcomeKind, error) {
	key, complete, err := rule.appendKey(e.key[:0], &e.view)
	e.key = key
	if err != nil || !complete {
		return MissingKey, err
	}
	override := rule.override(key)
	switch {
	case override == nil:
	case override.unlimited:
		return Allowed, nil
	case override.block && rule.enforces(key):
		return Limited, nil
	case override.block:
		return ShadowLimited, nil
	}
	units, err := rule.cost.of(e.view.Header)
	if err != nil {
		return Failed, err
	}
	quota := rule.limits
	switch {
	case rule.asksEngine(override):
		if err := e.askEngine(rule, override, key, units); err != nil {
			return Failed, err
		}
	case override != nil:
		quota = override.limits
	}
	if quota == nil {
		return Allowed, nil
	}
	c := e.charge(quota)
	c.Key, c.Cost, c.Shadow, c.PeekOnly = e.table.Fingerprint(key), units, !rule.enforces(key), rule.onResult != nil
	return Allowed, nil
}

// charge appends a charge for the last outcome, with the memory of an earlier
// one.
func (e *Evaluator) charge(q *quota) *limiter.Charge {
	if len(e.charges) < cap(e.charges) {
		e.charges = e.charges[:len(e.charges)+1]
	} else {
		e.charges = append(e.charges, limiter.Charge{})
	}
	e.asked = append(e.asked, asked{len(e.outcomes) - 1, q})
	c := &e.charges[len(e.charges)-1]
	c.Limits, c.Record = q.limits, false
	return c
}

// settled returns the outcomes without those of rules that were not asked,
// because the request was refused before.
func (e *Evaluator) settled() []Outcome {
	kept := e.outcomes[:0]
	for _, o := range e.outcomes {
		if o.Kind != Allowed {
			kept = append(kept, o)
		}
	}
	return kept
}
