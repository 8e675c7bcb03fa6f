package limiter

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// What clocks do, over what TestEqualsOracle has random traffic do. There a
// window is one of the clock's; here the true time is known, which runs on
// while the clock is set, and workers read it differently.

// A clock reads the true time, and how it is set.
type clock struct {
	traffic
	offset, latest Instant
}

// next returns the true time of the next request, after the clock was set back
// now and then: in one go by up to most, but never below the latest reading by
// more than lag.
func (c *clock) next(most, lag Instant) (truth Instant) {
	truth = c.later()
	if c.r.IntN(15) == 0 {
		c.offset -= 1 + Instant(c.r.Int64N(int64(most)))
		c.offset = max(c.offset, c.latest-lag-truth)
	}
	c.latest = max(c.latest, truth+c.offset)
	return truth
}

// TestAClockSetBackMintsNothing slides a window of true time over what was
// admitted while the clock was set back again and again. By any amount it
// gives nothing away, save to a fixed window, which ends where the clock is set
// to its end: that one has a clock that is behind by no more than the window.
func TestAClockSetBackMintsNothing(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(100)) {
			r := rand.New(rand.NewPCG(seed, 8))
			limit := randomLimit(r, a)
			window := Instant(limit.Window.Microseconds())
			most, lag := window, window
			if seed%2 == 0 && a != FixedWindow {
				most, lag = 10*window, 1<<50
			}
			clock := clock{traffic: saturating(r, limit)}
			c := newClient(t, limit)
			var admitted record // by the true time
			for range 500 {
				truth, cost := clock.next(most, lag), clock.cost()
				if c.take("key", truth+clock.offset, cost).Allowed {
					admitted = append(admitted, record{{truth, cost}}...)
				}
			}
			if n := admitted.most(window); n > mostIn(limit) {
				t.Fatalf("seed %d, %+v: %d in one window, documented are %d", seed, limit, n, mostIn(limit))
			}
		}
	})
}

// saturating is traffic of a true time that asks for more than the limit.
func saturating(r *rand.Rand, limit Limit) traffic {
	s := traffic{r, limit, Instant(r.Int64N(1 << 40))}
	s.limit.Requests *= 4
	return s
}

// TestWorkersWhoseClocksDiffer lets four workers, whose clocks are apart by up
// to the 65 ms that an entry has to spare, or a quarter of the window, ask for
// one key: a window that is shorter by so much holds no more than is documented.
func TestWorkersWhoseClocksDiffer(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(100)) {
			r := rand.New(rand.NewPCG(seed, 9))
			limit := randomLimit(r, a)
			window := Instant(limit.Window.Microseconds())
			traffic := saturating(r, limit)
			apart := min(65_000, window/4, traffic.refill())
			skew := [4]Instant{0, apart}
			for i := range skew[2:] {
				skew[2+i] = Instant(r.Int64N(int64(apart + 1)))
			}
			c := newClient(t, limit)
			var admitted record
			for range 500 {
				truth, cost := traffic.later(), traffic.cost()
				if c.take("key", truth+skew[r.IntN(len(skew))], cost).Allowed {
					admitted = append(admitted, record{{truth, cost}}...)
				}
			}
			if n := admitted.most(window - apart); n > mostIn(limit) {
				t.Fatalf("seed %d, %+v, %d µs apart: %d in one window, documented are %d", seed, limit, apart, n, mostIn(limit))
			}
		}
	})
}

// wholeAfter is the longest that a limit which nobody asks any more takes to be
// whole, if the clock is not behind.
func wholeAfter(l Limit) time.Duration {
	switch l.Algorithm {
	case SlidingBuckets:
		return l.Window + span(int64(slotOf(l)))
	case SlidingCounter:
		return 2 * l.Window
	default:
		return l.Window
	}
}

// TestAJumpAndBack uses up a key, sets the clock forward, uses it up again, and
// sets the clock back, through a table that is swept and one that is not, and
// through a Limiter. Forward is time that has passed, and back is none.
func TestAJumpAndBack(t *testing.T) { // B36
	const day, start = 24 * 3600 * second, 1000 * second
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 10, Window: time.Minute}
		for _, jump := range []Instant{2 * 60 * second, day, 365 * day, 366 * day, 367 * day, 100 * 366 * day, maxInstant/2 - start} {
			for _, swept := range []bool{false, true} {
				name := fmt.Sprintf("a jump of %v, swept %v", span(int64(jump)), swept)
				c := newClient(t, limit)
				c.usesUp(name, start, swept)
				if n := c.tracked(start + jump); n != 0 {
					t.Errorf("%s: %d keys are tracked", name, n)
				}
				c.usesUp(name, start+jump, swept)
				if d := c.take("key", start, 1); d.Allowed || d.RetryAfter <= 0 || d.RetryAfter > wholeAfter(limit) || d.ResetAfter > wholeAfter(limit) {
					t.Errorf("%s and back: %+v", name, d)
				}
				d := c.peek("key", start, 1)
				c.promises(name+" and back", start, d)
				c.usesUp(name+" and back", start+Instant(d.ResetAfter.Microseconds()), swept)
			}
			testLimiterJumps(t, limit, start, jump)
		}
	})
}

