package replay

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// TestUntil: a request counts for as long as the next one is told to wait, to
// the microsecond.
func TestUntil(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(10_000)), limiter.TableOptions{MaxKeys: 10_000, Seed: limiter.NewSeed()})
	if err != nil {
		t.Fatal(err)
	}
	for key := range 1000 {
		length := time.Duration(1+rng.Int64N(100_000)) * time.Microsecond
		for i, l := range []limiter.Limit{
			{Window: length}, {Window: length, Inclusive: true}, {Window: length, Algorithm: limiter.FixedWindow},
			{Window: length, Algorithm: limiter.SlidingBuckets}, {Window: length, Algorithm: limiter.SlidingBuckets, Buckets: 1 + rng.IntN(100)},
		} {
			l.Requests = 1
			limits, err := limiter.NewLimits(l)
			if err != nil {
				t.Fatal(err)
			}
			at := rng.Int64N(1e15)
			charge := []limiter.Charge{{Key: limiter.Fingerprint(1 + 5*key + i), Limits: limits, Cost: 1}}
			for range 2 {
				if _, err := table.Take(limiter.Instant(at), charge); err != nil {
					t.Fatal(err)
				}
			}
			w := window{Limit: l}
			if got, want := w.until(at), at+charge[0].Decision.RetryAfter.Microseconds(); charge[0].Decision.Allowed || got != want {
				t.Fatalf("%+v at %d: it counts until %d, want %d", l, at, got, want)
			}
		}
	}
}
