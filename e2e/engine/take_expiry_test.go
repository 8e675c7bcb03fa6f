package engine_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/limiter"
)

// ladder has a limit of every algorithm, which is whole a window after it was
// used up, or a slot later.
func ladder(window time.Duration) []limiter.Limit {
	return []limiter.Limit{
		{Algorithm: limiter.SlidingLog, Requests: 5, Window: window},
		{Algorithm: limiter.SlidingLog, Requests: 5, Window: window + time.Microsecond, Inclusive: true},
		{Algorithm: limiter.SlidingBuckets, Requests: 5, Window: window, Buckets: 10},
		{Algorithm: limiter.TokenBucket, Requests: 5, Window: window},
		{Algorithm: limiter.LeakyBucket, Requests: 5, Window: window, Burst: 3},
	}
}

// patience is how long a key is kept after its quota is whole.
func patience(l limiter.Limit) time.Duration {
	return min(time.Hour, l.Window*time.Duration(l.Capacity())/time.Duration(l.Requests))
}

// clockOf reads the server's clock.
func (s script) clockOf() limiter.Instant {
	s.t.Helper()
	now, err := s.Time(s.t.Context()).Result()
	if err != nil {
		s.t.Fatal(err)
	}
	return limiter.Instant(now.UnixMicro())
}

// TestTakeOwnClock asks without a time: the answer's is between two readings of
// the server's clock, and the decisions are those of the core at that time.
func TestTakeOwnClock(t *testing.T) {
	s, core := load(t, server), newCore(t)
	c := call{charges: []charge{{name: "own clock", limits: ladder(time.Minute), cost: 1}}}
	for i := range 10 {
		before := s.clockOf()
		now, got := s.do(c)
		if after := s.clockOf(); now < before || now > after {
			t.Fatalf("call %d was at %d, not within %d and %d", i, now, before, after)
		}
		then := c
		then.at = &now
		if want := core.do(then); !equal(got, want) {
			t.Fatalf("call %d: got %v\nwant %v", i, got, want)
		}
	}
}

// TestTakeExpiry holds what Redis says of the lives of keys to what take.lua
// says: until the quota is whole, and as long as a clock may step back, but at
// most an hour.
func TestTakeExpiry(t *testing.T) {
	s := load(t, server)
	for _, window := range []time.Duration{time.Second, time.Minute, 24 * time.Hour, limiter.MaxWindow - time.Microsecond} {
		for _, how := range []charge{{cost: 1}, {cost: 1}, {cost: 3}, {cost: 10, record: true}, {cost: 1}} { // the last is refused
			c := call{charges: []charge{{name: "expiry " + window.String(), limits: ladder(window), cost: how.cost, record: how.record}}}
			pipe := s.TxPipeline()
			cmd := s.queue(pipe, c)
			var lives []*redis.DurationCmd
			for _, key := range c.keys() {
				lives = append(lives, pipe.PTTL(t.Context(), key))
			}
			if _, err := pipe.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, r := parse(t, cmd)
			for i, l := range c.charges[0].limits {
				want := r.each[i].ResetAfter + patience(l)
				const busy = 500 * time.Millisecond // Redis may be held up between its two readings of the clock
				if got := lives[i].Val(); got > want+busy || got < want-busy {
					t.Errorf("cost %d, %+v: lives for %v, want %v", how.cost, l, got, want)
				}
			}
		}
	}
}

// TestTakeExpiryOnABusyMachine: keys live from the time that the answer is of, not
// from when the server began with the script.
func TestTakeExpiryOnABusyMachine(t *testing.T) {
	s := loadAfter(t, server, "for _ = 1, 50000000 do end\n")
	c := call{charges: []charge{{name: "busy", limits: ladder(time.Second), cost: 1}}}
	before := s.clockOf()
	now, r := s.do(c)
	if now < before+50_000 {
		t.Fatalf("the server was held up for %d µs only", now-before)
	}
	for i, key := range c.keys() {
		left := s.PTTL(t.Context(), key).Val() // read before the clock: what is lost between counts as lived
		until := s.clockOf() + limiter.Instant(left.Microseconds())
		want := now + limiter.Instant((r.each[i].ResetAfter + patience(c.charges[0].limits[i])).Microseconds())
		if until < want-1000 {
			t.Errorf("%+v: lives for %d µs less than the quota needs", c.charges[0].limits[i], want-until)
		}
	}
}

// TestTakeKeysVanish waits until nothing is left.
func TestTakeKeysVanish(t *testing.T) {
	s := load(t, server)
	c := call{charges: []charge{{name: "vanish", limits: ladder(100 * time.Millisecond), cost: 1}}}
	start := time.Now()
	if _, r := s.do(c); !r.admitted {
		t.Fatal(r)
	}
	if n := s.Exists(t.Context(), c.keys()...).Val(); n != int64(len(c.keys())) && time.Since(start) < 100*time.Millisecond {
		t.Errorf("%d keys, want %d", n, len(c.keys()))
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		n, err := s.Exists(t.Context(), c.keys()...).Result()
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d keys are left", n)
		}
	}
	if lived := time.Since(start); lived < 200*time.Millisecond {
		t.Errorf("all keys were gone after %v", lived)
	}
}

// TestTakeSlowerRefill: a bucket that is refilled more slowly than when it was
// used is kept longer, once somebody has been refused.
func TestTakeSlowerRefill(t *testing.T) {
	s := load(t, server)
	c := call{charges: []charge{{name: "slower", cost: 100, limits: []limiter.Limit{
		{Algorithm: limiter.TokenBucket, Requests: 100, Window: time.Minute, Burst: 100}}}}}
	s.do(c)
	life := func() time.Duration { return s.PTTL(t.Context(), c.keys()[0]).Val() }
	before := life()
	c.charges[0].limits[0].Requests = 1
	c.peek = true
	if _, r := s.do(c); r.admitted || life() > before {
		t.Errorf("a peek: %v, the key lives for %v", r, life())
	}
	c.peek = false
	_, r := s.do(c)
	if want := r.each[0].ResetAfter; r.admitted || life() < want || life() > want+time.Hour+time.Second {
		t.Errorf("%v, the key lives for %v, want %v and at most an hour more", r, life(), want)
	}
	before = life()
	if s.do(c); life() > before {
		t.Errorf("the key's life grew from %v to %v", before, life())
	}
}
