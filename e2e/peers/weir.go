package main

import (
	"time"

	"github.com/weirproxy/weir/limiter"
)

var weirs = []peer{
	{"Weir sliding_log", "exact", argument, newWeir(limiter.SlidingLog)},
	{"Weir sliding_buckets", "60 slots", argument, newWeir(limiter.SlidingBuckets)},
	{"Weir sliding_counter", "two windows, weighted", argument, newWeir(limiter.SlidingCounter)},
	{"Weir token_bucket", "bucket", argument, newWeir(limiter.TokenBucket)},
	{"Weir leaky_bucket", "bucket (GCRA)", argument, newWeir(limiter.LeakyBucket)},
	{"Weir fixed_window", "fixed window", argument, newWeir(limiter.FixedWindow)},
}

type weir struct{ *limiter.Limiter }

// newWeir gives the table room for a quarter as many keys again, as its
// documentation asks.
func newWeir(a limiter.Algorithm) func(int, int64, time.Duration) taker {
	return func(keys int, limit int64, window time.Duration) taker {
		return weir{must(limiter.New(keys*5/4, limiter.Limit{Algorithm: a, Requests: limit, Window: window}))}
	}
}

func (w weir) take(key string, now time.Time) bool { return w.Take(key, now).Allowed }
