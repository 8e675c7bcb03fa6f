package global

import (
	"encoding/binary"
	"errors"
)

// This is as much of the protobuf wire format as the rate limit service needs.
// (protowire of google.golang.org/protobuf brings fmt, which is a tenth of the
// module; the tests hold this to the generated types.)

// Wire types.
const (
	wireVarint = 0
	wireI64    = 1
	wireBytes  = 2
	wireI32    = 5
)

func appendVarintField(b []byte, number int, v uint64) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|wireVarint)
	return binary.AppendUvarint(b, v)
}

func appendStringField(b []byte, number int, s string) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|wireBytes)
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendMessageField appends a message whose fields are appended by a function.
func appendMessageField(b []byte, number int, message func([]byte) []byte) []byte {
	return appendStringField(b, number, string(message(nil)))
}

var errWire = errors.New("not a protobuf message")

// varint and message are the tags of a field by its type. Who has another type is
// another field, which is skipped, as one that is not known.
func varint(number uint64) (tag uint64)  { return number<<3 | wireVarint }
func message(number uint64) (tag uint64) { return number<<3 | wireBytes }

// fields calls a function for each field of a message, by its tag. Of a varint it
// gets the value, of bytes these; fields of other types are skipped.
func fields(b []byte, each func(tag, value uint64, bytes []byte) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<29-1 {
			return errWire
		}
		b = b[n:]
		var value uint64
		var bytes []byte
		switch tag & 7 {
		case wireVarint:
			if value, n = binary.Uvarint(b); n <= 0 {
				return errWire
			}
		case wireBytes:
			size, m := binary.Uvarint(b)
			if m <= 0 || size > uint64(len(b)-m) {
				return errWire
			}
			bytes, n = b[m:m+int(size)], m+int(size)
		case wireI64:
			n = 8
		case wireI32:
			n = 4
		default:
			return errWire
		}
		if n > len(b) {
			return errWire
		}
		b = b[n:]
		if kind := tag & 7; kind == wireVarint || kind == wireBytes {
			if err := each(tag, value, bytes); err != nil {
				return err
			}
		}
	}
	return nil
}
