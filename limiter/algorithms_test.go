package limiter

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// What every algorithm of the ladder must do.

func TestCostAboveTheLimit(t *testing.T) { // B39
	waits := map[Algorithm]float64{ // for all of a limit that was used up a second ago
		SlidingLog:     59,
		SlidingBuckets: 59.999999, // its slot of a second counts as its end
		SlidingCounter: 119,       // in the window after next, nothing of it is left
		TokenBucket:    59,
		LeakyBucket:    59,
		FixedWindow:    59,
	}
	forEvery(t, func(t *testing.T, a Algorithm) {
		c := newClient(t, Limit{Algorithm: a, Requests: 10, Window: time.Minute})
		c.run([]step{
			{0, 11, false, 10, -1}, // on a fresh key
			{0, 10, true, 0, 0},
			{1, 10, false, 0, waits[a]},
			{1, 11, false, 0, -1},     // on an empty one
			{1000, 11, false, 10, -1}, // after long idle
			{1000, MaxRequests, false, 10, -1},
			{1000, 9, true, 1, 0},
		})
	})
}

func TestRefusalsAreNotCounted(t *testing.T) { // B05
	tenths := map[Algorithm][]Instant{
		SlidingLog:     {0, 1, 100, 101},
		SlidingBuckets: {0, 1, 102, 103}, // both in a slot of a sixth of a second
		SlidingCounter: {0, 1},           // two were in the window before, until half of it has left
		TokenBucket:    {0, 1, 50, 100},
		LeakyBucket:    {0, 1, 50, 100},
		FixedWindow:    {0, 1, 100, 101},
	}
	forEvery(t, func(t *testing.T, a Algorithm) {
		c := newClient(t, Limit{Algorithm: a, Requests: 2, Window: 10 * time.Second})
		var admitted []Instant
		for i := range Instant(121) {
			before := c.shard("key")
			if c.take("key", i*second/10, 1).Allowed {
				admitted = append(admitted, i)
			} else if !bytes.Equal(c.shard("key"), before) {
				t.Errorf("the refusal at %d/10 s changed the state", i)
			}
		}
		if !slices.Equal(admitted, tenths[a]) {
			t.Errorf("admitted at %v tenths of a second, want %v", admitted, tenths[a])
		}
	})
}

// shard returns the value of the shard that a key lies in.
func (c client) shard(key string) []byte {
	value, _, err := c.table.store.Load(c.table.shardOf(c.table.Fingerprint([]byte(key))), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return value
}

func TestTheFirstRequestIsAdmitted(t *testing.T) { // B49
	forEvery(t, func(t *testing.T, a Algorithm) {
		for _, limit := range []Limit{
			{Requests: 5, Window: 24 * time.Hour},
			{Requests: 6, Window: time.Minute},
			{Requests: 1, Window: time.Hour},
			{Requests: 1, Window: time.Microsecond},
			{Requests: MaxRequests, Window: MaxWindow},
		} {
			limit.Algorithm = a
			c := newClient(t, limit)
			if d := c.take("key", 12345, 1); !d.Allowed || d.Limit != limit.Requests || d.Remaining != limit.Requests-1 {
				t.Errorf("%+v: the first request gets %+v", limit, d)
			}
			if d := c.take("key", 12345, limit.Requests); d.Allowed {
				t.Errorf("%+v: one more than the limit gets %+v", limit, d)
			}
		}
	})
}

func TestAYear(t *testing.T) { // B36
	const year = 365 * 24 * 3600
	forEvery(t, func(t *testing.T, a Algorithm) {
		limit := Limit{Algorithm: a, Requests: 1, Window: year * time.Second}
		wait, whole := float64(year-1), float64(year)
		switch a {
		case SlidingBuckets:
			limit.Buckets = MaxBuckets
			wait += 3153.6 - 1e-6 // its slot
			whole += 3153.6 - 1e-6
		case SlidingCounter:
			wait, whole = 2*year-1, 2*year
		}
		newClient(t, limit).run([]step{{0, 1, true, 0, 0}, {1, 1, false, 0, wait}, {whole, 1, true, 0, 0}})
	})
}

func TestTheEndsOfTime(t *testing.T) { // B36
	forEvery(t, func(t *testing.T, a Algorithm) {
		c := newClient(t, Limit{Algorithm: a, Requests: 1, Window: MaxWindow})
		const first, last = -1 << 63, 1<<63 - 1
		for _, step := range []struct {
			at    Instant
			allow bool
		}{{first, true}, {last, true}, {first, false}, {last, true}, {last, false}} {
			d := c.take("key", step.at, 1)
			if d.Allowed != step.allow || d.RetryAfter < 0 || d.RetryAfter > 3*MaxWindow || d.ResetAfter < 0 {
				t.Errorf("take(%d) = %+v, want %v", step.at, d, step.allow)
			}
		}
	})
}
