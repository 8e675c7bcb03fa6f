package limiter

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkTake admits requests of many keys in turn, natively. The keys are
// made before and are all different.
func BenchmarkTake(b *testing.B) {
	for _, keys := range []int{1_000, 1_000_000} {
		for _, limit := range []int64{10, 1000} {
			if int64(keys)*limit > 10_000_000 {
				continue
			}
			b.Run(fmt.Sprintf("limit=%d/keys=%d", limit, keys), func(b *testing.B) {
				benchmarkTake(b, keys, Limit{Requests: limit, Window: time.Second})
			})
		}
	}
}

func benchmarkTake(b *testing.B, keys int, limit Limit) {
	table := newTable(b, 2*keys)
	limits := mustLimits(b, limit)
	names := make([][]byte, keys)
	for i := range names {
		names[i] = fmt.Appendf(nil, "user-%d", i)
	}
	charges := []Charge{{Limits: limits, Cost: 1}}
	step := Instant(limit.Window.Microseconds()/limit.Requests) + 1
	turn := 0
	take := func(i int) {
		charges[0].Key = table.Fingerprint(names[i])
		result, err := table.Take(Instant(turn)*step, charges)
		if err != nil || !result.Admitted {
			b.Fatal(result, err)
		}
	}
	for range min(limit.Requests, 10_000_000/int64(keys)) { // fill the windows
		for i := range names {
			take(i)
		}
		turn++
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		take(i)
		if i++; i == keys {
			i, turn = 0, turn+1
		}
	}
}
