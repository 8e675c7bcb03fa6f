// Package explain shows how a configuration of Weir sees one request, and what
// the proxy would answer.
//
// Explain puts together what the policy says of the request (policy.Explain),
// and what it answers on tables of its own: on a fresh one, and for each rule on
// one where the key's window is exhausted. An Explanation is JSON for scripts,
// and text by its String.
package explain

import (
	"fmt"
	"strings"

	"github.com/weirproxy/weir/limiter/cmd/weir/internal/replay"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/policy"
)

// An Explanation is how a configuration sees a request.
type Explanation struct {
	Request string `json:"request"`
	Path    string `json:"path"`             // as rules compare it
	Host    string `json:"host,omitempty"`   // likewise
	Exempt  *int   `json:"exempt,omitempty"` // the index of the exemption that lets the request pass
	Fresh   Answer `json:"fresh"`            // what it gets if nobody has used its keys
	Rules   []Rule `json:"rules"`
}

// A Rule is how one rule sees the request. What follows Matches is empty if it
// does not match, and what follows Key also if the key is incomplete.
type Rule struct {
	Name       string      `json:"name"`
	Conditions []Condition `json:"conditions,omitempty"`
	Matches    bool        `json:"matches"`
	Key        []Part      `json:"key,omitempty"`
	Incomplete bool        `json:"incomplete,omitempty"` // the key; the rule is skipped, or
	Rejects    bool        `json:"rejects,omitempty"`    // refuses the request for that
	Override   string      `json:"override,omitempty"`   // limits, unlimited or block
	Limits     []string    `json:"limits,omitempty"`
	Global     []string    `json:"global,omitempty"`     // limits that all proxies share
	Descriptor [][2]string `json:"descriptor,omitempty"` // what a rate limit service is asked
	Cost       int64       `json:"cost,omitempty"`
	Charged    string      `json:"charged,omitempty"` // with the request or the response
	Enforced   bool        `json:"enforced"`
	Exhausted  *Answer     `json:"exhausted,omitempty"` // what the request gets if this key is at its limits
}

// A Condition is one of those of the rule's match.
type Condition struct {
	Condition string `json:"condition"`
	Holds     bool   `json:"holds"`
}

// A Part is one part of the key.
type Part struct {
	Source string `json:"source"`
	Value  string `json:"value"` // for people: cut, quoted or, if it is a secret, hashed
}

// Explain says how a configuration, the filter's JSON, sees a request.
func Explain(config []byte, req *Request) (*Explanation, error) {
	p, err := policy.Compile(config, "weir")
	if err != nil {
		return nil, err
	}
	seen, err := p.Explain(req)
	if err != nil {
		return nil, err
	}
	fresh, err := newWindows(p)
	if err != nil {
		return nil, err
	}
	v, asks := fresh.evaluate(req)
	x := &Explanation{Request: req.String(), Path: seen.Path, Host: seen.Host, Fresh: newAnswer(p, v)}
	x.Fresh.doubt(asks)
	if seen.Exempt >= 0 {
		x.Exempt = &seen.Exempt
	}
	for _, r := range seen.Rules {
		rule := newRule(r)
		if rule.Incomplete {
			if rule.Rejects, err = rejects(p, r.Rule, req); err != nil {
				return nil, err
			}
		}
		x.Rules = append(x.Rules, rule)
	}
	for _, o := range v.Outcomes {
		ask := askOf(p.Rules[o.Rule], asks)
		if o.Charge == nil && ask == nil {
			continue
		}
		answer, err := exhausted(p, o.Charge, ask, req)
		if err != nil {
			return nil, err
		}
		x.Rules[o.Rule].Exhausted = &answer
	}
	return x, nil
}

// askOf returns what a rule asks the engine and this package can exhaust, or nil.
func askOf(rule *policy.Rule, asks []policy.Ask) *policy.Ask {
	for i := range asks {
		if asks[i].Rule == rule && asks[i].Limits != nil {
			return &asks[i]
		}
	}
	return nil
}

func newRule(r policy.RuleExplanation) Rule {
	x := Rule{Name: r.Rule.Name, Matches: r.Matches}
	for _, c := range r.Conditions {
		x.Conditions = append(x.Conditions, Condition{c.Text(hidden), c.Holds})
	}
	if !r.Matches {
		return x
	}
	for _, p := range r.Key {
		x.Key = append(x.Key, Part{p.Source, replay.Value(p)})
	}
	if x.Incomplete = !r.Applies; x.Incomplete {
		return x
	}
	x.Override, x.Cost, x.Enforced, x.Charged = string(r.Override), r.Cost, r.Enforced, "request"
	if r.Rule.ChargesResponse() {
		x.Charged = "response"
	}
	for _, l := range r.Limits {
		x.Limits = append(x.Limits, limitText(l))
	}
	for _, l := range r.Global {
		x.Global = append(x.Global, limitText(l))
	}
	for _, e := range r.Descriptor {
		if policy.IsCredential(e[0]) && !strings.HasPrefix(e[1], "#") { // what the service is sent hashed is
			e[1] = hidden(e[1])
		}
		x.Descriptor = append(x.Descriptor, e)
	}
	return x
}

// hidden stands for a secret of the configuration, as for the same one in a key.
func hidden(secret string) string {
	return replay.Value(policy.KeyPart{Value: secret, Secret: true})
}

// limitText writes a limit as in: per-user: 10 per 1s, sliding_log.
func limitText(l policy.NamedLimit) string {
	window, _ := report.Duration(l.Window).MarshalText()
	words := []string{fmt.Sprintf("%s: %d per %s", l.Name, l.Requests, window), string(l.Algorithm)}
	if l.Burst > 0 {
		words = append(words, fmt.Sprintf("burst %d", l.Burst))
	}
	if l.Buckets > 0 {
		words = append(words, fmt.Sprintf("%d buckets", l.Buckets))
	}
	if l.Inclusive {
		words = append(words, "inclusive")
	}
	return strings.Join(words, ", ")
}
