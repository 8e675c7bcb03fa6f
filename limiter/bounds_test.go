package limiter

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
)

// mostIn returns what the documentation promises: the largest number of units
// in any half-open window.
func mostIn(l Limit) int64 {
	switch l.Algorithm {
	case SlidingCounter:
		return 2*l.Requests - 1
	case FixedWindow:
		return 2 * l.Requests
	case TokenBucket, LeakyBucket:
		return capacityOf(l) + l.Requests
	default:
		return l.Requests
	}
}

// blame returns how young a unit must be to be a reason for a refusal. The
// exact algorithms blame what lies in the window and nothing else.
func blame(l Limit) Instant {
	window := Instant(l.Window.Microseconds())
	switch {
	case l.Algorithm == SlidingBuckets:
		return window + slotOf(l)
	case l.Algorithm == SlidingCounter:
		return 2 * window
	case l.Inclusive:
		return window + 1
	default:
		return window
	}
}

// a record is what was admitted, in order.
type record []struct {
	at    Instant
	units int64
}

// since counts the units whose age at now is less than the given one.
func (r record) since(now, age Instant) (n int64) {
	for i := len(r) - 1; i >= 0 && now-r[i].at < age; i-- {
		n += r[i].units
	}
	return n
}

// most returns the largest number of units in any half-open window.
func (r record) most(window Instant) (most int64) {
	from, n := 0, int64(0)
	for _, last := range r {
		n += last.units
		for ; last.at-r[from].at >= window; from++ {
			n -= r[from].units
		}
		most = max(most, n)
	}
	return most
}

func (r record) total() int64 { return r.since(0, 1<<62) }

// level is how full a bucket is that drains from each admission on: the sum of
// what came since, less what drains meanwhile, wherever that is largest.
func (r record) level(l Limit, now Instant) *big.Rat {
	most, units := new(big.Rat), int64(0)
	for i := len(r) - 1; i >= 0; i-- {
		units += r[i].units
		drained := big.NewRat(int64(now-r[i].at), l.Window.Microseconds())
		drained.Mul(drained, big.NewRat(l.Requests, 1))
		if level := drained.Sub(big.NewRat(units, 1), drained); level.Cmp(most) > 0 {
			most = level
		}
	}
	return most
}

// offer makes requests, records what is admitted and checks each refusal.
func (c client) offer(l Limit, requests int, next func() (Instant, int64)) (r record) {
	c.t.Helper()
	for range requests {
		at, cost := next()
		if c.take("key", at, cost).Allowed {
			r = append(r, record{{at, cost}}...)
			continue
		}
		if cost > capacityOf(l) {
			continue
		}
		if n := r.since(at, blame(l)); n+cost <= l.Requests && l.Algorithm != TokenBucket && l.Algorithm != LeakyBucket {
			c.t.Fatalf("%+v: %d refused at %d with %d used", l, cost, at, n)
		}
	}
	if most := r.most(Instant(l.Window.Microseconds())); most > mostIn(l) {
		c.t.Fatalf("%+v: %d in one window, documented are %d", l, most, mostIn(l))
	}
	return r
}

// TestBounds slides a window over what random traffic was admitted.
func TestBounds(t *testing.T) { // B43
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(100)) {
			r := rand.New(rand.NewPCG(seed, 3))
			limit := randomLimit(r, a)
			traffic := traffic{r, limit, Instant(r.Int64N(1 << 40))}
			if seed%2 == 0 { // saturate
				traffic.limit.Requests *= 4
			}
			newClient(t, limit).offer(limit, 500, func() (Instant, int64) { return traffic.later(), traffic.cost() })
		}
	})
}

