package limiter_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// The counters of ladder.json. In the first an event counts as long as its age
// is at most the window; half-open, the counts would be 1 2 2 2 2.
func ExampleCounter() {
	recent, _ := limiter.NewCounter(limiter.Limit{Window: 5 * time.Second, Inclusive: true})
	var counts []int64
	for _, at := range []int{1, 3, 6, 8, 11} {
		counts = append(counts, recent.Add(clock(at), 1))
	}
	fmt.Println(counts)

	hits, _ := limiter.NewCounter(limiter.Limit{Algorithm: limiter.SlidingBuckets, Window: 5 * time.Second, Buckets: 5})
	counts = nil
	for _, at := range []int{1, 2, 5, 8, 9} {
		counts = append(counts, hits.Add(clock(at), 1))
	}
	fmt.Println(counts)
	fmt.Println("at 9:", hits.Count(clock(9)), "at 20:", hits.Count(clock(20)))
	// Output:
	// [1 2 3 3 3]
	// [1 2 3 2 3]
	// at 9: 3 at 20: 0
}

func TestCounterHalfOpen(t *testing.T) {
	recent, err := limiter.NewCounter(limiter.Limit{Window: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range []int{1, 3, 6, 8, 11} {
		if got, want := recent.Add(clock(at), 1), []int64{1, 2, 2, 2, 2}[i]; got != want {
			t.Errorf("Add(%d) = %d, want %d", at, got, want)
		}
	}
}

func TestCounterStopsAtTheTop(t *testing.T) {
	c, err := limiter.NewCounter(limiter.Limit{Window: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for _, units := range []int64{0, -5, limiter.MaxRequests - 1, limiter.MaxRequests, 1} {
		c.Add(clock(0), units)
	}
	if got := c.Count(clock(0)); got != limiter.MaxRequests {
		t.Errorf("counted %d, want %d", got, limiter.MaxRequests)
	}
}

func TestNewCounterRefuses(t *testing.T) {
	if _, err := limiter.NewCounter(limiter.Limit{}); err == nil || err.Error() != "limit and window must be positive" {
		t.Error(err)
	}
}
