package limiter

import (
	"encoding/binary"
	"time"
)

// SlidingCounter keeps two counts: of the current window, aligned to the
// origin of time, and of the one before. It takes the requests of the one
// before as evenly spread and counts the share of them that the sliding window
// still covers.
//
// That is an estimate. With all of the window before in its last moment, a
// sliding window can hold up to 2·Requests-1; with all of it in its first, up
// to Requests units are refused that would have fitted. Time: O(1). Space: two
// counts.
const SlidingCounter Algorithm = "sliding_counter"

type slidingCounter struct {
	limit  int64
	asked  int64 // the limit as configured, that no estimate exceeds
	window int64
}

// A pair is the state of a sliding counter: where the current window starts
// (7 bytes), and the counts of it and of the one before (uvarints).
type pair struct {
	start     Instant
	cur, prev int64
}

func newSlidingCounter(l Limit) *slidingCounter {
	return &slidingCounter{l.Requests, l.Requests, l.Window.Microseconds()}
}

func (a *slidingCounter) shape() []int64 { return []int64{a.window} }

func (a *slidingCounter) unlimited() algorithm {
	b := *a
	b.limit = unreachable
	return &b
}

func decodePair(state []byte) (p pair, corrupt bool) {
	if len(state) == 0 {
		return pair{}, false
	}
	r := reader{rest: state}
	p = pair{r.instant(), r.count(unreachable), r.count(unreachable)}
	if r.bad || len(r.rest) > 0 {
		return pair{}, true
	}
	return p, false
}

func (p pair) encode(dst []byte) []byte {
	if p.cur == 0 && p.prev == 0 {
		return dst
	}
	dst = appendInstant(dst, p.start)
	dst = binary.AppendUvarint(dst, uint64(p.cur))
	return binary.AppendUvarint(dst, uint64(p.prev))
}

func (a *slidingCounter) take(dst, state []byte, now Instant, cost int64) ([]byte, outcome) {
	p, corrupt := decodePair(state)
	at, back := a.settle(&p, now)
	o := outcome{receipt: receipt{at: at}, back: back, corrupt: corrupt}
	o.Limit, o.reset = a.limit, a.resetAfter(p, now)
	free := a.limit - p.cur - a.share(p, at)
	o.Allowed = cost <= free
	switch {
	case cost == 0:
		dst = p.encode(dst)
	case o.Allowed:
		p.cur += cost
		free -= cost
		dst = p.encode(dst)
	case cost > a.limit:
		o.RetryAfter = Never
	default:
		o.RetryAfter = span(a.fits(p, cost).since(now))
	}
	o.Remaining = max(0, free)
	o.ResetAfter = a.resetAfter(p, now)
	return dst, o
}

// resetAfter is until the window after the last that counted something.
func (a *slidingCounter) resetAfter(p pair, now Instant) time.Duration {
	switch {
	case p.cur > 0:
		return span(p.start.add(2 * a.window).since(now))
	case p.prev > 0:
		return span(p.start.add(a.window).since(now))
	default:
		return 0
	}
}

// settle moves the pair on to the window of now. A time before the current
// window is taken as its beginning; one more than a window before it means
// that the clock was set back, and takes the counts along. How much of the
// window before still counted is not known then: all that may have is taken as
// of the current.
func (a *slidingCounter) settle(p *pair, now Instant) (at Instant, back int64) {
	start := now.floor(a.window)
	if p.cur == 0 && p.prev == 0 {
		p.start = start
		return now, 0
	}
	p.start = p.start.floor(a.window) // it is, unless the state is foreign
	switch ahead := start.since(p.start); {
	case ahead >= 2*a.window:
		*p = pair{start: start}
	case ahead >= a.window:
		*p = pair{start: start, prev: p.cur}
	case ahead < 0 && p.start.since(now) > a.window:
		back = p.start.since(now)
		*p = pair{start: start, cur: max(p.cur, min(a.asked, p.cur+p.prev))}
	case ahead < 0:
		return p.start, 0
	}
	return now, back
}

// share is the part of the window before that counts at the given time,
// rounded up: prev·(window-elapsed)/window.
func (a *slidingCounter) share(p pair, at Instant) int64 {
	share, rest := mulDiv(p.prev, a.window-at.since(p.start), a.window)
	if rest > 0 {
		share++
	}
	return share
}

// fits returns the first time at which the cost fits, if nobody else comes: in
// the current window, or else in the next.
func (a *slidingCounter) fits(p pair, cost int64) Instant {
	if room := a.limit - p.cur - cost; room >= 0 {
		return a.fitsWithin(p, room)
	}
	return a.fitsWithin(pair{start: p.start.add(a.window), prev: p.cur}, a.limit-cost)
}

// fitsWithin returns the first time at which the share of the window before is
// at most room, the end of the current window at the latest.
func (a *slidingCounter) fitsWithin(p pair, room int64) Instant {
	if p.prev <= room {
		return p.start
	}
	left, _ := mulDiv(room, a.window, p.prev)
	return p.start.add(a.window - left)
}

func (a *slidingCounter) refund(dst, state []byte, r receipt, cost int64) []byte {
	p, _ := decodePair(state)
	switch r.at.floor(a.window) {
	case p.start:
		p.cur -= min(p.cur, cost)
	case p.start.add(-a.window):
		p.prev -= min(p.prev, cost)
	}
	return p.encode(dst)
}

// pending is the estimate.
func (a *slidingCounter) pending(state []byte, now Instant) int64 {
	p, _ := decodePair(state)
	at, _ := a.settle(&p, now)
	return p.cur + a.share(p, at)
}
