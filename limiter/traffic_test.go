package limiter

import (
	"math/big"
	"math/rand/v2"
	"time"
)

// traffic is a random sequence of requests for one key that looks for trouble.
type traffic struct {
	r     *rand.Rand
	limit Limit
	now   Instant
}

// step returns the time of the next request: mostly a little later, but also
// the same, around the ends of windows and slots, long after, or back.
func (s *traffic) step() Instant {
	r, window := s.r, Instant(s.limit.Window.Microseconds())
	near := Instant(r.Int64N(3) - 1)
	switch r.IntN(20) {
	case 0:
		s.now += window
	case 1:
		s.now += window + near
	case 2:
		s.now = (floorDiv(s.now, window)+1)*window + near
	case 3:
		slot := slotOf(s.limit)
		s.now = (floorDiv(s.now, slot)+1)*slot + near
	case 4:
		s.now += Instant(r.Int64N(int64(10 * window)))
	case 5:
		s.now -= Instant(r.Int64N(int64(window + 1)))
	case 6:
		s.now -= Instant(r.Int64N(int64(5 * window)))
	case 7:
		s.now -= s.refill() + near
	case 8, 9:
	default:
		s.now = s.now + s.pause()
	}
	return s.now
}

// later returns a time that is not before the last one.
func (s *traffic) later() Instant {
	if s.r.IntN(50) == 0 {
		s.now += Instant(s.r.Int64N(3 * s.limit.Window.Microseconds()))
	}
	s.now += s.pause()
	return s.now
}

// pause is twice what a unit is worth, on average half of that.
func (s *traffic) pause() Instant {
	return Instant(s.r.Int64N(1 + 2*s.limit.Window.Microseconds()/s.limit.Requests))
}

// refill is the time that takes an empty bucket to be whole, or the window.
func (s *traffic) refill() Instant {
	unit := big.NewRat(s.limit.Window.Microseconds(), s.limit.Requests)
	return Instant(ceil(unit.Mul(unit, big.NewRat(capacityOf(s.limit), 1))))
}

// cost is one unit, or anything up to one more than can ever fit.
func (s *traffic) cost() int64 {
	switch s.r.IntN(9) {
	case 0, 1:
		return 1 + s.r.Int64N(min(capacityOf(s.limit)+1, MaxRequests))
	case 2:
		return 1 + s.r.Int64N(1+capacityOf(s.limit)/4)
	default:
		return 1
	}
}

// randomLimit returns a small limit over a window of up to a second, which may
// be only microseconds, with random options.
func randomLimit(r *rand.Rand, a Algorithm) Limit {
	longest := []int64{20, 1000, 1_000_000}[r.IntN(3)]
	l := Limit{Algorithm: a, Requests: 1 + r.Int64N(12), Window: time.Duration(1+r.Int64N(longest)) * time.Microsecond}
	if r.IntN(2) == 0 {
		return l
	}
	switch a {
	case SlidingLog:
		l.Inclusive = true
	case SlidingBuckets:
		l.Buckets = 1 + r.IntN(20)
	case TokenBucket, LeakyBucket:
		l.Burst = 1 + r.Int64N(3*l.Requests)
	}
	return l
}

// hugeLimit returns a limit at the far end of what is valid.
func hugeLimit(r *rand.Rand, a Algorithm) Limit {
	for {
		l := randomLimit(r, a)
		l.Requests = MaxRequests - []int64{0, r.Int64N(1000), r.Int64N(MaxRequests)}[r.IntN(3)]
		l.Window = MaxWindow - time.Duration([]int64{0, r.Int64N(1000), r.Int64N(MaxWindow.Microseconds())}[r.IntN(3)])*time.Microsecond
		if l.Burst != 0 {
			l.Burst = 1 + r.Int64N(MaxRequests)
		}
		if l.Buckets != 0 {
			l.Buckets = 1 + r.IntN(MaxBuckets)
		}
		if l.Validate() == nil {
			return l
		}
	}
}
