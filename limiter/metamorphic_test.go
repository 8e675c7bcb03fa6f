package limiter

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestRefusedRequestsChangeNothing leaves the refused requests of a history
// out: no other answer changes. Workers interleave, but no clock is set back.
func TestRefusedRequestsChangeNothing(t *testing.T) { // B05
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(20)) {
			r := rand.New(rand.NewPCG(seed, 5))
			limit := randomLimit(r, a)
			all, admitted := newClient(t, limit), newClient(t, limit)
			traffic := traffic{r, limit, 0}
			late := int64(min(traffic.refill(), Instant(limit.Window.Microseconds()))) / 4
			for range 300 {
				at, cost := traffic.later()-Instant(r.Int64N(1+late)), traffic.cost()
				d := all.take("key", at, cost)
				want := admitted.peek("key", at, cost)
				if d.Allowed {
					want = admitted.take("key", at, cost)
				}
				if d != want {
					t.Fatalf("%+v: take(%d, %d) = %+v, without the refused requests %+v", limit, at, cost, d, want)
				}
			}
		}
	})
}

// TestScale stretches a history and its window: the same is admitted, and the
// waits are stretched by as much, or less by the microseconds gained where the
// shorter one had to be rounded up.
func TestScale(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(20)) {
			r := rand.New(rand.NewPCG(seed, 6))
			limit := randomLimit(r, a)
			limit.Inclusive = false
			limit.Window *= time.Duration(limit.Requests) // so that a token comes on a microsecond,
			if a == SlidingBuckets {
				limit.Buckets = 1 + r.IntN(20)
				limit.Window *= time.Duration(limit.Buckets) // and slots divide it
			}
			testScale(t, limit, 2+r.Int64N(1000), traffic{r, limit, 0})
		}
	})
}

func testScale(t *testing.T, limit Limit, k int64, traffic traffic) {
	stretched := limit
	stretched.Window *= time.Duration(k)
	short, long := newClient(t, limit), newClient(t, stretched)
	shift := Instant(0)
	if limit.Algorithm == SlidingBuckets {
		shift = Instant(k - 1) // a slot's last microsecond stays its last
	}
	rounded := map[Algorithm]bool{SlidingCounter: true, TokenBucket: true, LeakyBucket: true}[limit.Algorithm]
	agree := func(x, y time.Duration) bool {
		x *= time.Duration(k)
		return x == y || rounded && x > y && x-y < time.Duration(k)*time.Microsecond
	}
	latest := Instant(0)
	for range 300 {
		at, cost := traffic.step(), traffic.cost()
		if latest = max(latest, at); at < latest && shift > 0 && at%slotOf(limit) == 0 {
			at++ // and the first does not, which matters to a clock that is set back
		}
		d, e := short.take("key", at, cost), long.take("key", at*Instant(k)+shift, cost)
		never := cost > capacityOf(limit)
		if d.Allowed != e.Allowed || d.Remaining != e.Remaining ||
			!agree(d.ResetAfter, e.ResetAfter) || never != (e.RetryAfter == Never) || !never && !agree(d.RetryAfter, e.RetryAfter) {
			t.Fatalf("%+v: take(%d, %d) = %+v, %d times as slow %+v", limit, at, cost, d, k, e)
		}
	}
}

// TestMerge gives the traffic of two keys to one: it gets what one key gets,
// and what came in under two keys alone was admitted as often or more.
func TestMerge(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(20)) {
			r := rand.New(rand.NewPCG(seed, 7))
			limit := randomLimit(r, a)
			traffic := traffic{r, limit, 0}
			alone := newClient(t, limit)
			var apart [2]record
			merged := newClient(t, limit).offer(limit, 400, func() (Instant, int64) {
				at, cost, key := traffic.later(), traffic.cost(), r.IntN(2)
				if alone.take([]string{"ann", "bob"}[key], at, cost).Allowed {
					apart[key] = append(apart[key], record{{at, cost}}...)
				}
				return at, cost
			})
			for _, r := range append(apart[:], merged) {
				if most := r.most(Instant(limit.Window.Microseconds())); most > mostIn(limit) {
					t.Fatalf("%+v: %d in one window, documented are %d", limit, most, mostIn(limit))
				}
			}
		}
	})
}
