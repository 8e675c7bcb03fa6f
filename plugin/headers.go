//go:build wasip1

package main

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// A headerMap is a header map as the ABI serialises it: the number of headers,
// the sizes of all names and values, then each with a NUL byte after it. Numbers
// have four bytes, little end first. The zero value has no headers.
type headerMap struct {
	sizes []byte
	texts string
}

var errHeaders = errors.New("proxy_get_header_map_pairs: not a header map")

// parseHeaders checks that the sizes fit, so that nothing below need do it.
func parseHeaders(b []byte) (headerMap, error) {
	if len(b) == 0 {
		return headerMap{}, nil
	}
	if len(b) < 4 {
		return headerMap{}, errHeaders
	}
	n := uint64(binary.LittleEndian.Uint32(b))
	if n > uint64(len(b)-4)/8 {
		return headerMap{}, errHeaders
	}
	sizes, texts := b[4:4+8*n], b[4+8*n:]
	var sum uint64
	for from := 0; from < len(sizes); from += 4 {
		sum += uint64(size(sizes, from)) + 1
	}
	if sum > uint64(len(texts)) {
		return headerMap{}, errHeaders
	}
	return headerMap{sizes, unsafe.String(unsafe.SliceData(texts), len(texts))}, nil
}

func size(sizes []byte, from int) int { return int(binary.LittleEndian.Uint32(sizes[from:])) }

// first returns the first value of a name, and how many more there are.
func (h headerMap) first(name string) (value string, more int) {
	found, at := false, 0
	for from := 0; from < len(h.sizes); from += 8 {
		n, v := size(h.sizes, from), size(h.sizes, from+4)
		if n == len(name) && h.texts[at:at+n] == name {
			if found {
				more++
			} else {
				value, found = h.texts[at+n+1:at+n+1+v], true
			}
		}
		at += n + v + 2
	}
	return value, more
}

// appendJoined appends all values of a name with commas between, as the
// property request.headers.NAME has them.
func (h headerMap) appendJoined(b []byte, name string) []byte {
	first, at := true, 0
	for from := 0; from < len(h.sizes); from += 8 {
		n, v := size(h.sizes, from), size(h.sizes, from+4)
		if h.texts[at:at+n] == name {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(b, h.texts[at+n+1:at+n+1+v]...)
		}
		at += n + v + 2
	}
	return b
}
