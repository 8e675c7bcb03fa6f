package limiter

import (
	"math/rand/v2"
	"testing"
	"time"
)

// reload returns the state in the hands of another limit.
func (c *cell) reload(t *testing.T, l Limit) *cell {
	t.Helper()
	next := newCell(t, l)
	next.state = c.state
	return next
}

// keepsPromise checks that a refusal is followed by an admission after the
// wait, and not a microsecond sooner.
func (c *cell) keepsPromise(t *testing.T, now Instant, cost int64) {
	t.Helper()
	d := c.peek(now, cost)
	wait := Instant(d.RetryAfter.Microseconds())
	if d.Allowed || wait <= 0 || !c.peek(now+wait, cost).Allowed || c.peek(now+wait-1, cost).Allowed {
		t.Errorf("%+v: take(%d, %d) = %+v, which is not when it is admitted", c.algorithm, now, cost, d)
	}
}

func TestReload(t *testing.T) { // B53
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := func(requests int64, window time.Duration) Limit {
			return Limit{Algorithm: a, Requests: requests, Window: window}
		}
		c := newClient(t, limit(3, time.Minute))
		c.run([]step{{60, 1, true, 2, 0}, {60, 2, true, 0, 0}})
		c.limits = mustLimits(t, limit(100, time.Minute))
		c.run([]step{{60, 1, true, 96, 0}, {60, 96, true, 0, 0}})
		c.limits = mustLimits(t, limit(3, time.Minute))
		if d := c.take("key", 61*second, 1); d.Allowed || d.Remaining != 0 || d.Limit != 3 {
			t.Errorf("under a lowered limit: %+v", d)
		}
		c.limits = mustLimits(t, limit(3, time.Second))
		c.run([]step{{61, 3, true, 0, 0}})
		for _, other := range everyAlgorithm {
			if other != a {
				c.limits = mustLimits(t, Limit{Algorithm: other, Requests: 3, Window: 7 * time.Minute})
				c.run([]step{{61, 3, true, 0, 0}})
			}
		}
	})
}

// TestReloadKeepsWhatWasUsed changes the limit in the midst of random traffic.
func TestReloadKeepsWhatWasUsed(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(200)) {
			r := rand.New(rand.NewPCG(seed, 10))
			limit := randomLimit(r, a)
			c := newCell(t, limit)
			traffic := traffic{r, limit, 0}
			for range 50 {
				at, cost := traffic.later(), traffic.cost()
				if !c.charge(at, cost).Allowed {
					continue
				}
				reloaded := limit
				reloaded.Requests = 1 + r.Int64N(24)
				if limit.Burst != 0 {
					reloaded.Burst = 1 + r.Int64N(24)
				}
				used := capacityOf(limit) - c.peek(at, MaxRequests).Remaining
				room := capacityOf(reloaded) - used
				next := c.reload(t, reloaded)
				d := next.peek(at, 1)
				if d.Allowed != (room > 0) || d.Remaining != max(0, room-1) {
					t.Fatalf("%+v with %d used, then %+v: %+v", limit, used, reloaded, d)
				}
				if !d.Allowed {
					next.keepsPromise(t, at, 1)
					next.keepsPromise(t, at, capacityOf(reloaded))
				}
			}
		}
	})
}

// TestALoweredRateOutlivesTheOldExpiry: an entry must not expire by the rate it
// was written under, once a slower one has refused its key (B53).
func TestALoweredRateOutlivesTheOldExpiry(t *testing.T) {
	for _, a := range []Algorithm{TokenBucket, LeakyBucket} {
		c := newClient(t, Limit{Algorithm: a, Requests: 60, Window: time.Minute, Burst: 10})
		c.take("key", 0, 10)
		c.limits = mustLimits(t, Limit{Algorithm: a, Requests: 1, Window: time.Minute, Burst: 10})
		c.run([]step{{1, 1, false, 0, 59}, {11, 1, false, 0, 49}, {59.999999, 1, false, 0, 0.000001}, {60, 1, true, 0, 0}})
	}
}
