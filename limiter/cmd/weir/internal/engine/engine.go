// Package engine stands in for the global engine where there is none to ask: it
// keeps the limits that proxies share in a table of its own, as one proxy that
// all requests go through. What a rate limit service would say is not known, and
// so it admits.
package engine

import (
	"encoding/binary"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// An Engine answers the calls of one policy.
type Engine struct{ table *limiter.Table }

// maxKeys is how many keys an engine has room for at least: it is not held to
// store.max_keys, which is about the memory of a proxy.
const maxKeys = 1 << 20

// New returns an engine for a policy.
func New(p *policy.Policy) (*Engine, error) {
	options := p.TableOptions(limiter.NewSeed())
	options.MaxKeys = max(options.MaxKeys, maxKeys)
	options.DenyWhenFull = false
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(options.MaxKeys)), options)
	return &Engine{table}, err
}

// Conclude decides a call at a time, and returns what was asked of the table: a
// charge for each ask, without limits if a rate limit service knows them.
func (e *Engine) Conclude(by *policy.Evaluator, now limiter.Instant, call *policy.Call) (*policy.Verdict, []limiter.Charge) {
	charges := make([]limiter.Charge, len(call.Asks))
	var known []limiter.Charge
	for i, a := range call.Asks {
		charges[i] = Charge(&a)
		if a.Limits != nil {
			known = append(known, charges[i])
		}
	}
	if len(known) > 0 {
		if _, err := e.table.Take(now, known); err != nil {
			return by.Conclude(now, call, nil), charges
		}
	}
	answers := make([]policy.Answer, len(charges))
	for i := range charges {
		if charges[i].Limits == nil {
			continue
		}
		charges[i], known = known[0], known[1:]
		answers[i].Each = charges[i].Each
	}
	return by.Conclude(now, call, answers), charges
}

// Exhaust uses up what the limits of an ask hold, if they are known.
func (e *Engine) Exhaust(now limiter.Instant, a *policy.Ask) error {
	if a.Limits == nil {
		return nil
	}
	_, err := e.table.Take(now, []limiter.Charge{Exhausting(Charge(a))})
	return err
}

// Charge is what an ask charges to a table.
func Charge(a *policy.Ask) limiter.Charge {
	key := limiter.Fingerprint(binary.LittleEndian.Uint64(a.Key[:]))
	return limiter.Charge{Key: max(1, key), Limits: a.Limits, Cost: a.Cost, Shadow: a.Shadow}
}

// Exhausting is a charge of all that the limits of another hold.
func Exhausting(c limiter.Charge) limiter.Charge {
	used := limiter.Charge{Key: c.Key, Limits: c.Limits, Cost: 1, Record: true}
	for i := range c.Limits.Len() {
		used.Cost = max(used.Cost, c.Limits.At(i).Capacity())
	}
	return used
}
