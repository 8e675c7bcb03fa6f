package limiter

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// A judge asks a table and an oracle the same, and compares what they answer.
type judge struct {
	oracle
	client
	limit    Limit
	capacity int64
}

func newJudge(t testing.TB, l Limit) *judge {
	t.Helper()
	return &judge{newOracle(l), newClient(t, l), l, capacityOf(l)}
}

// free is how many units the oracle would admit at now.
func (j *judge) free(now Instant) int64 {
	return j.capacity - ceil(j.used(j.settle(now)))
}

// request makes one request and checks every field of the answer.
func (j *judge) request(now Instant, cost int64) Decision {
	j.t.Helper()
	peeked := j.peek("key", now, cost)
	got := j.take("key", now, cost)
	free := j.free(now)
	allowed := cost <= free
	if allowed {
		j.charge(j.settle(now), cost)
		free -= cost
	}
	if got.Allowed != allowed || got.Remaining != max(0, free) || got.Limit != j.capacity || got != peeked {
		j.t.Fatalf("%+v: take(%d, %d) = %+v, peeked %+v, the oracle says %v with %d left", j.limit, now, cost, got, peeked, allowed, free)
	}
	j.checkRetry(now, cost, got)
	j.checkWait(now, j.capacity, got.ResetAfter)
	j.checkPending(now)
	return got
}

// checkPending checks the count that is asked without a request, for which
// even an inclusive log ends before the window does.
func (j *judge) checkPending(now Instant) {
	j.t.Helper()
	at := j.settle(now)
	want := ceil(j.used(at))
	if log, ok := j.oracle.(*logOracle); ok {
		want = ceil(log.sum(func(s Instant) bool { return at-s < log.window }))
	}
	if got := j.pending("key", now); got != want {
		j.t.Fatalf("%+v: pending(%d) = %d, want %d", j.limit, now, got, want)
	}
}

// charge shadows the client's method of the same name.
func (j *judge) charge(at Instant, units int64) { j.oracle.charge(at, units) }

func (j *judge) checkRetry(now Instant, cost int64, d Decision) {
	j.t.Helper()
	switch {
	case d.Allowed || cost > j.capacity:
		if want := map[bool]time.Duration{true: 0, false: Never}[d.Allowed]; d.RetryAfter != want {
			j.t.Fatalf("%+v: take(%d, %d) = %+v, want a wait of %v", j.limit, now, cost, d, want)
		}
	case d.RetryAfter <= 0:
		j.t.Fatalf("%+v: take(%d, %d) = %+v: no wait", j.limit, now, cost, d)
	default:
		j.checkWait(now, cost, d.RetryAfter)
	}
}

// checkWait checks that the cost fits after the wait and not a microsecond
// sooner, in the eyes of both.
func (j *judge) checkWait(now Instant, cost int64, wait time.Duration) {
	j.t.Helper()
	j.checkPeek(now+Instant(wait.Microseconds()), cost, true)
	if wait > 0 {
		j.checkPeek(now+Instant(wait.Microseconds())-1, cost, false)
	}
}

func (j *judge) checkPeek(at Instant, cost int64, want bool) {
	j.t.Helper()
	if got, oracle := j.peek("key", at, cost).Allowed, cost <= j.free(at); got != want || oracle != want {
		j.t.Fatalf("%+v: peek(%d, %d) = %v, the oracle says %v, promised %v", j.limit, at, cost, got, oracle, want)
	}
}

// TestEqualsOracle runs random traffic past every algorithm and its oracle.
func TestEqualsOracle(t *testing.T) {
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(10)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				j := newJudge(t, randomLimit(r, a))
				traffic := traffic{r, j.limit, Instant(r.Int64N(1000))}
				for range 1000 {
					j.request(traffic.step(), traffic.cost())
				}
			})
		}
	})
}

// TestEqualsOracleWhenHuge is the same with the largest limits and windows.
func TestEqualsOracleWhenHuge(t *testing.T) { // B36
	forEvery(t, func(t *testing.T, a Algorithm) {
		for seed := range uint64(rounds(20)) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 2))
				j := newJudge(t, hugeLimit(r, a))
				traffic := traffic{r, j.limit, 0}
				for range 200 {
					j.request(traffic.step(), traffic.cost())
				}
			})
		}
	})
}
