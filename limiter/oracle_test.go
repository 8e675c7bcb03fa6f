package limiter

import "math/big"

// An oracle is an algorithm as one would explain it: it keeps every admitted
// charge, counts all of them anew for each request, and has numbers without
// bounds. It knows nothing of how the algorithm stores its state.
type oracle interface {
	// settle returns the time at which a request at now is counted. If the
	// clock was set back it moves the past.
	settle(now Instant) (at Instant)

	// used returns the units that count at a settled time.
	used(at Instant) *big.Rat

	// charge records units at a settled time.
	charge(at Instant, units int64)
}

func newOracle(l Limit) oracle {
	window := Instant(l.Window.Microseconds())
	switch l.Algorithm {
	case SlidingBuckets:
		return &bucketsOracle{window: window, slot: slotOf(l)}
	case SlidingCounter:
		return &counterOracle{windows{window: window}, l.Requests}
	case TokenBucket, LeakyBucket:
		return &tokenOracle{burst: capacityOf(l), rate: big.NewRat(l.Requests, int64(window))}
	case FixedWindow:
		return &fixedOracle{windows{window: window}}
	default:
		return &logOracle{window: window, inclusive: l.Inclusive}
	}
}

// capacityOf returns what a limit holds when it is whole.
func capacityOf(l Limit) int64 {
	if l.Burst != 0 {
		return l.Burst
	}
	return l.Requests
}

// slotOf returns the slot of sliding buckets: the window's share, rounded up.
func slotOf(l Limit) Instant {
	n := int64(l.Buckets)
	if n == 0 {
		n = 60
	}
	return Instant((l.Window.Microseconds() + n - 1) / n)
}

// history is every admitted charge in the order of arrival. A mark is a time,
// or the number of a slot or window, and never decreases.
type history []struct {
	mark  Instant
	units int64
}

func (h *history) add(mark Instant, units int64) {
	*h = append(*h, struct {
		mark  Instant
		units int64
	}{mark, units})
}

// sum returns the units of the charges that count.
func (h history) sum(counts func(mark Instant) bool) *big.Rat {
	n := int64(0)
	for _, c := range h {
		if counts(c.mark) {
			n += c.units
		}
	}
	return big.NewRat(n, 1)
}

// ahead returns by how much the latest charge is after a mark.
func (h history) ahead(mark Instant) Instant {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].mark - mark
}

func (h history) shift(by Instant) {
	for i := range h {
		h[i].mark += by
	}
}

// logOracle marks charges with their time.
type logOracle struct {
	history
	window    Instant
	inclusive bool
}

func (o *logOracle) counts(age Instant) bool {
	return age < o.window || o.inclusive && age == o.window
}

func (o *logOracle) settle(now Instant) Instant {
	switch ahead := o.ahead(now); {
	case ahead <= 0:
		return now
	case o.counts(ahead - 1):
		return now + ahead
	default:
		o.shift(-ahead)
		return now
	}
}

func (o *logOracle) used(at Instant) *big.Rat {
	return o.sum(func(s Instant) bool { return o.counts(at - s) })
}

func (o *logOracle) charge(at Instant, units int64) { o.add(at, units) }

// bucketsOracle marks charges with the number of their slot. A slot that had
// left when something was written does not return with a clock that steps back
// within the latest slot.
type bucketsOracle struct {
	history
	window, slot Instant
}

func (o *bucketsOracle) settle(now Instant) Instant {
	switch ahead := o.ahead(floorDiv(now, o.slot)); {
	case ahead <= 0:
		return now
	case ahead*o.slot <= o.window:
		return (floorDiv(now, o.slot) + ahead) * o.slot
	default: // as if it had just come, in the next slot that begins
		slot := floorDiv(now+o.slot-1, o.slot)
		o.shift(slot - o.history[len(o.history)-1].mark)
		at := slot * o.slot
		o.forget(at)
		return at
	}
}

func (o *bucketsOracle) counts(slot, at Instant) bool {
	last := (slot+1)*o.slot - 1
	return at-last < o.window
}

func (o *bucketsOracle) used(at Instant) *big.Rat {
	return o.sum(func(slot Instant) bool { return o.counts(slot, at) })
}

func (o *bucketsOracle) forget(at Instant) {
	for len(o.history) > 0 && !o.counts(o.history[0].mark, at) {
		o.history = o.history[1:]
	}
}

func (o *bucketsOracle) charge(at Instant, units int64) {
	o.forget(at)
	o.add(floorDiv(at, o.slot), units)
}

// windows marks charges with the number of their aligned window.
type windows struct {
	history
	window Instant
}

func (o *windows) settle(now Instant) Instant {
	number := floorDiv(now, o.window)
	ahead := o.ahead(number)
	if ahead <= 0 {
		return now
	}
	if start := (number + ahead) * o.window; start-now <= o.window {
		return start
	}
	o.shift(-ahead)
	return now
}

func (o *windows) charge(at Instant, units int64) { o.add(floorDiv(at, o.window), units) }

// in returns the units of one window.
func (o *windows) in(number Instant) *big.Rat {
	return o.sum(func(w Instant) bool { return w == number })
}

type fixedOracle struct{ windows }

func (o *fixedOracle) used(at Instant) *big.Rat { return o.in(floorDiv(at, o.window)) }

// counterOracle does not remember how far the clock had come within a window. If
// it was set back, all that may have counted is as if it had just come.
type counterOracle struct {
	windows
	limit int64
}

func (o *counterOracle) settle(now Instant) Instant {
	latest := floorDiv(now, o.window) + o.ahead(floorDiv(now, o.window))
	if at := o.windows.settle(now); at != now || latest <= floorDiv(now, o.window) {
		return at
	}
	number := floorDiv(now, o.window) // which the latest has been moved to
	both := new(big.Rat).Add(o.in(number), o.in(number-1))
	o.history = nil
	o.add(number, min(o.limit, ceil(both)))
	return now
}

func (o *counterOracle) used(at Instant) *big.Rat {
	number := floorDiv(at, o.window)
	left := (number+1)*o.window - at // of the window before
	share := big.NewRat(int64(left), int64(o.window))
	share.Mul(share, o.in(number-1))
	return share.Add(share, o.in(number))
}

// tokenOracle keeps the tokens that are missing, which is nil before the first
// charge, and since when. Its rate is in tokens per microsecond.
type tokenOracle struct {
	burst   int64
	rate    *big.Rat
	missing *big.Rat
	at      Instant
}

func (o *tokenOracle) settle(now Instant) Instant {
	if o.missing == nil || now >= o.at {
		return now
	}
	refill := ceil(new(big.Rat).Quo(big.NewRat(o.burst, 1), o.rate))
	if int64(o.at-now) > refill {
		o.at = now
	}
	return o.at
}

func (o *tokenOracle) used(at Instant) *big.Rat {
	if o.missing == nil {
		return new(big.Rat)
	}
	n := big.NewRat(int64(at-o.at), 1)
	n.Sub(o.missing, n.Mul(n, o.rate))
	if n.Sign() < 0 {
		return new(big.Rat)
	}
	return n
}

func (o *tokenOracle) charge(at Instant, units int64) {
	o.missing, o.at = o.used(at), at
	o.missing.Add(o.missing, big.NewRat(units, 1))
}