// usesUp takes all of the quota at a time when it is whole, and no more.
func (c client) usesUp(name string, at Instant, sweep bool) {
	c.t.Helper()
	if sweep {
		if _, err := c.table.Sweep(at, c.table.Shards()); err != nil {
			c.t.Fatal(err)
		}
	}
	all := c.limits.capacity()
	if d := c.take("key", at, all); !d.Allowed || d.Remaining != 0 {
		c.t.Errorf("%s: all of the quota at %d: %+v", name, at, d)
	}
	d := c.take("key", at, 1)
	if d.Allowed || d.RetryAfter <= 0 || d.RetryAfter > wholeAfter(c.limits.limits[0]) {
		c.t.Errorf("%s: one more at %d: %+v", name, at, d)
	}
	c.promises(name, at, d)
}

// promises checks that a unit fits after the wait, and none before.
func (c client) promises(name string, at Instant, d Decision) {
	c.t.Helper()
	then := at + Instant(d.RetryAfter.Microseconds())
	if !c.peek("key", then, 1).Allowed || c.peek("key", then-1, 1).Allowed {
		c.t.Errorf("%s: a wait of %v at %d is wrong", name, d.RetryAfter, at)
	}
}

func testLimiterJumps(t *testing.T, limit Limit, start, jump Instant) {
	t.Helper()
	l, err := New(100, limit)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		at    Instant
		cost  int64
		allow bool
	}{{start, 10, true}, {start, 1, false}, {start + jump, 10, true}, {start + jump, 1, false}, {start, 1, false}, {start + 120*second, 10, true}} {
		if d := l.TakeN("key", time.UnixMicro(int64(step.at)), step.cost); d.Allowed != step.allow || d.RetryAfter < 0 || d.RetryAfter > wholeAfter(limit) {
			t.Errorf("a jump of %v, step %d: TakeN(%d, %d) = %+v, want %v", span(int64(jump)), i, step.at, step.cost, d, step.allow)
		}
	}
}

// TestLimiterStepsAsATable holds the two homes of a window to each other where
// TestLimiterDecidesAsATable does not go: on clocks that step, and for every
// algorithm alone, whose states have no names then.
func TestLimiterStepsAsATable(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(20)) {
			r := rand.New(rand.NewPCG(seed, 10))
			limits := []Limit{randomLimit(r, a)}
			if seed%2 == 0 {
				limits = append(limits, Limit{Algorithm: FixedWindow, Requests: 1 + r.Int64N(20), Window: 1_000_001 * time.Microsecond})
			}
			l, err := New(1000, limits...)
			if err != nil {
				t.Fatal(err)
			}
			c := newClient(t, limits...)
			traffic := traffic{r, limits[0], 0}
			for i := range 1000 {
				now, cost := traffic.step(), min(traffic.cost(), MaxRequests)
				if r.IntN(100) == 0 {
					traffic.now += Instant(MaxWindow.Microseconds()) * Instant(r.IntN(5)-2)
				}
				if got, want := l.TakeN("key", time.UnixMicro(int64(now)), cost), c.take("key", now, cost); got != want {
					t.Fatalf("seed %d, request %d: TakeN(%d, %d) = %+v, want %+v", seed, i, now, cost, got, want)
				}
			}
		}
	})
}

// TestAnExpiryHoldsEveryInstant: its five bytes reach to 2^55 µs, twice as far
// as the door lets instants through, and no quota takes so long to be whole.
func TestAnExpiryHoldsEveryInstant(t *testing.T) {
	const unit = 1 << expiryShift
	longest := Instant(3*MaxWindow.Microseconds() + maxDraining)
	for _, at := range []Instant{minInstant, minInstant + 1, -unit - 1, -unit, -unit + 1, -1, 0, 1, unit - 1, unit, unit + 1, maxInstant - 1, maxInstant, maxInstant + longest} {
		var b [8]byte
		putExpiry(b[3:], at)
		if got := expiryOf(b[:]); got <= at+unit || got > at+2*unit {
			t.Errorf("an entry that is to live until %d lives until %d", at, got)
		}
	}
}

// TestTheEndsOfTimeAreSwept: an entry is kept and forgotten as any other where
// instants begin, and where they end, and time stands still, it is kept.
func TestTheEndsOfTimeAreSwept(t *testing.T) { // B36
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 1, Window: time.Minute}
		for _, test := range []struct {
			at, sweep Instant
			forgotten int
		}{
			{-1 << 63, -1 << 63, 0}, {minInstant, minInstant + 1, 0}, {minInstant, minInstant + 121*second, 1}, {-1 << 63, 0, 1},
			{1<<63 - 1, 1<<63 - 1, 0}, {maxInstant - 121*second, 1<<63 - 1, 1}, {-1 << 63, 1<<63 - 1, 1}, {1<<63 - 1, -1 << 63, 0},
		} {
			c := newClient(t, limit)
			if c.take("key", test.at, 1); c.take("key", test.at, 1).Allowed {
				t.Errorf("at %d two were admitted", test.at)
			}
			found, err := c.table.Sweep(test.sweep, c.table.Shards())
			if want := (Sweep{Live: 1 - test.forgotten, Forgotten: test.forgotten}); err != nil || found != want {
				t.Errorf("used at %d, swept at %d: %+v, %v, want %+v", test.at, test.sweep, found, err, want)
			}
			if n := c.tracked(test.sweep); n != 1-test.forgotten {
				t.Errorf("used at %d, swept at %d: %d tracked", test.at, test.sweep, n)
			}
		}
	})
}
