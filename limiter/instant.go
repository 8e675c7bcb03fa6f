package limiter

import "time"

// An Instant is a point in time: microseconds from any fixed origin, which
// may be the Unix epoch, the start of the machine or the first line of a log.
// All instants given to one table must share that origin.
//
// Instants outside ±2^54 microseconds, about 570 years, are taken as the
// nearest of the two, so that no sum behind the door can overflow.
type Instant int64

const (
	maxInstant Instant = 1 << 54
	minInstant Instant = -maxInstant
)

// At returns the instant that lies d after the origin, cut down to the whole
// microsecond: At(1999*time.Nanosecond) is 1, At(-time.Nanosecond) is -1.
func At(d time.Duration) Instant {
	µs := d / time.Microsecond
	if d%time.Microsecond < 0 {
		µs--
	}
	return Instant(µs)
}

// clamp is the door: every public function that takes an instant calls it.
func (t Instant) clamp() Instant {
	return max(minInstant, min(t, maxInstant))
}

// add returns the instant µs microseconds after t. Neither a clamped instant
// plus two windows nor one minus them overflows.
func (t Instant) add(µs int64) Instant { return t + Instant(µs) }

// since returns the microseconds from s to t.
func (t Instant) since(s Instant) int64 { return int64(t - s) }

// span turns a number of microseconds into a duration.
func span(µs int64) time.Duration { return time.Duration(µs) * time.Microsecond }
