package limiter

import (
	"errors"
	"fmt"
	"time"
)

// The largest limit, cost and window whose arithmetic is proved exact.
const (
	MaxRequests = 1<<31 - 1
	MaxWindow   = 366 * 24 * time.Hour
)

// An Algorithm says how a limit counts. Its name is what configurations use.
type Algorithm string

// SlidingLog is exact: it remembers when each request came, so that no window
// of the given length, wherever it starts, holds more than the limit.
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

	// Inclusive keeps a request counted at exactly Window after it came:
	// while age <= Window instead of age < Window. SlidingLog only.
	Inclusive bool
}

var errNotPositive = errors.New("limit and window must be positive")

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
		return nil, fmt.Errorf("limit %d is above %d", l.Requests, MaxRequests)
	case l.Window > MaxWindow:
		return nil, fmt.Errorf("window %v is above 366 days", l.Window)
	case l.Window%time.Microsecond != 0:
		return nil, fmt.Errorf("window %v is not a whole number of microseconds", l.Window)
	}
	switch l.Algorithm {
	case "", SlidingLog:
		return newSlidingLog(l), nil
	default:
		return nil, fmt.Errorf("unknown algorithm %q", l.Algorithm)
	}
}
