package accesslog

import "unsafe"

// A block is a stretch of a file with whole lines, and what was read in them.
// It stays as it is as long as a record of it is to be returned.
type block struct {
	text    []byte
	fields  []field
	records []record
	number  int64 // in its file
	pinned  int   // records that are to be returned
	retired bool  // the file has gone on to the next
}

// A field is a value in a block.
type field struct {
	what     id
	rank     uint8 // among those of the same meaning; the lowest counts
	escaped  bool  // as JSON does
	at, size uint32
}

// A record is a line in a block.
type record struct {
	time, end int64 // microseconds since the Unix epoch
	line      int64
	first     uint32 // of its fields
	count     uint16 // of them
	status    uint16 // 0 to 999; noStatus if there is none
}

const blockSize = 64 << 10

// bytes is how much memory the block takes.
func (b *block) bytes() int {
	return cap(b.text) + cap(b.fields)*int(unsafe.Sizeof(field{})) + cap(b.records)*int(unsafe.Sizeof(record{}))
}

// text returns bytes as a string that shares their memory.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// value returns the value of a field.
func (b *block) value(f *field) []byte { return b.text[f.at : f.at+f.size] }

// blocks are those of a log.
type blocks struct {
	free    []*block
	waiting int // bytes of retired blocks that are still pinned
}

// get returns an empty block with room for some bytes.
func (bs *blocks) get(size int) *block {
	if n := len(bs.free); n > 0 && size <= blockSize {
		b := bs.free[n-1]
		bs.free = bs.free[:n-1]
		return b
	}
	// Short lines of few fields fill this; what needs more makes it grow once.
	return &block{text: make([]byte, 0, max(size, blockSize)), fields: make([]field, 0, blockSize/32), records: make([]record, 0, blockSize/160)}
}

// retire is called when a file has gone on to another block.
func (bs *blocks) retire(b *block) {
	b.retired = true
	bs.waiting += b.bytes()
	if b.pinned == 0 {
		bs.recycle(b)
	}
}

// unpin is called when a record of a block is no longer needed.
func (bs *blocks) unpin(b *block) {
	if b.pinned--; b.pinned == 0 && b.retired {
		bs.recycle(b)
	}
}

func (bs *blocks) recycle(b *block) {
	bs.waiting -= b.bytes()
	if cap(b.text) == blockSize { // a larger one was for a line that is not like the others
		*b = block{text: b.text[:0], fields: b.fields[:0], records: b.records[:0]}
		bs.free = append(bs.free, b)
	}
}
