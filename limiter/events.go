package limiter

import (
	"encoding/binary"
	"math"
)

// events is a run-length list of (time, units), oldest first: the state of a
// sliding log. Encoded it is
//
//	oldest   7 bytes
//	span     uvarint: microseconds from the oldest to the latest event
//	used     uvarint: units of all events
//	first    uvarint: units of the oldest event
//	rest     for each further event: uvarint of microseconds since the one
//	         before, shifted left by one; the low bit says that its units
//	         follow as a uvarint, else they are 1
//
// and a log without events is zero bytes. Dropping the oldest event and adding
// a newest one touch the ends only.
type events struct {
	oldest, latest Instant
	used, first    int64
	rest           []byte
	bad            bool // rest did not hold what used promised
}

// maxSpan bounds the distance of two events, before a shift leaves no room.
const maxSpan = math.MaxInt64 >> 1

// decodeEvents reads the ends of an encoded list, in constant time; the middle
// is checked as events are dropped.
func decodeEvents(state []byte) (log events, corrupt bool) {
	if len(state) == 0 {
		return events{}, false
	}
	r := reader{rest: state}
	log.oldest = r.instant()
	log.latest = log.oldest.add(r.count(int64(maxInstant)))
	log.used = r.count(math.MaxUint32)
	log.first = r.count(log.used)
	log.rest = r.rest
	if r.bad || log.latest > maxInstant || !log.consistent() {
		return events{}, true
	}
	return log, false
}

// drop forgets the oldest event.
func (l *events) drop() {
	l.used -= l.first
	if l.used == 0 {
		*l = events{bad: l.bad}
		return
	}
	r := reader{rest: l.rest}
	delta := r.count(maxSpan)
	l.first = 1
	if delta&1 != 0 {
		l.first = r.count(l.used)
	}
	l.oldest, l.rest = l.oldest.add(delta>>1), r.rest
	if r.bad || !l.consistent() {
		*l = events{bad: true}
	}
}

// consistent says whether the ends of the list agree with each other.
func (l *events) consistent() bool {
	if l.used == l.first {
		return l.used > 0 && l.oldest == l.latest && len(l.rest) == 0
	}
	return l.first > 0 && l.oldest <= l.latest && len(l.rest) > 0
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

// record adds an event and appends the encoded list to dst. The list itself
// then has the new ends, but not the new middle.
func (l *events) record(dst []byte, at Instant, units int64) []byte {
	if l.used == 0 || l.oldest == at {
		l.add(at, units)
		return l.encode(dst)
	}
	delta := at.since(l.latest)
	l.latest = at
	l.used += units
	return appendEvent(l.encode(dst), delta, units)
}

// add puts an event that is not older than any other at the end.
func (l *events) add(at Instant, units int64) {
	switch {
	case l.used == 0:
		l.oldest, l.first = at, units
	case l.oldest == at:
		l.first += units
	default:
		l.rest = appendEvent(l.rest, at.since(l.latest), units)
	}
	l.latest = at
	l.used += units
}

func (l *events) encode(dst []byte) []byte {
	if l.used == 0 {
		return dst
	}
	dst = appendInstant(dst, l.oldest)
	dst = binary.AppendUvarint(dst, uint64(l.latest.since(l.oldest)))
	dst = binary.AppendUvarint(dst, uint64(l.used))
	dst = binary.AppendUvarint(dst, uint64(l.first))
	return append(dst, l.rest...)
}

func appendEvent(dst []byte, delta, units int64) []byte {
	if units == 1 {
		return binary.AppendUvarint(dst, uint64(delta)<<1)
	}
	dst = binary.AppendUvarint(dst, uint64(delta)<<1|1)
	return binary.AppendUvarint(dst, uint64(units))
}
