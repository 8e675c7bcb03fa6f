package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// leftOut stands for a configuration whose credentials cannot be told from the
// rest.
const leftOut = "(left out: it cannot be shown without its secrets)"

// redact returns a configuration with its credentials hashed, as KeyText hashes
// those of requests: the values of overrides for a part of the key that is
// secret, what a header that is called like one is compared with, and what the
// engine is not known to need in the open. All else is as it was written. A
// configuration that it cannot follow to the end is left out.
func redact(config []byte) string {
	config = bytes.TrimPrefix(config, byteOrderMark)
	s, err := readSettings(config)
	if err != nil {
		return leftOut
	}
	text, err := hide(config, s.secrets())
	if err != nil {
		return leftOut
	}
	return text
}

var errNotText = errors.New("a secret that is not a string")

// hide hashes the strings at the pointers.
func hide(config []byte, secret map[jsontext.Pointer]bool) (string, error) {
	var out bytes.Buffer
	d, copied := jsontext.NewDecoder(bytes.NewReader(config)), int64(0)
	for {
		if d.PeekKind() != '"' {
			token, err := d.ReadToken()
			if err == io.EOF {
				break
			}
			if err != nil {
				return "", err
			}
			if kind := token.Kind(); kind != '}' && kind != ']' && secret[d.StackPointer()] {
				return "", errNotText
			}
			continue
		}
		raw, err := d.ReadValue()
		if err != nil {
			return "", err
		}
		if end := d.InputOffset(); !isName(d) && secret[d.StackPointer()] {
			value, err := jsontext.AppendUnquote(nil, raw)
			if err != nil {
				return "", err
			}
			out.Write(config[copied : end-int64(len(raw))])
			fmt.Fprintf(&out, "%q", hashed(string(value)))
			copied = end
		}
	}
	out.Write(config[copied:])
	return out.String(), nil
}

// isName says whether what was read last is the name of a member, which leaves
// an object with one more name than values.
func isName(d *jsontext.Decoder) bool {
	kind, read := d.StackIndex(d.StackDepth())
	return kind == '{' && read%2 == 1
}
