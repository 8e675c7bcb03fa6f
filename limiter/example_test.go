package limiter_test

import (
	"fmt"
	"time"

	"github.com/weirproxy/weir/limiter"
)

// clock turns the seconds of the worked traces into times.
func clock(seconds int) time.Time { return time.Unix(int64(seconds), 0) }

// mustNew is New for limits that are known to be right.
func mustNew(limits ...limiter.Limit) *limiter.Limiter {
	l, err := limiter.New(1000, limits...)
	if err != nil {
		panic(err)
	}
	return l
}

// Three requests in any ten seconds, for each key. At 10 the request of 0 has
// left the window, at exactly its end.
func Example() {
	l, err := limiter.New(100_000, limiter.Limit{Requests: 3, Window: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, at := range []int{0, 1, 2, 3, 9, 10, 11} {
		d := l.Take("ann", clock(at))
		fmt.Printf("at %2d: %-5v  %d left, retry after %v\n", at, d.Allowed, d.Remaining, d.RetryAfter)
	}
	// Output:
	// at  0: true   2 left, retry after 0s
	// at  1: true   1 left, retry after 0s
	// at  2: true   0 left, retry after 0s
	// at  3: false  0 left, retry after 7s
	// at  9: false  0 left, retry after 1s
	// at 10: true   0 left, retry after 0s
	// at 11: true   0 left, retry after 0s
}

// A client that keeps retrying is admitted as often as one that waits, because
// a refused request is not counted. A limiter that counted them too would
// admit the requests at 0 and 1 and never again.
func Example_retryingClient() {
	l := mustNew(limiter.Limit{Requests: 2, Window: 5 * time.Second})
	var admitted []int
	for at := range 13 {
		if l.Take("zoe", clock(at)).Allowed {
			admitted = append(admitted, at)
		}
	}
	fmt.Println(admitted)
	// Output: [0 1 5 6 10 11]
}

// An inclusive limit counts a request for one tick longer than its window:
// what came at 0 still counts at 4.
func Example_inclusive() {
	l := mustNew(limiter.Limit{Requests: 2, Window: 4 * time.Second, Inclusive: true})
	for _, at := range []int{0, 1, 2, 4, 5} {
		fmt.Println(at, l.Take("ann", clock(at)).Allowed)
	}
	fmt.Println("younger than the window:", l.Pending("ann", clock(5)))
	fmt.Println("of nobody:", l.Pending("nobody", clock(5)), "tracked:", l.Tracked(clock(5)))
	// Output:
	// 0 true
	// 1 true
	// 2 false
	// 4 false
	// 5 true
	// younger than the window: [1]
	// of nobody: [0] tracked: 1
}

// A key that is idle for a window is forgotten.
func Example_forgetIdle() {
	l := mustNew(limiter.Limit{Requests: 2, Window: 5 * time.Second})
	l.Take("max", clock(0))
	fmt.Println(l.Tracked(clock(0)), l.Tracked(clock(20)))
	// Output: 1 0
}

// A fixed window admits twice its limit within two seconds, around the
// boundary of two windows. The sliding algorithms do not; a token bucket adds
// only what two seconds refill.
func Example_doubleBurst() {
	for _, a := range []limiter.Algorithm{limiter.FixedWindow, limiter.SlidingLog, limiter.SlidingBuckets, limiter.TokenBucket} {
		l := mustNew(limiter.Limit{Algorithm: a, Requests: 100, Window: time.Minute})
		admitted := map[int]int{}
		for _, at := range []int{59, 61} {
			for range 100 {
				if l.Take("k", clock(at)).Allowed {
					admitted[at]++
				}
			}
		}
		fmt.Printf("%-15s at 59: %d, at 61: %d\n", a, admitted[59], admitted[61])
	}
	// Output:
	// fixed_window    at 59: 100, at 61: 100
	// sliding_log     at 59: 100, at 61: 0
	// sliding_buckets at 59: 100, at 61: 0
	// token_bucket    at 59: 100, at 61: 3
}

// A bucket of two tokens, refilled with one a second.
func Example_tokenBucket() {
	l := mustNew(limiter.Limit{Algorithm: limiter.TokenBucket, Requests: 1, Window: time.Second, Burst: 2})
	for _, at := range []int{0, 0, 0, 1, 2} {
		fmt.Println(at, l.Take("k", clock(at)).Allowed)
	}
	// Output:
	// 0 true
	// 0 true
	// 0 false
	// 1 true
	// 2 true
}

// Several limits are charged together or not at all, and the answer is that of
// the one that binds.
func ExampleNew_severalLimits() {
	l := mustNew(
		limiter.Limit{Requests: 2, Window: time.Second},
		limiter.Limit{Requests: 3, Window: time.Minute},
	)
	for _, at := range []int{0, 0, 0, 1, 1} {
		d := l.Take("ann", clock(at))
		fmt.Printf("at %d: %v, retry after %v\n", at, d.Allowed, d.RetryAfter)
	}
	// Output:
	// at 0: true, retry after 0s
	// at 0: true, retry after 0s
	// at 0: false, retry after 1s
	// at 1: true, retry after 0s
	// at 1: false, retry after 59s
}

// A request may weigh more than one unit. What weighs more than the limit is
// never admitted, and no wait is promised for it.
func ExampleLimiter_TakeN() {
	l := mustNew(limiter.Limit{Requests: 10, Window: time.Minute})
	for _, cost := range []int64{11, 10, 1} {
		d := l.TakeN("ann", clock(0), cost)
		fmt.Println(cost, d.Allowed, d.RetryAfter == limiter.Never)
	}
	// Output:
	// 11 false true
	// 10 true false
	// 1 false false
}

// The table is what a Limiter hides: several keys in one request, each with
// limits of its own, all charged or none.
func ExampleTable_Take() {
	table, err := limiter.NewTable(limiter.NewMemory(limiter.Shards(1000)), limiter.TableOptions{MaxKeys: 1000, Seed: limiter.NewSeed()})
	if err != nil {
		fmt.Println(err)
		return
	}
	perUser, _ := limiter.NewLimits(limiter.Limit{Requests: 10, Window: time.Second})
	perTenant, _ := limiter.NewLimits(limiter.Limit{Requests: 1, Window: time.Second})
	charges := []limiter.Charge{
		{Key: table.Fingerprint([]byte("user/ann")), Limits: perUser, Cost: 1},
		{Key: table.Fingerprint([]byte("tenant/acme")), Limits: perTenant, Cost: 1},
	}
	for range 2 {
		result, err := table.Take(limiter.At(0), charges)
		fmt.Println(result.Admitted, charges[0].Decision.Remaining, charges[1].Decision.Remaining, err)
	}
	// Output:
	// true 9 0 <nil>
	// false 9 0 <nil>
}
