package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/limiter"
)

// BenchmarkTake measures what a call costs Redis: the time of its processor, which
// others on the machine do not count in, and the bytes of the value. The window
// is full: each admitted unit comes when the oldest leaves. A refused cost reads
// the units that must leave before it fits, and who comes after a pause those that
// have left. "own" is by Redis' own clock, with expiry, in a window that is not full.
func BenchmarkTake(b *testing.B) {
	const window = 100 * time.Second
	for _, l := range []limiter.Limit{
		{Algorithm: limiter.SlidingLog, Requests: 10},
		{Algorithm: limiter.SlidingLog, Requests: 1000},
		{Algorithm: limiter.SlidingLog, Requests: 100_000},
		{Algorithm: limiter.SlidingBuckets, Requests: 100_000, Buckets: 60},
		{Algorithm: limiter.TokenBucket, Requests: 100_000},
	} {
		l.Window = window
		gap := limiter.Instant(window.Microseconds() / l.Requests)
		steady := func(i int) *limiter.Instant { return at(gap * limiter.Instant(i)) }
		full := func(i int) *limiter.Instant { return steady(min(i, int(l.Requests)-1)) }
		paused := func(i int) *limiter.Instant {
			if i < int(l.Requests) {
				return steady(i)
			}
			return at(*steady(int(l.Requests) - 2) + limiter.At(window))
		}
		name := fmt.Sprintf("%s-%d/", l.Algorithm, l.Requests)
		b.Run(name+"admitted", func(b *testing.B) { measure(b, l, call{}, 1, steady) })
		for _, cost := range []int64{1, 1000, 10_000, 99_999} {
			if cost < l.Requests {
				b.Run(fmt.Sprint(name, "refused-", cost), func(b *testing.B) { measure(b, l, call{}, cost, full) })
			}
		}
		b.Run(name+"paused", func(b *testing.B) { measure(b, l, call{peek: true}, 1, paused) })
		b.Run(name+"own", func(b *testing.B) {
			l := l
			l.Requests = max(l.Requests, 1<<30)
			measure(b, l, call{}, 1, func(int) *limiter.Instant { return nil })
		})
	}
}

// measure fills the window with single units, and then makes b.N calls of a cost,
// at the times that follow.
func measure(b *testing.B, l limiter.Limit, c call, cost int64, when func(i int) *limiter.Instant) {
	s := load(b, server)
	s.FlushDB(b.Context())
	fill := int(min(l.Requests, 100_000))
	c.charges = []charge{{name: "bench", limits: []limiter.Limit{l}, cost: 1}}
	s.calls(call{charges: c.charges}, 0, fill, when)
	c.charges[0].cost = cost
	before := s.processorTime()
	b.ResetTimer()
	s.calls(c, fill, fill+b.N, when)
	b.StopTimer()
	b.ReportMetric(float64((s.processorTime()-before).Nanoseconds())/1000/float64(b.N), "redis-µs/op")
	if key := keyOf("bench", l); s.Exists(b.Context(), key).Val() == 1 {
		b.ReportMetric(float64(s.MemoryUsage(b.Context(), key, 0).Val()), "bytes")
	}
}

// calls makes the same call again and again.
func (s script) calls(c call, from, to int, when func(i int) *limiter.Instant) {
	s.t.Helper()
	for from < to {
		pipe := s.Pipeline()
		for range 1000 {
			if from < to {
				c.at = when(from)
				s.queue(pipe, c)
				from++
			}
		}
		if _, err := pipe.Exec(s.t.Context()); err != nil && err != redis.Nil {
			s.t.Fatal(err)
		}
	}
}

// processorTime is what Redis' one thread has used.
func (s script) processorTime() (sum time.Duration) {
	s.t.Helper()
	for line := range strings.Lines(s.Info(s.t.Context(), "cpu").Val()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_user_main_thread" || name == "used_cpu_sys_main_thread" {
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			sum += time.Duration(seconds * 1e9)
		}
	}
	return sum
}
