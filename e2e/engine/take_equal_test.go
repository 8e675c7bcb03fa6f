package engine_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// TestTakeEqualsCore holds the script to the Go core, decision for decision, on
// random traffic that looks for trouble.
func TestTakeEqualsCore(t *testing.T) {
	const steps = 1000
	for name, draw := range map[string]func(*rand.Rand, limiter.Algorithm) limiter.Limit{
		"small": smallLimit, "huge": hugeLimit, "mixed": mixedLimit,
	} {
		t.Run(name, func(t *testing.T) {
			seen := coverage{}
			s := load(t, server)
			for seed := range uint64(15) {
				w := newWorld(t, s, seed, fmt.Sprintf("%s-%d-", name, seed), draw)
				for range steps {
					w.step()
				}
				w.compare()
				seen.add(w.seen)
				w.clear()
			}
			t.Logf("%v", seen)
			for _, what := range []string{"admitted", "refused", "never", "back", "peeked", "recorded", "in shadow", "peek only", "limits changed", "no trace", "promises"} {
				if seen[what] < steps/2 {
					t.Errorf("only %d steps with %s", seen[what], what)
				}
			}
		})
	}
}

// coverage counts what the random steps came to.
type coverage map[string]int

func (c coverage) add(d coverage) {
	for what, n := range d {
		c[what] += n
	}
}

// mark counts what holds.
func (c coverage) mark(what string, holds bool) {
	if holds {
		c[what]++
	}
}

// smallLimit returns a small limit over a window of up to a second, which may be
// only microseconds, with random options.
func smallLimit(r *rand.Rand, a limiter.Algorithm) limiter.Limit {
	longest := []int64{20, 1000, 1_000_000}[r.IntN(3)]
	l := limiter.Limit{Algorithm: a, Requests: 1 + r.Int64N(12), Window: time.Duration(1+r.Int64N(longest)) * time.Microsecond}
	if r.IntN(2) == 0 {
		return l
	}
	switch a {
	case limiter.SlidingLog:
		l.Inclusive = true
	case limiter.SlidingBuckets:
		l.Buckets = 1 + r.IntN(20)
	default:
		l.Burst = 1 + r.Int64N(3*l.Requests)
	}
	return l
}

// hugeLimit returns a limit at the far end of what is valid.
func hugeLimit(r *rand.Rand, a limiter.Algorithm) limiter.Limit {
	for {
		l := smallLimit(r, a)
		l.Requests = limiter.MaxRequests - []int64{0, r.Int64N(1000), r.Int64N(limiter.MaxRequests)}[r.IntN(3)]
		l.Window = limiter.MaxWindow - time.Duration([]int64{0, r.Int64N(1000), r.Int64N(limiter.MaxWindow.Microseconds())}[r.IntN(3)])*time.Microsecond
		if l.Burst != 0 {
			l.Burst = 1 + r.Int64N(limiter.MaxRequests)
		}
		if l.Buckets != 0 {
			l.Buckets = 1 + r.IntN(limiter.MaxBuckets)
		}
		if l.Validate() == nil {
			return l
		}
	}
}

// mixedLimit returns a small limit over a huge window or the other way round, or
// any of the others.
func mixedLimit(r *rand.Rand, a limiter.Algorithm) limiter.Limit {
	for {
		l, huge := smallLimit(r, a), hugeLimit(r, a)
		switch r.IntN(4) {
		case 0:
			l.Requests, l.Burst = huge.Requests, huge.Burst
		case 1:
			l.Window = huge.Window
		case 2:
			l = huge
		}
		if l.Validate() == nil {
			return l
		}
	}
}
