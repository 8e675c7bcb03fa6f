package limiter

import (
	"testing"
	"time"
)

// stores are a table's ways to its shards.
var stores = map[string]func(Store) Store{
	"in place": func(s Store) Store { return s },
	"swapped":  func(s Store) Store { return plain{s} },
}

// TestANotedLoadLeavesNoOtherTrace refuses a key whose limit was lowered, which
// its entry must note. What had left another of its windows was dropped then, and
// a clock that stepped back found it gone (a refusal leaves no trace, B30).
func TestANotedLoadLeavesNoOtherTrace(t *testing.T) {
	const at = 3000 * second // where windows and slots begin
	for how, through := range stores {
		forEvery(t, func(t *testing.T, a Algorithm) {
			short := Limit{Algorithm: a, Requests: 10, Window: 10 * time.Second}
			long := func(requests int64) Limit { return Limit{Requests: requests, Window: 1000 * time.Second} }
			c, want := newClient(t, short, long(20)), newClient(t, short, long(20))
			c.table.store = through(c.table.store)
			for _, c := range []client{c, want} {
				c.take("key", at, 4)
				c.take("key", at+6*second, 4)
			}
			lowered := client{t, c.table, mustLimits(t, short, long(5))}
			for _, later := range []Instant{11, 25} {
				if d := lowered.take("key", at+later*second, 1); d.Allowed {
					t.Fatalf("%s: a lowered limit: %+v", how, d)
				}
			}
			if load := loadOf(t, c, "key"); load != fullLoad {
				t.Errorf("%s: the load is %d: the refusal was not noted", how, load)
			}
			for _, back := range []Instant{25, 15, 11, 9, 7, 6, 3, 0} {
				for cost := int64(1); cost <= 3; cost++ {
					if got, want := c.peek("key", at+back*second, cost), want.peek("key", at+back*second, cost); got != want {
						t.Errorf("%s: peek(%d s, %d) = %+v, want %+v", how, back, cost, got, want)
					}
				}
			}
		})
	}
}

// loadOf returns the load that the entry of a key notes.
func loadOf(t *testing.T, c client, key string) uint8 {
	t.Helper()
	k := c.table.Fingerprint([]byte(key))
	value, _, err := c.table.store.Load(c.table.shardOf(k), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := find(value, k, minInstant)
	return e.load
}

// TestARefusalTakesNothingFromOthers has two configurations hold a key to buckets
// of other rates and sizes. What one of them refused drained by its own rate, and
// expired or made way for another key when it was as good as unused by its limit.
func TestARefusalTakesNothingFromOthers(t *testing.T) {
	for how, through := range stores {
		for _, a := range []Algorithm{TokenBucket, LeakyBucket} {
			bucket := func(requests, burst int64) Limit {
				return Limit{Algorithm: a, Requests: requests, Window: time.Minute, Burst: burst}
			}
			c := newClient(t, bucket(60, 60))
			c.table.store = through(c.table.store)
			c.take("key", 0, 30)
			fast := client{t, c.table, mustLimits(t, bucket(600, 6))}
			if d := fast.take("key", second, 1); d.Allowed {
				t.Fatalf("%s: a smaller bucket: %+v", how, d)
			}
			for _, at := range []Instant{1, 4, 10, 29} { // after three seconds the smaller one is empty
				if n := c.pending("key", at*second); n != 30-int64(at) {
					t.Errorf("%s: %d units after %d s, want %d", how, n, at, 30-at)
				}
			}

			c = client{t, newTable(t, 1), mustLimits(t, bucket(6, 6))}
			c.table.store = through(c.table.store)
			c.take("blocked", 0, 6)
			slow := client{t, c.table, mustLimits(t, bucket(1, 60))}
			if d := slow.take("blocked", 0, 60); d.Allowed {
				t.Fatalf("%s: a larger bucket: %+v", how, d)
			}
			other := c.charge("other", 1)
			if _, err := c.table.Take(0, other); err != nil || !other[0].Full || other[0].Evicted {
				t.Errorf("%s: another key: %+v, %v, want no room for it", how, other[0], err)
			}
		}
	}
}
