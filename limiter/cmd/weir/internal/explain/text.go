package explain

import (
	"fmt"
	"strings"
)

// String writes an explanation for people: a line for each thing to know.
func (x *Explanation) String() string {
	t := &text{}
	t.line(0, "%s", x.Request)
	t.line(1, "path       %s", x.Path)
	if x.Host != "" {
		t.line(1, "host       %s", x.Host)
	}
	if x.Exempt != nil {
		t.line(1, "exempt     by exempt[%d]: no rule applies, whatever it matches", *x.Exempt)
	}
	t.answer("fresh", &x.Fresh)
	for i := range x.Rules {
		t.rule(&x.Rules[i])
	}
	return t.b.String()
}

// A text is written line by line.
type text struct{ b strings.Builder }

func (t *text) line(indent int, format string, args ...any) {
	t.b.WriteString(strings.Repeat("  ", indent))
	fmt.Fprintf(&t.b, format, args...)
	t.b.WriteByte('\n')
}

func (t *text) rule(r *Rule) {
	t.b.WriteByte('\n')
	if r.Matches {
		t.line(0, "rule %s matches", r.Name)
	} else {
		t.line(0, "rule %s does not match", r.Name)
	}
	for _, c := range r.Conditions {
		verdict := "holds"
		if !c.Holds {
			verdict = "does not hold"
		}
		t.line(1, "condition  %s: %s", c.Condition, verdict)
	}
	if !r.Matches {
		return
	}
	if len(r.Key) == 0 && !r.Incomplete {
		t.line(1, "key        (one for all requests)")
	}
	for _, p := range r.Key {
		t.line(1, "key        %s = %s", p.Source, p.Value)
	}
	if r.Incomplete {
		consequence := "the rule is skipped"
		if r.Rejects {
			consequence = "the request is refused"
		}
		t.line(1, "incomplete the key lacks a part: %s", consequence)
		return
	}
	t.quota(r)
	t.answer("exhausted", r.Exhausted)
}

func (t *text) quota(r *Rule) {
	if r.Override != "" {
		t.line(1, "override   %s", r.Override)
	}
	for _, l := range r.Limits {
		t.line(1, "limit      %s", l)
	}
	for _, l := range r.Global {
		t.line(1, "global     %s", l)
	}
	for _, e := range r.Descriptor {
		t.line(1, "descriptor %s = %s", e[0], e[1])
	}
	if len(r.Descriptor) > 0 {
		t.line(1, "limits     those of the rate limit service, which are not known here")
	}
	if len(r.Limits)+len(r.Global)+len(r.Descriptor) > 0 {
		t.line(1, "cost       %d, charged with the %s", r.Cost, r.Charged)
	}
	if !r.Enforced {
		t.line(1, "enforced   no: in shadow for this key")
	}
}

// answer writes what the client gets while the windows are as named.
func (t *text) answer(windows string, a *Answer) {
	switch {
	case a == nil:
		return
	case a.Passes && len(a.Shadow) > 0:
		t.line(1, "%-10s passes, though %s would refuse it%s", windows, strings.Join(a.Shadow, ", "), unless(a))
	case a.Passes:
		t.line(1, "%-10s passes%s", windows, unless(a))
	default:
		t.line(1, "%-10s %d, details %s", windows, a.Status, a.Details)
	}
	for _, h := range a.Headers {
		t.line(6, " %s: %s", h[0], h[1])
	}
	if a.Body != "" {
		t.line(6, " %s", a.Body)
	}
}

// unless says on whom it depends that a request passes.
func unless(a *Answer) string {
	if len(a.Unknown) == 0 {
		return ""
	}
	return ", unless the rate limit service refuses it by " + strings.Join(a.Unknown, ", ")
}
