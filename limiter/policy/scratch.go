package policy

import (
	"strconv"
	"unsafe"
)

// A scratch holds the texts of one answer, in memory that the next one takes
// over: until then they are strings like any other, and none is garbage after.
type scratch struct{ text []byte }

func (s *scratch) reset() { s.text = s.text[:0] }

// mark begins a text, to which append what is wanted; since ends it.
func (s *scratch) mark() int { return len(s.text) }

// since returns what was appended since the mark. Should the memory move
// later, the string keeps the old.
func (s *scratch) since(mark int) string {
	b := s.text[mark:]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// number returns n in decimal.
func (s *scratch) number(n int64) string {
	mark := s.mark()
	s.text = strconv.AppendInt(s.text, n, 10)
	return s.since(mark)
}