// TestBucketIsExact holds every answer of a bucket against what a bucket is:
// a request is refused if and only if since some admission more came in than
// the burst and what drained.
func TestBucketIsExact(t *testing.T) {
	for seed := range uint64(rounds(10)) {
		r := rand.New(rand.NewPCG(seed, 4))
		limit := randomLimit(r, TokenBucket)
		traffic := traffic{r, limit, Instant(r.Int64N(1 << 40))}
		c := newClient(t, limit)
		var admitted record
		for range 200 {
			at, cost := traffic.later(), traffic.cost()
			level := admitted.level(limit, at)
			fits := level.Add(level, big.NewRat(cost, 1)).Cmp(big.NewRat(capacityOf(limit), 1)) <= 0
			if got := c.take("key", at, cost).Allowed; got != fits {
				t.Fatalf("%+v: take(%d, %d) = %v at a level of %v with it", limit, at, cost, got, level)
			}
			if fits {
				admitted = append(admitted, record{{at, cost}}...)
			}
		}
	}
}

// TestSaturation asks far more than 1000 per second for five seconds, from a
// start that no window or slot is aligned to.
func TestSaturation(t *testing.T) { // B43
	const µs, seconds = 200, 5
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 1000, Window: time.Second}
		now := 123*second + 456_789
		got := newClient(t, limit).offer(limit, seconds*int(second)/µs, func() (Instant, int64) { now += µs; return now, 1 })
		want := map[Algorithm][2]int64{ // from, to
			SlidingLog:     {5000, 5000},
			SlidingBuckets: {5000, 5000},
			SlidingCounter: {3500, 5500},
			TokenBucket:    {5999, 5999},
			LeakyBucket:    {5999, 5999},
			FixedWindow:    {6000, 6000},
		}[a]
		if n := got.total(); n < want[0] || n > want[1] {
			t.Errorf("admitted %d in %d seconds, want %d to %d", n, seconds, want[0], want[1])
		}
	})
}

// TestBoundsAreReached shows that no smaller bound could be documented.
func TestBoundsAreReached(t *testing.T) {
	for _, test := range []struct {
		algorithm Algorithm
		at        []Instant // requests for one unit each, until refused
		want      int64
	}{
		{SlidingLog, []Instant{second - 1, 2*second - 2}, 10},
		{SlidingBuckets, []Instant{second - 1, 2*second - 2}, 10},
		{SlidingCounter, []Instant{second - 1, 2*second - 2}, 2*10 - 1},
		{FixedWindow, []Instant{second - 1, second}, 2 * 10},
		{TokenBucket, []Instant{second - 1, 2*second - 2}, 10 + 10 - 1}, // the last token comes with the window's end
	} {
		limit := Limit{Algorithm: test.algorithm, Requests: 10, Window: time.Second}
		i := 0
		got := newClient(t, limit).offer(limit, 11*len(test.at), func() (Instant, int64) { i++; return test.at[(i-1)/11], 1 })
		if most := got.most(second); most != test.want {
			t.Errorf("%s: %d in one window, want %d", test.algorithm, most, test.want)
		}
	}
}

// TestCounterBlamesTheWindowBefore shows the other error of the estimate: at
// the end of a window whose units all came at its beginning, and have left,
// all of them still count.
func TestCounterBlamesTheWindowBefore(t *testing.T) {
	c := newClient(t, Limit{Algorithm: SlidingCounter, Requests: 10, Window: time.Second})
	c.run([]step{{0, 10, true, 0, 0}, {1, 1, false, 0, 0.1}, {1.1, 1, true, 0, 0}})
}

// TestSlotsGiveBackLate shows the error of the slots: one microsecond less
// than a slot, and none at the end of one.
func TestSlotsGiveBackLate(t *testing.T) {
	for at, wait := range map[Instant]time.Duration{0: time.Second + 99_999*time.Microsecond, 99_999: time.Second} {
		c := newClient(t, Limit{Algorithm: SlidingBuckets, Requests: 1, Window: time.Second, Buckets: 10})
		c.take("key", at, 1)
		if d := c.take("key", at, 1); d.RetryAfter != wait {
			t.Errorf("at %d: wait %v, want %v", at, d.RetryAfter, wait)
		}
	}
}
