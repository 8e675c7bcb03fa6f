package limiter

import (
	"math"
	"math/bits"
)

// floor returns the last multiple of µs that is not after t.
func (t Instant) floor(µs int64) Instant {
	rest := int64(t) % µs
	if rest < 0 {
		rest += µs
	}
	return t.add(-rest)
}

// mulDiv returns x·y/z and the rest, for 0 <= x, 0 <= y and 0 < z, through 128
// bits. A quotient that does not fit is the largest number, without a rest.
func mulDiv(x, y, z int64) (quotient, rest int64) {
	high, low := bits.Mul64(uint64(x), uint64(y))
	if high >= uint64(z) {
		return math.MaxInt64, 0
	}
	q, r := bits.Div64(high, low, uint64(z))
	if q > math.MaxInt64 {
		return math.MaxInt64, 0
	}
	return int64(q), int64(r)
}

// mulAddDivUp returns (x·y+a)/z rounded up, for x, y, a not negative and 0 < z.
func mulAddDivUp(x, y, a, z int64) int64 {
	high, low := bits.Mul64(uint64(x), uint64(y))
	low, carry := bits.Add64(low, uint64(a), 0)
	low, more := bits.Add64(low, uint64(z-1), 0)
	high += carry + more
	if high >= uint64(z) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(high, low, uint64(z))
	return int64(min(q, math.MaxInt64))
}
