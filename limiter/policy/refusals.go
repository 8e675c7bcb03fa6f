package policy

import (
	"time"

	"github.com/weirproxy/weir/limiter"
)

// refusals are the latest refusals of keys that are at their limit. Such a key
// stays refused until the wait that it was told is over, whatever others do, by
// every algorithm: so that under attack most refusals need not ask the table.
//
// There is one exception, which is why nothing is remembered for longer than
// rememberFor: what a request has charged may be given back, a moment later if it
// meets another (see limiter), or when the global engine refuses it, and a
// refusal due to that charge would be one too many.
type refusals struct{ slots []refused } // none before the first refusal

const (
	rememberFor    = time.Second
	rememberedKeys = 1024
)

// A refused is what the table said of a key at some time.
type refused struct {
	key       limiter.Fingerprint
	limits    *limiter.Limits
	cost      int64
	at, until limiter.Instant
	binding   int
	decision  limiter.Decision
	each      []limiter.Decision
}

// slot is where a key is remembered, in place of another with the same.
func (r *refusals) slot(key limiter.Fingerprint) *refused {
	return &r.slots[uint64(key)%rememberedKeys]
}

// remember takes note of a refusal that is enforced.
func (r *refusals) remember(now limiter.Instant, c *limiter.Charge) {
	if c.Decision.Allowed || c.Shadow {
		return
	}
	if r.slots == nil {
		r.slots = make([]refused, rememberedKeys)
	}
	s := r.slot(c.Key)
	s.key, s.limits, s.cost, s.at = c.Key, c.Limits, c.Cost, now
	lasts := rememberFor
	for _, d := range c.Each {
		if !d.Allowed {
			lasts = min(lasts, d.RetryAfter) // after which another limit alone refuses
		}
	}
	s.until = now + limiter.At(lasts)
	s.binding, s.decision, s.each = c.Binding, c.Decision, append(s.each[:0], c.Each...)
}

// recall answers a charge that is as good as refused already: its like was, until
// a time that has not come. The waits are what is left of them; what remains of
// limits that do not refuse is as it was.
func (r *refusals) recall(now limiter.Instant, c *limiter.Charge) bool {
	if r.slots == nil {
		return false
	}
	s := r.slot(c.Key)
	if s.key != c.Key || s.limits != c.Limits || c.Shadow || c.Cost != s.cost || now < s.at || now >= s.until {
		return false
	}
	passed := time.Duration(now-s.at) * time.Microsecond
	c.Full, c.Evicted, c.Binding = false, false, s.binding
	c.Decision, c.Each = later(s.decision, passed), c.Each[:0]
	for _, d := range s.each {
		c.Each = append(c.Each, later(d, passed))
	}
	return true
}

// later is a decision as it stands after some time in which nothing was charged.
func later(d limiter.Decision, passed time.Duration) limiter.Decision {
	if d.RetryAfter != limiter.Never {
		d.RetryAfter = max(0, d.RetryAfter-passed)
	}
	d.ResetAfter = max(0, d.ResetAfter-passed)
	return d
}
