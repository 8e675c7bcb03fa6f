package accesslog

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A scanner reads JSON.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) blank() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r') {
		s.i++
	}
}

// take reads a byte that must be there, with blanks before it.
func (s *scanner) take(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	if s.blank(); s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// text reads a string.
func (s *scanner) text() (f field, ok bool) {
	if !s.take('"') {
		return f, false
	}
	first := s.i
	for {
		s.i = special(s.b, s.i)
		switch {
		case s.i >= len(s.b) || s.b[s.i] < ' ':
			return f, false
		case s.b[s.i] == '"':
			f.at, f.size = uint32(first), uint32(s.i-first)
			s.i++
			return f, true
		}
		n := escapeSize(s.b[s.i:])
		if n == 0 {
			return f, false
		}
		f.escaped = true
		s.i += n
	}
}

// escapeSize is how long the escape is with which a text begins; 0 if it is
// none.
func escapeSize(b []byte) int {
	if _, ok := hex4(b); ok {
		return 6
	}
	if len(b) > 1 && strings.IndexByte(`"\/bfnrt`, b[1]) >= 0 {
		return 2
	}
	return 0
}

// special returns the place of the next byte that is a quote, a backslash or a
// control character. It looks at eight bytes at once.
func special(b []byte, i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := w^ones*'"', w^ones*'\\'
		found := ((quote - ones) &^ quote) | ((backslash - ones) &^ backslash) | ((w - ones*' ') &^ w)
		if found &= tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= ' ' {
		i++
	}
	return i
}

// value reads a value; what is neither text nor number is empty.
func (s *scanner) value() (f field, ok bool) {
	if s.blank(); s.i == len(s.b) {
		return f, false
	}
	switch c := s.b[s.i]; {
	case c == '"':
		return s.text()
	case c == '-' || '0' <= c && c <= '9':
		first := s.i
		for s.i < len(s.b) && isNumeric(s.b[s.i]) {
			s.i++
		}
		f.at, f.size = uint32(first), uint32(s.i-first)
		return f, true
	case c == '{' || c == '[':
		return f, s.nested()
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if len(s.b)-s.i >= len(word) && string(s.b[s.i:s.i+len(word)]) == word {
			s.i += len(word)
			return f, true
		}
	}
	return f, false
}

func isNumeric(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c|0x20 == 'e'
}

// nested reads over an object or a list.
func (s *scanner) nested() bool {
	for depth := 0; s.i < len(s.b); {
		switch s.b[s.i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return true
			}
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
			continue
		}
		s.i++
	}
	return false
}

// decode decodes the escapes of a JSON string in place, and returns how long
// the result is. Half of a surrogate pair becomes the replacement character.
func decode(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			b[n] = b[i]
			n++
			continue
		}
		i++
		c := b[i]
		if c == 'u' {
			r, size := decodeRune(b[i-1:])
			i += size - 2
			n += utf8.EncodeRune(b[n:n+utf8.RuneLen(r)], r)
			continue
		}
		if at := strings.IndexByte(`bfnrt`, c); at >= 0 {
			c = "\b\f\n\r\t"[at]
		}
		b[n] = c
		n++
	}
	return n
}

// decodeRune reads \uXXXX, or two of them, and returns how long that is.
func decodeRune(b []byte) (rune, int) {
	high, _ := hex4(b)
	if utf16.IsSurrogate(high) {
		if low, ok := hex4(b[6:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 12
			}
		}
		return utf8.RuneError, 6
	}
	return high, 6
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(n), err == nil
}
