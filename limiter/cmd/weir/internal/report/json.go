package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WriteJSON writes the report as indented JSON with a newline at the end. Its
// names and what they mean are those of [Report] and of the types in it, which
// envoy/report.md has for users. They come in the order of the fields, so that equal reports are equal texts. Times
// are as in RFC 3339, durations as in configurations ("1m"), and lists that are
// empty are [], not null. Bytes that are not UTF-8 become U+FFFD. All that does
// not print is escaped, so that the text is safe on a terminal.
func (r *Report) WriteJSON(w io.Writer) error {
	text, err := r.json()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func (r *Report) json() ([]byte, error) {
	text, err := json.Marshal(r, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("cannot write the report as JSON: %w", err)
	}
	return append(escape(text), '\n'), nil
}

// escape replaces what does not print, as the marks that turn the direction of
// text around, which can only be within strings.
func escape(text []byte) []byte {
	var out bytes.Buffer
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf && r != 0x7f || strconv.IsPrint(r):
			out.Write(text[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		text = text[size:]
	}
	return out.Bytes()
}
