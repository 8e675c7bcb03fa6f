package limiter

import (
	"testing"
	"time"
)

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		limit Limit
		want  string
	}{
		{Limit{Requests: 0, Window: 4}, "limit and window must be positive"},
		{Limit{Requests: 3, Window: 0}, "limit and window must be positive"},
		{Limit{Requests: -1, Window: time.Second}, "limit and window must be positive"},
		{Limit{Requests: 1, Window: -time.Second}, "limit and window must be positive"},
		{Limit{Requests: 1 << 31, Window: time.Second}, "limit 2147483648 is above 2147483647"},
		{Limit{Requests: 1<<63 - 1, Window: time.Second}, "limit 9223372036854775807 is above 2147483647"},
		{Limit{Requests: 1, Window: MaxWindow + 1}, "window 8784h0m0.000000001s is above 366 days"},
		{Limit{Requests: 1, Window: 1<<63 - 1}, "window 2562047h47m16.854775807s is above 366 days"},
		{Limit{Requests: 1, Window: 1500}, "window 1.5µs is not a whole number of microseconds"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: "guess"}, `unknown algorithm "guess"`},
		{Limit{Requests: 1, Window: time.Microsecond}, ""},
		{Limit{Requests: MaxRequests, Window: MaxWindow, Algorithm: SlidingLog}, ""},
		{Limit{Requests: 1 << 32, Window: time.Second}, "limit 4294967296 is above 2147483647"},
		{Limit{Requests: 1 << 53, Window: time.Second}, "limit 9007199254740992 is above 2147483647"},

		{Limit{Requests: 1, Window: time.Second, Algorithm: TokenBucket, Burst: -1}, "burst -1 is not in 1..2147483647"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: LeakyBucket, Burst: 1 << 31}, "burst 2147483648 is not in 1..2147483647"},
		{Limit{Requests: 0, Window: time.Second, Algorithm: TokenBucket, Burst: 1}, "limit and window must be positive"},
		{Limit{Requests: 1, Window: time.Second, Burst: 1}, "only token_bucket and leaky_bucket have a burst"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: FixedWindow, Burst: -1}, "only token_bucket and leaky_bucket have a burst"},
		{Limit{Requests: 1, Window: MaxWindow, Algorithm: TokenBucket, Burst: 2}, "burst 2 at 1 per 8784h0m0s takes above 366 days to refill"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: LeakyBucket, Burst: MaxRequests}, "burst 2147483647 at 1 per 1s takes above 366 days to refill"},
		{Limit{Requests: 1, Window: 24 * time.Hour, Algorithm: TokenBucket, Burst: 367}, "burst 367 at 1 per 24h0m0s takes above 366 days to refill"},
		{Limit{Requests: 1, Window: 24 * time.Hour, Algorithm: TokenBucket, Burst: 366}, ""},
		{Limit{Requests: MaxRequests, Window: MaxWindow, Algorithm: LeakyBucket, Burst: MaxRequests}, ""},

		{Limit{Requests: 1, Window: time.Second, Algorithm: SlidingBuckets, Buckets: -1}, "buckets -1 is not in 1..10000"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: SlidingBuckets, Buckets: 10_001}, "buckets 10001 is not in 1..10000"},
		{Limit{Requests: 1, Window: time.Microsecond, Algorithm: SlidingBuckets, Buckets: 10_000}, ""},
		{Limit{Requests: 1, Window: time.Second, Buckets: 10}, "only sliding_buckets has buckets"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: SlidingCounter, Buckets: -1}, "only sliding_buckets has buckets"},

		{Limit{Requests: 1, Window: time.Second, Algorithm: SlidingBuckets, Inclusive: true}, "only sliding_log can be inclusive"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: FixedWindow, Inclusive: true}, "only sliding_log can be inclusive"},
		{Limit{Requests: 1, Window: time.Second, Algorithm: SlidingLog, Inclusive: true}, ""},
	} {
		got := ""
		if err := test.limit.Validate(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: error %q, want %q", test.limit, got, test.want)
		}
	}
}

// TestValidateIsTheSameForAll crosses good and bad limits with good and bad
// windows: the verdict does not depend on the algorithm.
func TestValidateIsTheSameForAll(t *testing.T) { // B36, B38
	forEvery(t, func(t *testing.T, a Algorithm) {
		for _, requests := range []int64{-1, 0, 1, MaxRequests, 1 << 31, 1 << 32, 1 << 53, 1<<63 - 1} {
			for _, window := range []time.Duration{-1, 0, time.Millisecond, time.Second, 24 * time.Hour, 365 * 24 * time.Hour, 292 * 365 * 24 * time.Hour} {
				good := requests > 0 && requests <= MaxRequests && window > 0 && window <= MaxWindow
				limit := Limit{Algorithm: a, Requests: requests, Window: window}
				if err := limit.Validate(); (err == nil) != good {
					t.Errorf("%+v: %v", limit, err)
				}
			}
		}
	})
}
