package limiter

import "encoding/binary"

// Instants are stored in seven bytes, which hold ±2^55 exactly.
const instantLen = 7

func appendInstant(b []byte, t Instant) []byte {
	return append(b, byte(t), byte(t>>8), byte(t>>16), byte(t>>24), byte(t>>32), byte(t>>40), byte(t>>48))
}

// A reader decodes the front of a state. After the first failure bad is set
// and every further read returns zero, so one check at the end is enough.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) instant() Instant {
	if len(r.rest) < instantLen {
		r.fail()
		return 0
	}
	low := uint64(binary.LittleEndian.Uint32(r.rest))
	high := uint64(r.rest[4]) | uint64(r.rest[5])<<8 | uint64(r.rest[6])<<16
	r.rest = r.rest[instantLen:]
	return Instant(low|high<<32) << 8 >> 8 // extend the sign from bit 55
}

// count reads an unsigned number of at most limit.
func (r *reader) count(limit int64) int64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > uint64(limit) {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return int64(n)
}

func (r *reader) fail() { r.rest, r.bad = nil, true }
