package limiter

import (
	"encoding/binary"
	"slices"
)

// A shard's value is one layout byte and then entries, each
//
//	fingerprint   8 bytes
//	expiry        5 bytes, in units of 2^16 microseconds, with one to spare
//	load          1 byte, the used fraction at the last charge
//	size          uvarint: length of the states
//	states        of the key's limits, see Limits
//
// so that a key with one limit of 10 requests a minute takes about 64 bytes.
// A value of length zero is an empty shard. A value with another layout byte
// was written by another version of Weir, or by somebody else: it reads as
// empty and is replaced by the next charge.
//
// Concurrent requests may decide in another order than they read the clock in.
// The spare unit of expiry, 65 ms, keeps an entry for those who are that late.
const (
	layout      = 1
	entryFixed  = 8 + 5 + 1
	expiryShift = 16
	fullLoad    = 255
)

// An entry is what a shard holds for one key; its slices point into the value.
type entry struct {
	key      Fingerprint
	expiry   Instant
	load     uint8
	states   []byte
	from, to int // where the entry lies in the value
}

// entryEnd returns where the states of the entry that begins at from begin and
// end; not ok at the end of the value and where nothing sensible follows.
func entryEnd(value []byte, from int) (states, to int, ok bool) {
	size := from + entryFixed
	if size >= len(value) {
		return 0, 0, false
	}
	if n := int(value[size]); n < 0x80 { // most are
		to = size + 1 + n
		return size + 1, to, to <= len(value)
	}
	n, width := binary.Uvarint(value[size:])
	if width <= 0 || n > uint64(len(value)-size-width) {
		return 0, 0, false
	}
	return size + width, size + width + int(n), true
}

// entryAt decodes the entry that begins at from.
func entryAt(value []byte, from int) (e entry, ok bool) {
	states, to, ok := entryEnd(value, from)
	if !ok {
		return entry{}, false
	}
	return entry{
		key:    keyAt(value, from),
		expiry: expiryOf(value[from+5:]),
		load:   value[from+13],
		states: value[states:to],
		from:   from,
		to:     to,
	}, true
}

// expiryOf reads the five bytes of an expiry, which follow three others.
func expiryOf(b []byte) Instant {
	return Instant(int64(binary.LittleEndian.Uint64(b))>>24) << expiryShift
}

func putExpiry(b []byte, expiry Instant) {
	units := int64(expiry)>>expiryShift + 2 // rounded up, and one to spare
	binary.LittleEndian.PutUint32(b, uint32(units))
	b[4] = byte(units >> 32)
}

// unspared returns an expiry that is stored as the given one was, so that what is
// carried from one entry to the next does not grow.
func unspared(stored Instant) Instant { return stored.add(-1<<expiryShift - 1) }

func keyAt(value []byte, from int) Fingerprint {
	return Fingerprint(binary.LittleEndian.Uint64(value[from:]))
}

// entries returns where the first entry of a value begins; not ok if the
// value has another layout.
func entries(value []byte) (from int, ok bool) {
	if len(value) == 0 {
		return 0, true
	}
	if value[0] != layout {
		return len(value), false
	}
	return 1, true
}

// find returns the entry of a key, whose key is 0 if there is none. An expired
// one comes without its states, which mean nothing any more.
func find(value []byte, key Fingerprint, now Instant) (found entry, corrupt bool) {
	from, known := entries(value)
	for from < len(value) {
		_, to, ok := entryEnd(value, from)
		if !ok {
			return entry{}, true
		}
		if keyAt(value, from) == key {
			found, _ = entryAt(value, from)
			if found.expiry <= now {
				found.states = nil
			}
			return found, false
		}
		from = to
	}
	return entry{}, !known
}

// appendEntry appends one entry; one without states is nothing.
func appendEntry(dst []byte, e entry) []byte {
	if len(e.states) == 0 {
		return dst
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(e.key))
	dst = append(dst, 0, 0, 0, 0, 0, e.load)
	putExpiry(dst[len(dst)-6:], e.expiry)
	dst = binary.AppendUvarint(dst, uint64(len(e.states)))
	return append(dst, e.states...)
}

// A survey is what compact finds in a shard.
type survey struct {
	live    int   // the number of entries
	victim  entry // the one with the least load, among equals the first to expire
	expired int   // the number of entries dropped
	corrupt bool  // something made no sense and was dropped too
}

// compact drops from a value, in place, the entries that have expired at now
// and whatever makes no sense. A key of the given charges is no victim. The
// victim comes without its states.
func compact(value []byte, charges []Charge, now Instant) ([]byte, survey) {
	from, known := entries(value)
	s := survey{corrupt: !known}
	if !known || len(value) == 0 {
		value, from = append(value[:0], layout), 1
	}
	end := from // of what is kept
	for from < len(value) {
		e, ok := entryAt(value, from)
		if !ok {
			s.corrupt = true
			break
		}
		from = e.to
		if e.expiry <= now {
			s.expired++
			continue
		}
		if e.from != end {
			copy(value[end:], value[e.from:e.to])
			e.from, e.to = end, end+e.to-e.from
		}
		end = e.to
		s.live++
		s.consider(e, charges)
	}
	return value[:end], s
}

// yields says whether the victim may be dropped to make room.
func (s *survey) yields() bool { return s.victim.key != 0 && s.victim.load < fullLoad }

// consider makes an entry the victim, if it is a better one.
func (s *survey) consider(e entry, charges []Charge) {
	better := s.victim.key == 0 || e.load < s.victim.load || e.load == s.victim.load && e.expiry < s.victim.expiry
	if better && !slices.ContainsFunc(charges, func(c Charge) bool { return c.Key == e.key }) {
		e.states = nil
		s.victim = e
	}
}
