package limiter

import "time"

// slidingLog remembers when each unit came. One that came at s counts at t
// while t-s < window; an inclusive limit counts it one microsecond longer,
// which is the same thing at a resolution of one microsecond.
//
// It remembers times by slots: all that comes within one slot counts as come
// at its end, and so never leaves too early. A sliding log has slots of one
// microsecond and is exact; sliding buckets have wider ones.
//
// Time: O(1) amortised. Each event is dropped once, from the front, after it
// has left; a refusal walks only the events that must leave before the cost
// fits. Space: at most Requests events; one of a single unit takes up to seven
// bytes, mostly three to five.
type slidingLog struct {
	limit  int64
	window int64 // microseconds for which a unit counts
	asked  int64 // the window as configured, which Pending counts in
	slot   int64 // microseconds
}

func newSlidingLog(l Limit) *slidingLog {
	asked := l.Window.Microseconds()
	a := &slidingLog{limit: l.Requests, window: asked, asked: asked, slot: 1}
	if l.Inclusive {
		a.window++
	}
	return a
}

func (a *slidingLog) shape() []int64 { return []int64{a.asked, a.slot} }

func (a *slidingLog) unlimited() algorithm {
	b := *a
	b.limit = unreachable
	return &b
}

// slotEnd returns the last instant of the slot that t lies in.
func (a *slidingLog) slotEnd(t Instant) Instant {
	if a.slot == 1 {
		return t
	}
	return t.floor(a.slot).add(a.slot - 1)
}

func (a *slidingLog) take(dst, state []byte, now Instant, cost int64) ([]byte, outcome) {
	log, corrupt := decodeEvents(state)
	back := a.settle(&log, now)
	if log.bad {
		log, corrupt = events{}, true
	}
	at := a.slotEnd(now)
	if log.used > 0 {
		at = max(at, log.latest)
	}
	o := outcome{receipt: receipt{at: at}, back: back, corrupt: corrupt}
	o.Limit, o.reset = a.limit, a.resetAfter(&log, now)
	o.Allowed = log.used+cost <= a.limit
	switch {
	case cost == 0:
		dst = log.encode(dst)
	case o.Allowed:
		dst = log.record(dst, at, cost)
	case cost > a.limit:
		o.RetryAfter = Never
	default:
		last, ok := log.leaving(log.used + cost - a.limit)
		if !ok {
			dst, o = a.take(dst, nil, now, cost)
			o.corrupt = true
			return dst, o
		}
		o.RetryAfter = a.leaves(last, now)
	}
	o.Remaining = max(0, a.limit-log.used)
	o.ResetAfter = a.resetAfter(&log, now)
	return dst, o
}

func (a *slidingLog) resetAfter(log *events, now Instant) time.Duration {
	if log.used == 0 {
		return 0
	}
	return a.leaves(log.latest, now)
}

// leaves returns how long after now an event will have left.
func (a *slidingLog) leaves(at, now Instant) time.Duration { return span(at.add(a.window).since(now)) }

// settle drops what has left the window at now. A time before the slot of the
// latest event is taken as the beginning of that slot; a time more than a
// window before it means that the clock was set back, and shifts the whole log
// so that the latest event is in the first slot that begins at now or later.
// Were it in the slot of now, which may be as good as over, the units would be
// younger than they seem, and leave too early.
func (a *slidingLog) settle(log *events, now Instant) (back int64) {
	if log.used == 0 {
		return 0
	}
	if log.latest.since(a.slotEnd(now)) > a.window {
		back = a.slotStart(log.latest).since(now)
		shift := log.latest.since(a.slotEnd(now.add(a.slot - 1)))
		log.oldest, log.latest = log.oldest.add(-shift), log.latest.add(-shift)
	}
	now = max(now, a.slotStart(log.latest))
	for log.used > 0 && now.since(log.oldest) >= a.window {
		log.drop()
	}
	return back
}

// slotStart returns the first instant of the slot with the given end.
func (a *slidingLog) slotStart(end Instant) Instant { return end.add(1 - a.slot) }

func (a *slidingLog) refund(dst, state []byte, r receipt, cost int64) []byte {
	log, _ := decodeEvents(state)
	var kept events
	for log.used > 0 {
		at, units := log.oldest, log.first
		if at == r.at {
			units -= min(units, cost)
		}
		if units > 0 {
			if gap, last := kept.add(at, units); last > 0 {
				kept.rest = appendEvent(kept.rest, gap, last)
			}
		}
		log.drop()
	}
	return kept.encode(dst)
}

func (a *slidingLog) pending(state []byte, now Instant) int64 {
	log, _ := decodeEvents(state)
	a.settle(&log, now)
	if a.window == a.asked || log.used == 0 {
		return log.used
	}
	now = max(now, log.latest)
	for log.used > 0 && now.since(log.oldest) >= a.asked {
		log.drop()
	}
	return log.used
}
