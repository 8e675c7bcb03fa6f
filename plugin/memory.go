//go:build wasip1

package main

import "unsafe"

// returnedValues has the values that host calls return. The proxy asks for
// memory for each (see [malloc]), and nobody tells when it is free again: so it
// all is when the next callback begins. Whatever is needed for longer is copied.
var returnedValues arena

// An arena gives out memory from one chunk, which is used again after each
// reset, so that the values leave no garbage.
type arena struct {
	chunk []byte
	used  int
}

// The least and the largest chunk that is kept: the headers of a request are
// about a kilobyte, and no more than Envoy lets through.
const (
	leastChunk   = 16 << 10
	largestChunk = 1 << 20
)

// allocate returns memory of the given size, aligned to 8 bytes. The host may
// ask for more than there is; Go then stops the VM, as it must.
func (a *arena) allocate(size uint32) unsafe.Pointer {
	need := (int(size) + 7) &^ 7
	if need > len(a.chunk)-a.used {
		a.chunk, a.used = make([]byte, max(need, leastChunk, min(2*len(a.chunk), largestChunk))), 0
	}
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.chunk)), a.used)
	a.used += need
	return at
}

// reset declares all values to be over.
func (a *arena) reset() {
	a.used = 0
	if len(a.chunk) > largestChunk {
		a.chunk = nil
	}
}

// rewind declares over what was given out since the arena was as it was before.
func (a *arena) rewind(before arena) {
	if len(a.chunk) == len(before.chunk) { // else it is another, which nothing else is in
		a.used = before.used
	} else {
		a.used = 0
	}
}
