package limiter

import (
	"encoding/binary"
	"math"
)

// events is a list of (time, units), oldest first and no time twice: the state
// of a sliding window. Encoded it is
//
//	oldest   7 bytes
//	span     uvarint: microseconds from the oldest to the latest event
//	used     uvarint: units of all events
//	first    uvarint: units of the oldest event
//	last     the latest event, if it is not the oldest
//	rest     the events between them
//
// where an event is a uvarint of the microseconds since the one before, shifted
// left by one; the low bit says that its units follow as a uvarint, else they
// are 1. A list without events is zero bytes. Dropping the oldest event, adding
// to the latest and adding a new one touch the ends only.
type events struct {
	oldest, latest Instant
	used           int64
	first          int64 // units of the oldest
	gap, last      int64 // of the latest: microseconds since the one before, and units; 0 if it is the oldest
	rest           []byte
	bad            bool // the list turned out to be corrupt, and was emptied
}

// maxGap bounds the distance of two events, which is stored shifted by one.
const maxGap = math.MaxInt64 >> 1

// decodeEvents reads the ends of an encoded list, in constant time; the middle
// is checked as events are dropped.
func decodeEvents(state []byte) (l events, corrupt bool) {
	if len(state) == 0 {
		return events{}, false
	}
	r := reader{rest: state}
	l.oldest = r.instant()
	l.latest = l.oldest.add(r.count(int64(2 * maxInstant)))
	l.used = r.count(unreachable)
	l.first = r.count(l.used)
	if l.used > l.first {
		l.gap, l.last = r.event(l.used - l.first)
	}
	l.rest = r.rest
	if r.bad || !l.consistent() {
		return events{}, true
	}
	return l, false
}

// event reads one event of at most the given units.
func (r *reader) event(limit int64) (gap, units int64) {
	gap, units = r.count(maxGap), 1
	if gap&1 != 0 {
		units = r.count(limit)
	}
	return gap >> 1, units
}

// consistent says whether the ends of the list agree with each other.
func (l *events) consistent() bool {
	if l.single() {
		return l.used > 0 && l.oldest == l.latest && len(l.rest) == 0
	}
	between := l.used - l.first - l.last
	return l.first > 0 && l.last > 0 && l.latest.since(l.oldest) >= l.gap && l.gap > 0 &&
		(between == 0) == (len(l.rest) == 0) && between >= 0
}

// single says whether there is at most one event.
func (l *events) single() bool { return l.used == l.first }

// drop forgets the oldest event.
func (l *events) drop() {
	l.used -= l.first
	switch {
	case l.used == 0:
		*l = events{}
		return
	case len(l.rest) == 0: // the latest is left
		l.oldest, l.first = l.oldest.add(l.gap), l.last
		l.gap, l.last = 0, 0
	default:
		r := reader{rest: l.rest}
		gap, units := r.event(l.used)
		l.oldest, l.first, l.rest = l.oldest.add(gap), units, r.rest
	}
	if !l.consistent() {
		*l = events{bad: true}
	}
}

// leaving returns the time of the event with which the given number of units
// will have left, counted from the oldest; not ok if the list is corrupt.
func (l events) leaving(units int64) (at Instant, ok bool) {
	for units > l.first && !l.bad {
		units -= l.first
		l.drop()
	}
	return l.oldest, !l.bad
}

// record adds units at a time that is not before the latest event, and appends
// the encoded list to dst. Afterwards l has the new ends, but not the middle.
func (l *events) record(dst []byte, at Instant, units int64) []byte {
	gap, last := l.add(at, units)
	dst = l.encode(dst)
	if last > 0 {
		dst = appendEvent(dst, gap, last)
	}
	return dst
}

// add adds units to the ends of the list. An event that was the latest, and is
// not any more, is returned; it goes to the end of rest.
func (l *events) add(at Instant, units int64) (gap, last int64) {
	l.used += units
	switch {
	case l.used == units:
		l.oldest, l.latest, l.first = at, at, units
	case at == l.latest && l.last == 0:
		l.first += units
	case at == l.latest:
		l.last += units
	default:
		gap, last = l.gap, l.last
		l.gap, l.last, l.latest = at.since(l.latest), units, at
	}
	return gap, last
}

func (l *events) encode(dst []byte) []byte {
	if l.used == 0 {
		return dst
	}
	dst = appendInstant(dst, l.oldest)
	dst = binary.AppendUvarint(dst, uint64(l.latest.since(l.oldest)))
	dst = binary.AppendUvarint(dst, uint64(l.used))
	dst = binary.AppendUvarint(dst, uint64(l.first))
	if l.last > 0 {
		dst = appendEvent(dst, l.gap, l.last)
	}
	return append(dst, l.rest...)
}

func appendEvent(dst []byte, gap, units int64) []byte {
	if units == 1 {
		return binary.AppendUvarint(dst, uint64(gap)<<1)
	}
	dst = binary.AppendUvarint(dst, uint64(gap)<<1|1)
	return binary.AppendUvarint(dst, uint64(units))
}
