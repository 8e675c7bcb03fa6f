package explain

import (
	"strings"

	"github.com/weirproxy/weir/limiter"
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
	Shadow  []string    `json:"shadow,omitempty"` // rules that would have refused
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

// windows are a table of its own for a policy.
type windows struct {
	table     *limiter.Table
	evaluator *policy.Evaluator
}

func newWindows(p *policy.Policy) (windows, error) {
	options := p.TableOptions(seed)
	// One request has few keys, so that the smallest table will do.
	options.MaxKeys = min(options.MaxKeys, 1<<10)
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	if err != nil {
		return windows{}, err
	}
	return windows{table, policy.NewEvaluator(p, table)}, nil
}

// exhausted returns what a request gets where the key of one of its charges has
// used all that its limits hold.
func exhausted(p *policy.Policy, c *limiter.Charge, req *Request) (Answer, error) {
	w, err := newWindows(p)
	if err != nil {
		return Answer{}, err
	}
	used := limiter.Charge{Key: c.Key, Limits: c.Limits, Cost: 1, Record: true}
	for i := range c.Limits.Len() {
		used.Cost = max(used.Cost, c.Limits.At(i).Capacity())
	}
	if _, err := w.table.Take(0, []limiter.Charge{used}); err != nil {
		return Answer{}, err
	}
	return newAnswer(p, w.evaluator.Evaluate(0, req)), nil
}
