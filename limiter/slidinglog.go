package limiter

import "time"

// slidingLog remembers every request. One that came at s counts at t while
// t-s < window; an inclusive limit counts one microsecond longer, which is the
// same thing at a resolution of one microsecond.
//
// Time: O(1) amortised. Each event is dropped once, from the front, after it
// has left; a refusal walks only the events that must leave before the cost
// fits. Space: at most Requests events of one to eight bytes each.
type slidingLog struct {
	limit  int64
	window int64 // microseconds for which an event counts
	asked  int64 // the window as configured, which Pending counts in
}

func newSlidingLog(l Limit) slidingLog {
	a := slidingLog{limit: l.Requests, asked: int64(l.Window / time.Microsecond)}
	a.window = a.asked
	if l.Inclusive {
		a.window++
	}
	return a
}

func (a slidingLog) id() uint16 { return limitID(SlidingLog, a.asked) }

func (a slidingLog) take(dst, state []byte, now Instant, cost int64) ([]byte, outcome) {
	log, corrupt := decodeEvents(state)
	at, rebased := a.settle(&log, now)
	o := outcome{charged: at, rebased: rebased, corrupt: corrupt || log.bad}
	o.Limit = a.limit
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
		o.RetryAfter = span(last.add(a.window).since(now))
	}
	o.Remaining = max(0, a.limit-log.used)
	if log.used > 0 {
		o.ResetAfter = span(log.latest.add(a.window).since(now))
	}
	return dst, o
}

// settle brings the log to the given time, drops what has left the window and
// returns the time at which a request would be recorded. A time before the
// latest event is taken as the time of that event; a time more than a window
// before it means that the clock was set back, and shifts the whole log so
// that the latest event is now.
func (a slidingLog) settle(log *events, now Instant) (at Instant, rebased bool) {
	at = now
	if back := log.latest.since(now); log.used > 0 && back > 0 {
		if back <= a.window {
			at = log.latest
		} else {
			log.oldest, log.latest = log.oldest.add(-back), now
			rebased = true
		}
	}
	for log.used > 0 && at.since(log.oldest) >= a.window {
		log.drop()
	}
	return at, rebased
}

func (a slidingLog) refund(dst, state []byte, charged Instant, cost int64) []byte {
	log, _ := decodeEvents(state)
	var kept events
	for log.used > 0 {
		at, units := log.oldest, log.first
		if at == charged {
			back := min(units, cost)
			units, cost = units-back, cost-back
		}
		if units > 0 {
			kept.add(at, units)
		}
		log.drop()
	}
	return kept.encode(dst)
}

func (a slidingLog) pending(state []byte, now Instant) int64 {
	log, _ := decodeEvents(state)
	at, _ := a.settle(&log, now)
	for log.used > 0 && at.since(log.oldest) >= a.asked {
		log.drop()
	}
	return log.used
}
