package limiter

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// MaxLimits is the largest number of limits that one key can be held to.
const MaxLimits = 16

// Limits are the limits that one key is held to together: a request is charged
// to all of them or to none. They are immutable and safe for concurrent use.
//
// Their states share one entry of a table. Each is found by what it counts,
// not by its place, so that a configuration may reorder limits, add some or
// change their Requests and every window goes on; a limit whose algorithm or
// window is new starts afresh.
type Limits struct {
	limits     []Limit
	algorithms []algorithm
	ids        []uint16 // of the algorithms' states
}

// NewLimits checks the limits and makes them ready to use. Two limits of the
// same algorithm and window would be one window counted twice, and are refused.
func NewLimits(limits ...Limit) (*Limits, error) {
	if len(limits) == 0 || len(limits) > MaxLimits {
		return nil, fmt.Errorf("a key has 1 to %d limits, not %d", MaxLimits, len(limits))
	}
	l := &Limits{limits: append([]Limit(nil), limits...)}
	for i, limit := range limits {
		a, err := limit.algorithm()
		if err != nil {
			return nil, &LimitError{i, err}
		}
		id := limitID(limit.Algorithm, a.shape())
		if slices.Contains(l.ids, id) {
			return nil, &LimitError{i, errSameWindow}
		}
		l.algorithms, l.ids = append(l.algorithms, a), append(l.ids, id)
	}
	return l, nil
}

// capacity is the largest cost that can ever be admitted.
func (l *Limits) capacity() int64 {
	capacity := int64(MaxRequests)
	for _, a := range l.algorithms {
		_, o := a.take(nil, nil, 0, 0)
		capacity = min(capacity, o.Limit)
	}
	return capacity
}

// A LimitError says which of several limits is wrong.
type LimitError struct {
	Index int
	Err   error
}

func (e *LimitError) Error() string { return fmt.Sprintf("limit %d: %v", e.Index, e.Err) }

// Unwrap returns what is wrong with it.
func (e *LimitError) Unwrap() error { return e.Err }

var errSameWindow = errors.New("another limit has the same algorithm and window")

// Len is the number of limits.
func (l *Limits) Len() int { return len(l.limits) }

// At returns the limit of the given index.
func (l *Limits) At(i int) Limit { return l.limits[i] }

// limitID tells the states of one limit from those of another in an entry. It
// is part of the stored format: changing it starts every window afresh.
func limitID(a Algorithm, shape []int64) uint16 {
	a = cmp.Or(a, SlidingLog)
	h := uint64(14695981039346656037) // FNV-1a, folded to 16 bits
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
	return uint16(h ^ h>>16 ^ h>>32 ^ h>>48)
}

// The states of one key are stored one after another, each as its limit's id
// (2 bytes), its length (uvarint) and its bytes. Empty states are left out.

// state returns the bytes stored under id, nil if there are none. Trailing
// bytes that make no sense hide what follows them, never what precedes.
func state(states []byte, id uint16) []byte {
	for len(states) > 2 {
		n, size := binary.Uvarint(states[2:])
		if size <= 0 || n > uint64(len(states)-2-size) {
			return nil
		}
		end := 2 + size + int(n)
		if binary.LittleEndian.Uint16(states) == id {
			return states[2+size : end : end]
		}
		states = states[end:]
	}
	return nil
}

// openState begins a state under id at the end of dst; sealState ends the one
// that began at start, and takes it away again if nothing was appended.
func openState(dst []byte, id uint16) []byte {
	return append(dst, byte(id), byte(id>>8), 0) // most states are shorter than 128 bytes
}

func sealState(dst []byte, start int) []byte {
	from := start + 3
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
