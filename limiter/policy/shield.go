package policy

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// A shield remembers what the engine has refused, and until when: such a key is
// refused without a call. The engine gives nothing back, and so keeps its word:
// a cost that it refused until some time is refused until then, and so is every
// higher one, whatever others do. The time counts from when it was asked, so that
// the shield ends no later than the refusal.
type shield struct {
	slots []shielded         // none before the first refusal
	told  []limiter.Decision // memory for what is recalled for one request
}

// A shielded key is one that the engine has refused. All its costs share a slot:
// who chooses them must not push more keys out than who sends one.
type shielded struct {
	key   GlobalKey
	rule  *Rule
	costs []refusedCost // in their order
}

// A refusedCost is a cost that a key was refused for.
type refusedCost struct {
	cost      int64
	at, until limiter.Instant
	answer    Answer
}

const (
	// rememberedCosts are the costs of a key whose waits are known exactly.
	rememberedCosts = 4

	// neverLasts is how long a cost that never fits is refused without a call: then
	// what remains for others is asked again.
	neverLasts = time.Minute
)

// slot is where a key is remembered, in place of another with the same.
func (s *shield) slot(key GlobalKey) *shielded {
	return &s.slots[binary.LittleEndian.Uint64(key[:])%rememberedKeys]
}

// remember takes note of what the engine said to an ask that was made at a time.
func (s *shield) remember(at limiter.Instant, a *Ask, answer *Answer) {
	if s.slots == nil {
		s.slots = make([]shielded, rememberedKeys)
	}
	known := s.slot(a.Key)
	if known.key != a.Key || known.rule != a.Rule {
		*known = shielded{a.Key, a.Rule, known.costs[:0]}
	}
	known.costs = slices.DeleteFunc(known.costs, func(c refusedCost) bool { return c.cost == a.Cost || c.until <= at })
	kept := *answer
	kept.Each, kept.Limits = slices.Clone(answer.Each), slices.Clone(answer.Limits)
	if a.quota == nil {
		kept.known = kept.quota(a.Rule)
	}
	place := 0
	for place < len(known.costs) && known.costs[place].cost < a.Cost {
		place++
	}
	known.costs = slices.Insert(known.costs, place, refusedCost{a.Cost, at, at + limiter.At(lasts(a, answer)), kept})
	known.costs = known.costs[:min(len(known.costs), rememberedCosts)] // the least refuse the most
}

// lasts is how long an answer refuses.
func lasts(a *Ask, answer *Answer) time.Duration {
	wait := answer.RetryAfter
	if wait == limiter.Never {
		wait = 0
	}
	for _, d := range answer.Each {
		switch {
		case d.Allowed:
		case d.RetryAfter != limiter.Never:
			wait = max(wait, d.RetryAfter)
		case a.quota != nil:
			wait = max(wait, neverLasts)
		default:
			wait = max(wait, d.ResetAfter)
		}
	}
	if a.quota == nil { // a service tells the wait in seconds, counted from the last whole one
		wait -= time.Second
	}
	return wait
}

// holds says whether the refusal does, at a time.
func (c *refusedCost) holds(now limiter.Instant) bool { return c.at <= now && now < c.until }

// recall returns what the engine would say now: its latest refusal, with what is
// left of the waits, if that is not over.
//
// The windows of a service end at one time for all costs. By Redis, a higher cost
// waits longer: the engine is asked how long, unless who sends it has asked for
// many others.
func (s *shield) recall(now limiter.Instant, a *Ask) (answer Answer, ok bool) {
	if s.slots == nil {
		return answer, false
	}
	known := s.slot(a.Key)
	if known.key != a.Key || known.rule != a.Rule {
		return answer, false
	}
	var below *refusedCost
	held := 0
	for i := range known.costs {
		c := &known.costs[i]
		if !c.holds(now) {
			continue
		}
		if held++; c.cost <= a.Cost {
			below = c
		}
	}
	if below == nil || below.cost < a.Cost && a.quota != nil && held < rememberedCosts {
		return answer, false
	}
	answer = s.left(now, below)
	if below.cost < a.Cost {
		answer.raise(a.Cost)
	}
	return answer, true
}

// left is the answer of a refusal with what is left of the waits, valid until the
// next request. A limit whose wait is over refuses no more: another does.
func (s *shield) left(now limiter.Instant, c *refusedCost) Answer {
	passed := time.Duration(now-c.at) * time.Microsecond
	answer, mark := c.answer, len(s.told)
	for _, d := range c.answer.Each {
		d = later(d, passed)
		d.Allowed = d.Allowed || d.RetryAfter == 0
		s.told = append(s.told, d)
	}
	answer.Each = s.told[mark:]
	if answer.RetryAfter != limiter.Never {
		answer.RetryAfter = max(0, answer.RetryAfter-passed)
	}
	return answer
}

// raise makes the answer one to a higher cost. How long that waits is not known, but
// that it is admitted when the quota is whole, if it ever is: so nobody who waits
// has waited too little.
func (a *Answer) raise(cost int64) {
	for i := range a.Each {
		switch d := &a.Each[i]; {
		case cost > d.Limit:
			d.Allowed, d.RetryAfter = false, limiter.Never
		case (!d.Allowed || cost > d.Remaining) && d.ResetAfter > 0:
			d.Allowed, d.RetryAfter = false, d.ResetAfter
		}
	}
}
