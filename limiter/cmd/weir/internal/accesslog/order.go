package accesslog

import (
	"cmp"
	"math/bits"
	"slices"
)

// A ref refers to a record that is to be returned.
type ref struct {
	time   int64
	stream *stream
	block  *block
	index  int // of the record in its block
}

// compare orders records by time, and those of the same time by file and line.
func compare(a, b ref) int {
	if a.time != b.time {
		return cmp.Compare(a.time, b.time)
	}
	if a.stream != b.stream {
		return cmp.Compare(a.stream.index, b.stream.index)
	}
	if a.block != b.block {
		return cmp.Compare(a.block.number, b.block.number)
	}
	return cmp.Compare(a.index, b.index)
}

// slots is how many slots an order has: one for each bit of a word.
const slots = 64

// An order puts records in order of time that come out of order by no more than
// the disorder. Time is cut into slots, which are sorted when no earlier record
// can come: a calendar queue. All that wait are in slots [base, base+slots).
type order struct {
	disorder int64 // in microseconds
	width    int64 // of a slot
	base     int64 // number of the earliest slot that is not sorted yet
	slots    [slots][]ref
	filled   uint64 // bit i: slot i is not empty
	count    int    // in the slots

	ready []ref // sorted, earlier than those in the slots
	next  int   // in ready
}

func newOrder(disorder int64) *order {
	return &order{disorder: disorder, width: disorder/(slots-4) + 1}
}

// slotOf returns the number of the slot of a time.
func (o *order) slotOf(time int64) int64 {
	n := time / o.width
	if time%o.width < 0 {
		n--
	}
	return n
}

// add adds a record. All files have been read up to a time. It returns false if
// the record is too late to be put in order.
func (o *order) add(r ref, reached int64) (ordered bool) {
	if o.disorder == 0 {
		o.late(r)
		return true
	}
	o.release(reached - o.disorder)
	n := o.slotOf(r.time)
	if n < o.base {
		o.late(r)
		return false
	}
	i := n % slots & (slots - 1)
	o.slots[i] = append(o.slots[i], r)
	o.filled |= 1 << i
	o.count++
	return true
}

// late makes a record ready for which it is late.
func (o *order) late(r ref) {
	at, _ := slices.BinarySearchFunc(o.ready[o.next:], r, compare)
	o.ready = slices.Insert(o.ready, o.next+at, r)
}

// release makes ready what is before a time, but for the slot that it is in.
func (o *order) release(time int64) {
	end := o.slotOf(time)
	for o.count > 0 {
		n := o.earliest()
		if n >= end {
			break
		}
		o.take(n, len(o.slots[n&(slots-1)]))
	}
	o.base = max(o.base, end)
}

// earliest returns the number of the earliest slot that is not empty.
func (o *order) earliest() int64 {
	turned := bits.RotateLeft64(o.filled, -int(o.base&(slots-1)))
	return o.base + int64(bits.TrailingZeros64(turned))
}

// take makes the earliest records of a slot ready, at most some number of them,
// and returns how many those are.
func (o *order) take(number int64, most int) int {
	i := number & (slots - 1)
	slot := o.slots[i]
	if !slices.IsSortedFunc(slot, compare) {
		slices.SortFunc(slot, compare)
	}
	n := min(most, len(slot))
	o.ready = append(o.ready, slot[:n]...)
	o.slots[i] = slices.Delete(slot, 0, n)
	o.count -= n
	o.base = number
	if n == len(slot) {
		o.filled &^= 1 << i
		o.base++
	}
	return n
}

// halve makes the earlier half ready, since there is no room for more.
func (o *order) halve() { o.drain((o.count + 1) / 2) }

// drain makes the earliest records ready, at most some number of them.
func (o *order) drain(most int) {
	for most > 0 && o.count > 0 {
		most -= o.take(o.earliest(), most)
	}
}

// pop returns the earliest record that is ready.
func (o *order) pop() (r ref, ok bool) {
	if o.next == len(o.ready) {
		o.ready, o.next = o.ready[:0], 0
		return r, false
	}
	r = o.ready[o.next]
	o.next++
	return r, true
}
