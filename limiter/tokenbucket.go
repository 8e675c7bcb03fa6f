package limiter

import (
	"encoding/binary"
	"time"
)

// TokenBucket holds up to Burst tokens, one a unit, and refills at Requests
// per Window. LeakyBucket (GCRA) is the same bucket seen from the other side:
// a level that rises by one a unit, up to Burst, and drains at that rate. The
// two decide alike; use the name that your readers know.
//
// A window of length Window holds at most Burst+Requests units. No fraction of
// a token is ever lost or made up. Time: O(1). Space: a time and a level.
const (
	TokenBucket Algorithm = "token_bucket"
	LeakyBucket Algorithm = "leaky_bucket"
)

// tokenBucket keeps the level: the tokens that are missing.
type tokenBucket struct {
	rate, window int64 // units per microseconds
	burst        int64
	refill       int64 // microseconds in which an empty bucket is full
}

// A level is a number of units: whole ones, and parts of which a window's
// microseconds make one, so that what drains in a microsecond, rate parts, is
// a whole number.
type level struct{ units, parts int64 }

// A bucket is the state of a token bucket: a time (7 bytes), and the level at
// that time (two uvarints).
type bucket struct {
	at Instant
	level
}

func newTokenBucket(l Limit) *tokenBucket {
	a := &tokenBucket{rate: l.Requests, window: l.Window.Microseconds(), burst: l.Burst}
	if a.burst == 0 {
		a.burst = l.Requests
	}
	a.refill = a.draining(level{units: a.burst})
	return a
}

func (a *tokenBucket) shape() []int64 { return []int64{a.window} }

func (a *tokenBucket) unlimited() algorithm {
	b := *a
	b.burst = unreachable
	return &b
}

func (a *tokenBucket) decode(state []byte) (b bucket, corrupt bool) {
	if len(state) == 0 {
		return bucket{}, false
	}
	r := reader{rest: state}
	b = bucket{r.instant(), level{r.count(unreachable), r.count(a.window - 1)}}
	if r.bad || len(r.rest) > 0 {
		return bucket{}, true
	}
	return b, false
}

func (b bucket) encode(dst []byte) []byte {
	if b.level == (level{}) {
		return dst
	}
	dst = appendInstant(dst, b.at)
	dst = binary.AppendUvarint(dst, uint64(b.units))
	return binary.AppendUvarint(dst, uint64(b.parts))
}

func (a *tokenBucket) take(dst, state []byte, now Instant, cost int64) ([]byte, outcome) {
	b, corrupt := a.decode(state)
	back := a.settle(&b, now)
	o := outcome{receipt: receipt{at: b.at, before: b.level}, back: back, corrupt: corrupt}
	late := b.at.since(now) // how far the bucket is ahead of this clock
	o.Limit, o.reset = a.burst, a.resetAfter(b.level, late)
	o.Allowed = b.ceil()+cost <= a.burst
	switch {
	case cost == 0:
		dst = b.encode(dst)
	case o.Allowed:
		b.units += cost
		dst = b.encode(dst)
	case cost > a.burst:
		o.RetryAfter = Never
	default:
		o.RetryAfter = span(late + a.draining(level{b.units + cost - a.burst, b.parts}))
	}
	o.Remaining = max(0, a.burst-b.ceil())
	o.ResetAfter = a.resetAfter(b.level, late)
	return dst, o
}

func (a *tokenBucket) resetAfter(l level, late int64) time.Duration {
	if l == (level{}) {
		return 0
	}
	return span(late + a.draining(l))
}

// settle drains the bucket up to now. A time before that of the bucket is
// taken as that time; one that is earlier by more than a full bucket needs to
// drain means that the clock was set back, and takes the level along.
func (a *tokenBucket) settle(b *bucket, now Instant) (back int64) {
	switch ahead := b.at.since(now); {
	case b.level == (level{}):
	case ahead > a.refill:
		back = ahead
	case ahead > 0:
		return 0
	default:
		b.level = b.minus(a.drained(-ahead), a.window)
	}
	b.at = now
	return back
}

// drained is what leaves the bucket within so many microseconds.
func (a *tokenBucket) drained(µs int64) level {
	units, parts := mulDiv(µs, a.rate, a.window)
	return level{units, parts}
}

// maxDraining, 285 years, bounds what draining answers. Only a level that was
// reached under a far higher burst or rate takes longer.
const maxDraining = 1 << 53

// draining is how many microseconds a level takes to drain, rounded up.
func (a *tokenBucket) draining(l level) int64 {
	return min(maxDraining, mulAddDivUp(l.units, a.window, l.parts, a.rate))
}

// ceil is the level in whole units, rounded up.
func (l level) ceil() int64 {
	if l.parts > 0 {
		return l.units + 1
	}
	return l.units
}

// minus subtracts m, down to nothing; a unit is so many parts.
func (l level) minus(m level, unit int64) level {
	l.units -= m.units
	l.parts -= m.parts
	if l.parts < 0 {
		l.units, l.parts = l.units-1, l.parts+unit
	}
	if l.units < 0 {
		return level{}
	}
	return l
}

// refund takes the units out of the level again, less at most what would have
// drained in vain without them because the bucket would have been empty. That much
// cannot be told if the clock was set back, and nothing is taken out then.
func (a *tokenBucket) refund(dst, state []byte, r receipt, cost int64) []byte {
	b, _ := a.decode(state)
	if b.at < r.at {
		return b.encode(dst)
	}
	idle := a.drained(b.at.since(r.at)).minus(r.before, a.window)
	b.level = b.minus(level{units: cost}.minus(idle, a.window), a.window)
	return b.encode(dst)
}

// pending is the level, rounded up: what has been used and not refilled.
func (a *tokenBucket) pending(state []byte, now Instant) int64 {
	b, _ := a.decode(state)
	a.settle(&b, now)
	return b.ceil()
}
