package limiter

import (
	"errors"
	"time"

	"github.com/weirproxy/weir/limiter/internal/brief"
)

// The largest limit, cost and window whose arithmetic is proved exact.
const (
	MaxRequests = 1<<31 - 1
	MaxWindow   = 366 * 24 * time.Hour
)

// An Algorithm says how a limit counts. Its name is what configurations use.
type Algorithm string

// SlidingLog is exact: it remembers when each request came, so that no window
// of the given length, wherever it starts, holds more than the limit. It is
// the default. The other algorithms are documented where they are defined, and
// compared in the package comment.
const SlidingLog Algorithm = "sliding_log"

// A Limit is a number of requests per window, and how to count them.
type Limit struct {
	// Algorithm is how to count; empty means SlidingLog.
	Algorithm Algorithm

	// Requests is the number of units that one window holds, 1..MaxRequests.
	// A request weighs its cost, one unit unless said otherwise.
	Requests int64

	// Window is the length of the window, a whole number of microseconds
	// from one to MaxWindow.
	Window time.Duration

	// Burst is the capacity of TokenBucket and LeakyBucket, which are refilled
	// with Requests units per Window: 1..MaxRequests, or 0 for Requests. The
	// time to refill all of it must not exceed MaxWindow.
	Burst int64

	// Buckets is the number of slots of SlidingBuckets: 1..MaxBuckets, or 0
	// for DefaultBuckets.
	Buckets int

	// Inclusive keeps a request counted at exactly Window after it came:
	// while age <= Window instead of age < Window. SlidingLog only.
	Inclusive bool
}

var errNotPositive = errors.New("limit and window must be positive")

// Capacity is the number of units that l holds when it is whole: Burst of a
// bucket, Requests of any other.
func (l Limit) Capacity() int64 {
	if l.Burst > 0 {
		return l.Burst
	}
	return l.Requests
}

// Validate reports the first thing that is wrong with l.
func (l Limit) Validate() error {
	_, err := l.algorithm()
	return err
}

// algorithm returns what l asks for, ready to run.
func (l Limit) algorithm() (algorithm, error) {
	switch {
	case l.Requests <= 0 || l.Window <= 0:
		return nil, errNotPositive
	case l.Requests > MaxRequests:
		return nil, brief.Errorf("limit %d is above %d", l.Requests, MaxRequests)
	case l.Window > MaxWindow:
		return nil, brief.Errorf("window %v is above 366 days", l.Window)
	case l.Window%time.Microsecond != 0:
		return nil, brief.Errorf("window %v is not a whole number of microseconds", l.Window)
	}
	if err := l.validateOptions(); err != nil {
		return nil, err
	}
	switch l.Algorithm {
	case "", SlidingLog:
		return newSlidingLog(l), nil
	case SlidingBuckets:
		return newSlidingBuckets(l), nil
	case SlidingCounter:
		return newSlidingCounter(l), nil
	case TokenBucket, LeakyBucket:
		return newTokenBucket(l), nil
	case FixedWindow:
		return newFixedWindow(l), nil
	default:
		return nil, brief.Errorf("unknown algorithm %q", string(l.Algorithm))
	}
}

// validateOptions checks the fields that only some algorithms have.
func (l Limit) validateOptions() error {
	isBucket := l.Algorithm == TokenBucket || l.Algorithm == LeakyBucket
	switch {
	case l.Burst != 0 && !isBucket:
		return errors.New("only token_bucket and leaky_bucket have a burst")
	case l.Burst < 0 || l.Burst > MaxRequests:
		return brief.Errorf("burst %d is not in 1..%d", l.Burst, MaxRequests)
	case l.Buckets != 0 && l.Algorithm != SlidingBuckets:
		return errors.New("only sliding_buckets has buckets")
	case l.Buckets < 0 || l.Buckets > MaxBuckets:
		return brief.Errorf("buckets %d is not in 1..%d", l.Buckets, MaxBuckets)
	case l.Inclusive && l.Algorithm != "" && l.Algorithm != SlidingLog:
		return errors.New("only sliding_log can be inclusive")
	case isBucket:
		a := newTokenBucket(l)
		if a.refill > MaxWindow.Microseconds() {
			return brief.Errorf("burst %d at %d per %v takes above 366 days to refill", a.burst, l.Requests, l.Window)
		}
	}
	return nil
}
