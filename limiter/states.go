package limiter

import (
	"cmp"
	"encoding/binary"
)

// A stateID tells the states of one limit from those of another in an entry,
// by what decides how they are read. It is a hash of 24 bits: two windows that
// somebody chose share one with a probability of 1 in 16 million, and are then
// refused. It is part of the stored format: changing it starts every window
// afresh.
type stateID uint32

const stateIDLen = 3

func newStateID(a Algorithm, shape []int64) stateID {
	a = cmp.Or(a, SlidingLog)
	h := uint64(14695981039346656037) // FNV-1a, folded
	mix := func(b byte) { h = (h ^ uint64(b)) * 1099511628211 }
	for i := range len(a) {
		mix(a[i])
	}
	for _, n := range shape {
		for range 8 {
			mix(byte(n))
			n >>= 8
		}
	}
	id := stateID((h ^ h>>24 ^ h>>48) & 0xFFFFFF)
	if id == parkingID {
		id--
	}
	return id
}

func stateIDAt(b []byte) stateID {
	return stateID(b[0]) | stateID(b[1])<<8 | stateID(b[2])<<16
}

// The states of one key are stored one after another, each as its limit's id
// (3 bytes), its length (uvarint) and its bytes. Empty states are left out. The
// states of limits that whoever wrote the entry did not know follow together,
// as a state of their own; see parkingID.

// state returns the bytes stored under id, nil if there are none. Trailing
// bytes that make no sense hide what follows them, never what precedes.
func state(states []byte, id stateID) []byte {
	b, size := findState(states, id)
	if size == 0 && len(states) > 0 {
		b = parkedUnder(states, id)
	}
	return b
}

// findState is state for those that are not parked. It returns also how much
// of the whole the state is with its id and length, 0 if there is none.
func findState(states []byte, id stateID) (b []byte, size int) {
	for len(states) > stateIDLen {
		from, to, ok := stateEnd(states)
		if !ok {
			return nil, 0
		}
		if stateIDAt(states) == id {
			return states[from:to:to], to
		}
		states = states[to:]
	}
	return nil, 0
}

// stateEnd returns where the bytes of the first state begin and end; not ok at
// the end of the states and where nothing sensible follows.
func stateEnd(states []byte) (from, to int, ok bool) {
	if len(states) <= stateIDLen || states[stateIDLen] >= 0x80 { // few are
		return longStateEnd(states)
	}
	to = stateIDLen + 1 + int(states[stateIDLen])
	return stateIDLen + 1, to, to <= len(states)
}

func longStateEnd(states []byte) (from, to int, ok bool) {
	if len(states) <= stateIDLen {
		return 0, 0, false
	}
	n, width := binary.Uvarint(states[stateIDLen:])
	if width <= 0 || n > uint64(len(states)-stateIDLen-width) {
		return 0, 0, false
	}
	from = stateIDLen + width
	return from, from + int(n), true
}

// openState begins a state under id at the end of dst; sealState ends the one
// that began at start, and takes it away again if nothing was appended.
func openState(dst []byte, id stateID) []byte {
	return append(dst, byte(id), byte(id>>8), byte(id>>16), 0) // most states are shorter than 128 bytes
}

func sealState(dst []byte, start int) []byte {
	from := start + stateIDLen + 1
	n := len(dst) - from
	if n == 0 {
		return dst[:start]
	}
	if n < 0x80 {
		dst[from-1] = byte(n)
		return dst
	}
	var size [binary.MaxVarintLen64]byte
	width := binary.PutUvarint(size[:], uint64(n))
	dst = append(dst, size[:width-1]...) // make room, then move the state up
	copy(dst[from-1+width:], dst[from:from+n])
	copy(dst[from-1:], size[:width])
	return dst
}
