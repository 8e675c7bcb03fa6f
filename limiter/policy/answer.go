package policy

import (
	"cmp"
	"strings"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// An Answer is what the engine says of one Ask.
type Answer struct {
	// Each has the decision of every limit; none if the engine knows of no limit.
	Each []limiter.Decision

	// Limits are those that the engine knows and the policy does not, for the
	// headers. A name that they cannot hold, such as none, stands for the rule's,
	// and a window of 0 for one that is not known.
	Limits []NamedLimit

	// Refused says that the engine refuses and does not tell by which limit; then
	// there are neither decisions nor limits. RetryAfter is its wait, Never if that
	// is not known either.
	Refused    bool
	RetryAfter time.Duration

	known *quota // of Limits, once it has been made
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
		if len(answers[i].Each) != limits && !answers[i].Refused {
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
	switch {
	case answer.Refused:
		return e.weighRefusal(a, answer.RetryAfter, by)
	case len(answer.Each) == 0:
		return true
	}
	q := cmp.Or(a.quota, answer.known)
	if q == nil {
		q = answer.quota(a.Rule)
	}
	return e.weighEach(a, q, answer.Each, by)
}

// weighEach adds the decisions of a quota that stands in for those of a charge.
func (e *Evaluator) weighEach(a *Ask, q *quota, each []limiter.Decision, by *refusal) bool {
	d := strictest([]report{{q, each}})
	if !a.Shadow {
		e.reports = append(e.reports, report{q, each})
	}
	if d.Allowed || e.weighShadow(a) {
		return true
	}
	by.join(a.Rule, q, d, each)
	return false
}

// weighRefusal adds a refusal by limits that nobody knows.
func (e *Evaluator) weighRefusal(a *Ask, wait time.Duration, by *refusal) bool {
	if e.weighShadow(a) {
		return true
	}
	by.join(a.Rule, &quota{}, limiter.Decision{RetryAfter: wait}, nil)
	return false
}

// weighShadow notes that an ask is refused, and reports whether it is in shadow.
func (e *Evaluator) weighShadow(a *Ask) bool {
	e.outcomes[a.outcome].Kind = Limited
	if a.Shadow {
		e.outcomes[a.outcome].Kind = ShadowLimited
	}
	return a.Shadow
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
