package explain

import (
	"strings"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/engine"
	"github.com/weirproxy/weir/limiter/policy"
)

// An Answer is what the client gets: a local reply, or the upstream's response
// with further headers.
type Answer struct {
	Passes  bool        `json:"passes"`
	Status  int         `json:"status,omitempty"`
	Details string      `json:"details,omitempty"` // response code details, for the access log
	Headers [][2]string `json:"headers,omitempty"`
	Body    string      `json:"body,omitempty"`
	Shadow  []string    `json:"shadow,omitempty"`  // rules that would have refused
	Unknown []string    `json:"unknown,omitempty"` // rules by which a rate limit service may refuse, whose limits are its own
}

// newAnswer copies a verdict, which the next one takes over.
func newAnswer(p *policy.Policy, v *policy.Verdict) Answer {
	a := Answer{Passes: v.Reply == nil}
	headers := v.Headers
	if r := v.Reply; r != nil {
		a.Status, a.Details, a.Body, headers = r.Status, strings.Clone(r.Details), strings.Clone(r.Body), r.Headers
	}
	for _, h := range headers {
		a.Headers = append(a.Headers, [2]string{strings.Clone(h[0]), strings.Clone(h[1])})
	}
	for _, o := range v.Outcomes {
		if o.Kind == policy.ShadowLimited {
			a.Shadow = append(a.Shadow, p.Rules[o.Rule].Name)
		}
	}
	return a
}

// seed is for all tables here, since they are asked for the same keys.
var seed = limiter.NewSeed()

// windows are a table of its own for a policy, and an engine if it asks one.
type windows struct {
	table     *limiter.Table
	evaluator *policy.Evaluator
	engine    *engine.Engine
}

func newWindows(p *policy.Policy) (*windows, error) {
	options := p.TableOptions(seed)
	// One request has few keys, so that the smallest table will do.
	options.MaxKeys = min(options.MaxKeys, 1<<10)
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	if err != nil {
		return nil, err
	}
	w := &windows{table: table, evaluator: policy.NewEvaluator(p, table)}
	if p.Global != nil {
		w.engine, err = engine.New(p)
	}
	return w, err
}

// evaluate decides the request, and returns what the engine was asked.
func (w *windows) evaluate(req *Request) (*policy.Verdict, []policy.Ask) {
	v := w.evaluator.Evaluate(0, req)
	if v.Call == nil {
		return v, nil
	}
	call := v.Call
	v, _ = w.engine.Conclude(w.evaluator, 0, call)
	return v, call.Asks
}

// exhausted returns what a request gets where a key has used all that its limits
// hold: here those of a charge, in the engine those of an ask. Either may be nil.
func exhausted(p *policy.Policy, c *limiter.Charge, a *policy.Ask, req *Request) (Answer, error) {
	w, err := newWindows(p)
	if err != nil {
		return Answer{}, err
	}
	if c != nil {
		if _, err := w.table.Take(0, []limiter.Charge{engine.Exhausting(*c)}); err != nil {
			return Answer{}, err
		}
	}
	if a != nil {
		if err := w.engine.Exhaust(0, a); err != nil {
			return Answer{}, err
		}
	}
	v, asks := w.evaluate(req)
	answer := newAnswer(p, v)
	answer.doubt(asks)
	return answer, nil
}

// doubt says which of the rules that were asked about may refuse the request for
// all that is known here.
func (a *Answer) doubt(asks []policy.Ask) {
	for _, ask := range asks {
		if ask.Limits == nil && !ask.Shadow {
			a.Unknown = append(a.Unknown, ask.Rule.Name)
		}
	}
}

// rejects reports whether a rule refuses a request whose key is incomplete: what
// the policy answers if it is the only one.
func rejects(p *policy.Policy, rule *policy.Rule, req *Request) (bool, error) {
	alone := *p
	alone.Rules = []*policy.Rule{rule}
	w, err := newWindows(&alone)
	if err != nil {
		return false, err
	}
	v, _ := w.evaluate(req)
	return v.Reply != nil, nil
}
