package policy

import (
	"errors"
	"slices"

	"github.com/weirproxy/weir/limiter"
)

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
		o := &e.outcomes[a.outcome]
		o.Evicted = o.Evicted || charges[i].Evicted
		if charges[i].Full {
			o.Kind = Full
			continue
		}
		e.weighEach(a, a.share, charges[i].Each, by)
	}
	return result, nil
}
