package limiter

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkLimiter takes keys in random order, natively, of limiters that admit
// all. The keys are made before and are all different.
func BenchmarkLimiter(b *testing.B) {
	for _, keys := range []int{1_000, 1_000_000} {
		for _, a := range []Algorithm{SlidingLog, TokenBucket} {
			b.Run(fmt.Sprintf("%s/keys=%d", a, keys), func(b *testing.B) {
				l, err := New(2*keys, Limit{Algorithm: a, Requests: 10, Window: time.Second})
				if err != nil {
					b.Fatal(err)
				}
				names := make([]string, keys)
				for i := range names {
					names[i] = fmt.Sprintf("user-%d", i)
				}
				rand.Shuffle(keys, func(i, j int) { names[i], names[j] = names[j], names[i] })
				now := time.Unix(1, 0)
				take := func(i int) {
					if d := l.Take(names[i], now); !d.Allowed {
						b.Fatal(d)
					}
				}
				for range 5 {
					for i := range names {
						take(i)
					}
					now = now.Add(101 * time.Millisecond)
				}
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					take(i)
					if i++; i == keys {
						i, now = 0, now.Add(101*time.Millisecond)
					}
				}
			})
		}
	}
}
