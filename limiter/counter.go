package limiter

import "time"

// A Counter counts the events of one key in a sliding window, and refuses
// none. The zero value is not usable; a Counter is not safe for concurrent
// use. Its space is that of the algorithm: SlidingLog remembers each event of
// the last window, SlidingBuckets one count a slot.
type Counter struct {
	algorithm    algorithm
	state, spare []byte
}

// NewCounter returns a Counter that counts what limit counts; SlidingLog,
// inclusive or not, and SlidingBuckets count in windows. Requests is ignored.
func NewCounter(limit Limit) (*Counter, error) {
	limit.Requests = MaxRequests
	a, err := limit.algorithm()
	return &Counter{algorithm: a}, err
}

// Add counts units that come at the given time, if there are any, and returns
// the count with them. It stops counting at MaxRequests.
func (c *Counter) Add(now time.Time, units int64) int64 {
	units = min(units, MaxRequests-c.Count(now))
	if units < 1 {
		return c.Count(now)
	}
	next, o := c.algorithm.take(c.spare[:0], c.state, instant(now), units)
	if o.Allowed {
		c.state, c.spare = next, c.state
	}
	return o.Limit - o.Remaining
}

// Count returns how many units are in the window.
func (c *Counter) Count(now time.Time) int64 {
	var o outcome
	c.spare, o = c.algorithm.take(c.spare[:0], c.state, instant(now), 0)
	return o.Limit - o.Remaining
}
