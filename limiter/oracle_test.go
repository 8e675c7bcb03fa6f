package limiter

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// logOracle is the sliding log as one would explain it: every admitted unit
// with its time in a list, and everything counted anew for each request.
type logOracle struct {
	limit  int64
	window time.Duration
	incl   bool
	units  []time.Duration // when each unit was admitted, oldest first
}

func (o *logOracle) counts(s, t time.Duration) bool {
	return t-s < o.window || o.incl && t-s == o.window
}

func (o *logOracle) inWindow(t time.Duration) (n int64) {
	for _, s := range o.units {
		if o.counts(s, t) {
			n++
		}
	}
	return n
}

// settle applies design.md §2 to a time earlier than the latest one seen.
func (o *logOracle) settle(t time.Duration) time.Duration {
	if len(o.units) == 0 {
		return t
	}
	latest := o.units[len(o.units)-1]
	if t >= latest {
		return t
	}
	edge := o.window
	if o.incl {
		edge += time.Microsecond
	}
	if latest-t <= edge {
		return latest
	}
	for i := range o.units {
		o.units[i] -= latest - t
	}
	return t
}

func (o *logOracle) take(t time.Duration, cost int64) Decision {
	at := o.settle(t)
	used := o.inWindow(at)
	d := Decision{Limit: o.limit, Allowed: used+cost <= o.limit}
	if d.Allowed {
		for range cost {
			o.units = append(o.units, at)
		}
	} else if cost > o.limit {
		d.RetryAfter = Never
	} else {
		for wait := at; o.inWindow(wait)+cost > o.limit; d.RetryAfter = wait - t {
			wait = o.nextLeaving(wait)
		}
	}
	d.Remaining = max(0, o.limit-o.inWindow(at))
	for whole := at; o.inWindow(whole) > 0; d.ResetAfter = whole - t {
		whole = o.nextLeaving(whole)
	}
	return d
}

// nextLeaving is the first time after t at which some unit no longer counts.
func (o *logOracle) nextLeaving(t time.Duration) time.Duration {
	for _, s := range o.units {
		if o.counts(s, t) {
			if o.incl {
				return s + o.window + time.Microsecond
			}
			return s + o.window
		}
	}
	panic("nothing left to leave")
}

// TestSlidingLogEqualsOracle compares every field of every decision on random
// traffic, and holds each refusal to its promise.
func TestSlidingLogEqualsOracle(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			limit := Limit{Requests: 1 + r.Int64N(12), Window: time.Duration(1+r.Int64N(1_000_000)) * time.Microsecond, Inclusive: seed%2 == 1}
			c := newClient(t, limit)
			oracle := &logOracle{limit: limit.Requests, window: limit.Window, incl: limit.Inclusive}
			now := time.Duration(0)
			for i := range 1500 {
				now = randomStep(r, now, limit)
				cost := int64(1)
				if r.IntN(3) == 0 {
					cost = 1 + r.Int64N(limit.Requests+1)
				}
				peeked := c.peek("key", At(now), cost)
				got, want := c.take("key", At(now), cost), oracle.take(now, cost)
				if got != want || peeked != want {
					t.Fatalf("request %d: take(%v, %d) of %d per %v = %+v, peeked %+v, want %+v", i, now, cost, limit.Requests, limit.Window, got, peeked, want)
				}
				checkPromise(t, c, now, cost, got)
			}
		})
	}
}

// randomStep returns the time of the next request: mostly a little later, or
// the same, on the very edge of the window, long after, or back.
func randomStep(r *rand.Rand, now time.Duration, limit Limit) time.Duration {
	µs := func(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
	window := limit.Window.Microseconds()
	switch r.IntN(20) {
	case 0:
		return now
	case 1:
		return now + limit.Window
	case 2:
		return now + limit.Window + µs(r.Int64N(3)-1)
	case 3:
		return now + µs(r.Int64N(10*window))
	case 4:
		return now - µs(r.Int64N(window+1))
	case 5:
		return now - µs(r.Int64N(5*window))
	default:
		return now + µs(r.Int64N(1+2*window/limit.Requests))
	}
}

// checkPromise checks that a refused request is admitted after RetryAfter, and
// not a microsecond sooner.
func checkPromise(t *testing.T, c client, now time.Duration, cost int64, d Decision) {
	t.Helper()
	if d.Allowed || d.RetryAfter == Never {
		return
	}
	if d.RetryAfter <= 0 {
		t.Fatalf("at %v: refused with RetryAfter %v", now, d.RetryAfter)
	}
	if !c.peek("key", At(now+d.RetryAfter), cost).Allowed {
		t.Fatalf("at %v: refused for %v, and then again", now, d.RetryAfter)
	}
	if c.peek("key", At(now+d.RetryAfter-time.Microsecond), cost).Allowed {
		t.Fatalf("at %v: refused for %v, but admitted a microsecond sooner", now, d.RetryAfter)
	}
}
