package limiter

import (
	"math"
	"testing"
)

const second = Instant(1_000_000)

// newTable returns a table of its own over a Memory of its own.
func newTable(t testing.TB, maxKeys int) *Table {
	t.Helper()
	table, err := NewTable(NewMemory(Shards(maxKeys)), TableOptions{MaxKeys: maxKeys, Seed: Seed{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// everyAlgorithm is the ladder.
var everyAlgorithm = []Algorithm{SlidingLog, SlidingBuckets, SlidingCounter, TokenBucket, LeakyBucket, FixedWindow}

func forEvery(t *testing.T, test func(t *testing.T, a Algorithm)) {
	for _, a := range everyAlgorithm {
		t.Run(string(a), func(t *testing.T) { test(t, a) })
	}
}

// rounds is how often to repeat a random test: fewer times under the race
// detector, which has nothing to find in arithmetic.
func rounds(n int) int {
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}

func mustLimits(t testing.TB, limits ...Limit) *Limits {
	t.Helper()
	l, err := NewLimits(limits...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// a client asks a table for the quota of named keys under one set of limits.
type client struct {
	t      testing.TB
	table  *Table
	limits *Limits
}

func newClient(t testing.TB, limits ...Limit) client {
	return client{t, newTable(t, 1000), mustLimits(t, limits...)}
}

func (c client) charge(key string, cost int64) []Charge {
	return []Charge{{Key: c.table.Fingerprint([]byte(key)), Limits: c.limits, Cost: cost}}
}

func (c client) take(key string, now Instant, cost int64) Decision {
	c.t.Helper()
	charges := c.charge(key, cost)
	if _, err := c.table.Take(now, charges); err != nil {
		c.t.Fatalf("Take(%q, %d, %d): %v", key, now, cost, err)
	}
	return charges[0].Decision
}

func (c client) peek(key string, now Instant, cost int64) Decision {
	c.t.Helper()
	charges := c.charge(key, cost)
	if _, err := c.table.Peek(now, charges); err != nil {
		c.t.Fatalf("Peek(%q, %d, %d): %v", key, now, cost, err)
	}
	return charges[0].Decision
}

func (c client) pending(key string, now Instant) int64 {
	c.t.Helper()
	n, err := c.table.Pending(now, c.table.Fingerprint([]byte(key)), c.limits, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return n[0]
}

func (c client) tracked(now Instant) int {
	c.t.Helper()
	n, err := c.table.Tracked(now)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// a step is one request of a table of steps, in seconds.
type step struct {
	at    float64
	cost  int64
	allow bool
	left  int64   // Remaining
	retry float64 // RetryAfter; -1: Never
}

// seconds returns an instant in seconds, to the nearest microsecond.
func seconds(s float64) Instant { return Instant(math.Round(s * 1e6)) }

// run takes each step for one key and compares the answers.
func (c client) run(steps []step) {
	c.t.Helper()
	for i, s := range steps {
		d := c.take("key", seconds(s.at), s.cost)
		retry := span(int64(seconds(s.retry)))
		if s.retry < 0 {
			retry = Never
		}
		if d.Allowed != s.allow || d.Remaining != s.left || d.RetryAfter != retry {
			c.t.Fatalf("step %d: take(%gs, cost %d) = %v, %d left, retry %v; want %v, %d left, retry %v",
				i, s.at, s.cost, d.Allowed, d.Remaining, d.RetryAfter, s.allow, s.left, retry)
		}
	}
}
