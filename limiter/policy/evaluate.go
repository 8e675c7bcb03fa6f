package policy

import (
	"fmt"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// An Evaluator judges requests by a policy, on one table. It keeps its memory
// between them and so serves one goroutine.
type Evaluator struct {
	policy   *Policy
	table    *limiter.Table
	charges  []limiter.Charge
	outcomes []Outcome
	key      []byte
}

// NewEvaluator returns an evaluator. The table must have been made with the
// policy's TableOptions.
func NewEvaluator(p *Policy, table *limiter.Table) *Evaluator {
	return &Evaluator{policy: p, table: table}
}

// A Verdict is the answer to a request. It is valid until the next.
type Verdict struct {
	// Reply is the answer to give; nil lets the request pass.
	Reply *Reply

	// Outcomes say what became of each rule that matched.
	Outcomes []Outcome

	// Result is what the table reports.
	Result limiter.Result

	// Err is what kept the request from being decided, if anything did.
	Err error
}

// An Outcome is what one rule said.
type Outcome struct {
	Rule     int // its index in Policy.Rules
	Kind     OutcomeKind
	Evicted  bool              // a live key made way for this one
	Decision *limiter.Decision // nil unless Allowed or Limited
}

// An OutcomeKind is what became of a rule.
type OutcomeKind uint8

const (
	Allowed    OutcomeKind = iota // the rule admits the request, which another may still refuse
	Limited                       // the rule refuses it
	MissingKey                    // the key lacks a part, and the rule says skip or reject
	Full                          // the key is new and the table had no room
	Failed                        // the request could not be decided
)

// Evaluate decides a request that came at the given time. A panic on the way
// is an error like any other.
func (e *Evaluator) Evaluate(now limiter.Instant, req Request) (v Verdict) {
	e.charges, e.outcomes = e.charges[:0], e.outcomes[:0]
	defer func() {
		if cause := recover(); cause != nil {
			v = e.fail(limiter.Result{}, fmt.Errorf("panic: %v", cause))
		}
	}()
	rejected, err := e.collect(req)
	switch {
	case err != nil:
		return e.fail(limiter.Result{}, err)
	case rejected != nil:
		return Verdict{Reply: e.policy.refusal(rejected.Name, 0), Outcomes: e.missing()}
	case len(e.charges) == 0:
		return Verdict{Outcomes: e.outcomes}
	}
	result, err := e.table.Take(now, e.charges)
	if err != nil && err != limiter.ErrFull {
		return e.fail(result, err)
	}
	return e.verdict(result)
}

// Fail is the verdict on a request that could not even be looked at, because
// there is no time to decide it by. No rule has matched, and so none has failed.
func (e *Evaluator) Fail(err error) Verdict {
	e.outcomes = e.outcomes[:0]
	return e.fail(limiter.Result{}, err)
}

// collect lists the outcomes and the charges of the rules that match, the nth
// charge belonging to the nth outcome that is Allowed so far. It returns the
// first rule that rejects the request for want of a key. After an error it
// goes on to list the rules that match, all of which have failed.
func (e *Evaluator) collect(req Request) (rejected *Rule, err error) {
	method, path, err := e.line(req)
	if err != nil {
		return nil, err
	}
	for i, rule := range e.policy.Rules {
		if !rule.match.matches(method, path) {
			continue
		}
		e.outcomes = append(e.outcomes, Outcome{Rule: i})
		if err != nil {
			continue
		}
		var complete bool
		if e.key, complete, err = rule.appendKey(e.key[:0], req); err != nil {
			err = fmt.Errorf("rule %q: %w", rule.Name, err)
			continue
		}
		if !complete {
			e.outcomes[len(e.outcomes)-1].Kind = MissingKey
			if rule.onMissing == missingReject && rejected == nil {
				rejected = rule
			}
			continue
		}
		e.charge(rule, e.table.Fingerprint(e.key))
	}
	return rejected, err
}

// line returns what the matches need of the request line.
func (e *Evaluator) line(req Request) (method, path string, err error) {
	if e.policy.needsMethod {
		if method, err = req.Method(); err != nil {
			return "", "", err
		}
	}
	if e.policy.needsPath {
		if path, err = req.Path(); err != nil {
			return "", "", err
		}
		path = normalizePath(path)
	}
	return method, path, nil
}

// charge appends a charge, reusing the memory of an earlier one.
func (e *Evaluator) charge(rule *Rule, key limiter.Fingerprint) {
	if len(e.charges) < cap(e.charges) {
		e.charges = e.charges[:len(e.charges)+1]
	} else {
		e.charges = append(e.charges, limiter.Charge{})
	}
	c := &e.charges[len(e.charges)-1]
	c.Key, c.Limits, c.Cost, c.Shadow = key, rule.Limits, 1, false
}

// missing drops the outcomes of rules that were not asked, because the request
// was rejected before.
func (e *Evaluator) missing() []Outcome {
	kept := e.outcomes[:0]
	for _, o := range e.outcomes {
		if o.Kind == MissingKey {
			kept = append(kept, o)
		}
	}
	return kept
}

// verdict reads the answers of the table off the charges.
func (e *Evaluator) verdict(result limiter.Result) Verdict {
	v := Verdict{Outcomes: e.outcomes, Result: result}
	var refusing string
	var wait time.Duration
	next := 0
	for i := range v.Outcomes {
		o := &v.Outcomes[i]
		if o.Kind == MissingKey {
			continue
		}
		c := &e.charges[next]
		next++
		o.Decision, o.Evicted = &c.Decision, c.Evicted
		switch {
		case !c.Decision.Allowed:
			o.Kind = Limited
			if c.Decision.RetryAfter > wait {
				refusing, wait = e.policy.Rules[o.Rule].Name, c.Decision.RetryAfter
			}
		case c.Full:
			o.Kind, o.Decision = Full, nil
		}
	}
	switch {
	case result.Admitted:
	case refusing != "":
		v.Reply = e.policy.refusal(refusing, wait)
	default:
		v.Reply = failure()
	}
	return v
}

// fail answers a request that could not be decided.
func (e *Evaluator) fail(result limiter.Result, err error) Verdict {
	for i := range e.outcomes {
		e.outcomes[i] = Outcome{Rule: e.outcomes[i].Rule, Kind: Failed}
	}
	v := Verdict{Outcomes: e.outcomes, Result: result, Err: err}
	if e.policy.OnError == Deny {
		v.Reply = failure()
	}
	return v
}
