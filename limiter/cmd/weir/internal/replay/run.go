package replay

import (
	"math"
	"slices"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/engine"
	"github.com/weirproxy/weir/limiter/cmd/weir/internal/report"
	"github.com/weirproxy/weir/limiter/policy"
)

// A Run decides requests by one configuration, and counts what becomes of them.
type Run struct {
	name       string
	config     string
	resolution time.Duration
	policy     *policy.Policy
	evaluator  *policy.Evaluator
	table      *limiter.Table
	engine     *engine.Engine // in place of the global one; nil if no rule asks it
	waiting    waiting
	rules      []*rule
	timeline   timeline

	admitted, refused, errors, unmatched int64
}

// NewRun returns a run of a configuration, the filter's JSON, under a name for
// the report. Times are known to the given resolution. The error is that of
// policy.Compile.
func NewRun(name string, config []byte, resolution time.Duration) (*Run, error) {
	p, err := policy.Compile(config, "weir")
	if err != nil {
		return nil, err
	}
	options := p.TableOptions(limiter.NewSeed())
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	if err != nil {
		return nil, err
	}
	said, err := readSettings(config)
	if err != nil {
		return nil, err
	}
	r := &Run{
		name: name, config: redact(config), resolution: resolution,
		policy: p, table: table, evaluator: policy.NewEvaluator(p, table),
	}
	for i, x := range p.Rules {
		r.rules = append(r.rules, newRule(x, said.rule(i), p))
	}
	if p.Global != nil {
		r.evaluator.Unshield()
		r.engine, err = engine.New(p)
	}
	return r, err
}

// Policy is the configuration, compiled.
func (r *Run) Policy() *policy.Policy { return r.policy }

// Request decides one request that came at a time and whose response ended at
// another; times must not go back. The response is asked for at most once,
// before Request returns, and only if some charge waits for it; it must stay
// valid. The verdict is valid until the next call.
func (r *Run) Request(at, end limiter.Instant, req policy.Request, response func() policy.Response) *policy.Verdict {
	r.settle(at)
	v := r.evaluate(at, req)
	slot := r.timeline.at(int64(at))
	shadow := false
	for i := range v.Outcomes {
		o := &v.Outcomes[i]
		rule := r.rules[o.Rule]
		rule.note(at, o, r.resolution)
		if o.Kind == policy.Limited || o.Kind == policy.ShadowLimited {
			rule.top.add(r.key(o, req))
			shadow = true
		}
	}
	switch {
	case v.Err != nil:
		r.errors++
	case v.Reply != nil:
		r.refused++
		slot.refused++
	default:
		r.admitted++
		slot.admitted++
		if shadow {
			slot.shadow++
		}
		if len(v.Outcomes) == 0 {
			r.unmatched++
		}
	}
	if len(v.Deferred) > 0 {
		r.waiting.add(max(at, end), v.Deferred, response())
	}
	return v
}

// evaluate decides a request, the global limits as the one proxy that there is.
func (r *Run) evaluate(at limiter.Instant, req policy.Request) *policy.Verdict {
	v := r.evaluator.Evaluate(at, req)
	if v.Call == nil {
		return v
	}
	call := v.Call
	v, charges := r.engine.Conclude(r.evaluator, at, call)
	for i := range charges {
		j := slices.Index(r.policy.Rules, call.Asks[i].Rule)
		r.rules[j].noteGlobal(at, &charges[i], r.resolution)
	}
	return v
}

// key returns the fingerprint of a refused key, and what gives its text. A key
// that an override blocks is asked nothing of the table, and has no fingerprint
// but that of its text.
func (r *Run) key(o *policy.Outcome, req policy.Request) (limiter.Fingerprint, func() string) {
	text := func() string {
		parts, err := r.policy.Key(o.Rule, req)
		if err != nil {
			return "(" + err.Error() + ")"
		}
		return KeyText(parts)
	}
	if o.Charge != nil {
		return o.Charge.Key, text
	}
	blocked := text()
	return r.table.Fingerprint([]byte(blocked)), func() string { return blocked }
}

// settle makes the charges of the responses that have come by a time.
func (r *Run) settle(now limiter.Instant) {
	for {
		w, ok := r.waiting.due(now)
		if !ok {
			return
		}
		v := r.evaluator.Settle(w.until, w.deferred, w.response)
		for i := range v.Outcomes {
			o := &v.Outcomes[i]
			r.rules[o.Rule].note(w.until, o, r.resolution)
		}
	}
}

// Report waits for the responses that have not come, and returns what the run
// has come to.
func (r *Run) Report() report.Run {
	r.settle(math.MaxInt64)
	x := report.Run{
		Name: r.name, Config: r.config,
		Requests: r.admitted + r.refused + r.errors,
		Admitted: r.admitted, Refused: r.refused, Errors: r.errors, Unmatched: r.unmatched,
		Timeline: r.timeline.report(),
	}
	if n := r.policy.Replicas; n > 1 {
		x.Replicas = n
	}
	for _, rule := range r.rules {
		x.Rules = append(x.Rules, rule.report())
	}
	return x
}
