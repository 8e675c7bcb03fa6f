package limiter

import (
	"encoding/binary"
)

// FixedWindow keeps one count for the current window, aligned to the origin of
// time. It is here for comparison and for those who must behave like another
// system: a burst at the end of one window and another at the beginning of the
// next make 2·Requests within a moment. Time: O(1). Space: one count.
const FixedWindow Algorithm = "fixed_window"

type fixedWindow struct{ limit, window int64 }

// A tally is the state of a fixed window: where it starts (7 bytes) and its
// count (uvarint).
type tally struct {
	start Instant
	used  int64
}

func newFixedWindow(l Limit) *fixedWindow {
	return &fixedWindow{l.Requests, l.Window.Microseconds()}
}

func (a *fixedWindow) shape() []int64 { return []int64{a.window} }

func (a *fixedWindow) unlimited() algorithm {
	b := *a
	b.limit = unreachable
	return &b
}

func decodeTally(state []byte) (t tally, corrupt bool) {
	if len(state) == 0 {
		return tally{}, false
	}
	r := reader{rest: state}
	t = tally{r.instant(), r.count(unreachable)}
	if r.bad || len(r.rest) > 0 {
		return tally{}, true
	}
	return t, false
}

func (t tally) encode(dst []byte) []byte {
	if t.used == 0 {
		return dst
	}
	return binary.AppendUvarint(appendInstant(dst, t.start), uint64(t.used))
}

func (a *fixedWindow) take(dst, state []byte, now Instant, cost int64) ([]byte, outcome) {
	t, corrupt := decodeTally(state)
	back := a.settle(&t, now)
	o := outcome{receipt: receipt{at: t.start}, back: back, corrupt: corrupt}
	o.Limit = a.limit
	o.Allowed = t.used+cost <= a.limit
	end := span(t.start.add(a.window).since(now))
	if t.used > 0 {
		o.reset = end
	}
	switch {
	case cost == 0:
		dst = t.encode(dst)
	case o.Allowed:
		t.used += cost
		dst = t.encode(dst)
	case cost > a.limit:
		o.RetryAfter = Never
	default:
		o.RetryAfter = end
	}
	o.Remaining = max(0, a.limit-t.used)
	if t.used > 0 {
		o.ResetAfter = end
	}
	return dst, o
}

// settle moves the tally on to the window of now. A time before it is taken as
// within it; one more than a window before it means that the clock was set
// back, and takes the count along, until the window of now ends.
func (a *fixedWindow) settle(t *tally, now Instant) (back int64) {
	start := now.floor(a.window)
	switch {
	case t.used == 0 || start > t.start:
		*t = tally{start: start}
	case t.start.since(now) > a.window:
		back, t.start = t.start.since(now), start
	}
	return back
}

func (a *fixedWindow) refund(dst, state []byte, r receipt, cost int64) []byte {
	t, _ := decodeTally(state)
	if t.start == r.at {
		t.used -= min(t.used, cost)
	}
	return t.encode(dst)
}

// pending is the count of the current window, which holds nothing older than
// the window, and not all that is younger.
func (a *fixedWindow) pending(state []byte, now Instant) int64 {
	t, _ := decodeTally(state)
	a.settle(&t, now)
	return t.used
}
